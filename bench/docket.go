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

// benchDocket makes a docket with the demo and verifies it over and over.
func benchDocket(ctx context.Context, writ string, span time.Duration) ([]figure, error) {
	dir, err := os.MkdirTemp("", "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	start := time.Now()
	if out, err := exec.CommandContext(ctx, writ, "demo", "--dir", filepath.Join(dir, "tour")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("demo: %w\n%s", err, out)
	}
	demo := time.Since(start)
	trust, err := docket.ReadTrust(filepath.Join(dir, "tour", "trust.json"))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, "tour", "docket.json"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := docket.Read(f)
	if err != nil {
		return nil, err
	}
	n, report := 0, docket.Report{}
	start = time.Now()
	for time.Since(start) < span {
		if report = docket.Verify(b, trust); report.Answer != docket.Verified {
			return nil, fmt.Errorf("the demo's docket: %w", report.Err())
		}
		n++
	}
	took := time.Since(start)
	const limit = time.Minute
	return []figure{
		{what: "docket verify", value: fmt.Sprintf("%.0f documents/s, %s for one docket of %d", float64(n*report.Documents)/took.Seconds(), (took / time.Duration(n)).Round(time.Millisecond), report.Documents)},
		{what: "demo, from start to verified docket", value: demo.Round(100 * time.Millisecond).String(), beside: "limit " + limit.String(), ratio: demo.Seconds() / limit.Seconds(), floor: 1, atMost: true},
	}, nil
}
