package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"writ/internal/fault"
)

// emit answers with v as JSON when --json is set, and with text otherwise.
func (a *app) emit(v any, text func(w io.Writer)) error {
	if !a.json {
		text(a.out)
		return nil
	}
	return writeJSON(a.out, v)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// say writes one line for people to standard error.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}

// table writes rows in columns; the first row is the head.
func table(w io.Writer, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(tw, strings.Join(r, "\t"))
	}
	tw.Flush()
}

// failure is the last object on standard error of a command that failed under --json.
type failure struct {
	Message string            `json:"message"`
	Code    fault.Code        `json:"code"`
	Exit    int               `json:"exit"`
	Pointer string            `json:"pointer,omitempty"`
	Offset  *int64            `json:"offset,omitempty"`
	Hint    string            `json:"hint,omitempty"`
	Fields  []fault.Field     `json:"errors,omitempty"`
	Data    map[string]string `json:"data,omitempty"`
}

// fail tells what went wrong, then every field at fault, then what would help.
func (a *app) fail(err error) {
	e, ok := fault.As(err)
	if !ok {
		e = fault.Wrap(err, fault.Internal, "", "%s", err.Error())
	}
	if a.json {
		f := failure{Message: oneLine(err), Code: e.Code, Exit: fault.Exit(err), Pointer: e.Pointer, Hint: e.Hint, Fields: e.Fields}
		if off, ok := e.ByteOffset(); ok {
			f.Offset = &off
		}
		for _, d := range e.Data {
			if f.Data == nil {
				f.Data = map[string]string{}
			}
			f.Data[d.Name] = d.Value
		}
		_ = writeJSON(a.err, map[string]failure{"error": f}) // standard error is gone: nobody is left to tell
		return
	}
	fmt.Fprintf(a.err, "writ: %s [%s]\n", oneLine(err), e.Code)
	for _, f := range e.Fields {
		if len(e.Fields) == 1 && f.Pointer == e.Pointer && f.Got == "" {
			break // said above
		}
		where := f.Pointer
		if where == "" {
			where = "(document)"
		}
		fmt.Fprintf(a.err, "  %s: %s", where, f.Rule)
		if f.Got != "" {
			fmt.Fprintf(a.err, " (got %s)", f.Got)
		}
		fmt.Fprintln(a.err)
	}
	if e.Hint != "" {
		fmt.Fprintf(a.err, "writ: hint: %s\n", e.Hint)
	}
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// short shortens an id or digest for people; --json always has it whole.
func short(s string) string {
	if i := strings.LastIndexByte(s, ':'); i >= 0 && len(s)-i > 13 {
		return s[:i+13] + "..."
	}
	return s
}
