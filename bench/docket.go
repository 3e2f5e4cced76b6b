package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"writ/internal/docket"
)

// demoLimit is how long the whole way may take.
const demoLimit = time.Minute

// benchDocket makes a docket with the demo and verifies it over and over.
func benchDocket(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tour := filepath.Join(dir, "tour")
	start := time.Now()
	if out, err := exec.CommandContext(ctx, s.writ, "demo", "--dir", tour).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("demo: %w\n%s", err, out)
	}
	demo := time.Since(start)
	trust, err := docket.ReadTrust(filepath.Join(tour, "trust.json"))
	if err != nil {
		return nil, err
	}
	b, err := readDocket(filepath.Join(tour, "docket.json"))
	if err != nil {
		return nil, err
	}
	took, documents := times(nil), 0
	for start = time.Now(); time.Since(start) < s.span; {
		t := time.Now()
		r := docket.Verify(b, trust)
		if r.Answer != docket.Verified {
			return nil, fmt.Errorf("the demo's docket: %w", r.Err())
		}
		took, documents = append(took, time.Since(t)), r.Documents
	}
	one := took.sorted().at(0.5)
	perSecond := float64(documents) / one.Seconds()
	return []figure{
		{
			What: "docket verify", Value: fmt.Sprintf("%.0f documents/s, %s for a docket of %d", perSecond, show(one), documents),
			Numbers: map[string]float64{"documents_per_second": perSecond, "docket_ms": millis(one), "documents": float64(documents)},
		},
		limited(figure{
			What: "demo, from nothing to a verified docket", Value: show(demo), Beside: "limit " + demoLimit.String(),
			Numbers: map[string]float64{"seconds": demo.Seconds(), "limit_seconds": demoLimit.Seconds()},
		}, demo.Seconds(), demoLimit.Seconds()),
	}, nil
}

func readDocket(path string) (*docket.Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return docket.Read(f)
}
