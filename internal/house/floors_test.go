package house

import (
	"slices"
	"strings"
	"testing"
)

// room is a package and the floor it stands on.
type room struct {
	path   string // from the module root; "/..." at the end takes in what is below
	floor  int
	holds  string
	beside []string // packages of the same floor that it may import
}

// rooms is the plan of the house. A package imports downwards; along its own
// floor only where the plan says so.
var rooms = []room{
	{"internal/fault", 1, "closed error codes; everything may refuse", nil},
	{"internal/canon", 1, "strict JSON, canonical bytes, digests", []string{"internal/fault"}},
	{"internal/ident", 1, "ids, keys and tokens", []string{"internal/fault"}},

	{"internal/schema", 2, "the shapes of documents", nil},
	{"internal/ledger", 2, "the shape of one atomic commit", nil},

	{"internal/journal", 3, "events in their three forms", nil},
	{"internal/lane", 3, "runs and lanes; they are made of events", []string{"internal/journal"}},
	{"internal/proposal", 3, "the signed chain", nil},
	{"internal/taskpack", 3, "exact work compiled from an admitted proposal", []string{"internal/proposal"}},
	{"internal/order", 3, "work orders", nil},
	{"internal/result", 3, "measurement results, each of one order", []string{"internal/order"}},
	{"internal/policy", 3, "what an environment must be like", []string{"internal/order", "internal/result"}},
	{"internal/verdict", 3, "judging the results of orders", []string{"internal/order", "internal/result"}},
	{"internal/verdict/benchfile", 3, "benchmark files as what is judged", []string{"internal/verdict", "internal/order", "internal/result"}},
	{"internal/verdict/render", 3, "judgements in the formats of other tools", []string{"internal/verdict", "internal/verdict/benchfile", "internal/result"}},
	{"internal/history", 3, "what a store of results takes, and what its series show", []string{"internal/result", "internal/verdict"}},
	{"internal/noise", 3, "what unchanged code looks like on a machine", []string{"internal/order", "internal/result", "internal/verdict"}},
	{"internal/bisect", 3, "which commit made a difference", []string{"internal/verdict"}},
	{"internal/landing", 3, "who may land", nil},

	{"internal/blob", 4, "kept bytes", nil},
	{"internal/keyring", 4, "private keys in files", nil},
	{"internal/store/...", 4, "ledgers, and results, on a database", []string{"internal/store/..."}},
	{"internal/gitcmd", 4, "the git command", nil},
	{"internal/forge/...", 4, "remotes that changes land on", []string{"internal/gitcmd", "internal/forge/..."}},
	{"internal/runner/proc", 4, "one child process and all its children", nil},
	{"internal/runner/capture", 4, "what machine and sources are like", []string{"internal/runner/proc", "internal/gitcmd"}},
	{"internal/runner/contain", 4, "environments that are thrown away", []string{"internal/runner/proc", "internal/runner/capture", "internal/gitcmd", "internal/harness/harnesstest"}},
	{"internal/runner/provide", 4, "what a project says there is to measure", []string{"internal/runner/proc", "internal/harness"}},
	{"internal/runner/revision", 4, "git revisions, checked out and built", []string{"internal/runner/proc", "internal/gitcmd"}},
	{"internal/harness/...", 4, "benchmark harnesses", []string{"internal/harness/...", "internal/runner/proc"}},
	{"internal/runner", 4, "carrying out orders", []string{"internal/harness/...", "internal/runner/...", "internal/gitcmd", "internal/blob"}},
	{"internal/docket", 4, "the documents of one run, verified", []string{"internal/blob", "internal/gitcmd"}},

	{"client", 5, "the public SDK; it may be taken out of the house, so it leans on nothing but the lowest floors", nil},
	{"internal/author", 5, "signing what people and agents say; it talks to a server as its client", []string{"client"}},
	{"internal/host", 5, "driving a run", nil},
	{"internal/server", 5, "the API; it asks the host to drive, and its tests sign what they send", []string{"internal/host", "internal/author", "client"}},
	{"internal/node", 5, "one process: store, host and API put together", []string{"internal/host", "internal/server", "client"}},

	{"internal/demo", 6, "the whole way, shown", nil},
	{"internal/cli", 6, "commands", []string{"internal/demo"}},
	{"internal/cli/gendocs", 6, "the page of commands, written from the commands", []string{"internal/cli"}},
	{"cmd/writ", 6, "the binary", []string{"internal/cli"}},

	{"internal/e2e", 7, "tests of the whole way", nil},

	{"internal/testkit", 0, "support of tests, for every floor; it knows none of them", nil},
	{"internal/house", 7, "tests about all of it", nil},
}

