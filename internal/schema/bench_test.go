package schema

import (
	"strings"
	"testing"

	"writ/internal/canon"
)

func BenchmarkValidate(b *testing.B) {
	for _, c := range []struct {
		id   ID
		name string
	}{{RunRequested, "event"}, {ExperimentProposal, "task-pack"}, {WorkOrder, "full"}, {MeasurementResult, "full"}, {DeliveryAuthority, "busy"}} {
		v := sampleOf(b, c.id, c.name)
		b.Run(string(c.id), func(b *testing.B) {
			b.ReportMetric(float64(len(v.Canonical())), "doc-bytes")
			b.ReportAllocs()
			for b.Loop() {
				if err := Validate(c.id, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExplain is the price of a refusal.
func BenchmarkExplain(b *testing.B) {
	v := sampleOf(b, RunRequested, "event").With("autonomy", canon.IntOf(4)).Without("goal")
	for b.Loop() {
		if Validate(RunRequested, v) == nil {
			b.Fatal("accepted")
		}
	}
}

// BenchmarkFirstUse compiles every schema as a fresh process would.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		c := newCompiler(files)
		if _, err := c.compile(WorkOrder); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstAccept is the first use of a schema for a valid document.
func BenchmarkFirstAccept(b *testing.B) {
	v := sampleOf(b, WorkOrder, "full")
	for b.Loop() {
		docs := map[string]any{} // in place of what source remembers
		find := func(location string) any {
			address, fragment, _ := strings.Cut(location, "#")
			if docs[address] == nil {
				var err error
				if docs[address], err = (loader{files}).Load(address); err != nil {
					b.Fatal(err)
				}
			}
			return follow(docs[address], fragment)
		}
		if !acceptorOf(base+string(WorkOrder)+suffix+"#", find).accepts(v) {
			b.Fatal("refused")
		}
	}
}
