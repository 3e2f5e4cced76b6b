// Package mitata adapts scripts that use the JavaScript library mitata: one process
// per benchmark and combination of arguments.
//
// Invariants: the script gets a module that is mitata but for what decides which
// benchmarks run and how long; the times are of its own measure function, which trims
// and sorts the single calls, so that no order of theirs is claimed.
//
// The package never runs the reports of the library, nor its calibration of empty
// loops.
package mitata

import (
	_ "embed"

	"writ/internal/harness/javascript"
	"writ/internal/order"
)

// Name is the adapter name in orders.
const Name = "mitata"

//go:embed driver.mjs
var driver []byte

//go:embed shim.mjs
var shim []byte

// New makes the adapter. path is the search path for interpreters where an order has
// none; "" is that of this process.
func New(path string) javascript.Adapter { return javascript.Adapter{Spec: spec, Path: path} }

var spec = javascript.Spec{
	Name: Name, Package: "mitata", Module: "mitata", Least: [2]int{1, 0}, Extensions: []string{".mjs", ".js"}, Nanoseconds: true,
	Warmup: []string{order.None, order.Count}, Files: map[string][]byte{"driver.mjs": driver, "shim.mjs": shim},
}
