package gobench

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/internal/fault"
)

// Text is the meaning of what a Go test binary printed while it ran benchmarks.
type Text struct {
	Config map[string]string // goos, goarch, pkg, cpu and others; the last value counts
	Rows   []Row             // result lines, in order
	Names  []string          // benchmarks that were announced, with -test.v, in order
	Marks  []Mark            // failures and skips
	End    string            // "PASS" or "FAIL" when the last word is there, else ""
}

// Row is one result line.
type Row struct {
	Name       string // as printed, with the processor suffix
	Iterations int64  // at least 1
	Values     []Metric
}

// Metric is one number of a row. Value may be NaN or infinite: Go prints those.
type Metric struct {
	Unit  string
	Value float64
}

// Mark is a line such as "--- FAIL: BenchmarkX", with the log lines around it.
type Mark struct {
	Kind string // FAIL or SKIP
	Name string // without the processor suffix, as Go prints it
	Log  string // what the benchmark said before it, "" when nothing
}

// maxText is how much output of one case is read: far more than the harness
// writes, far less than memory.
const maxText = 256 << 20

// Parse reads the output strictly: a line counts as a result only when all of it
// is one, from its first byte to its line feed. Output of the benchmark that is
// mixed into a result line makes that result absent; nothing is pieced together.
// Text that was cut off has no End, because the last word is the last thing that
// a complete run prints.
func Parse(text []byte) (Text, error) {
	if len(text) > maxText {
		return Text{}, fault.New(fault.TooLarge, "read benchmark output", "%d bytes, the limit is %d", len(text), maxText)
	}
	out := Text{Config: map[string]string{}}
	var log []string // indented lines since the last line at the margin
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		text = rest
		if !whole {
			break // cut off: not even a PASS counts
		}
		s := string(bytes.TrimSuffix(line, []byte("\r")))
		if s == "" {
			continue
		}
		if s == "PASS" || s == "FAIL" {
			out.End = s
			continue
		}
		if !strings.HasPrefix(s, "coverage: ") {
			out.End = "" // it was not the last word
		}
		if strings.HasPrefix(s, "    ") {
			log = append(log, strings.TrimSpace(s))
			continue
		}
		out.line(s, log)
		log = nil
	}
	return out, nil
}

// line reads one line that stands at the margin. log is what was printed just
// before it: with -test.v a benchmark's messages come before its mark.
func (t *Text) line(s string, log []string) {
	switch {
	case strings.HasPrefix(s, "--- "):
		kind, name, ok := strings.Cut(strings.TrimPrefix(s, "--- "), ": ")
		if ok && (kind == "FAIL" || kind == "SKIP") && isName(name) {
			t.Marks = append(t.Marks, Mark{Kind: kind, Name: name, Log: strings.Join(log, "\n")})
		}
	case strings.HasPrefix(s, prefix):
		if isName(s) {
			t.Names = append(t.Names, s)
		} else if row, ok := parseRow(s); ok {
			t.Rows = append(t.Rows, row)
		}
	default:
		if key, value, ok := parseConfig(s); ok {
			t.Config[key] = value
		}
	}
}

// parseRow reads "Name iterations (value unit)...". Anything else is no row.
func parseRow(s string) (Row, bool) {
	fields := splitFields(s)
	if len(fields) < 2 || len(fields)%2 != 0 || !isName(fields[0]) {
		return Row{}, false
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || n < 1 || fields[1][0] == '+' {
		return Row{}, false
	}
	row := Row{Name: fields[0], Iterations: n}
	for i := 2; i < len(fields); i += 2 {
		v, ok := parseNumber(fields[i])
		if !ok || !isUnit(fields[i+1]) {
			return Row{}, false
		}
		row.Values = append(row.Values, Metric{Unit: fields[i+1], Value: v})
	}
	return row, true
}

// splitFields splits at blanks and tabs, and only there: names and units may
// hold any other character.
func splitFields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' })
}

// parseNumber reads a decimal number as the testing package prints it, and the
// three words for what is not finite. Hexadecimal numbers, underscores and words
// in other spellings are not its own.
func parseNumber(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "+Inf":
		return math.Inf(1), true
	case "-Inf":
		return math.Inf(-1), true
	}
	if s == "" || strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// isUnit reports whether s can be a unit: a number is none, so that a value that
// got into the line by accident does not shift the columns unseen.
func isUnit(s string) bool {
	_, number := parseNumber(s)
	return !number && utf8.ValidString(s)
}

// prefix starts the name of every benchmark function.
const prefix = "Benchmark"

// isName reports whether s is the name of a benchmark: the prefix, then nothing
// that a Go test would not take for one, and no white space.
func isName(s string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(first)
}

// parseConfig reads "key: value". A key starts with a lower-case letter and holds
// neither upper-case letters nor white space.
func parseConfig(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, ":")
	if !ok || key == "" || !utf8.ValidString(s) {
		return "", "", false
	}
	first, _ := utf8.DecodeRuneInString(key)
	if !unicode.IsLower(first) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsSpace(r) }) {
		return "", "", false
	}
	if value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	return key, strings.TrimSpace(value), true
}

// Value returns the number of a unit. A unit that is there twice has no value:
// nothing says which one counts.
func (r Row) Value(unit string) (float64, bool) {
	first := slices.IndexFunc(r.Values, func(m Metric) bool { return m.Unit == unit })
	if first < 0 || slices.ContainsFunc(r.Values[first+1:], func(m Metric) bool { return m.Unit == unit }) {
		return 0, false
	}
	return r.Values[first].Value, true
}

// BaseName takes the processor suffix off a name: Go appends "-N" unless N is 1.
// ok is false when the name does not have the suffix that it must have.
func BaseName(name string, processors int) (base string, ok bool) {
	if processors == 1 {
		return name, true
	}
	return strings.CutSuffix(name, "-"+strconv.Itoa(processors))
}
