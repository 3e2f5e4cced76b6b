package canon

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// field is one member of a Go struct type, after embedded structs are folded
// in.
type field struct {
	name      string
	index     []int
	omitEmpty bool
	omitZero  bool
}

// structFields are the members of a struct type in canonical order, so that what
// is built from it needs no sorting.
type structFields struct {
	list   []field
	byName map[string]int
}

var fieldCache sync.Map // reflect.Type -> *structFields

func fieldsOf(t reflect.Type) *structFields {
	if f, ok := fieldCache.Load(t); ok {
		return f.(*structFields)
	}
	f := &structFields{byName: map[string]int{}}
	f.collect(t, nil)
	slices.SortFunc(f.list, func(a, b field) int { return compareUTF16(a.name, b.name) })
	for i, x := range f.list {
		f.byName[x.name] = i
	}
	actual, _ := fieldCache.LoadOrStore(t, f)
	return actual.(*structFields)
}

// collect adds the exported fields of t. An embedded struct without a tag gives
// its fields to the outer one; a name that the outer struct has wins.
func (f *structFields) collect(t reflect.Type, prefix []int) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		if tag == "-" {
			continue
		}
		if sf.Anonymous && tag == "" && sf.Type.Kind() == reflect.Struct {
			embedded = append(embedded, sf)
			continue
		}
		if sf.IsExported() {
			f.add(sf, tag, prefix)
		}
	}
	for _, sf := range embedded {
		f.collect(sf.Type, append(prefix[:len(prefix):len(prefix)], sf.Index...))
	}
}

func (f *structFields) add(sf reflect.StructField, tag string, prefix []int) {
	name, options, _ := strings.Cut(tag, ",")
	if name == "" {
		name = sf.Name
	}
	if _, taken := f.byName[name]; taken {
		return
	}
	x := field{name: name, index: append(prefix[:len(prefix):len(prefix)], sf.Index...)}
	for o := range strings.SplitSeq(options, ",") {
		x.omitEmpty = x.omitEmpty || o == "omitempty"
		x.omitZero = x.omitZero || o == "omitzero"
	}
	f.byName[name] = len(f.list)
	f.list = append(f.list, x)
}

// skips reports whether the tag leaves out the value.
func (x field) skips(v reflect.Value) bool {
	return x.omitEmpty && isEmpty(v) || x.omitZero && isZero(v)
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return v.Type() == valueType && v.Interface().(Value).IsNull()
	}
	return v.IsZero()
}

func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}

var (
	valueType = reflect.TypeFor[Value]()
	timeType  = reflect.TypeFor[time.Time]()
)
