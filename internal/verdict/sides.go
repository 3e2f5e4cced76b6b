package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

const higherIsBetter = result.HigherIsBetter

// Pair is one planned case and quantity, in the words of results.
type Pair struct {
	Workload   string
	Parameters map[string]canon.Value
	Quantity   string
}

// Planned returns what the orders of a comparison plan, each pair once, in the
// words of the results that come of them.
func Planned(orders ...order.Order) []Pair {
	all := map[pairKey]Pair{}
	for _, o := range orders {
		parameters := o.Parameters()
		for _, e := range o.Plan {
			pair := Pair{Workload: order.Token(e.Case), Parameters: parameters, Quantity: e.Quantity}
			all[pair.key()] = pair
		}
	}
	out := make([]Pair, 0, len(all))
	for _, k := range slices.SortedFunc(maps.Keys(all), compareKeys) {
		out = append(out, all[k])
	}
	return out
}

// pairKey makes pairs comparable and gives rows their order.
type pairKey struct{ workload, parameters, quantity string }

func (p Pair) key() pairKey {
	k := pairKey{workload: p.Workload, quantity: p.Quantity}
	if len(p.Parameters) > 0 {
		k.parameters = string(canon.MustFrom(p.Parameters).Canonical())
	}
	return k
}

func compareKeys(a, b pairKey) int {
	return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.parameters, b.parameters), cmp.Compare(a.quantity, b.quantity))
}

// side is an index: which side of the comparison.
type side int

const (
	baseline side = iota
	contender
)

func (s side) String() string { return [...]string{"baseline", "contender"}[s] }

// unit is everything that was measured for one pair.
type unit struct {
	pair    Pair
	planned bool
	got     [2][]*result.Result // per side, in the order of evidence
}

// evidenceSet is the sorted evidence of a comparison.
type evidenceSet struct {
	results  []*result.Result
	values   [2]string // of the varying path
	sideOf   map[*result.Result]side
	units    map[pairKey]*unit
	rounds   int
	schedule order.Schedule // zero when the results record none
	gaps     gaps
}

// gather sorts the results and tells the sides apart. The failures that it
// returns leave nothing to pair.
func gather(p Params) (*evidenceSet, []Failure, error) {
	s := &evidenceSet{
		results: make([]*result.Result, len(p.Results)),
		sideOf:  make(map[*result.Result]side, len(p.Results)), units: map[pairKey]*unit{},
	}
	for i := range p.Results {
		s.results[i] = &p.Results[i]
	}
	slices.SortFunc(s.results, result.Compare)
	s.gaps = findGaps(s.results)

	var failed []Failure
	found := map[string]*result.Result{}
	for _, r := range s.results {
		v := varyingValue(r, p.Varying)
		if v == "" {
			failed = append(failed, Failure{Invariant: "sides", Detail: fmt.Sprintf("%s has no %s", r.IngestKey, p.Varying)})
			continue
		}
		if found[v] == nil {
			found[v] = r
		}
	}
	names := slices.Sorted(maps.Keys(found))
	base, err := pick(p.Baseline, names, found, p.Varying)
	if err != nil {
		return nil, nil, err
	}
	other, err := pick(p.Contender, names, found, p.Varying)
	if err != nil {
		return nil, nil, err
	}
	if p.Contender == "" && len(names) == 2 && base != "" {
		other = names[0]
		if other == base {
			other = names[1]
		}
	}
	switch {
	case len(names) == 2 && base == "":
		return nil, nil, fault.New(fault.Incomparable, "judge", "baseline %q is neither side", p.Baseline).
			Help("the sides are %s", strings.Join(names, " and "))
	case len(names) == 2 && (other == "" || other == base):
		return nil, nil, fault.New(fault.Incomparable, "judge", "contender %q is not the other side", p.Contender).
			Help("the sides are %s", strings.Join(names, " and "))
	case len(names) != 2:
		failed = append(failed, Failure{Invariant: "two-sides", Detail: fmt.Sprintf("%d sides: %s", len(names), strings.Join(names, ", "))})
	}
	s.values = [2]string{cmp.Or(base, p.Baseline), cmp.Or(other, p.Contender)}
	s.rounds = p.Rounds
	s.fill(p)
	return s, failed, nil
}

// pick finds the side that a name means: the value itself, or, for revisions, an
// unambiguous beginning of a tree id or a commit. "" when there is none.
func pick(name string, names []string, found map[string]*result.Result, varying string) (string, error) {
	if name == "" || slices.Contains(names, name) {
		return name, nil
	}
	if varying != VaryingTree {
		return "", nil
	}
	var hits []string
	for _, v := range names {
		if strings.HasPrefix(v, name) || strings.HasPrefix(found[v].Revision.Key, name) {
			hits = append(hits, v)
		}
	}
	if len(hits) > 1 {
		return "", fault.New(fault.Incomparable, "judge", "%q means more than one side", name).
			Help("the sides are %s", strings.Join(names, " and "))
	}
	return strings.Join(hits, ""), nil
}

// fill puts every result where it belongs.
func (s *evidenceSet) fill(p Params) {
	for _, pair := range p.Planned {
		if p.Profile == Variants {
			pair.Parameters = withoutRole(pair.Parameters)
		}
		s.units[pair.key()] = &unit{pair: pair, planned: true}
	}
	last := -1
	for _, r := range s.results {
		pair := p.Profile.pair(r)
		key := pair.key()
		u := s.units[key]
		if u == nil {
			u = &unit{pair: pair, planned: p.Planned == nil}
			s.units[key] = u
		}
		if r.Procedure.Round != nil && !p.Unpaired {
			last = max(last, *r.Procedure.Round)
		}
		at := slices.Index(s.values[:], varyingValue(r, p.Varying))
		if at < 0 || s.values[at] == "" {
			continue
		}
		s.sideOf[r] = side(at)
		u.got[s.sideOf[r]] = append(u.got[s.sideOf[r]], r)
	}
	if s.rounds == 0 {
		s.rounds = last + 1
	}
}

// keys returns the pairs that get a row, in the order of rows.
func (s *evidenceSet) keys() []pairKey {
	var out []pairKey
	for k, u := range s.units {
		if u.planned {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, compareKeys)
	return out
}
