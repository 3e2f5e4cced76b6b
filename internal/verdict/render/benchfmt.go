package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/internal/result"
	"writ/internal/verdict"
	"writ/internal/verdict/benchfile"
)

// benchmarks writes the values that were judged as lines of the Go benchmark
// format, so that other tools can look at them and writ compare can read them
// again: one line per process, the key "side" telling the sides apart (benchstat
// -col side) and "round" the rounds. The judgement stands in lines that such tools
// pass over.
func benchmarks(r verdict.Report) (string, error) {
	var b strings.Builder
	b.WriteString("run-key: " + oneLine(r.RunKey) + "\nmethod: " + oneLine(r.Method) + "\n")
	for _, u := range units(r) {
		b.WriteString("Unit " + u + "\n")
	}
	rounds := 0 // and one more
	for _, row := range r.Rows {
		for _, n := range row.SampleRounds {
			rounds = max(rounds, n+1)
		}
	}
	for at, name := range []string{"baseline", "contender"} {
		lines := func(key string, of func(verdict.ReportRow) []float64) {
			for _, row := range r.Rows {
				for _, v := range of(row) {
					b.WriteString(key + benchName(row) + " 1 " + digits(v) + " " + benchUnit(row) + "\n")
					key = ""
				}
			}
		}
		head := "side: " + name + "\n"
		if rounds > 0 && r.Schedule != "" {
			head += "schedule: " + oneLine(r.Schedule) + "\n"
		}
		before := b.Len()
		lines(head, func(row verdict.ReportRow) []float64 {
			if row.SampleRounds != nil {
				return nil
			}
			return row.Samples[at]
		})
		for round := range rounds {
			key := "round: " + strconv.Itoa(round) + "\n"
			if b.Len() == before {
				key = head + key
			}
			lines(key, func(row verdict.ReportRow) []float64 {
				i, ok := slices.BinarySearch(row.SampleRounds, round)
				if !ok {
					return nil
				}
				return row.Samples[at][i : i+1]
			})
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

// benchUnit is the quantity as a unit of the format.
func benchUnit(row verdict.ReportRow) string { return word(benchfile.Unit(row.Quantity, row.Unit)) }

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
