package cmdline

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/canon"
	"writ/internal/order"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is a folder with programs, and with something that is none.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "bin/other": 0o755, "data": 0o644, "odd name": 0o755} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func orderOf(dir, suite string, parameters any) order.Order {
	s := order.Suite{Adapter: "x", Suite: suite}
	if parameters != nil {
		s.Parameters = canon.MustFrom(parameters)
	}
	return order.Order{Suites: []order.Suite{s}, Target: order.Target{Kind: order.WorkingTree, Path: dir}}
}
