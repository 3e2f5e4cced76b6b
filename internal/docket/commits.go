package docket

import (
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/result"
	"writ/internal/taskpack"
)

func cutPath(p string) (dir, rest string, ok bool) { return strings.Cut(p, "/") }

// commits are the commits that the documents name; base is the one that the
// candidate changes.
func (b *Bundle) commits() (all []string, base string) {
	for _, d := range b.Documents {
		switch d.Kind {
		case ledger.KindResult:
			if r, err := result.Parse([]byte(d.Body)); err == nil {
				all = append(all, r.Revision.Key)
			}
		case ledger.KindDocketBinding:
			if v, err := canon.Parse([]byte(d.Body)); err == nil {
				if body, _, err := landing.ParseProducer(v); err == nil {
					if binding, ok := body.(*landing.DocketBinding); ok {
						all = append(all, binding.BaseHead, binding.SourceHead)
					}
				}
			}
		case ledger.KindAdmission:
			if v, err := canon.Parse([]byte(d.Body)); err == nil {
				all = append(all, v.Str("mergeGroupHead"))
			}
		case ledger.KindProposal:
			if v, err := canon.Parse([]byte(d.Body)); err == nil {
				c, _ := v.Get("candidate")
				if _, commit, ok := strings.Cut(c.Str("ref"), "@"); ok {
					base = commit
					all = append(all, commit)
				}
			}
		}
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(id string) bool { return id == "" })
	return all, base
}

// paths are the paths that the patches of the docket touch.
func (b *Bundle) paths() []string {
	var out []string
	for _, x := range b.Blobs {
		p, err := taskpack.ParsePatch(x.Body)
		if err != nil {
			continue // not a patch
		}
		for _, f := range p.Files {
			out = append(out, f.Path)
		}
	}
	return out
}
