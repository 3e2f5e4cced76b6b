// Package canon reads JSON strictly, writes it canonically and knows the four
// ways in which Writ names content by digest.
//
// Invariants: a Value is immutable and always within I-JSON, so whatever was
// parsed or built has exactly one canonical form, that form is read back as an
// equal Value, and it is its own canonical form. Canonical bytes follow RFC
// 8785. The digest dialects live here and nowhere else, and none is derived
// from another.
//
// The package never guesses: it repairs no input, folds no Unicode, keeps no
// last-of-two keys, and never rounds an integer. It opens nothing, logs nothing
// and reads no clock.
package canon

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"writ/internal/fault"
)

// Kind is the JSON type of a Value.
type Kind uint8

// The six JSON types. The constant for null is called NullKind because Null is
// the constructor.
const (
	NullKind Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the JSON name of the type in lower case.
func (k Kind) String() string {
	switch k {
	case NullKind:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// MaxSafe is the largest integer that every JSON reader keeps exactly, 2^53-1.
const MaxSafe = 1<<53 - 1

// Value is a JSON value. The zero Value is null. Values are immutable and safe
// for concurrent use; compare them with Equal, not with ==.
type Value struct {
	kind Kind
	num  float64 // the number, or 1 for true
	str  string
	kids *children // nil for an empty array or object
}

// children are the parts of an array or an object.
type children struct {
	elems   []Value
	members []Member
	order   []int32 // member indexes in canonical order; nil when they are in order already
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Null returns the JSON null.
func Null() Value { return Value{} }

// BoolOf returns a JSON boolean.
func BoolOf(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.num = 1
	}
	return v
}

// StringOf returns a JSON string. Bytes that are not UTF-8 have no place in
// JSON and become U+FFFD; use From where that should be an error.
func StringOf(s string) Value {
	return Value{kind: String, str: strings.ToValidUTF8(s, "\uFFFD")}
}

// IntOf returns a JSON integer. It panics beyond ±(2^53-1): no counter of ours
// may get there, and a rounded integer would be a silent lie.
func IntOf(i int64) Value {
	if i > MaxSafe || i < -MaxSafe {
		panic("canon: integer beyond 2^53-1: " + strconv.FormatInt(i, 10))
	}
	return Value{kind: Number, num: float64(i)}
}

// FloatOf returns a JSON number. Refused are NaN, the infinities, and numbers
// from 2^53 up to 1e21: the canonical form writes those as integers, and no
// strict reader takes such an integer back.
func FloatOf(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, fault.New(fault.Invalid, "build number", "%v is not a JSON number", f)
	}
	if unsafeInteger(f) {
		return Value{}, fault.New(fault.Invalid, "build number", "%v is an integer beyond 2^53-1", f)
	}
	return number(f), nil
}

// number holds f; a negative zero becomes zero, as in the canonical form.
func number(f float64) Value {
	if f == 0 {
		f = 0
	}
	return Value{kind: Number, num: f}
}

// unsafeInteger reports whether the canonical form of f would be an integer
// literal beyond ±(2^53-1). From 1e21 on, ECMAScript writes an exponent.
func unsafeInteger(f float64) bool {
	a := math.Abs(f)
	return a > MaxSafe && a < 1e21
}

// ArrayOf returns a JSON array of the given elements.
func ArrayOf(elems ...Value) Value {
	if len(elems) == 0 {
		return Value{kind: Array}
	}
	return Value{kind: Array, kids: &children{elems: slices.Clone(elems)}}
}

// ObjectOf returns a JSON object with the given members in the given order. A
// name that is not UTF-8 or comes twice is refused.
func ObjectOf(members ...Member) (Value, error) {
	for _, m := range members {
		if strings.ToValidUTF8(m.Name, "") != m.Name {
			return Value{}, fault.New(fault.Invalid, "build object", "member name %q is not UTF-8", m.Name)
		}
	}
	v, dup := objectOf(slices.Clone(members))
	if dup >= 0 {
		return Value{}, fault.New(fault.Invalid, "build object", "member %q comes twice", members[dup].Name)
	}
	return v, nil
}

// objectOf takes over members. It returns the index of a member whose name
// came before, or -1.
func objectOf(members []Member) (v Value, dup int) {
	if len(members) == 0 {
		return Value{kind: Object}, -1
	}
	kids := &children{members: members}
	for i := 1; i < len(members); i++ {
		if compareUTF16(members[i-1].Name, members[i].Name) >= 0 {
			if kids.order, dup = orderOf(members); dup >= 0 {
				return Value{}, dup
			}
			break
		}
	}
	return Value{kind: Object, kids: kids}, -1
}

// orderOf returns the member indexes in canonical order, and the smallest
// index whose name came before, or -1.
func orderOf(members []Member) (order []int32, dup int) {
	order = make([]int32, len(members))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := compareUTF16(members[a].Name, members[b].Name); c != 0 {
			return c
		}
		return int(a - b)
	})
	dup = -1
	for i := 1; i < len(order); i++ {
		if members[order[i-1]].Name != members[order[i]].Name {
			continue
		}
		if at := int(order[i]); dup < 0 || at < dup {
			dup = at
		}
	}
	return order, dup
}

