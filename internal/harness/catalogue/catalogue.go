// Package catalogue lists the adapters of this build.
//
// Invariants: each adapter has its own name; the list is made anew for every
// caller and nothing registers itself behind anybody's back.
package catalogue

import (
	"runtime"

	"writ/internal/harness"
	"writ/internal/harness/asv"
	"writ/internal/harness/command"
	"writ/internal/harness/criterion"
	"writ/internal/harness/customjson"
	"writ/internal/harness/gobench"
	"writ/internal/harness/googlebenchmark"
	"writ/internal/harness/hyperfine"
	"writ/internal/harness/jmh"
	"writ/internal/harness/mitata"
	"writ/internal/harness/pyperf"
	"writ/internal/harness/pytestbenchmark"
	"writ/internal/harness/tinybench"
	"writ/internal/harness/vitest"
)

// All returns every adapter, in the order of their names, set up for this machine.
func All() harness.Set {
	return harness.Set{
		asv.Adapter{},
		command.Adapter{},
		criterion.Adapter{},
		customjson.Adapter{},
		gobench.Adapter{Processors: runtime.GOMAXPROCS(0)},
		googlebenchmark.Adapter{},
		hyperfine.Adapter{},
		jmh.Adapter{},
		mitata.New(""),
		pyperf.Adapter{},
		pytestbenchmark.Adapter{},
		tinybench.New(""),
		vitest.New(""),
	}
}
