package criterion

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/result"
	"writ/internal/testkit"
)

// standin speaks the command line of version 0.5 and leaves what the library does:
// files of recorded runs, in a folder whose name is not the id, beside those of the
// baseline and of an older run. What it does not know it refuses, as the library.
const standin = `#!/bin/sh
usage() { cat "$FIXTURES/help-0.3.txt"; printf '  --exact\n  --format <FORMAT>\n  --quick\n'; exit 0; }
bench= exact= list= noplot= warm= time= size= filter=
while [ $# -gt 0 ]; do
	case $1 in
	--help) usage ;;
	--bench) bench=1 ;; --exact) exact=1 ;; --list) list=1 ;; --noplot) noplot=1 ;;
	--format) shift; [ "$1" = terse ] || exit 2 ;;
	--warm-up-time) shift; warm=$1 ;; --measurement-time) shift; time=$1 ;; --sample-size) shift; size=$1 ;;
	--) shift; filter=$1 ;;
	*) echo "error: Found argument '$1' which wasn't expected" >&2; exit 1 ;;
	esac
	shift
done
[ -n "$bench" ] || { echo "every benchmark is tested once"; exit 0; }
if [ -n "$list" ]; then
	for id in 'fib 10' 'flat/one' 'sum/all/bytes/16' 'panics'; do echo "$id: benchmark"; done
	exit 0
fi
[ -n "$noplot$exact" ] && [ "$warm $time $size" = '1 1 10' ] || { echo "flags: $warm $time $size" >&2; exit 2; }
place() {
	mkdir -p "$CRITERION_HOME/$1/new" "$CRITERION_HOME/$1/base"
	cp "$FIXTURES/$2/"*.json "$CRITERION_HOME/$1/new"
	cp "$FIXTURES/$2/"*.json "$CRITERION_HOME/$1/base"
}
case $filter in
'fib 10') place 'fib 10' plain ;;
'flat/one') place flat/one flat ;;
'sum/all/bytes/16') place sum_all/bytes/16 throughput; mkdir -p "$CRITERION_HOME/report" ;;
panics) echo "thread 'main' panicked at 'no good'" >&2; exit 101 ;;
esac
`

// TestAStandIn is driven as a runner drives the library.
func TestAStandIn(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "release", "deps", "sample-0123456789abcdef")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, program, []byte(standin))
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"), "FIXTURES="+fixtures, "CRITERION_HOME="+dir, "CARGO_CRITERION_PORT=4242")
	s, err := d.Suite(buildOrder(dir, "release/deps/sample"))
	if err != nil {
		t.Fatal(err)
	}
	drive(t, d, s, 4, map[string]string{
		"fib 10": "", "flat/one": "", "sum/all/bytes/16": "", "panics": result.ReasonHarnessError, "gone": result.ReasonNoOutput,
	})
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("written into the tree: %v %v", left, err)
	}
}

// drive lists and measures, and compares the reason that every case has.
func drive(t *testing.T, d *harnesstest.Driver, s harness.Suite, listed int, want map[string]string) {
	t.Helper()
	cases, err := d.Cases(s)
	if err != nil || len(cases) != listed {
		t.Fatalf("%v %v", cases, err)
	}
	for name, reason := range want {
		got, out := d.Measure(s, name, ordered(10), "wall-time")
		m := got.Quantities["wall-time"]
		if m.Reason != reason || (m.Status == result.Success) != (reason == "") || reason == "" && (len(m.Values) != 10 || len(m.Summaries) < 8) {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
		}
		if name == "gone" && slices.Contains(got.Warnings, "unplanned-case") {
			t.Errorf("something was run in the place of nothing: %+v", got)
		}
	}
}

// TestAProgramWithTheBuiltInHarness takes no flags of Criterion's.
func TestAProgramWithTheBuiltInHarness(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Program(t, filepath.Join(dir, "lib"), []byte("#!/bin/sh\ncat <<'.'\n"+libtestHelp+".\n"))
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"))
	if _, err := d.Suite(buildOrder(dir, "lib")); fault.CodeOf(err) != fault.Target {
		t.Errorf("got %v", err)
	}
}

// programVariable names a program that is built with the library from
// testdata/sample.rs; building one takes a minute and the library's sources.
const programVariable = "WRIT_CRITERION_PROGRAM"

func TestTheRealLibrary(t *testing.T) {
	t.Parallel()
	program := os.Getenv(programVariable)
	if program == "" {
		testkit.Absent(t, "a program that is built with Criterion.rs; name one in "+programVariable)
	}
	dir, file := filepath.Split(program)
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"))
	s, err := d.Suite(buildOrder(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	drive(t, d, s, 7, map[string]string{"fib 10": "", "sum/all/bytes/16": "", "own/size": result.ReasonMapping, "panics": result.ReasonHarnessError, "gone": result.ReasonNoOutput})
}
