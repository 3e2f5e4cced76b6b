package result

import (
	"sync"

	"writ/internal/canon"
)

// Pool keeps one of the parts that many results have in common: where they ran,
// and under which settings. A folder with thousands of results of one comparison
// then needs memory for one of each. The zero Pool is empty and ready; it is safe
// for concurrent use.
type Pool struct {
	mu       sync.Mutex
	settings map[canon.Digest]Coordinates
	places   map[canon.Digest]Environment
	subjects map[canon.Digest]Subject
}

// Share lets a result that was read have its parts in common with earlier ones. What
// it says stays the same.
func (p *Pool) Share(r *Result) {
	are := r.prints.get()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &r.Coordinates
	s := known(&p.settings, are.settings, *c)
	c.ComparisonContext, c.ResourceSelection, c.Workload.Dataset = s.ComparisonContext, s.ResourceSelection, s.Workload.Dataset
	e := known(&p.places, are.place, c.Environment)
	c.Environment.Schema, c.Environment.Identity, c.Environment.System = e.Schema, e.Identity, e.System
	c.Subject = known(&p.subjects, are.subject, c.Subject)
}

// known returns the part that was met first under a digest.
func known[T any](all *map[canon.Digest]T, key canon.Digest, part T) T {
	if first, ok := (*all)[key]; ok {
		return first
	}
	if *all == nil {
		*all = map[canon.Digest]T{}
	}
	(*all)[key] = part
	return part
}
