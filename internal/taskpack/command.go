package taskpack

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"writ/internal/canon"
)

// Effect classes of a step. Nothing else can be planned.
const (
	Observation = "observation"
	Mutation    = "contained-mutation"
)

// The shipped command profiles.
const (
	ProfileBenchmarkList    = "command-profile:benchmark-list"
	ProfileTests            = "command-profile:tests"
	ProfileBenchmarkCompare = "command-profile:benchmark-compare"
)

// Sides of a change on which a command runs.
const (
	OnBase    = "base"
	OnChanged = "changed"
	OnBoth    = "both"
)

// benchPrefix begins the argument that selects benchmarks; any other argument is
// a package pattern.
const benchPrefix = "bench="

// packagesSlot is replaced by the selected packages in an argv template.
const packagesSlot = "{packages}"

// CommandProfile is a host-owned document that turns a command step into exact
// work. A candidate picks one by name and may narrow it by arguments of the two
// kinds that it admits; it can add no flag and no program.
type CommandProfile struct {
	Ref        string
	Effect     string   // Observation, Mutation, or "" when nobody declared it
	Enforced   bool     // the owner enforces the declared effect
	On         string   // OnBase, OnChanged or OnBoth
	Argv       []string // template; empty when Harness does the work
	Harness    string   // benchmark harness that does the work, "" for Argv
	Quantities []string // what the harness measures, in its own names
	Rounds     int      // pairs of processes that a comparison runs; 0 when it compares nothing
	Seconds    int      // limit for one process
	Packages   []string // packages when the step names none
	Benchmarks string   // benchmarks when the step names none, as a Go -bench pattern; "" when it takes none
}

// Commands returns the shipped profiles: listing the benchmarks of the base
// (an observation that the owner enforces: the listing gets a read-only tree),
// the tests of the changed tree, and the comparison of both sides.
func Commands() []CommandProfile {
	return []CommandProfile{
		{
			Ref: ProfileBenchmarkList, Effect: Observation, Enforced: true, On: OnBase,
			Harness: "gobench", Seconds: 300, Packages: []string{"./..."}, Benchmarks: ".",
		},
		{
			Ref: ProfileTests, Effect: Mutation, Enforced: true, On: OnChanged,
			Argv: []string{"go", "test", "-count=1", packagesSlot}, Seconds: 900, Packages: []string{"./..."},
		},
		{
			Ref: ProfileBenchmarkCompare, Effect: Mutation, Enforced: true, On: OnBoth,
			Harness: "gobench", Quantities: []string{"wall-time"}, Rounds: 10, Seconds: 300,
			Packages: []string{"./..."}, Benchmarks: ".",
		},
	}
}

// Value is the profile as a document.
func (c CommandProfile) Value() canon.Value {
	return canon.MustFrom(map[string]any{
		"schema": "writ.command-profile/v1", "profile/ref": c.Ref, "effect/mode": c.Effect, "effect/enforced": c.Enforced,
		"on": c.On, "argv": c.Argv, "harness": c.Harness, "quantities": c.Quantities, "rounds": c.Rounds,
		"seconds": c.Seconds, "packages": c.Packages, "benchmarks": c.Benchmarks,
	})
}

// Digest pins the profile.
func (c CommandProfile) Digest() string { return digest(c.Value()) }

// Selection is what a step asks of a command profile.
type Selection struct {
	Packages   []string // package patterns below the module, never empty
	Benchmarks string   // Go -bench pattern, "" when the profile takes none
}

// Select reads the arguments of a step. Each is a package pattern below the
// module ("./...", "./canon") or, where the profile runs benchmarks, at most one
// "bench=PATTERN". Anything else, above all whatever looks like a flag, is
// refused with plan/outside-profile and the index of the argument.
func (c CommandProfile) Select(arguments []string) (Selection, error) {
	s := Selection{Benchmarks: c.Benchmarks}
	named := false
	for i, a := range arguments {
		at := canon.PointerToIndex("/arguments", i)
		if pattern, ok := strings.CutPrefix(a, benchPrefix); ok {
			if c.Benchmarks == "" || named || !isBenchPattern(pattern) {
				return Selection{}, refuse(OutsideProfile, "%s does not take %q", c.Ref, a).At(at)
			}
			s.Benchmarks, named = pattern, true
			continue
		}
		if !isPackagePattern(a) {
			return Selection{}, refuse(OutsideProfile, "%q is not a package below the module", a).At(at)
		}
		s.Packages = append(s.Packages, a)
	}
	if len(s.Packages) == 0 {
		s.Packages = slices.Clone(c.Packages)
	}
	return s, nil
}

// Command expands the argv template for a selection; nil for a profile whose
// work a harness does. The outcome is handed to the program as it is, without a
// shell.
func (c CommandProfile) Command(s Selection) []string {
	var argv []string
	for _, a := range c.Argv {
		if a == packagesSlot {
			argv = append(argv, s.Packages...)
			continue
		}
		argv = append(argv, a)
	}
	return argv
}

// isPackagePattern accepts "." and "./…" in clean form, where the last element
// may be "...".
func isPackagePattern(s string) bool {
	if s == "." {
		return true
	}
	rest, ok := strings.CutPrefix(s, "./")
	if !ok || rest == "" || path.Clean(rest) != rest || strings.HasPrefix(rest, "../") || rest == ".." {
		return false
	}
	for element := range strings.SplitSeq(rest, "/") {
		if element == "..." {
			continue
		}
		if strings.HasPrefix(element, ".") || strings.HasPrefix(element, "-") || strings.Contains(element, "...") {
			return false
		}
	}
	return strings.IndexFunc(rest, func(r rune) bool { return odd(r) && r != '/' || r == ' ' }) < 0
}

// isBenchPattern accepts a slash-separated list of regular expressions, as
// go test -bench takes it.
func isBenchPattern(s string) bool {
	if s == "" || len(s) > 512 || !utf8.ValidString(s) {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if _, err := regexp.Compile(part); err != nil {
			return false
		}
	}
	return true
}
