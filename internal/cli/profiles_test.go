package cli

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"writ/internal/canon"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

// shape makes a result one of another kind of sides than two revisions.
func (s scenario) shape(d *result.Document, side string) {
	contends := side == "contender"
	if s.profile == "" {
		return
	}
	d.Revision.Key, d.Provenance.SubjectTree, d.Provenance.BenchmarkTree = "base", baseTree, baseTree
	name := func(base, cont string) string {
		if contends {
			return cont
		}
		return base
	}
	switch s.profile {
	case verdict.Environments:
		d.Provenance.Labels["build"] = name("plain", "hardened")
	case verdict.Variants:
		d.Coordinates.Workload.Parameters = map[string]canon.Value{"role": canon.StringOf(name("old", "new"))}
	case verdict.CrossMachine:
		machine := name("near", "far")
		d.Coordinates.Environment.Identity = canon.MustFrom(map[string]string{"runner": machine})
		d.Provenance.References = []result.Reference{{Role: "anchor", Result: result.Ref{Producer: d.Producer.Name, IngestKey: machine + ":anchor"}}}
	}
}

// anchors writes the results that two machines are held together by: the far one
// takes three times as long.
func (s scenario) anchors(ts *testscript.TestScript, dir string) {
	if s.profile != verdict.CrossMachine {
		return
	}
	for side, value := range map[string]float64{"baseline": 1, "contender": 3} {
		_, r, err := s.attempt(side, baseTree, 0, 0)
		ts.Check(err)
		d := r.Document
		d.Coordinates.Workload.Name, d.AttemptKey, d.IngestKey = order.Token("Anchor"), "urn:benchx:attempt:anchor:"+side, d.Provenance.References[0].Result.IngestKey
		d.Provenance.References, d.Provenance.Info, d.Procedure = nil, nil, result.Procedure{}
		d.Measurement.Observations = result.Values(value)
		r, err = result.New(d)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, r.FileName()), r.Raw(), 0o644))
	}
}
