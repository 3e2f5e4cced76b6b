package cli

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/gitcmd"
	"writ/internal/ledger"
	"writ/internal/result"
)

// makePast writes one result for every commit of a repository, the newest commit
// measured first: past DIR REPO FROM FACTOR. From the commit with that number on,
// the oldest is 0, values are larger by the factor.
func makePast(ts *testscript.TestScript, _ bool, args []string) {
	dir, from := ts.MkAbs(args[0]), number(ts, args[2])
	factor, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	repo, err := gitcmd.Open(context.Background(), ts.MkAbs(args[1]))
	ts.Check(err)
	tip, err := repo.ResolveCommit(context.Background(), "HEAD")
	ts.Check(err)
	commits, err := repo.Ancestry(context.Background(), tip)
	ts.Check(err)
	ts.Check(os.MkdirAll(dir, 0o755))
	rng := rand.New(rand.NewPCG(1, 2))
	for i, commit := range commits {
		value := 1e-3 * (1 + .01*rng.Float64())
		if i >= from {
			value *= factor
		}
		r, err := result.New(ofCommit(commit, i, len(commits)-i, value))
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, r.FileName()), r.Raw(), 0o644))
	}
}

// makeDocket writes a docket that holds the results and orders of a folder:
// docketof FILE DIR
func makeDocket(ts *testscript.TestScript, _ bool, args []string) {
	b := docket.Bundle{Schema: docket.Schema}
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "*.json"))
	ts.Check(err)
	for _, name := range names {
		if filepath.Base(name) == "notes.json" {
			continue
		}
		raw, err := os.ReadFile(name)
		ts.Check(err)
		d := docket.Document{Kind: ledger.KindResult, Ref: filepath.Base(name), SHA256: canon.Sum(raw).Hex(), Body: string(raw)}
		if strings.HasPrefix(d.Ref, orderPrefix) {
			d.Kind = ledger.KindOrder
		}
		b.Documents = append(b.Documents, d)
	}
	b.Documents = append(b.Documents, docket.Document{Kind: ledger.KindVerdict, Ref: "v", Body: "{}"})
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(b.Write(f))
	ts.Check(f.Close())
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// ofCommit is the result of one commit, measured at a minute.
func ofCommit(commit string, n, minute int, value float64) result.Document {
	return result.Document{
		Producer:   result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"},
		AttemptKey: "urn:benchx:attempt:0000000000000000:" + strconv.Itoa(n),
		Project:    "sample", Source: result.Source{URI: "https://example.org/sample.git"}, Revision: result.Revision{Key: commit},
		Benchmark: &result.Benchmark{Source: result.Source{URI: "https://example.org/sample.git"}, Revision: &result.Revision{Key: commit}},
		Coordinates: result.Coordinates{
			Workload: result.Workload{Name: "BenchmarkA"}, Subject: result.Subject{Name: "sample", Components: []result.Component{{Role: result.Primary}}},
			Quantity:          result.Quantity{Name: "wall-time", Unit: "s", Direction: result.LowerIsBetter},
			ComparisonContext: canon.MustFrom(map[string]any{"harness": map[string]string{"name": "go", "version": "1.26"}}),
			Environment:       result.Environment{Schema: "machine/v1", Identity: canon.MustFrom(map[string]string{"runner": "h"})},
		},
		Measurement: result.Measurement{Status: result.Success, Observations: result.Values(value, value, value)},
		Provenance: result.Provenance{
			RunKey: "nightly-" + strconv.Itoa(n), StartedAt: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC).Format(time.RFC3339),
			SubjectDirty: result.Clean, BenchmarkDirty: result.Clean, SubjectTree: baseTree, BenchmarkTree: baseTree,
		},
	}
}
