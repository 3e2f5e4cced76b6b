package verdict

import (
	"fmt"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
)

// newRelative sorts the evidence and finds the baseline among its sides.
func newRelative(p RelativeParams) (*relative, error) {
	r := &relative{RelativeParams: p}
	for i := range p.Results {
		if p.Results[i].Provenance.RunKey == p.RunKey {
			r.results = append(r.results, &p.Results[i])
		}
	}
	if len(r.results) == 0 {
		return nil, fault.New(fault.Nothing, "judge", "no results of %q", p.RunKey)
	}
	slices.SortStableFunc(r.results, result.Compare)
	r.doc = comparison{
		Version: 1, Mode: "run",
		Method:    comparisonMethod{RelativeMethod, RelativeVersion, "relative", relativeSettings{p.K, p.MinRounds}},
		Estimator: medianEstimator(), IdentitySchema: result.IdentitySchema, RunKey: p.RunKey,
		Profile: p.Profile, Varying: p.Varying, Baseline: p.Baseline, Pairing: "procedure.round",
	}
	last := result.Ref{}
	for _, x := range r.results {
		r.values = append(r.values, varyingValue(x, p.Varying))
		r.doc.LocalOnly = r.doc.LocalOnly || x.Provenance.SubjectDirty != result.Clean || x.Provenance.BenchmarkDirty != result.Clean
		if x.Ref() != last {
			r.doc.Inputs = append(r.doc.Inputs, x.Ref())
		}
		last = x.Ref()
	}
	return r, r.tellApart()
}

// tellApart names the sides. A side that cannot be told is a failed invariant; a
// baseline that is not exactly one side is an error.
func (r *relative) tellApart() error {
	if at := slices.Index(r.values, ""); at >= 0 {
		r.fail("sides", "%s has no %s", r.results[at].IngestKey, r.Varying)
		return nil
	}
	names := slices.Compact(slices.Sorted(slices.Values(r.values)))
	var hits []string
	for i, v := range r.values {
		match := v == r.Baseline
		if r.Varying == VaryingTree {
			match = strings.HasPrefix(v, r.Baseline) || strings.HasPrefix(r.results[i].Revision.Key, r.Baseline)
		}
		if match && !slices.Contains(hits, v) {
			hits = append(hits, v)
		}
	}
	if len(hits) != 1 {
		return fault.New(fault.Incomparable, "judge", "baseline %q is %d sides", r.Baseline, len(hits)).
			Help("the sides are %s", strings.Join(names, " and "))
	}
	r.doc.Baseline = hits[0]
	if len(names) != 2 {
		r.fail("two-sides", "%d sides: %s", len(names), strings.Join(names, ", "))
		return nil
	}
	r.doc.Contender = names[0]
	if names[0] == hits[0] {
		r.doc.Contender = names[1]
	}
	return nil
}

func (r *relative) fail(invariant, format string, args ...any) {
	r.doc.FailedInvariants = append(r.doc.FailedInvariants, failedInvariant{Invariant: invariant, Detail: fmt.Sprintf(format, args...)})
}

// invariants checks what both sides have to share, and reports whether there is
// anything to judge.
func (r *relative) invariants() bool {
	if len(r.doc.FailedInvariants) > 0 {
		return false
	}
	for _, part := range r.Profile.agree() {
		if _, same := r.texts(part.read); !same {
			r.fail("sides-agree", "%s differs", part.path)
		}
	}
	if r.Profile == Environments {
		if subjects, _ := r.texts(subjectText); subjects[baseline] == subjects[contender] {
			r.fail("sides-differ", "both sides report the same subject")
		}
	}
	r.alternation()
	if r.Profile == Revisions {
		for _, x := range r.results {
			if x.Provenance.SubjectDirty != result.Clean {
				r.fail("clean-tree", "%s was measured on a %s tree", x.IngestKey, x.Provenance.SubjectDirty)
				break
			}
		}
	}
	return len(r.doc.FailedInvariants) == 0
}

// texts reads one part of every result: the spellings of each side, sorted and
// joined, and whether there is only one in all.
func (r *relative) texts(read func(*result.Result) string) (sides [2]string, same bool) {
	seen := [2][]string{}
	for i, x := range r.results {
		at := baseline
		if r.values[i] != r.doc.Baseline {
			at = contender
		}
		if t := read(x); !slices.Contains(seen[at], t) {
			seen[at] = append(seen[at], t)
		}
	}
	for at := range seen {
		slices.Sort(seen[at])
		sides[at] = strings.Join(seen[at], "\x00")
	}
	return sides, len(seen[baseline]) == 1 && slices.Equal(seen[baseline], seen[contender])
}

func subjectText(x *result.Result) string {
	return string(canon.MustFrom(x.Coordinates.Subject).Canonical())
}

// alternation wants every slot to belong to one side, and the next slot to the
// other one.
func (r *relative) alternation() {
	slots := map[int]string{}
	var order []int
	for i, x := range r.results {
		if x.Procedure.Slot == nil {
			r.fail("alternation", "%s has no slot", x.IngestKey)
			return
		}
		slot := *x.Procedure.Slot
		known, seen := slots[slot]
		if seen && known != r.values[i] {
			r.fail("alternation", "slot %d belongs to both sides", slot)
			return
		}
		if !seen {
			slots[slot] = r.values[i]
			order = append(order, slot)
		}
	}
	slices.Sort(order)
	for i := 1; i < len(order); i++ {
		if slots[order[i-1]] == slots[order[i]] {
			r.fail("alternation", "slots %d and %d are of one side", order[i-1], order[i])
			return
		}
	}
}
