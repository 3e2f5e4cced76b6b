// Package fault holds the errors that users and clients see: a closed set of
// codes, and one table that maps each to its HTTP status and exit status.
//
// Everything that refuses says which field is at fault (a JSON pointer or a
// byte offset), which rule it breaks and what would help. Packages below the
// edge return these errors and never log them; the edge logs once.
//
// The package never holds secrets: Public and Hint go to whoever asked.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a refusal with a closed code.
type Error struct {
	Code    Code
	Op      string  // what was being done, as "op noun": "parse order"
	Public  string  // what is wrong, safe to show; lower case, no full stop
	Hint    string  // what would help; may be empty
	Pointer string  // JSON pointer of the field at fault; "" when none
	Offset  int64   // byte offset of the fault, plus one; 0 when none
	Fields  []Field // all failures, when there is more than one
	Data    []Attr  // facts that a client may use (holder, seq, ref)
	Err     error   // private cause; never shown to a client
}

// Field is one failure inside a document.
type Field struct {
	Pointer string `json:"pointer"`       // JSON pointer; "" is the whole document
	Rule    string `json:"rule"`          // the rule that is broken
	Got     string `json:"got,omitempty"` // what was found, shortened
}

// Attr is a named fact of an error.
type Attr struct {
	Name  string
	Value string
}

// New makes an error with a public text in the manner of fmt.Sprintf.
func New(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Public: fmt.Sprintf(format, args...)}
}

// Wrap makes an error around a private cause. A cause that carries a fault
// keeps its own code: use errors.As to find it.
func Wrap(err error, code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Public: fmt.Sprintf(format, args...), Err: err}
}

// At sets the JSON pointer and returns e.
func (e *Error) At(pointer string) *Error { e.Pointer = pointer; return e }

// AtByte sets the byte offset, counted from 0, and returns e.
func (e *Error) AtByte(offset int64) *Error { e.Offset = offset + 1; return e }

// Help sets the hint and returns e.
func (e *Error) Help(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// With adds a fact and returns e.
func (e *Error) With(name, value string) *Error {
	e.Data = append(e.Data, Attr{name, value})
	return e
}

// ByteOffset returns the offset of the fault and whether there is one.
func (e *Error) ByteOffset() (int64, bool) { return e.Offset - 1, e.Offset > 0 }

// Get returns the fact called name, or "".
func (e *Error) Get(name string) string {
	for _, a := range e.Data {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Error says op, place and what is wrong, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op)
		b.WriteString(": ")
	}
	if e.Pointer != "" {
		b.WriteString(e.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(e.Public)
	if off, ok := e.ByteOffset(); ok {
		fmt.Fprintf(&b, " (at byte %d)", off)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches another *Error by code, so errors.Is(err, fault.New(fault.Conflict, "", "")) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Op == "" && t.Public == ""
}

// CodeOf returns the code of the outermost fault in err's chain: Internal when
// there is none, "" when err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := As(err); ok {
		return e.Code
	}
	return Internal
}

// As finds the outermost fault in err's chain.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Exit returns the exit status for err; 0 when err is nil.
func Exit(err error) int {
	if err == nil {
		return ExitOK
	}
	return CodeOf(err).Of().Exit
}
