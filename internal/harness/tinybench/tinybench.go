// Package tinybench adapts scripts and modules that use the JavaScript library
// tinybench: one process per task.
//
// Invariants: a script is run as it is, and its benches by themselves; a task is
// called by its bench and its own name; only the task of the case is left in its
// bench, and the script ends with it.
//
// The package keeps no times of single calls.
package tinybench

import (
	_ "embed"

	"writ/internal/harness/javascript"
	"writ/internal/order"
)

// Name is the adapter name in orders.
const Name = "tinybench"

//go:embed driver.mjs
var driver []byte

// New makes the adapter. path is the search path for interpreters where an order has
// none; "" is that of this process.
func New(path string) javascript.Adapter { return javascript.Adapter{Spec: spec, Path: path} }

var spec = javascript.Spec{
	Name: Name, Package: "tinybench", Module: "tinybench", Least: [2]int{3, 0}, Extensions: []string{".mjs", ".js"},
	Warmup: []string{order.None, order.Count, order.Time}, Files: map[string][]byte{"driver.mjs": driver},
}
