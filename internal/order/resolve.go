package order

import (
	"strconv"
	"strings"
	"unicode"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Case is one line of a harness's own listing.
type Case struct {
	Name string // as the harness spells it
	From string // the include pattern or filter it was expanded from; may be empty
}

// Resolve fixes the plan of a draft: one entry per listed case and ordered
// quantity, with ids p0, p1, … in that order. It adds the plan and turns the
// state, and changes nothing else; an order that is resolved already comes back
// as it is. An empty listing is fault.Nothing; a case listed twice, or a time
// limit that the ordered settings cannot keep, is fault.Refused.
func Resolve(draft Order, listing []Case) (Order, error) {
	if draft.State == Resolved {
		return draft, nil
	}
	if len(listing) == 0 {
		return Order{}, fault.New(fault.Nothing, "resolve order", "the harness lists no case").At("/suites").
			Help("check filter, include and exclude")
	}
	seen := map[string]bool{}
	entries := make([]Entry, 0, len(listing)*len(draft.Quantities))
	for _, c := range listing {
		if seen[c.Name] {
			return Order{}, fault.New(fault.Refused, "resolve order", "the harness lists %q twice", c.Name).At("/suites")
		}
		seen[c.Name] = true
		for _, q := range draft.Quantities {
			entries = append(entries, Entry{
				ID: "p" + strconv.Itoa(len(entries)), Case: c.Name, Quantity: q, From: Token(c.From),
			})
		}
	}
	if least := draft.Precision.plannedSeconds() * float64(len(listing)); least > draft.Timeouts.OrderS {
		return Order{}, fault.New(fault.Refused, "resolve order",
			"%d cases take at least %g s, the limit is %g s", len(listing), least, draft.Timeouts.OrderS).
			At("/timeouts/order_s").Help("raise order_s or lower precision")
	}
	plan, err := canon.From(entries)
	if err != nil {
		return Order{}, err
	}
	return seal(draft.value.With("state", canon.StringOf(string(Resolved))).With("plan", plan))
}

// Token spells a name as a token: white space, the byte order mark and % become
// percent-encoded UTF-8. Two names never share a spelling, and a name without
// those characters is its own.
func Token(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r != '%' && r != '\uFEFF' && !unicode.IsSpace(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// Parameters are the workload coordinates that the order sets: environment
// variables as strings and workload parameters as they are.
func (o Order) Parameters() map[string]canon.Value {
	out := make(map[string]canon.Value, len(o.EnvironmentVariables)+len(o.WorkloadParameters))
	for name, value := range o.EnvironmentVariables {
		out[name] = canon.StringOf(value)
	}
	for name, value := range o.WorkloadParameters {
		out[name] = value
	}
	return out
}
