package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// figure is one line of the report.
type figure struct {
	Part    string             `json:"part"`
	What    string             `json:"what"`
	Value   string             `json:"value"`
	Beside  string             `json:"beside,omitempty"` // what it is compared with
	Ratio   *ratio             `json:"ratio,omitempty"`
	Floor   *floor             `json:"floor,omitempty"`
	Numbers map[string]float64 `json:"numbers"` // what Value and Beside say, by name and unit
}

// ratio is ours over theirs. The interval is absent when the ratio comes from
// one value.
type ratio struct {
	Centre   float64   `json:"centre"`
	Interval []float64 `json:"interval,omitempty"` // exact, for the centre over all windows
	Level    float64   `json:"level,omitempty"`    // of the interval, 0 to 1
}

func (r ratio) String() string {
	if r.Interval == nil {
		return fmt.Sprintf("%.2f", r.Centre)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", r.Centre, r.Interval[0], r.Interval[1])
}

// floor is what a ratio has to reach, or may not exceed.
type floor struct {
	Ratio  float64 `json:"ratio"`
	AtMost bool    `json:"at_most"`
}

func (f floor) String() string {
	if f.AtMost {
		return fmt.Sprintf("<= %.2f", f.Ratio)
	}
	return fmt.Sprintf(">= %.2f", f.Ratio)
}

func atLeast(r float64) *floor { return &floor{Ratio: r} }
func atMost(r float64) *floor  { return &floor{Ratio: r, AtMost: true} }

// ok reports whether the floor is reached; a figure without one is always fine,
// and a floor without a ratio never.
func (f figure) ok() bool {
	switch {
	case f.Floor == nil:
		return true
	case f.Ratio == nil:
		return false
	case f.Floor.AtMost:
		return f.Ratio.Centre <= f.Floor.Ratio
	default:
		return f.Ratio.Centre >= f.Floor.Ratio
	}
}

// limited is a figure whose ratio is a value over its limit, in the same unit.
func limited(f figure, value, limit float64) figure {
	f.Ratio, f.Floor = &ratio{Centre: value / limit}, atMost(1)
	return f
}

// report is everything that one run found.
type report struct {
	Machine machine  `json:"machine"`
	Span    float64  `json:"span_seconds"`
	Figures []figure `json:"figures"`
}

// missed names the figures under their floor.
func (r report) missed() []string {
	out := []string{}
	for _, f := range r.Figures {
		if !f.ok() {
			out = append(out, f.What)
		}
	}
	return out
}

func (r report) err() error {
	if m := r.missed(); len(m) > 0 {
		return fmt.Errorf("under the floor: %s", strings.Join(m, "; "))
	}
	return nil
}

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		report
		Missed []string `json:"missed"`
	}{r, r.missed()})
}

// table prints the figures of one part.
func table(w io.Writer, figures []figure) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "\nWHAT\tFIGURE\tBESIDE\tRATIO\tFLOOR\tOK")
	for _, f := range figures {
		ratio, floor, ok := "", "", ""
		if f.Ratio != nil {
			ratio = f.Ratio.String()
		}
		if f.Floor != nil {
			floor, ok = f.Floor.String(), "yes"
			if !f.ok() {
				ok = "NO"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.What, f.Value, f.Beside, ratio, floor, ok)
	}
	t.Flush()
}
