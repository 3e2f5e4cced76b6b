// Package vitest adapts benchmark files of the JavaScript test runner vitest: one
// process per benchmark.
//
// Invariants: vitest loads the file with the configuration of its project; a runner
// that is put in through its own extension point finds the benchmark by its file, its
// suites and its name, and runs it alone; one that is marked as skipped is skipped.
//
// The package reads no report of vitest: there a benchmark that failed has a rank.
package vitest

import (
	_ "embed"

	"writ/internal/harness/javascript"
	"writ/internal/order"
)

// Name is the adapter name in orders.
const Name = "vitest"

//go:embed driver.mjs
var driver []byte

//go:embed runner.mjs
var runner []byte

// New makes the adapter. path is the search path for interpreters where an order has
// none; "" is that of this process.
func New(path string) javascript.Adapter { return javascript.Adapter{Spec: spec, Path: path} }

var spec = javascript.Spec{
	Name: Name, Package: "vitest", Module: "vitest/node", Least: [2]int{2, 0}, Prefixes: []string{"VITEST"},
	Warmup: []string{order.None, order.Count, order.Time}, Files: map[string][]byte{"driver.mjs": driver, "runner.mjs": runner},
}
