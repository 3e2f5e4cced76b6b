package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Results that are brought to a store: cases, rounds, two sides.
const (
	storedCases  = 500
	storedRounds = 10
)

// benchHistory puts a folder of results into a new store, and the same again, with
// the command that users have: files are read, checked, decided on and durable.
func benchHistory(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	from := filepath.Join(dir, "results")
	n, err := writeResults(from, storedCases, storedRounds)
	if err != nil {
		return nil, err
	}
	var first, again times
	for start := time.Now(); len(first) < 3 || time.Since(start) < s.span && len(first) < maxRounds; {
		store := filepath.Join(dir, fmt.Sprintf("%d.db", len(first)))
		for _, turn := range []struct {
			took *times
			want string
		}{{&first, fmt.Sprintf("ingested %d, duplicate 0\n", n)}, {&again, fmt.Sprintf("ingested 0, duplicate %d\n", n)}} {
			t := time.Now()
			out, err := exec.CommandContext(ctx, s.writ, "ingest", from, "--store", store).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), turn.want) {
				return nil, fmt.Errorf("writ ingest: %w\n%s", err, out)
			}
			*turn.took = append(*turn.took, time.Since(t))
		}
		if err := os.Remove(store); err != nil {
			return nil, err
		}
	}
	perSecond := func(t times) float64 { return float64(n) / t.sorted().at(0.5).Seconds() }
	a, b := perSecond(first), perSecond(again)
	return []figure{
		{
			What: fmt.Sprintf("history: %d result files into a new store", n), Value: fmt.Sprintf("%.0f files/s", a),
			Numbers: map[string]float64{"files_per_second": a, "files": float64(n)},
		},
		{What: "history: the same files again", Value: fmt.Sprintf("%.0f files/s", b), Numbers: map[string]float64{"files_per_second": b}},
	}, nil
}
