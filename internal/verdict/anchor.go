package verdict

import (
	"slices"

	"writ/internal/result"
)

// anchorRole is the role of a reference to the result that ties a machine to
// another one: the same workload of the same code, measured on both.
const anchorRole = "anchor"

// anchors are the results that machines are held against, by name. Every value of
// a machine is counted in units of its anchor, so that what is compared is how
// the case does beside it and not which machine is faster.
type anchors map[result.Ref]*result.Result

// anchorOf names the anchor of a result.
func anchorOf(r *result.Result) (result.Ref, bool) {
	for _, ref := range r.Provenance.References {
		if ref.Role == anchorRole {
			return ref.Result, true
		}
	}
	return result.Ref{}, false
}

// anchorsOf finds the anchors of a comparison of two machines, takes them out of
// the rows, and adds what is wrong with them to failed.
func (s *evidenceSet) anchorsOf(p Params, failed []Failure) (anchors, []Failure) {
	if p.Profile != CrossMachine {
		return nil, failed
	}
	c := collector{failed: failed, seen: map[string]bool{}}
	found := anchors{}
	for _, r := range s.results {
		if ref, ok := anchorOf(r); ok {
			found[ref] = nil
		}
	}
	var first *result.Result
	for _, r := range s.results {
		if _, ok := found[r.Ref()]; !ok {
			continue
		}
		found[r.Ref()] = r
		if first == nil {
			first = r
		} else if p.Profile.pair(first).key() != p.Profile.pair(r).key() || first.Provenance.SubjectTree != r.Provenance.SubjectTree || !result.SameSettings(first, r) {
			c.add("anchor", "%s and %s are not one workload of one tree", first.IngestKey, r.IngestKey)
		}
	}
	for _, r := range s.results {
		if _, is := found[r.Ref()]; is {
			continue
		}
		ref, ok := anchorOf(r)
		switch {
		case !ok:
			c.add("anchor", "%s names no anchor", r.IngestKey)
		case found[ref] == nil:
			c.add("anchor", "the anchor %s of %s is not there", ref.IngestKey, r.IngestKey)
		case !result.SameEnvironment(found[ref], r):
			c.add("anchor", "%s and its anchor come from different environments", r.IngestKey)
		}
	}
	for k, u := range s.units {
		for at := range u.got {
			u.got[at] = slices.DeleteFunc(u.got[at], func(r *result.Result) bool { _, is := found[r.Ref()]; return is })
		}
		if len(u.got[baseline])+len(u.got[contender]) == 0 && p.Planned == nil {
			delete(s.units, k)
		}
	}
	return found, c.failed
}

// scale counts a value in units of its anchor.
func (a anchors) scale(r *result.Result, v float64, measure string) (float64, string) {
	ref, _ := anchorOf(r)
	anchor := a[ref]
	if anchor == nil {
		return 0, "no-anchor"
	}
	info, _ := result.Known(anchor.Coordinates.Quantity.Name)
	unit, reason := attempt(anchor, info.Centre, measure)
	if reason != "" {
		return 0, "anchor-" + reason
	}
	return v / unit, ""
}
