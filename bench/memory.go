package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"writ/internal/harness/customjson"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

const (
	observedCases   = 100
	observedSamples = 10_000 // of each case
	memoryLimit     = 50 << 20
)

// observer measures nothing: it writes the same samples for every case.
const observer = `#!/bin/sh
case "$1" in
--list) i=0; while [ $i -lt %d ]; do echo "case$i"; i=$((i+1)); done ;;
--case) sed "s/CASE/$2/" samples.json >"$6" ;;
esac
`

// benchMemory runs an order of a million observations and looks at the memory that
// the process had in use at most.
func benchMemory(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file, err := makeObserver(ctx, dir)
	if err != nil {
		return nil, err
	}
	k, err := proc.Start(ctx, proc.Isolation{}) // small, so that the peak is the program's own
	if err != nil {
		return nil, err
	}
	defer k.Close()
	r, err := k.Run(ctx, proc.Command{
		Argv: []string{s.writ, "run", file, "--out", filepath.Join(dir, "results"), "--no-ingest", "--quiet"}, Dir: dir, Env: os.Environ(),
	})
	if err != nil {
		return nil, err
	}
	if !r.OK() {
		return nil, fmt.Errorf("writ run ended with %d", r.Exit)
	}
	rss, n := float64(r.Usage.MaxRSS), observedCases*observedSamples
	return []figure{limited(figure{
		What: fmt.Sprintf("run: resident memory of %d observations", n), Value: fmt.Sprintf("%.1f MiB, %s", rss/(1<<20), show(r.Wall)),
		Beside: fmt.Sprintf("limit %d MiB", memoryLimit>>20), Numbers: map[string]float64{"max_rss_bytes": rss, "seconds": r.Wall.Seconds()},
	}, rss, memoryLimit)}, nil
}

// makeObserver puts the program into a checkout and writes an order for it.
func makeObserver(ctx context.Context, dir string) (file string, err error) {
	source := filepath.Join(dir, "observer")
	if err := os.Mkdir(source, 0o755); err != nil {
		return "", err
	}
	var samples strings.Builder
	samples.WriteString(`{"schema":"writ.samples/v1","case":"CASE","quantities":{"wall-time":{"unit":"ns","samples":[`)
	for i := range observedSamples {
		if i > 0 {
			samples.WriteByte(',')
		}
		fmt.Fprintf(&samples, "%d.%02d", 1000+i%977, i%89)
	}
	samples.WriteString("]}}}\n")
	for name, text := range map[string]string{"observe": fmt.Sprintf(observer, observedCases), "samples.json": samples.String()} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o755); err != nil {
			return "", err
		}
	}
	if err := checkIn(ctx, source); err != nil {
		return "", err
	}
	o, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Project: "bench", Requester: order.Requester{Kind: order.Person, Name: "bench"},
		Suites:     []order.Suite{{Adapter: customjson.Name, Suite: "observe"}},
		Quantities: []string{"wall-time"},
		Target:     order.Target{Kind: order.WorkingTree, Path: source, Source: order.Source{URI: "https://example.org/observer.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(observedSamples)},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 600},
	})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "observer.json")
	return file, os.WriteFile(file, o.Raw(), 0o644)
}
