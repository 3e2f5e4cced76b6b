package canon

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"

	"writ/internal/fault"
)

// Decode stores v in the Go value that dst points to, by json tags. It is
// stricter than encoding/json: names match with their exact case, a member that
// the type does not have is refused, a null only goes where Go has a nil (or
// into a Value), numbers must fit, and the fields of dst that v does not name
// become zero. A Value field keeps the tree; a json.RawMessage keeps its
// canonical bytes; an empty interface gets what Any returns. An error is
// fault.Invalid with the pointer of the value at fault.
func (v Value) Decode(dst any) error {
	p := reflect.ValueOf(dst)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fault.New(fault.Internal, "decode json", "destination is not a pointer")
	}
	if err := decode(v, p.Elem()); err != nil {
		return err
	}
	return nil
}

func mismatch(v Value, want string) *fault.Error {
	return fault.New(fault.Invalid, "decode json", "%s expected, found %s", want, v.kind)
}

func decode(v Value, dst reflect.Value) *fault.Error {
	if dst.Type() == valueType {
		dst.Set(reflect.ValueOf(v))
		return nil
	}
	if dst.Kind() == reflect.Pointer {
		return decodePointer(v, dst)
	}
	if done, err := decodeMethods(v, dst); done {
		return err
	}
	switch dst.Kind() {
	case reflect.Bool:
		b, ok := v.Bool()
		if !ok {
			return mismatch(v, "boolean")
		}
		dst.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := v.Int()
		if !ok || dst.OverflowInt(n) {
			return mismatch(v, "integer of "+dst.Type().String())
		}
		dst.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, ok := v.Int()
		if !ok || n < 0 || dst.OverflowUint(uint64(n)) {
			return mismatch(v, "integer of "+dst.Type().String())
		}
		dst.SetUint(uint64(n))
	case reflect.Float32, reflect.Float64:
		f, ok := v.Float()
		if !ok || dst.OverflowFloat(f) {
			return mismatch(v, "number of "+dst.Type().String())
		}
		dst.SetFloat(f)
	case reflect.String:
		s, ok := v.String()
		if !ok {
			return mismatch(v, "string")
		}
		dst.SetString(s)
	case reflect.Slice:
		return decodeSlice(v, dst)
	case reflect.Array:
		return decodeArray(v, dst)
	case reflect.Map:
		return decodeMap(v, dst)
	case reflect.Struct:
		return decodeStruct(v, dst)
	case reflect.Interface:
		if dst.NumMethod() > 0 {
			return mismatch(v, "a concrete Go type")
		}
		if dst.SetZero(); !v.IsNull() {
			dst.Set(reflect.ValueOf(v.Any()))
		}
	default:
		return mismatch(v, "a Go type that JSON has")
	}
	return nil
}

func decodePointer(v Value, dst reflect.Value) *fault.Error {
	if v.IsNull() {
		dst.SetZero()
		return nil
	}
	fresh := reflect.New(dst.Type().Elem())
	if err := decode(v, fresh.Elem()); err != nil {
		return err
	}
	dst.Set(fresh)
	return nil
}

// decodeMethods handles types that read themselves.
func decodeMethods(v Value, dst reflect.Value) (done bool, _ *fault.Error) {
	switch t := dst.Addr().Interface().(type) {
	case *json.Number:
		if v.kind != Number {
			return true, mismatch(v, "number")
		}
		*t = json.Number(appendNumber(nil, v.num))
		return true, nil
	case json.Unmarshaler:
		if v.IsNull() && dst.Type() == timeType {
			return true, mismatch(v, "string")
		}
		return true, causedBy(t.UnmarshalJSON(v.Canonical()))
	case encoding.TextUnmarshaler:
		s, ok := v.String()
		if !ok {
			return true, mismatch(v, "string")
		}
		return true, causedBy(t.UnmarshalText([]byte(s)))
	}
	return false, nil
}

// causedBy keeps the code of a fault below, and says where it was.
func causedBy(err error) *fault.Error {
	if err == nil {
		return nil
	}
	if e, ok := fault.As(err); ok {
		return fault.New(e.Code, "decode json", "%s", e.Public).At(e.Pointer)
	}
	return fault.Wrap(err, fault.Invalid, "decode json", "not in the form of its type")
}

func decodeSlice(v Value, dst reflect.Value) *fault.Error {
	if v.IsNull() {
		dst.SetZero()
		return nil
	}
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := v.String()
		b, err := base64.StdEncoding.DecodeString(s)
		if !ok || err != nil || base64.StdEncoding.EncodeToString(b) != s {
			return mismatch(v, "padded base64")
		}
		dst.SetBytes(b)
		return nil
	}
	if v.kind != Array {
		return mismatch(v, "array")
	}
	out := reflect.MakeSlice(dst.Type(), v.Len(), v.Len())
	for i, e := range v.Elems() {
		if err := decode(e, out.Index(i)); err != nil {
			return belowIndex(i, err)
		}
	}
	dst.Set(out)
	return nil
}

func decodeArray(v Value, dst reflect.Value) *fault.Error {
	if v.kind != Array || v.Len() != dst.Len() {
		return mismatch(v, "array of "+strconv.Itoa(dst.Len()))
	}
	for i, e := range v.Elems() {
		if err := decode(e, dst.Index(i)); err != nil {
			return belowIndex(i, err)
		}
	}
	return nil
}

func decodeMap(v Value, dst reflect.Value) *fault.Error {
	if v.IsNull() {
		dst.SetZero()
		return nil
	}
	if v.kind != Object {
		return mismatch(v, "object")
	}
	out := reflect.MakeMapWithSize(dst.Type(), v.Len())
	for _, m := range v.Members() {
		key, err := decodeKey(m.Name, dst.Type().Key())
		if err != nil {
			return err
		}
		x := reflect.New(dst.Type().Elem()).Elem()
		if err := decode(m.Value, x); err != nil {
			return below(m.Name, err)
		}
		out.SetMapIndex(key, x)
	}
	dst.Set(out)
	return nil
}

func decodeKey(name string, t reflect.Type) (reflect.Value, *fault.Error) {
	key := reflect.New(t)
	if u, ok := key.Interface().(encoding.TextUnmarshaler); ok {
		if err := causedBy(u.UnmarshalText([]byte(name))); err != nil {
			return key, below(name, err)
		}
		return key.Elem(), nil
	}
	if t.Kind() != reflect.String {
		return key, fault.New(fault.Invalid, "decode json", "a Go %s cannot be a member name", t)
	}
	key.Elem().SetString(name)
	return key.Elem(), nil
}

func decodeStruct(v Value, dst reflect.Value) *fault.Error {
	if v.kind != Object {
		return mismatch(v, "object")
	}
	fields := fieldsOf(dst.Type())
	out := reflect.New(dst.Type()).Elem()
	for _, m := range v.Members() {
		i, ok := fields.byName[m.Name]
		if !ok {
			return fault.New(fault.Invalid, "decode json", "no such member here").At(PointerTo("", m.Name))
		}
		f := out.FieldByIndex(fields.list[i].index)
		if err := decode(m.Value, f); err != nil {
			return below(m.Name, err)
		}
	}
	dst.Set(out)
	return nil
}
