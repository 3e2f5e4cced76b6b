package customjson

import (
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Placeholders of arguments.
const (
	holdSuite         = "suite"          // absolute path of the suite's file
	holdCase          = "case"           // name of the case
	holdOut           = "out"            // path of the file to write
	holdRepetitions   = "repetitions"    // how many samples
	holdIterations    = "iterations"     // of each sample
	holdSeconds       = "seconds"        // that a sample takes at least
	holdWarmups       = "warmups"        // samples that are thrown away
	holdWarmupSeconds = "warmup_seconds" // before the first sample
	holdParameter     = "parameter:"     // before the name of a workload parameter
)

// template are arguments with placeholders. An argument group that is optional is
// left out when one of its placeholders has no value.
type template []group

type group struct {
	arguments [][]piece
	optional  bool
}

// piece is text, or a placeholder.
type piece struct{ text, hold string }

// parseTemplate reads a parameter of a suite: an array of texts, and of arrays of
// texts for what is optional.
func parseTemplate(v canon.Value, pointer string, allowed ...string) (template, error) {
	refuse := func(at, format string, args ...any) error {
		return fault.New(fault.Refused, "read arguments", format, args...).At(at)
	}
	if v.Kind() != canon.Array {
		return nil, refuse(pointer, "arguments are an array of texts")
	}
	var out template
	for i, e := range v.Elems() {
		at := pointer + "/" + strconv.Itoa(i)
		g := group{optional: e.Kind() == canon.Array}
		texts := []canon.Value{e}
		if g.optional {
			texts = e.Elems()
		}
		for _, x := range texts {
			text, ok := x.String()
			if !ok || strings.ContainsRune(text, 0) {
				return nil, refuse(at, "an argument is a text, or an array of texts that go together")
			}
			pieces, wrong := split(text, allowed)
			if wrong != "" {
				return nil, refuse(at, "%s; these are known: {%s}", wrong, strings.Join(allowed, "} {"))
			}
			g.arguments = append(g.arguments, pieces)
		}
		out = append(out, g)
	}
	return out, nil
}

// split takes an argument apart. Two braces are one that is meant.
func split(text string, allowed []string) (pieces []piece, wrong string) {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '{' || c == '}') && strings.HasPrefix(text[i+1:], string(c)):
			plain.WriteByte(c)
			i++
		case c == '}':
			return nil, "a brace closes nothing"
		case c == '{':
			name, _, closed := strings.Cut(text[i+1:], "}")
			if !closed {
				return nil, "a brace is not closed"
			}
			if !known(name, allowed) {
				return nil, "{" + name + "} is no placeholder"
			}
			pieces = append(pieces, piece{text: plain.String()}, piece{hold: name})
			plain.Reset()
			i += len(name) + 1
		default:
			plain.WriteByte(c)
		}
	}
	return append(pieces, piece{text: plain.String()}), ""
}

func known(name string, allowed []string) bool {
	for _, a := range allowed {
		if strings.HasSuffix(a, ":") && strings.HasPrefix(name, a) && len(name) > len(a) || name == a && !strings.HasSuffix(a, ":") {
			return true
		}
	}
	return false
}

// holds reports whether a placeholder is anywhere in the template.
func (t template) holds(name string) bool {
	for _, g := range t {
		for _, argument := range g.arguments {
			for _, p := range argument {
				if p.hold == name {
					return true
				}
			}
		}
	}
	return false
}

// fill puts values in the places of placeholders. missing is a placeholder that has
// no value and is not optional.
func (t template) fill(values map[string]string) (argv []string, missing string) {
	for _, g := range t {
		var some []string
		lacks := ""
		for _, argument := range g.arguments {
			var b strings.Builder
			for _, p := range argument {
				value, ok := values[p.hold]
				if p.hold != "" && !ok {
					lacks = p.hold
				}
				b.WriteString(p.text + value)
			}
			some = append(some, b.String())
		}
		switch {
		case lacks == "":
			argv = append(argv, some...)
		case !g.optional:
			return nil, lacks
		}
	}
	return argv, ""
}
