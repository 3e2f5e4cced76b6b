package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"writ/internal/canon"
	"writ/internal/result"
)

const (
	baseTree = "1111111111111111111111111111111111111111"
	headTree = "2222222222222222222222222222222222222222"
)

// writeResults writes the results of a comparison of many cases: one document per
// case, side and round, as a run writes them. It returns how many there are.
func writeResults(dir string, pairs, rounds int) (n int, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(19, 1))
	for round := range rounds {
		for at, tree := range []string{baseTree, headTree} {
			slot := 2*round + at
			if round%3 == 0 {
				slot = 2*round + 1 - at
			}
			for i := range pairs {
				x, err := oneResult(tree, i, round, slot, 1e-3*(1+.02*r.NormFloat64()))
				if err != nil {
					return 0, err
				}
				if err := os.WriteFile(filepath.Join(dir, x.FileName()), x.Raw(), 0o644); err != nil {
					return 0, err
				}
				n++
			}
		}
	}
	return n, nil
}

// oneResult is one process of one case.
func oneResult(tree string, i, round, slot int, value float64) (result.Result, error) {
	system := map[string]any{
		"kernel": "Linux 6.18", "cpu": map[string]any{"model": "made up", "cores": 2, "governor": "performance", "microcode": "0x1"},
		"memory_bytes": 8 << 30, "toolchain": map[string]string{"go": "go1.26.8"}, "sysctl": map[string]int{"kernel.randomize_va_space": 2, "vm.swappiness": 60},
	}
	return result.New(result.Document{
		Producer:   result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"},
		AttemptKey: fmt.Sprintf("urn:benchx:attempt:%.8s:%d:%d", tree, round, i),
		Project:    "suite", Source: result.Source{URI: "https://example.org/suite", Type: "git"}, Revision: result.Revision{Key: tree},
		Coordinates: result.Coordinates{
			Workload:          result.Workload{Name: fmt.Sprintf("BenchmarkCase%05d", i)},
			Subject:           result.Subject{Name: "suite", Components: []result.Component{{Role: result.Primary}}},
			Quantity:          result.Quantity{Name: "wall-time", Unit: "s", Direction: result.LowerIsBetter},
			ComparisonContext: canon.MustFrom(map[string]any{"harness": map[string]string{"name": "go test"}, "protocol": map[string]any{"schedule": map[string]any{"kind": "random", "seed": 7}}}),
			Environment:       result.Environment{Schema: "machine/v1", Identity: canon.MustFrom(map[string]string{"runner": "h"}), System: canon.MustFrom(system)},
		},
		Measurement: result.Measurement{Status: result.Success, Observations: result.Values(value)},
		Procedure:   result.Procedure{Round: &round, Slot: &slot},
		Provenance: result.Provenance{
			RunKey: "bench.compare.1", StartedAt: "2026-01-02T03:04:05Z", EndedAt: "2026-01-02T03:04:06Z",
			SubjectDirty: result.Clean, BenchmarkDirty: result.Clean, SubjectTree: tree, BenchmarkTree: tree,
			Runner: &result.Runner{Name: "writ", Version: "bench"}, OriginalUnit: "ns/op",
			Artifacts: []result.Artifact{{Kind: result.ArtifactStdout, MediaType: "text/plain", URI: "file:///stdout", SHA256: fmt.Sprintf("%064x", i)}},
		},
	})
}
