package render

import (
	"encoding/csv"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/verdict"
)

var columns = []string{
	"case", "parameters", "quantity", "unit", "base", "contender", "measure", "change", "lower", "upper", "level", "n", "dropped",
	"verdict", "mark", "reason", "hint", "gating", "answer", "threshold", "floor", "p", "warnings",
}

// commas is for spreadsheets: numbers in full, one line per row, then one per
// failed condition and excluded result, which have no case.
func commas(r verdict.Report) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	records := [][]string{columns}
	for _, row := range r.Rows {
		parameters := ""
		if len(row.Parameters) > 0 {
			parameters = string(canon.MustFrom(row.Parameters).Canonical())
		}
		lower, upper := "", ""
		if len(row.Interval) == 2 {
			lower, upper = digits(row.Interval[0]), digits(row.Interval[1])
		}
		records = append(records, []string{
			cell(row.Workload), cell(parameters), cell(row.Quantity), cell(row.Unit), optional(row.Baseline), optional(row.Contender),
			row.Measure, optional(row.Effect), lower, upper, optional(row.Level), strconv.Itoa(row.N), strconv.Itoa(row.Dropped),
			row.Word, row.Mark(), cell(row.Reason), row.Hint, strconv.FormatBool(row.Gating), string(row.Answer),
			digits(row.Threshold), digits(row.Floor), optional(row.P), cell(strings.Join(row.Notes(), "; ")),
		})
	}
	extra := func(word, mark, text string) {
		line := make([]string, len(columns))
		line[13], line[14], line[len(line)-1] = word, mark, cell(text)
		records = append(records, line)
	}
	for _, f := range r.Failed {
		extra("failed", verdict.MarkUnknown, f)
	}
	for _, e := range r.Exclusions {
		extra("excluded", "", e)
	}
	for _, n := range r.Notes {
		extra("note", "", n)
	}
	if r.Gate != nil {
		extra("gate "+string(r.Gate.Answer), "", strings.Join(r.Gate.Reasons, "; "))
	}
	if err := w.WriteAll(records); err != nil {
		return "", err
	}
	return b.String(), nil
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return digits(*x)
}

// cell keeps a spreadsheet from reading text as a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