// compareUTF16 compares two UTF-8 strings by their UTF-16 code units. UTF-8
// sorts by code point; the two orders differ only where a character beyond the
// BMP (lead byte F0 and up) meets one of U+E000 to U+FFFF (lead byte EE or EF),
// because surrogates are below U+E000.
func compareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		if x < y {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// at returns the i-th member in canonical order.
func (c *children) at(i int) *Member {
	if c.order != nil {
		i = int(c.order[i])
	}
	return &c.members[i]
}

// Kind returns the JSON type.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == NullKind }

// Bool returns the boolean, and whether v is one.
func (v Value) Bool() (value, ok bool) { return v.num != 0 && v.kind == Bool, v.kind == Bool }

// String returns the string, and whether v is one.
func (v Value) String() (string, bool) { return v.str, v.kind == String }

// Int returns the integer, and whether v is one within ±(2^53-1). The spelling
// does not matter: 1.0 and 1e0 are the integer 1.
func (v Value) Int() (int64, bool) {
	if v.kind != Number || math.Abs(v.num) > MaxSafe || v.num != math.Trunc(v.num) {
		return 0, false
	}
	return int64(v.num), true
}

// Float returns the number, and whether v is one.
func (v Value) Float() (float64, bool) {
	if v.kind != Number {
		return 0, false
	}
	return v.num, true
}

// Len returns the number of elements or members; 0 for a scalar.
func (v Value) Len() int {
	if v.kids == nil {
		return 0
	}
	return len(v.kids.elems) + len(v.kids.members)
}

// Elems returns the elements of an array; nil for anything else. The slice
// must not be written to.
func (v Value) Elems() []Value {
	if v.kids == nil {
		return nil
	}
	return slices.Clip(v.kids.elems)
}

// Members returns the members of an object in document order; nil for anything
// else. The slice must not be written to.
func (v Value) Members() []Member {
	if v.kids == nil {
		return nil
	}
	return slices.Clip(v.kids.members)
}

// Get returns the member called name, and whether v is an object that has it.
func (v Value) Get(name string) (Value, bool) {
	if v.kids == nil {
		return Value{}, false
	}
	if len(v.kids.members) <= 8 {
		for i := range v.kids.members {
			if v.kids.members[i].Name == name {
				return v.kids.members[i].Value, true
			}
		}
		return Value{}, false
	}
	lo, hi := 0, len(v.kids.members)
	for lo < hi {
		mid := (lo + hi) / 2
		m := v.kids.at(mid)
		switch c := compareUTF16(m.Name, name); {
		case c == 0:
			return m.Value, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return Value{}, false
}

// Has reports whether v is an object with a member called name.
func (v Value) Has(name string) bool {
	_, ok := v.Get(name)
	return ok
}

// Str returns the member called name when it is a string, else "".
func (v Value) Str(name string) string {
	m, _ := v.Get(name)
	return m.str
}

// Without returns the object without the named members. Anything else is
// returned as it is.
func (v Value) Without(names ...string) Value {
	if v.kind != Object || v.kids == nil {
		return v
	}
	kept := make([]Member, 0, len(v.kids.members))
	for _, m := range v.kids.members {
		if !slices.Contains(names, m.Name) {
			kept = append(kept, m)
		}
	}
	if len(kept) == len(v.kids.members) {
		return v
	}
	out, _ := objectOf(kept)
	return out
}

// With returns the object with the member set to x: replaced in its place, or
// added at the end. Null counts as the empty object. It panics on any other
// kind and on a name that is not UTF-8; both are defects of the caller.
func (v Value) With(name string, x Value) Value {
	if v.kind != Object && v.kind != NullKind {
		panic("canon: With on a JSON " + v.kind.String())
	}
	if strings.ToValidUTF8(name, "") != name {
		panic("canon: With a member name that is not UTF-8")
	}
	members := append(make([]Member, 0, v.Len()+1), v.Members()...)
	if i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name }); i >= 0 {
		members[i].Value = x
	} else {
		members = append(members, Member{name, x})
	}
	out, _ := objectOf(members)
	return out
}

// Equal reports whether two values are equal as JSON: 1 equals 1.0, and the
// order of members does not matter.
func Equal(a, b Value) bool {
	if a.kind != b.kind || a.num != b.num || a.str != b.str || a.Len() != b.Len() {
		return false
	}
	if a.kids == nil || a.kids == b.kids {
		return true
	}
	for i := range a.kids.elems {
		if !Equal(a.kids.elems[i], b.kids.elems[i]) {
			return false
		}
	}
	for i := range a.kids.members {
		x, y := a.kids.at(i), b.kids.at(i)
		if x.Name != y.Name || !Equal(x.Value, y.Value) {
			return false
		}
	}
	return true
}

// Equal is the method form of Equal, for comparison libraries.
func (v Value) Equal(other Value) bool { return Equal(v, other) }
