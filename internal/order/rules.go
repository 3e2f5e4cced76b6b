package order

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// rules collects broken rules with their places.
type rules struct{ broken []fault.Field }

func (r *rules) add(rule, got string, path ...string) {
	pointer := ""
	for _, p := range path {
		pointer = canon.PointerTo(pointer, p)
	}
	r.broken = append(r.broken, fault.Field{Pointer: pointer, Rule: rule, Got: got})
}

// check returns every rule that o breaks beyond its schema.
func check(o Order) []fault.Field {
	var r rules
	r.suites(o)
	r.quantities(o)
	r.names(o)
	r.precision(o)
	r.collectors(o)
	r.pinned(o)
	r.components(o)
	r.plan(o)
	if o.Timeouts.OrderS < o.Timeouts.CaseS {
		r.add("limit of the order must not be below the limit of one case", "", "timeouts", "order_s")
	}
	return r.broken
}

func (r *rules) suites(o Order) {
	for i, s := range o.Suites {
		if s.Filter != "" && len(s.Include)+len(s.Exclude) > 0 {
			r.add("filter excludes include and exclude", s.Filter, "suites", strconv.Itoa(i), "filter")
		}
		if at := slices.Index(s.Include, ""); at >= 0 {
			r.add("pattern must not be empty", "", "suites", strconv.Itoa(i), "include", strconv.Itoa(at))
		}
		if at := slices.Index(s.Exclude, ""); at >= 0 {
			r.add("pattern must not be empty", "", "suites", strconv.Itoa(i), "exclude", strconv.Itoa(at))
		}
	}
}

func (r *rules) quantities(o Order) {
	seen := map[string]bool{}
	for i, q := range o.Quantities {
		if seen[q] {
			r.add("quantity is listed twice", q, "quantities", strconv.Itoa(i))
		}
		seen[q] = true
	}
}

// Variables that a harness reads as its own options. Setting them would change
// the measurement behind the precision that is recorded.
var (
	harnessPrefixes = []string{"BENCHMARK_", "CRITERION_"}
	harnessNames    = []string{"PYTEST_ADDOPTS", "GOFLAGS"}
)

// AltersHarness reports whether an environment variable changes how a harness
// measures, so that no order may set it.
func AltersHarness(name string) bool {
	return slices.Contains(harnessNames, name) ||
		slices.ContainsFunc(harnessPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func (r *rules) names(o Order) {
	for _, name := range slices.Sorted(maps.Keys(o.EnvironmentVariables)) {
		if AltersHarness(name) {
			r.add("variable alters the harness; use precision", name, "environment_variables", name)
		}
		if _, both := o.WorkloadParameters[name]; both {
			r.add("name is also an environment variable", name, "workload_parameters", name)
		}
	}
}

func (r *rules) precision(o Order) {
	seen := map[string]bool{}
	for i, l := range o.Precision.Repetitions.Levels {
		if seen[l.Unit] {
			r.add("level is listed twice", l.Unit, "precision", "repetitions", "levels", strconv.Itoa(i), "unit")
		}
		seen[l.Unit] = true
	}
}

func (r *rules) collectors(o Order) {
	seen := map[string]bool{}
	for i, c := range o.Collectors {
		at := strconv.Itoa(i)
		if seen[c.Name] {
			r.add("collector is listed twice", c.Name, "collectors", at, "name")
		}
		seen[c.Name] = true
		if c.Verify != "" && o.Target.HowBuilt.Kind() != canon.Object {
			r.add("there is no object how_built to verify", "", "collectors", at, "verify")
		}
	}
}

// pinned refuses names that move: they must be resolved by whoever asks for the
// measurement, for all sides at once, never against the clone of one runner.
func (r *rules) pinned(o Order) {
	look := func(revision string, path ...string) {
		if moves(revision) {
			r.add("revision names a branch, not a commit", revision, path...)
		}
	}
	look(o.Target.Revision, "target", "revision")
	if o.Benchmark != nil {
		look(o.Benchmark.Revision, "benchmark", "revision")
	}
	for i, c := range o.Components {
		look(c.Revision, "components", strconv.Itoa(i), "revision")
	}
}

// components refuses a second primary part: that one is the target.
func (r *rules) components(o Order) {
	for i, c := range o.Components {
		if c.Role == "primary" {
			r.add("the primary component is the target itself", c.Role, "components", strconv.Itoa(i), "role")
		}
	}
}

// moves reports whether a revision is surely a branch or a symbolic name. Tags
// pass: they cannot be told from other fixed names.
func moves(revision string) bool {
	switch revision {
	case "HEAD", "main", "master", "trunk", "develop", "dev":
		return true
	}
	return strings.HasPrefix(revision, "refs/heads/") || strings.HasPrefix(revision, "refs/remotes/") ||
		strings.HasPrefix(revision, "origin/")
}

func (r *rules) plan(o Order) {
	type pair struct{ name, quantity string }
	ids, pairs := map[string]bool{}, map[pair]bool{}
	for i, e := range o.Plan {
		at := strconv.Itoa(i)
		if ids[e.ID] {
			r.add("plan id is used twice", e.ID, "plan", at, "id")
		}
		ids[e.ID] = true
		if p := (pair{e.Case, e.Quantity}); pairs[p] {
			r.add("case and quantity are planned twice", e.Case+" "+e.Quantity, "plan", at)
		} else {
			pairs[p] = true
		}
		if !slices.Contains(o.Quantities, e.Quantity) {
			r.add("quantity is not one of the order's", e.Quantity, "plan", at, "quantity")
		}
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
