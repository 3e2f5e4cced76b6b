package canon

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"writ/internal/fault"
)

// From turns a Go value into a JSON value by its json tags, with the same
// strictness as the parser: a number that JSON would not keep, text that is not
// UTF-8 and nesting beyond the default depth are fault.Invalid with the pointer
// of the member at fault.
//
// The rules are those of encoding/json with these differences: nil slices and
// maps are [] and {}, never null; omitempty also leaves out a null Value;
// omitzero asks IsZero; the string option has no effect. A nil pointer or
// interface is null. A Value is taken as it is; a json.RawMessage and what a
// json.Marshaler writes are parsed strictly.
func From(x any) (Value, error) {
	switch t := x.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return t, nil
	}
	v, err := from(reflect.ValueOf(x), DefaultDepth)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// MustFrom is From for values that are built in code: it panics on an error,
// which is then a defect of that code.
func MustFrom(x any) Value {
	v, err := From(x)
	if err != nil {
		panic("canon: " + err.Error())
	}
	return v
}

// Marshal returns the canonical bytes of From(x).
func Marshal(x any) ([]byte, error) {
	v, err := From(x)
	if err != nil {
		return nil, err
	}
	return v.Canonical(), nil
}

func refuse(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "build json", format, args...)
}

// below adds the name of the member that an error came from to its pointer. Only
// errors pay for pointers.
func below(name string, err *fault.Error) *fault.Error {
	err.Pointer = PointerTo("", name) + err.Pointer
	return err
}

// belowIndex is the same for an element.
func belowIndex(i int, err *fault.Error) *fault.Error {
	err.Pointer = PointerToIndex("", i) + err.Pointer
	return err
}

func from(v reflect.Value, depth int) (Value, *fault.Error) {
	if depth < 0 {
		return Value{}, refuse("nested too deeply")
	}
	if v.Type() == valueType && v.CanAddr() && v.CanInterface() {
		return *v.Addr().Interface().(*Value), nil // nothing is copied to the heap
	}
	if speaks(v.Type()) {
		if out, done, err := fromMethods(v); done || err != nil {
			return out, err
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return BoolOf(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n >= -MaxSafe && n <= MaxSafe {
			return IntOf(n), nil
		}
		return Value{}, refuse("integer beyond 2^53-1")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n <= MaxSafe {
			return IntOf(int64(n)), nil
		}
		return Value{}, refuse("integer beyond 2^53-1")
	case reflect.Float32:
		// The shortest digits of the float32, as encoding/json writes them.
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return fromFloat(f)
	case reflect.Float64:
		return fromFloat(v.Float())
	case reflect.String:
		return fromString(v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return Value{}, nil
		}
		return from(v.Elem(), depth-1)
	case reflect.Slice, reflect.Array:
		return fromList(v, depth)
	case reflect.Map:
		return fromMap(v, depth)
	case reflect.Struct:
		return fromStruct(v, depth)
	}
	return Value{}, refuse("a Go %s has no JSON form", v.Type())
}

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	numberType        = reflect.TypeFor[json.Number]()
)

var speaking sync.Map // reflect.Type -> bool

// speaks reports whether fromMethods may know a type: asking a value is dear.
func speaks(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
	default:
		if t.PkgPath() == "" { // a type of the language
			return false
		}
	}
	if known, ok := speaking.Load(t); ok {
		return known.(bool)
	}
	known := t == numberType
	for _, x := range []reflect.Type{t, reflect.PointerTo(t)} {
		known = known || x.Implements(marshalerType) || x.Implements(textMarshalerType)
	}
	speaking.Store(t, known)
	return known
}

