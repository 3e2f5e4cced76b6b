package render

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/internal/result"
	"writ/internal/verdict"
)

// benchmarks writes the values that were judged as lines of the Go benchmark
// format, so that other tools can look at them: one line per process, the key
// "side" telling the sides apart (benchstat -col side). The judgement stands in
// lines that such tools pass over.
func benchmarks(r verdict.Report) (string, error) {
	var b strings.Builder
	b.WriteString("run-key: " + oneLine(r.RunKey) + "\nmethod: " + oneLine(r.Method) + "\n")
	for _, u := range units(r) {
		b.WriteString("Unit " + u + "\n")
	}
	for at, name := range []string{"baseline", "contender"} {
		written := false
		for _, row := range r.Rows {
			for _, v := range row.Samples[at] {
				if !written {
					b.WriteString("side: " + name + "\n")
					written = true
				}
				b.WriteString(benchName(row) + " 1 " + digits(v) + " " + benchUnit(row) + "\n")
			}
		}
	}
	for _, row := range r.Rows {
		b.WriteString("# " + oneLine(message(row)) + "\n")
	}
	b.WriteString("# " + oneLine(r.Summary()) + "\n")
	for _, line := range r.Remarks() {
		b.WriteString("# " + oneLine(line) + "\n")
	}
	if r.Gate != nil {
		b.WriteString("# gate " + string(r.Gate.Answer) + "\n")
		for _, reason := range r.Gate.Reasons {
			b.WriteString("# " + oneLine(reason) + "\n")
		}
	}
	return b.String(), nil
}

// units says which way is better, once per unit.
func units(r verdict.Report) []string {
	out := map[string]bool{}
	for _, row := range r.Rows {
		switch row.Direction {
		case result.LowerIsBetter:
			out[benchUnit(row)+" better=lower"] = true
		case result.HigherIsBetter:
			out[benchUnit(row)+" better=higher"] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// benchName is the case as one word that starts with Benchmark and a letter that
// is not lower case, with its parameters as parts of the name.
func benchName(row verdict.ReportRow) string {
	name := row.Workload
	rest, has := strings.CutPrefix(name, "Benchmark")
	if first, _ := utf8.DecodeRuneInString(rest); has && rest != "" && !unicode.IsLower(first) {
		name = rest
	}
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsLower(first) {
		name = "_" + name
	}
	for _, key := range slices.Sorted(maps.Keys(row.Parameters)) {
		text, ok := row.Parameters[key].String()
		if !ok {
			text = string(row.Parameters[key].Canonical())
		}
		name += "/" + key + "=" + text
	}
	return "Benchmark" + word(name)
}

// Units of the quantities that every tool of this format knows.
var known = map[string]string{"wall-time": "sec/op", "allocated-bytes": "B/op", "allocations": "allocs/op", "throughput-bytes": "B/s"}

// benchUnit is the quantity as a unit of the format.
func benchUnit(row verdict.ReportRow) string {
	if u, ok := known[row.Quantity]; ok {
		return u
	}
	unit := row.Unit
	if unit == "s" {
		unit = "sec"
	}
	if unit == "" || unit == "1" {
		return word(row.Quantity)
	}
	return word(row.Quantity + "-" + unit)
}

// word replaces white space, which would end a field.
func word(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return '_'
		}
		return c
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
