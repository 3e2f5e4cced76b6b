package render

import (
	"fmt"
	"html"
	"math"
	"strings"

	"writ/internal/verdict"
)

// Sizes of the picture, in pixels.
const (
	rowHeight = 26
	plotLeft  = 420
	plotWidth = 320
	textRight = plotLeft + plotWidth + 20
	width     = 1180
	top       = 64
)

// svg draws the intervals of ratios around one, with the threshold of each row.
// Everything in it is text or a line: it runs nothing and fetches nothing, every
// number stands beside its mark, and the whole table is its description.
func svg(r verdict.Report) (string, error) {
	var b strings.Builder
	lines := r.Remarks()
	height := top + rowHeight*(len(r.Rows)+1) + 18*(len(lines)+2)
	reach := reachOf(r)
	x := func(ratio float64) float64 {
		at := math.Log(ratio) / reach
		return plotLeft + plotWidth/2*(1+max(-1, min(1, at)))
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n", text(title(r)), text(described(r)))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	label(&b, 16, 26, title(r), "bold")
	label(&b, 16, 46, "change as a ratio, with its interval; grey: within the threshold", "normal")
	bottom := top + rowHeight*len(r.Rows)
	for _, tick := range []float64{math.Exp(-reach), math.Exp(-reach / 2), 1, math.Exp(reach / 2), math.Exp(reach)} {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#c8c8c8"/>`+"\n", x(tick), top, x(tick), bottom)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#404040">x%.3f</text>`+"\n", x(tick), bottom+18, tick)
	}
	for i, row := range r.Rows {
		y := top + rowHeight*i + rowHeight/2
		label(&b, 16, y+4, shorten(row.Case+" "+row.Quantity, 56), "normal")
		label(&b, textRight, y+4, shorten(row.Change()+" "+row.Range()+", n = "+row.Rounds()+", "+row.Text, 58), "normal")
		if row.Measure == verdict.Ratio {
			drawRow(&b, row, x, y)
		}
	}
	for i, line := range lines {
		label(&b, 16, bottom+rowHeight+18*(i+1), line, "normal")
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

func title(r verdict.Report) string {
	if r.Gate != nil {
		return "gate " + string(r.Gate.Answer) + ", " + r.Summary()
	}
	return r.Summary()
}

// described is everything that the picture shows, as text.
func described(r verdict.Report) string {
	lines := make([]string, 0, len(r.Rows))
	for _, row := range r.Rows {
		lines = append(lines, message(row))
	}
	lines = append(lines, r.Remarks()...)
	if r.Gate != nil {
		lines = append(lines, r.Gate.Reasons...)
	}
	return strings.Join(lines, "\n")
}

// drawRow draws threshold, interval and estimate of a ratio. Shapes differ as
// well as colours: a square for a clear word, a ring for one that is not.
func drawRow(b *strings.Builder, row verdict.ReportRow, x func(float64) float64, y int) {
	if row.Threshold > 0 {
		from, to := x(1/(1+row.Threshold)), x(1+row.Threshold)
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#ececec"/>`+"\n", from, y-9, to-from, 18)
	}
	if len(row.Interval) == 2 && row.Interval[0] > 0 {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#202020" stroke-width="2"/>`+"\n", x(row.Interval[0]), y, x(row.Interval[1]), y)
	}
	if row.Effect == nil || *row.Effect <= 0 {
		return
	}
	if row.Mark() == verdict.MarkUnknown {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%d" r="5" fill="#ffffff" stroke="#202020" stroke-width="2"/>`+"\n", x(*row.Effect), y)
		return
	}
	fill := "#202020"
	switch row.Word {
	case string(verdict.Slower), verdict.Regressed:
		fill = "#b3261e"
	case string(verdict.Faster), verdict.Improved:
		fill = "#1a6b3c"
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="10" height="10" fill="%s"/>`+"\n", x(*row.Effect)-5, y-5, fill)
}

// reachOf is the largest log ratio that has to be seen.
func reachOf(r verdict.Report) float64 {
	reach := math.Log(1.02)
	for _, row := range r.Rows {
		if row.Measure != verdict.Ratio {
			continue
		}
		see := []float64{1 + row.Threshold}
		see = append(see, row.Interval...)
		if row.Effect != nil {
			see = append(see, *row.Effect)
		}
		for _, v := range see {
			if v > 0 && !math.IsInf(v, 0) {
				reach = max(reach, math.Abs(math.Log(v)))
			}
		}
	}
	return min(1.1*reach, math.Log(100))
}

func label(b *strings.Builder, x, y int, s, weight string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="%s" fill="#101010">%s</text>`+"\n", x, y, weight, text(s))
}

func text(s string) string { return html.EscapeString(clean(s)) }

// shorten cuts what does not fit; the description has it in full.
func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