// fromMethods handles types that say themselves what they are in JSON.
func fromMethods(v reflect.Value) (out Value, done bool, err *fault.Error) {
	if !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface {
		return Value{}, false, nil
	}
	x := v.Interface()
	if v.CanAddr() {
		x = addressed(v)
	}
	switch t := x.(type) {
	case Value:
		return t, true, nil
	case *Value:
		return *t, true, nil
	case json.Number:
		return fromRaw([]byte(t))
	case json.Marshaler:
		raw, e := t.MarshalJSON()
		if e != nil {
			return Value{}, true, refuse("%v", e)
		}
		return fromRaw(raw)
	case encoding.TextMarshaler:
		text, e := t.MarshalText()
		if e != nil {
			return Value{}, true, refuse("%v", e)
		}
		out, err = fromString(string(text))
		return out, true, err
	}
	return Value{}, false, nil
}

// addressed returns v, or its address when only that has the methods.
func addressed(v reflect.Value) any {
	switch p := v.Addr().Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return p
	}
	return v.Interface()
}

func fromRaw(raw []byte) (Value, bool, *fault.Error) {
	v, err := Parse(raw)
	if err != nil {
		return Value{}, true, refuse("%v", err)
	}
	return v, true, nil
}

func fromFloat(f float64) (Value, *fault.Error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, refuse("%v is not a JSON number", f)
	}
	if unsafeInteger(f) {
		return Value{}, refuse("integer beyond 2^53-1")
	}
	return number(f), nil
}

func fromString(s string) (Value, *fault.Error) {
	if !utf8.ValidString(s) {
		return Value{}, refuse("text is not UTF-8")
	}
	return Value{kind: String, str: s}, nil
}

func fromList(v reflect.Value, depth int) (Value, *fault.Error) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return StringOf(base64.StdEncoding.EncodeToString(v.Bytes())), nil
	}
	elems := make([]Value, v.Len())
	for i := range elems {
		var err *fault.Error
		if elems[i], err = from(v.Index(i), depth-1); err != nil {
			return Value{}, belowIndex(i, err)
		}
	}
	return ArrayOf(elems...), nil
}

func fromMap(v reflect.Value, depth int) (Value, *fault.Error) {
	members := make([]Member, 0, v.Len())
	one := reflect.New(v.Type().Elem()).Elem() // addressable, and the same for all
	for it := v.MapRange(); it.Next(); {
		name, err := mapKey(it.Key())
		if err != nil {
			return Value{}, err
		}
		one.SetIterValue(it)
		x, err := from(one, depth-1)
		if err != nil {
			return Value{}, below(name, err)
		}
		members = append(members, Member{name, x})
	}
	slices.SortFunc(members, func(a, b Member) int { return compareUTF16(a.Name, b.Name) })
	return newObject(members)
}

// mapKey takes strings and types that write themselves as text.
func mapKey(k reflect.Value) (string, *fault.Error) {
	if k.Kind() == reflect.String && k.Type().PkgPath() == "" { // the type string itself
		return k.String(), nil
	}
	if t, ok := k.Interface().(encoding.TextMarshaler); ok {
		text, err := t.MarshalText()
		if err != nil {
			return "", refuse("member name: %v", err)
		}
		return string(text), nil
	}
	if k.Kind() != reflect.String {
		return "", refuse("a Go %s cannot name a member", k.Type())
	}
	return k.String(), nil
}

func fromStruct(v reflect.Value, depth int) (Value, *fault.Error) {
	list := fieldsOf(v.Type()).list
	members := make([]Member, 0, len(list))
	for _, f := range list {
		fv := v.FieldByIndex(f.index)
		if f.skips(fv) {
			continue
		}
		x, err := from(fv, depth-1)
		if err != nil {
			return Value{}, below(f.name, err)
		}
		members = append(members, Member{f.name, x})
	}
	return newObject(members)
}

func newObject(members []Member) (Value, *fault.Error) {
	for _, m := range members {
		if !utf8.ValidString(m.Name) {
			return Value{}, refuse("member name is not UTF-8")
		}
	}
	v, dup := objectOf(members)
	if dup >= 0 {
		return Value{}, refuse("member %q comes twice", members[dup].Name)
	}
	return v, nil
}
