package history

import (
	"testing"

	"writ/internal/canon"
	"writ/internal/result"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// document is a result of one round of one side.
func document(t testing.TB, change func(*result.Document)) result.Document {
	t.Helper()
	round, slot := 0, 1
	d := result.Document{
		Producer: result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"}, AttemptKey: "urn:benchx:attempt:41d3b2be28538f65:0",
		Project: "demo", Source: result.Source{URI: "https://example.org/demo.git", Type: "git"}, Revision: result.Revision{Key: "abc"},
		Benchmark: &result.Benchmark{Source: result.Source{URI: "https://example.org/demo.git"}, Revision: &result.Revision{Key: "abc"}},
		Coordinates: result.Coordinates{
			Workload: result.Workload{Name: "BM/1024"},
			Subject:  result.Subject{Name: "demo", Components: []result.Component{{Role: result.Primary, Source: "https://example.org/demo.git"}}},
			Quantity: result.Quantity{Name: "wall-time", Unit: "s", Direction: result.LowerIsBetter},
			ComparisonContext: value(t, `{"harness":{"name":"go","version":"1.26"},"protocol":{
				"schedule":{"kind":"random","seed":1},"calibration":{"mode":"fixed","n_iterations":100,"calibrated_seconds":0.05}}}`),
			Environment: result.Environment{
				Schema: "machine/v1", Identity: value(t, `{"runner":"h","cpu":"c","cores":2}`), Metadata: value(t, `{"architecture":"amd64"}`), System: value(t, `{"kernel":"6.1"}`),
				Condition: map[string]result.Observed{"load.avg_1m": result.Saw(value(t, "0.5"), "1", result.Before, "/proc/loadavg")},
			},
		},
		Measurement: result.Measurement{Status: result.Success, Observations: result.Values(1e-3, 3e-3, 2e-3)},
		Procedure:   result.Procedure{Round: &round, Slot: &slot},
		Provenance: result.Provenance{
			RunKey: "run-1", StartedAt: "2026-01-02T03:04:05Z", SubjectDirty: result.Unknown, BenchmarkDirty: result.Unknown,
		},
	}
	if change != nil {
		change(&d)
	}
	return d
}

func build(t testing.TB, change func(*result.Document)) result.Result {
	t.Helper()
	r, err := result.New(document(t, change))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
