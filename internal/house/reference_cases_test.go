package house

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// referenceCase is one behaviour that the measuring formats were published with, and
// the tests that hold it here: test functions as package.Name, one case of their table
// as package.Name/case, or scripts.
type referenceCase struct {
	what  string
	tests []string
}

// referenceCases are numbered as they were published.
var referenceCases = map[int]referenceCase{
	1:  {"two revisions, a steady and a noisy case: 24 results, one regressed", []string{"runner.TestTwoRevisionsOfACPlusPlusProgram"}},
	2:  {"the same as two environments told apart by a label", []string{"runner.TestTwoBuildsOfOneRevision"}},
	3:  {"two builds of one configuration: sides-differ, and nothing else", []string{"runner.TestTwoBuildsOfOneRevision", "verdict.TestPairedRelativeProfiles"}},
	4:  {"24 results ingested twice", []string{"store/results.TestTwentyFourResultsTwice", "cli/testdata/ingest.txtar"}},
	5:  {"conflicts of unit, attempt, identity and key; what is malformed", []string{"history.TestChangedResults", "history.TestTextsThatAreNoResults", "store/results.TestConflicts", "cli/testdata/ingest.txtar"}},
	6:  {"a case that one side has lost", []string{"verdict.TestPairedRelativeLostCase", "runner.TestACaseThatOneSideHasLost"}},
	7:  {"one side after the other: alternation", []string{"verdict.TestPairedRelativeCases"}},
	8:  {"a dirty tree and no project: thin, local only", []string{"runner.TestThinResults", "history.TestThin", "store/results.TestConflicts"}},
	9:  {"error, skip and timeout, with the limit recorded", []string{"runner.TestOutcomesOfACPlusPlusProgram"}},
	10: {"a case that is listed and never reported", []string{"runner.TestOutcomesOfACPlusPlusProgram"}},
	11: {"defaults are in the recorded protocol", []string{"runner.TestOutcomesOfACPlusPlusProgram", "order.TestProtocolRecordsDefaultsInFull"}},
	12: {"ordered variables are parameters, and were seen", []string{"runner.TestVariablesCollectorsAndTexts"}},
	13: {"facts of a collector that works, and of one that does not", []string{"runner.TestVariablesCollectorsAndTexts", "runner.TestCollectors"}},
	14: {"kinds and digests of the files that are kept", []string{"runner.TestOutcomesOfACPlusPlusProgram"}},
	15: {"the checkout is found through the build", []string{"runner.TestTwoRevisionsOfACPlusPlusProgram"}},
	16: {"orders that are refused write nothing", []string{"runner.TestOrdersThatACPlusPlusProgramCannotHonour", "runner.TestRefusals", "order.TestOrdersOutsideTheSchema"}},
	17: {"declared texts are recorded and never run", []string{"runner.TestVariablesCollectorsAndTexts"}},
	18: {"texts that say nothing are left out", []string{"order.TestDeclaredText", "order.TestNewIsTheSameForAllSpellingsOfNothing"}},
	19: {"which environment variables are recorded", []string{"runner/capture.TestEnviron"}},
	20: {"groups, counts and loops of two processes with two values", []string{"harness/pyperf.TestReadValues", "harness/pyperf.TestARealRun"}},
	21: {"a function that needs a variable", []string{"harness/pyperf.TestTheEnvironmentReachesWorkers"}},
	22: {"an environment that does not reach the workers", []string{"harness/pyperf.TestTheEnvironmentReachesWorkers"}},
	23: {"digests of the environment that are tampered with or missing", []string{"harness/pyperf.TestEnvironmentIsProven"}},
	24: {"importing is not measured", []string{"harness/pyperf.TestImportsAreNotMeasured"}},
	25: {"a time limit leaves no process behind", []string{"harness/pyperf.TestARealRunThatDies", "runner/proc.TestTimeoutKillsTheWholeTree"}},
	26: {"a file that lacks its last run", []string{"harness/pyperf.TestReadOutcomes"}},
	27: {"a calibrated file", []string{"harness/pyperf.TestReadValues", "harness/pyperf.TestReadOutcomes"}},
	28: {"the interpreter is the first on the child's path", []string{"harness/python.TestLocate"}},
	29: {"a tree under no version control", []string{"runner.TestWorkTree"}},
	30: {"flags over the project's settings, level by level", []string{"order.TestConfig", "cli/testdata/refused.txtar"}},
	31: {"a calibration that fixes no count", []string{"order.TestConfig", "cli/testdata/refused.txtar"}},
	32: {"three rounds, a tenth slower", []string{"verdict.TestPairedRelativeCases"}},
	33: {"rounds that arrive the other way round", []string{"verdict.TestPairedRelativePairsByRound"}},
	34: {"a third tree, another build, too few rounds, deterministic quantities", []string{"verdict.TestPairedRelativeCases"}},
	35: {"one attempt fails: its round drops out", []string{"verdict.TestPairedRelativeCases"}},
	36: {"unequal attempts of one unit, another one missing", []string{"verdict.TestPairedRelativeCases"}},
	37: {"conditions that differ, load apart", []string{"verdict.TestPairedRelativeCases"}},
	38: {"twelve slots whose tree switches; measuring, reading and reading a copy give one document", []string{"runner.TestTwoRevisionsOfACPlusPlusProgram", "cli/testdata/measure.txtar"}},
	39: {"providers that fail, descriptions that were moved or are wrong", []string{"runner/provide.TestAsking", "runner/provide.TestSidecar", "order.TestDescription", "cli/testdata/target.txtar"}},
	40: {"no folder for an unknown harness, quantity or suite, nor for a dry run", []string{"cli/testdata/refused.txtar", "cli/testdata/run.txtar"}},
}

