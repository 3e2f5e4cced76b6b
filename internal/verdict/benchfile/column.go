package benchfile

import (
	"strings"
	"unicode"
)

// chunkSize is how many values one piece of a column holds.
const chunkSize = 1 << 14

// column is every value of one unit, in the order of the file. It grows in
// pieces, so that nothing is copied.
type column struct {
	unit   string
	chunks []*chunk
	n      int
	rounds []span // of what follows, until the next; empty when there are no rounds
}

type chunk struct {
	cases  [chunkSize]uint32
	values [chunkSize]float64
}

type span struct {
	from  int // index of the first value
	round int // -1 for none
}

func (c *column) add(id uint32, round int, v float64) {
	i := c.n % chunkSize
	if i == 0 {
		c.chunks = append(c.chunks, new(chunk))
	}
	if len(c.rounds) == 0 || c.rounds[len(c.rounds)-1].round != round {
		c.rounds = append(c.rounds, span{c.n, round})
	}
	last := c.chunks[len(c.chunks)-1]
	last.cases[i], last.values[i] = id, v
	c.n++
}

// unitOf returns the index of a unit, as written, in p.raw.
func (p *part) unitOf(b []byte) int {
	for i := range p.raw {
		if p.raw[i].raw == string(b) {
			return i
		}
	}
	raw := string(b)
	unit, factor := tidy(raw)
	p.raw = append(p.raw, rawUnit{raw: raw, unit: unit, factor: factor})
	return len(p.raw) - 1
}

// columnFor is where a value of a unit goes; columns are in the order of their
// first values.
func (p *part) columnFor(u *rawUnit, plain bool) *column {
	if plain {
		return p.columnOf(u.raw)
	}
	if u.column == nil {
		u.column = p.columnOf(u.unit)
	}
	return u.column
}

func (p *part) columnOf(unit string) *column {
	for _, c := range p.columns {
		if c.unit == unit {
			return c
		}
	}
	c := &column{unit: unit}
	p.columns = append(p.columns, c)
	return c
}

// tidy turns nanoseconds and megabytes into base units, where they are above the
// line of a fraction, and says by what values are multiplied.
func tidy(unit string) (base string, factor float64) {
	switch unit {
	case "ns/op":
		return "sec/op", 1e-9
	case "MB/s":
		return "B/s", 1e6
	}
	factor = 1
	var b strings.Builder
	below := false
	for _, w := range words(unit) {
		switch {
		case w == "*":
			below = false
		case w == "/":
			below = true
		case w == "ns" && !below:
			w, factor = "sec", factor/1e9
		case w == "MB" && !below:
			w, factor = "B", factor*1e6
		}
		b.WriteString(w)
	}
	return b.String(), factor
}

// Binary reports whether values of the unit are counted in powers of 1024: where
// bytes are above the line of a fraction.
func Binary(unit string) bool {
	below := false
	for _, w := range words(unit) {
		switch w {
		case "*":
			below = false
		case "/":
			below = true
		case "B", "MB", "bytes":
			if !below {
				return true
			}
		}
	}
	return false
}

// words cuts a unit at its signs, and keeps those.
func words(unit string) (out []string) {
	from := 0
	for i, c := range unit {
		if c != '*' && c != '/' && c != '-' && !unicode.IsSpace(c) {
			continue
		}
		if from < i {
			out = append(out, unit[from:i])
		}
		out = append(out, string(c))
		from = i + len(string(c))
	}
	if from < len(unit) {
		out = append(out, unit[from:])
	}
	return out
}
