package runner

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

// BenchmarkCase is everything that one case costs around an empty program:
// conditions of the machine, process, artifacts, document and accounting, all of
// it on disk. The bare program runs in turns with it, for comparison.
func BenchmarkCase(b *testing.B) {
	s := harnesstest.New(b)
	s.Commit(b)
	o, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Requester: order.Requester{Kind: order.Person, Name: "ann"},
		Suites: []order.Suite{{Adapter: "scripts", Suite: "go.mod"}}, Quantities: []string{"wall-time"},
		Target:    order.Target{Kind: order.BuildTree, Path: s.Dir, SourceDir: s.Dir, Source: order.Source{URI: "https://example.org/demo.git"}},
		Precision: order.Precision{Repetitions: order.Times(1)}, Timeouts: order.Timeouts{CaseS: 60, OrderS: 36000}, Plan: plan("echo s"),
	})
	if err != nil {
		b.Fatal(err)
	}
	p, done, err := Params{Order: o, Dir: b.TempDir(), Harnesses: harness.Set{scripts{}}}.settle(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	r, err := accept(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	if err := r.open(); err != nil {
		b.Fatal(err)
	}
	c := r.cases[0]
	var kept, bare []time.Duration
	for b.Loop() {
		t0 := time.Now()
		a, err := r.attempt(b.Context(), c, moment{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.write(c, a); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		if err := exec.Command("/bin/sh", "-c", "echo s").Run(); err != nil {
			b.Fatal(err)
		}
		kept, bare = append(kept, t1.Sub(t0)), append(bare, time.Since(t1))
		c.index++
		r.account.Entries = nil // of one case, as planned
	}
	slices.Sort(kept)
	slices.Sort(bare)
	m := len(kept) / 2
	b.ReportMetric(float64(kept[m]), "case-ns")
	b.ReportMetric(float64(bare[m]), "bare-ns")
	b.ReportMetric(float64(kept[m])/float64(bare[m]), "ratio")
}
