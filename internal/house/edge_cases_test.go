package house

import (
	"strconv"
	"testing"
)

// edgeCase is one trap of the formats that benchmark harnesses write. Either tests
// hold what we make of it, or it is of a harness that no adapter is for.
type edgeCase struct {
	what   string
	tests  []string // as in referenceCase
	absent string   // why there is no test
}

// Harnesses and tools that no adapter is for.
const (
	noCatch2    = "no adapter is for Catch2"
	noNanobench = "no adapter is for nanobench"
	noPerf      = "no adapter reads what perf prints: the command adapter asks the kernel itself"
)

// edgeCases are numbered as they were collected; E-48b is apart.
var edgeCases = map[string]edgeCase{
	// Google Benchmark
	"1":  {"bare NaN and Infinity", []string{"harness/googlebenchmark.TestParseStrictly/bare words", "harness/googlebenchmark.TestReadOutcomes/not finite"}, ""},
	"2":  {"thousands separators", []string{"harness/googlebenchmark.TestParseStrictly/thousands separator", "harness/googlebenchmark.TestInvocation/LC_ALL"}, ""},
	"3":  {"texts that are not escaped, a comma that is missing", []string{"harness/googlebenchmark.TestReadOutcomes/control character", "harness/googlebenchmark.TestParseStrictly/unescaped quote", "harness/googlebenchmark.TestParseStrictly/missing comma"}, ""},
	"4":  {"a counter that is called like a member", []string{"harness/googlebenchmark.TestReadOutcomes/counter called time", "harness/googlebenchmark.TestParseStrictly/a counter called name", "harness/googlebenchmark.TestParseStrictly/a counter as count"}, ""},
	"5":  {"no match, a broken filter: status 0 and an empty file", []string{"harness/googlebenchmark.TestReadOutcomes/no match", "harness/googlebenchmark.TestAListingThatFailed/no expression"}, ""},
	"6":  {"an error with times of zero and status 0", []string{"harness/googlebenchmark.TestReadOutcomes/error", "harness/googlebenchmark.TestReadOutcomes/error, 1.9"}, ""},
	"7":  {"how a minimum time is spelled, by version", []string{"harness/googlebenchmark.TestInvocation/count, 1.7", "harness/googlebenchmark.TestInvocation/count, unknown", "harness/googlebenchmark.TestSettle", "harness/googlebenchmark.TestParseStrictly/zero iterations"}, ""},
	"8":  {"aggregates only", []string{"harness/googlebenchmark.TestReadOutcomes/aggregates only"}, ""},
	"9":  {"a file that was cut off", []string{"harness/googlebenchmark.TestTruncatedFileIsNeverASuccess", "harness/googlebenchmark.TestReadOutcomes/abort"}, ""},
	"10": {"variables that are flags", []string{"harness/googlebenchmark.TestLocateRefusals/flag as variable", "harness/googlebenchmark.TestARealProgram/BENCHMARK_FILTER=BM_t", "harness/googlebenchmark.TestListing"}, ""},
	"11": {"indexes that are numbered anew under a filter", []string{"harness/googlebenchmark.TestWhatChangesNothing/numbered anew"}, ""},
	"12": {"two files in one; repetitions in another order", []string{"harness/googlebenchmark.TestParseStrictly/two files in one", "harness/googlebenchmark.TestWhatChangesNothing"}, ""},
	"13": {"a benchmark without end", []string{"harness/googlebenchmark.TestARealProgramThatMisbehaves/sleep", "harness/googlebenchmark.TestReadHowTheProgramEnded"}, ""},
	"14": {"a program that starts itself once more; whether the layout is random", []string{"harness/googlebenchmark.TestARealProgramThatMisbehaves/again", "harness/googlebenchmark.TestReadValues/aslr_enabled"}, ""},

	// Go
	"15": {"output of the benchmark inside of a result line", []string{"harness/gobench.TestReadOutcomes/stray text", "harness/gobench.TestReadOutcomes/stray line, quietly", "harness/gobench.TestParseLines/stray number"}, ""},
	"16": {"results as events: the binary is run itself, events are no results", []string{"harness/gobench.TestParseLines/an event", "harness/gobench.TestInvocation"}, ""},
	"17": {"lines of a name only, and messages", []string{"harness/gobench.TestParseLines/name only", "harness/gobench.TestReadOutcomes/a message follows"}, ""},
	"18": {"the processor's line, panics, many processors", []string{"harness/gobench.TestParseConfig", "harness/gobench.TestReadHowTheProgramEnded/panic.txt", "harness/gobench.TestBaseName"}, ""},
	"19": {"numbers that are not finite, odd units, a unit twice", []string{"harness/gobench.TestParseLines/not finite", "harness/gobench.TestParseLines/odd units", "harness/gobench.TestReadUsesNoBrokenValue/1 5 ns/op 6 ns/op"}, ""},
	"20": {"lines over 64 KiB", []string{"harness/gobench.TestParseLines/longer than 64 KiB"}, ""},
	"21": {"failures beside results, results that are lost, skips", []string{"harness/gobench.TestReadOutcomes/failed in between", "harness/gobench.TestReadOutcomes/fatal", "harness/gobench.TestReadOutcomes/panic that Go lost", "harness/gobench.TestReadOutcomes/skipped", "harness/gobench.TestARealBinary/BenchmarkMixed/bad"}, ""},
	"22": {"Go's own time limit is off, ours is on the binary", []string{"harness/gobench.TestInvocation/-test.timeout=0", "harness/gobench.TestReadHowTheProgramEnded", "runner/proc.TestTimeoutKillsTheWholeTree"}, ""},
	"23": {"a case is its package, its name and its processors", []string{"harness/gobench.TestARealBinary", "harness/gobench.TestBaseName/BenchmarkA/size-4-16", "harness/gobench.TestOtherCasesChangeNothing", "harness/gobench.TestReadValues"}, ""},

	// pytest-benchmark
	"24": {"an empty file: nothing collected, nothing measured, a crash", []string{"harness/pytestbenchmark.TestReadOutcomes/nothing collected", "harness/pytestbenchmark.TestReadOutcomes/unused", "harness/pytestbenchmark.TestARealRunThatDies"}, ""},
	"25": {"a test that fails after it was measured", []string{"harness/pytestbenchmark.TestReadOutcomes/fails after", "harness/pytestbenchmark.TestReadOutcomes/fails inside"}, ""},
	"26": {"bare NaN", []string{"harness/pytestbenchmark.TestReadOutcomes/extra NaN", "harness/pytestbenchmark.TestParseStrictly/bare words"}, ""},
	"27": {"no parameters, objects as parameters, huge files, no values", []string{"harness/pytestbenchmark.TestParseStrictly/no params", "harness/pytestbenchmark.TestParseStrictly/parameters", "harness/pytestbenchmark.TestParseStrictly/no data", "harness/nativejson.TestTextsThatAreTooLarge"}, ""},
	"28": {"several workers are ruled out", []string{"harness/pytestbenchmark.TestInvocation/no:xdist", "harness/pytestbenchmark.TestLocate/-n 4"}, ""},

	// pyperf
	"29": {"the name at the level of the file", []string{"harness/pyperf.TestParse", "harness/pyperf.TestWhatChangesNothing/of the benchmark"}, ""},
	"30": {"the file must not be there: every run has a folder of its own", []string{"harness/pyperf.TestInvocation", "harness.TestExchange"}, ""},
	"31": {"a worker that fails leaves no file", []string{"harness/pyperf.TestReadOutcomes/a worker failed", "harness/pyperf.TestARealRunThatDies"}, ""},
	"32": {"the same code is called changed: a verdict needs rounds", []string{"verdict.TestEveryVerdict/five rounds", "verdict.TestSimplerRulesCallUnchangedCodeChanged"}, ""},
	"33": {"its numbers of memory are none of ours", []string{"harness/pyperf.TestCapabilities/peak memory", "harness/pyperf.TestReadOutcomes/bytes"}, ""},

	// hyperfine
	"34": {"status 1, and earlier commands in the file", []string{"harness/hyperfine.TestReadOutcomes/rc 1 and earlier only"}, ""},
	"35": {"ends by a signal: null, or 128 and more", []string{"harness/hyperfine.TestReadOutcomes/signal as null", "harness/hyperfine.TestReadOutcomes/signal as 128 and more"}, ""},
	"36": {"times that a calibrated shell made zero", []string{"harness/hyperfine.TestReadOutcomes/times of nothing", "harness/hyperfine.TestReadOutcomes/some times of nothing"}, ""},
	"37": {"memory that only grows", []string{"harness/hyperfine.TestCapabilities/peak-rss", "harness/command.TestPeaksAreTheProgramsOwn"}, ""},
	"38": {"what versions lack", []string{"harness/hyperfine.TestSettle", "harness/hyperfine.TestReadOutcomes/1.10 without exit codes"}, ""},
	"39": {"processor time that is not the program's; no time limit", []string{"harness/command.TestProcessorTimeIsTheProgramsOwn", "harness/hyperfine.TestReadDoubtsTheProcess", "harness/hyperfine.TestARealFailure/endless"}, ""},

	// Criterion.rs
	"40":  {"folders of earlier runs", []string{"harness/criterion.TestReadOutcomes/nothing matched (E-40)", "harness/criterion.TestInvocation/CRITERION_HOME", "harness/criterion.TestAStandIn"}, ""},
	"41":  {"two benchmarks in one folder", []string{"harness/criterion.TestReadOutcomes/another case (E-41, E-42)", "harness/criterion.TestReadOutcomes/two samples"}, ""},
	"42":  {"a name that is not the folder's", []string{"harness/criterion.TestReadOutcomes/another case (E-41, E-42)", "harness/criterion.TestReadARealRun/sum/all/bytes/16"}, ""},
	"43":  {"no slope in the flat mode", []string{"harness/criterion.TestReadARealRun/flat/one"}, ""},
	"44":  {"samples of another number than was ordered", []string{"harness/criterion.TestReadOutcomes/its own size (E-44)"}, ""},
	"45":  {"programs with the built-in harness", []string{"harness/criterion.TestSettle/the built-in harness"}, ""},
	"46":  {"status 0 in spite of a regression: there is nothing to compare with, and a status is no verdict", []string{"harness/criterion.TestInvocation/CRITERION_HOME", "verdict.TestEveryVerdict/slower"}, ""},
	"47":  {"an empty folder of a baseline", []string{"harness/criterion.TestInvocation/CRITERION_HOME", "harness/criterion.TestReadOutcomes/no identity"}, ""},
	"48":  {"lines that were made for people: only names are read from any", []string{"harness/criterion.TestCases/a::b: c/1", "harness/criterion.TestParseStrictly"}, ""},
	"48b": {"a target with the built-in harness takes no flags of the library", []string{"harness/criterion.TestAProgramWithTheBuiltInHarness"}, ""},

	// JMH
	"49": {"numbers as texts", []string{"harness/jmh.TestReadOutcomes/not finite (E-49)", "harness/jmh.TestReadOutcomes/score not finite (E-49)"}, ""},
	"50": {"texts that are not escaped", []string{"harness/jmh.TestReadOutcomes/unescaped (E-50)", "harness/jmh.TestReadOutcomes/broken text (E-50)"}, ""},
	"51": {"a benchmark that failed", []string{"harness/jmh.TestReadOutcomes/failed (E-51)", "harness/jmh.TestReadOutcomes/absent (E-51)", "harness/jmh.TestInvocation/-foe"}, ""},
	"52": {"no raw data", []string{"harness/jmh.TestReadOutcomes/no raw data (E-52)"}, ""},
	"53": {"the profiler's older names", []string{"harness/jmh.TestReadValues/\"\u00b7gc.alloc.rate.norm\""}, ""},
	"54": {"no forks", []string{"harness/jmh.TestReadOutcomes/no fork (E-54)", "harness/jmh.TestInvocation/no forks (E-54)"}, ""},
	"55": {"the file comes at the end", []string{"harness/jmh.TestReadOutcomes/no file (E-55)", "harness/jmh.TestReadOutcomes/cut off (E-55)"}, ""},

	// asv
	"56": {"rows without their last columns", []string{"harness/asv.TestReadOutcomes/trailing nulls (E-56)", "harness/asv.TestReadOutcomes/more values than columns"}, ""},
	"57": {"bare NaN: skipped", []string{"harness/asv.TestReadOutcomes/NaN (E-57)"}, ""},
	"58": {"rows of older code", []string{"harness/asv.TestReadOutcomes/stale (E-58)"}, ""},
	"59": {"results that are not saved", []string{"harness/asv.TestReadOutcomes/not saved (E-59)", "harness/asv.TestInvocation/--set-commit-hash"}, ""},

	"60": {"a failed benchmark in a report of success", nil, noCatch2},
	"61": {"a reporter that leaves benchmarks out", nil, noCatch2},
	"62": {"names over two lines", nil, noCatch2},
	"63": {"texts that are not escaped", nil, noNanobench},
	"64": {"counters of zero that were not measured", nil, noNanobench},

	// JavaScript
	"65": {"a failed benchmark that has a rank", []string{"harness/javascript.TestReadOutcomes/failed (E-65)", "harness/vitest.TestTheRealRunner/outer > throws"}, ""},
	"66": {"no match, and a file", []string{"harness/javascript.TestReadOutcomes/no match (E-66)", "harness/javascript.TestReadOutcomes/nothing (E-66)"}, ""},
	"67": {"huge lists of samples", []string{"harness/javascript.TestMemoryIsBounded", "harness/vitest.TestTheRealRunner"}, ""},
	"68": {"errors without a word, and the older shape", []string{"harness/javascript.TestReadOutcomes/mute (E-68)", "harness/javascript.TestParseEveryFixture/tinybench-3.json"}, ""},
	"69": {"samples that are sorted and cut, failures with status 0: each repetition is a run", []string{"harness/mitata.TestTheRealLibrary/throws", "harness/javascript.TestParseEveryFixture/mitata-1.json"}, ""},

	// perf
	"70": {"counts as texts", nil, noPerf},
	"71": {"decimal commas", nil, noPerf},
	"72": {"counters that were shared, and counts that are estimates", []string{"harness/command.TestWarnings"}, ""},
	"73": {"the status of the program, not of the tool", []string{"harness/command.TestARealFailure"}, ""},
	"74": {"names of events that change", nil, noPerf},
	"75": {"machines without counters", []string{"harness/command.TestInstructions", "harness/command.TestSettle"}, ""},
}

// TestEdgeCasesAreTested keeps that index honest, too.
func TestEdgeCasesAreTested(t *testing.T) {
	t.Parallel()
	const count = 75
	if len(edgeCases) != count+1 {
		t.Errorf("%d cases, not %d and E-48b", len(edgeCases), count)
	}
	ids := []string{"48b"}
	for n := 1; n <= count; n++ {
		ids = append(ids, strconv.Itoa(n))
	}
	for _, id := range ids {
		c := edgeCases[id]
		switch {
		case c.absent == "":
			checkCase(t, "E-"+id, referenceCase{c.what, c.tests})
		case c.what == "" || len(c.tests) > 0:
			t.Errorf("E-%s: %+v: has it tests, or is it of nobody?", id, c)
		}
	}
}
