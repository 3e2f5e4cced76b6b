package canon

import (
	"strconv"
	"strings"
)

// At returns the value at an RFC 6901 JSON pointer: "" is v itself, "/a/0" the
// first element of member a. A pointer that is malformed, or names nothing,
// finds nothing.
func (v Value) At(pointer string) (Value, bool) {
	for pointer != "" {
		if pointer[0] != '/' {
			return Value{}, false
		}
		token := pointer[1:]
		if i := strings.IndexByte(token, '/'); i >= 0 {
			token, pointer = token[:i], token[i:]
		} else {
			pointer = ""
		}
		var ok bool
		if v, ok = v.child(token); !ok {
			return Value{}, false
		}
	}
	return v, true
}

// child follows one token of a pointer, still escaped.
func (v Value) child(token string) (Value, bool) {
	switch v.kind {
	case Object:
		name, ok := unescapeToken(token)
		if !ok {
			return Value{}, false
		}
		return v.Get(name)
	case Array:
		i, err := strconv.ParseUint(token, 10, 31)
		if err != nil || strconv.FormatUint(i, 10) != token || i >= uint64(v.Len()) {
			return Value{}, false
		}
		return v.kids.elems[i], true
	}
	return Value{}, false
}

func unescapeToken(token string) (string, bool) {
	if !strings.Contains(token, "~") {
		return token, true
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		if token[i] != '~' {
			b.WriteByte(token[i])
			continue
		}
		i++
		switch {
		case i < len(token) && token[i] == '0':
			b.WriteByte('~')
		case i < len(token) && token[i] == '1':
			b.WriteByte('/')
		default:
			return "", false
		}
	}
	return b.String(), true
}

var tokenEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// PointerTo appends one member name to a JSON pointer, escaped as RFC 6901
// asks.
func PointerTo(pointer, name string) string {
	return pointer + "/" + tokenEscaper.Replace(name)
}

// PointerToIndex appends an array index to a JSON pointer.
func PointerToIndex(pointer string, i int) string {
	return pointer + "/" + strconv.Itoa(i)
}
