package harness

import (
	"bytes"
	"fmt"
	"strings"

	"writ/internal/runner/proc"
)

const maxWords = 500 // bytes of a message

// LastWords is the last line of standard error, or of standard output when there
// is none: in most programs it says why they died.
func (o Output) LastWords() string {
	for _, stream := range [][]byte{o.Stderr, o.Stdout} {
		if text := bytes.TrimSpace(stream); len(text) > 0 {
			line := text[bytes.LastIndexByte(text, '\n')+1:]
			return Clip(string(bytes.TrimSpace(line)))
		}
	}
	return ""
}

// End says how the program ended, in words.
func (o Output) End() string {
	switch r := o.Result; {
	case r.Cause == proc.TimedOut:
		return "stopped at its time limit"
	case r.Cause == proc.OutputLimit:
		return "stopped because it wrote without end"
	case r.Cause == proc.Cancelled:
		return "stopped from outside"
	case r.Signal != 0:
		return fmt.Sprintf("killed by signal %d (%s)", int(r.Signal), r.Signal)
	default:
		return fmt.Sprintf("ended with status %d", r.Exit)
	}
}

// Clip makes text fit for a message of a document: valid UTF-8 of bounded length.
func Clip(s string) string {
	if len(s) > maxWords {
		return strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// FirstOf returns the first text that is not empty.
func FirstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
