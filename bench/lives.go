package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/internal/result"
)

// life is the time in which a child of a run lived, by its result.
type life struct{ from, to time.Time }

// livesOf reads the results in dir, all of which must be successes, in the order in
// which their children were started.
func livesOf(dir string) ([]life, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []life
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "workorder-") {
			continue
		}
		l, err := lifeOf(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no results in %s", dir)
	}
	slices.SortFunc(out, func(a, b life) int { return a.from.Compare(b.from) })
	return out, nil
}

func lifeOf(name string) (l life, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return l, err
	}
	r, err := result.Parse(b)
	if err != nil {
		return l, err
	}
	if r.Measurement.Status != result.Success {
		return l, fmt.Errorf("%s (%s)", r.Measurement.Status, r.Measurement.Reason)
	}
	if l.from, err = time.Parse(time.RFC3339Nano, r.Provenance.StartedAt); err == nil {
		l.to, err = time.Parse(time.RFC3339Nano, r.Provenance.EndedAt)
	}
	return l, err
}
