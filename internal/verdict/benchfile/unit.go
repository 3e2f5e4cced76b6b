package benchfile

import (
	"bytes"
	"strings"

	"writ/internal/result"
)

// unitNote is what a line "Unit ns/op better=lower" says.
type unitNote struct {
	line             int
	unit, key, value string // unit is the base unit
}

// unit reads the rest of a unit line. What is no key=value is passed over: it
// changes no number.
func (r *reader) unit(b []byte) {
	f, rest := field(b)
	if len(f) == 0 {
		return
	}
	base, _ := tidy(string(f))
	for {
		if f, rest = field(rest); len(f) == 0 {
			return
		}
		if key, value, ok := bytes.Cut(f, []byte{'='}); ok && len(key) > 0 {
			r.file.units = append(r.file.units, unitNote{r.file.Lines, base, string(key), string(value)})
		}
	}
}

// meaning is a unit in the words of results.
type meaning struct {
	quantity, unit, direction string
}

// common are the quantities that every tool of this format knows.
var common = map[string]string{"sec/op": "wall-time", "B/op": "allocated-bytes", "allocs/op": "allocations", "B/s": "throughput-bytes"}

// Unit is the spelling of a quantity as a unit of the format: one that every tool
// knows, or the name and its own unit.
func Unit(quantity, unit string) string {
	for u, q := range common {
		if q == quantity {
			return u
		}
	}
	switch unit {
	case "s":
		return quantity + "-sec"
	case "", "1":
		return quantity
	}
	return quantity + "-" + unit
}

// meaningOf is the inverse of Unit. A unit that no quantity is known for is a
// quantity of its own, without a better direction.
func meaningOf(unit string) meaning {
	quantity, known := common[unit]
	if !known {
		for q := unit; q != ""; {
			if info, ok := result.Known(q); ok && Unit(q, info.Unit) == unit {
				quantity, known = q, true
				break
			}
			q = q[:max(0, strings.LastIndexByte(q, '-'))]
		}
	}
	if !known {
		return meaning{unit, unit, ""}
	}
	info, _ := result.Known(quantity)
	return meaning{quantity, info.Unit, info.Direction}
}

// better are the values of the key "better", as directions.
var better = map[string]string{"lower": result.LowerIsBetter, "higher": result.HigherIsBetter}