// computedVectors are the published digests and keys, and the tests that hold them.
var computedVectors = []referenceCase{
	{"order and policy hashes", []string{"order.TestVectorHashes", "policy.TestVector"}},
	{"ingest keys and file names", []string{"result.TestKeyVectors"}},
	{"ids of folders under no version control", []string{"runner/capture.TestDirectoryTreeIDs"}},
	{"ids of clean and changed git trees", []string{"runner/capture.TestCheckoutTreeIDs"}},
	{"digest of an environment", []string{"harness/pyperf.TestTheDigestOfAnEnvironment"}},
	{"fingerprints", []string{"result.TestFingerprintVectors"}},
	{"numbers of the paired-relative rule", []string{"verdict.TestPairedRelativeNumbers"}},
	{"orders and results that schemas take and refuse", []string{"schema.TestOrdersAndResults", "result.TestWhatTheFormatTakesAndRefuses"}},
}

// TestReferenceCasesAreTested keeps the index honest: every case has a test, and
// every test that it names is there.
func TestReferenceCasesAreTested(t *testing.T) {
	t.Parallel()
	const count = 40
	if len(referenceCases) != count {
		t.Errorf("%d cases, not %d", len(referenceCases), count)
	}
	for n := 1; n <= count; n++ {
		checkCase(t, "case "+strconv.Itoa(n), referenceCases[n])
	}
	for _, c := range computedVectors {
		checkCase(t, "vector", c)
	}
}

func checkCase(t *testing.T, name string, c referenceCase) {
	t.Helper()
	if c.what == "" || len(c.tests) == 0 {
		t.Errorf("%s has no test", name)
	}
	for _, test := range c.tests {
		if !exists(t, test) {
			t.Errorf("%s (%s): there is no test %s", name, c.what, test)
		}
	}
}

// exists reports whether a script is in the repository, or a test function. With
// package.Name/case, the function must also hold the case as a text.
func exists(t *testing.T, test string) bool {
	if strings.HasSuffix(test, ".txtar") {
		_, err := os.Stat(filepath.Join(moduleRoot(t), "internal", filepath.FromSlash(test)))
		return err == nil
	}
	in, name, _ := strings.Cut(test, ".")
	name, text, ofCase := strings.Cut(name, "/")
	p := packages(t)["internal/"+in]
	if p == nil {
		return false
	}
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && fn.Name.Name == name {
				return !ofCase || holds(fn, text)
			}
		}
	}
	return false
}

// holds reports whether a text stands in a function.
func holds(fn *ast.FuncDecl, text string) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, err := strconv.Unquote(lit.Value)
			found = found || err == nil && s == text
		}
		return !found
	})
	return found
}