func (r room) has(path string) bool { return within(r.path, path) }

func within(pattern, path string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == pattern
}

// roomOf finds the room of a package; an exact path wins over a pattern.
func roomOf(path string) (room, bool) {
	for _, exact := range []bool{true, false} {
		for _, r := range rooms {
			if (r.path == path) == exact && r.has(path) {
				return r, true
			}
		}
	}
	return room{}, false
}

// TestArrowsPointDown is the shape of the house: what decides never leans on
// what acts, so rules can be tested by the thousand without a disk, a network
// or a clock.
func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from, ok := roomOf(p.path)
		if !ok {
			t.Errorf("%s stands on no floor; give it a room in floors_test.go and in docs/architecture.md", p.path)
			continue
		}
		for _, f := range p.files {
			for _, i := range f.imports() {
				path, ours := strings.CutPrefix(i, module+"/")
				if !ours || path == p.path {
					continue
				}
				to, ok := roomOf(path)
				if !ok {
					t.Errorf("%s imports %s, which stands on no floor", f.name, path)
				} else if wrong := arrow(p.path, from, to, path, f.test); wrong != "" {
					t.Errorf("%s (floor %d: %s) imports %s (floor %d: %s): %s", f.name, from.floor, from.holds, path, to.floor, to.holds, wrong)
				}
			}
		}
	}
}

// arrow says what is wrong with an import, or "". Conformance suites, which are
// packages named …test, count as tests.
func arrow(importer string, from, to room, path string, test bool) string {
	switch {
	case to.path == "internal/testkit" && !test && !strings.HasSuffix(importer, "test"):
		return "only tests may; the program must not carry their support"
	case to.floor < from.floor:
		return ""
	case to.floor > from.floor:
		return "arrows point down only"
	case slices.ContainsFunc(from.beside, func(b string) bool { return within(b, path) }):
		return ""
	}
	return "neighbours do not lean on each other unless the plan of the house says so"
}

// TestRoomsExist keeps the plan honest: no entry for a package that was never
// built or is gone.
func TestRoomsExist(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for _, r := range rooms {
		found := false
		for path := range all {
			found = found || r.has(path)
		}
		if !found {
			t.Errorf("the plan has a room for %s, and there is no such package", r.path)
		}
	}
}

func TestArrow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test     bool
		fine     bool
	}{
		{"internal/canon", "internal/fault", false, true},
		{"internal/fault", "internal/canon", false, false},
		{"internal/landing", "internal/schema", false, true},
		{"internal/landing", "internal/journal", false, false},
		{"internal/landing", "internal/store/sqlite", true, false},
		{"internal/verdict", "internal/result", false, true},
		{"internal/store/storetest", "internal/store/sqlite", true, true},
		{"internal/runner", "internal/runner/proc", false, true},
		{"internal/runner/proc", "internal/runner", false, false},
		{"internal/server", "internal/testkit", false, false},
		{"internal/server", "internal/testkit", true, true},
		{"internal/harness/harnesstest", "internal/testkit", false, true},
	} {
		from, ok := roomOf(c.from)
		to, ok2 := roomOf(c.to)
		if !ok || !ok2 {
			t.Fatalf("no room for %s or %s", c.from, c.to)
		}
		if wrong := arrow(c.from, from, to, c.to, c.test); (wrong == "") != c.fine {
			t.Errorf("%s to %s: %q", c.from, c.to, wrong)
		}
	}
}
