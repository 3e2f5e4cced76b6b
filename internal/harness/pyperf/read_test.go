package pyperf

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

var wall = []string{"wall-time"}

func counts(processes, doneProcesses, values, doneValues int) []result.LevelCounts {
	return []result.LevelCounts{{Unit: Process, Attempted: processes, Completed: doneProcesses}, {Unit: Value, Attempted: values, Completed: doneValues}}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	success, partial := harness.Measured{Status: result.Success}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial}
	dropped := bytes.Replace(fixture(t, "levels.json"), []byte(`,{"metadata":{"benchx_env_sha256":"aa","date":"2026-11-30 09:00:01`), []byte("],\"x\":[{\"y\":{\"z\":\""), 1)
	for name, tc := range map[string]struct {
		text    []byte
		name    string
		exit    int
		p       order.Precision
		want    harness.Measured // of status and reason
		levels  []result.LevelCounts
		message string
	}{
		"success":              {fixture(t, "levels.json"), "bench_sum", 0, precision(2, 2), success, counts(2, 2, 4, 4), ""},
		"fixed":                {fixture(t, "levels.json"), "bench_sum", 0, fixed(precision(2, 2), 50), success, counts(2, 2, 4, 4), ""},
		"calibrated":           {fixture(t, "calibrated.json"), "bench_sum", 0, precision(2, 2), success, counts(2, 2, 4, 4), ""},
		"one of two":           {fixture(t, "two.json"), "bench_sum", 0, precision(2, 1), success, counts(2, 2, 2, 2), ""},
		"a run is missing":     {dropped, "bench_sum", 0, precision(2, 2), partial, counts(2, 1, 4, 2), ""},
		"a value is missing":   {fixture(t, "two.json"), "bench_sum", 0, precision(2, 2), partial, counts(2, 0, 4, 2), ""},
		"bad exit vetoes":      {fixture(t, "levels.json"), "bench_sum", 3, precision(2, 2), partial, counts(2, 2, 4, 4), "ValueError: broken here"},
		"more processes":       {fixture(t, "levels.json"), "bench_sum", 0, precision(1, 2), failed(result.ReasonMapping), counts(1, 0, 2, 0), "2 processes in the file, 1 were ordered"},
		"more values":          {fixture(t, "levels.json"), "bench_sum", 0, precision(2, 1), failed(result.ReasonMapping), counts(2, 0, 2, 0), "2 values of one process in the file, 1 were ordered"},
		"other loops":          {fixture(t, "levels.json"), "bench_sum", 0, fixed(precision(2, 2), 49), failed(result.ReasonMapping), counts(2, 0, 4, 0), "50 loops in the file, 49 were ordered"},
		"bytes":                {fixture(t, "bytes.json"), "bench_sum", 0, precision(2, 2), failed(result.ReasonMapping), counts(2, 0, 4, 0), `values in the unit "byte" are no times`},
		"another function":     {fixture(t, "levels.json"), "bench_su", 0, precision(2, 2), failed(result.ReasonNoOutput), counts(2, 0, 4, 0), "RuntimeError: /usr/bin/python3 failed with exit code 1"},
		"a worker failed":      {nil, "bench_sum", 1, precision(2, 2), failed(result.ReasonHarnessError), counts(2, 0, 4, 0), "ValueError: broken here"},
		"nothing, and well":    {nil, "bench_sum", 0, precision(2, 2), failed(result.ReasonNoOutput), counts(2, 0, 4, 0), "RuntimeError: /usr/bin/python3 failed with exit code 1"},
		"cut off by a crash":   {fixture(t, "levels.json")[:80], "bench_sum", 1, precision(2, 2), failed(result.ReasonHarnessError), counts(2, 0, 4, 0), "ValueError: broken here"},
		"only a calibration":   {file(`{"warmups":[[1,0.5]]}`), "f", 0, precision(1, 1), failed(result.ReasonNoOutput), counts(1, 0, 1, 0), ""},
		"the same name twice":  {[]byte(`{"version":"1.0","metadata":{"name":"f"},"benchmarks":[{"runs":[{"values":[1]}]},{"runs":[{"values":[1]}]}]}`), "f", 0, precision(1, 1), failed(result.ReasonMapping), counts(1, 0, 1, 0), "the function is in the file twice"},
		"a default, left out":  {file(`{"values":[1,1,1]}`), "f", 0, order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: Process, N: 1}}}}, success, counts(1, 1, 3, 3), ""},
		"never planned":        {file(`{"values":[1]}`), "f", 0, order.Precision{Repetitions: order.Times(1)}, failed(result.ReasonMapping), nil, "plan function: /precision/repetitions: pyperf repeats at two levels, 'process' and 'value'"},
		"not finite":           {file(`{"values":[NaN,1]}`), "f", 0, precision(1, 2), partial, counts(1, 0, 2, 1), ""},
		"nothing but infinity": {file(`{"values":[Infinity]}`), "f", 0, precision(1, 1), failed(result.ReasonMapping), counts(1, 0, 1, 0), ""},
	} {
		out := ended(tc.exit, tc.text)
		out.Stderr = []byte("Traceback (most recent call last):\n  File \"x\", line 1, in f\n    raise\nValueError: broken here\nTraceback (most recent call last):\n  File \"y\"\nRuntimeError: /usr/bin/python3 failed with exit code 1\n")
		got := Adapter{}.Read(harness.Suite{}, tc.name, tc.p, wall, out)
		if got.Message != tc.message {
			t.Errorf("%s: message %q, want %q", name, got.Message, tc.message)
		}
		m := got.Quantities["wall-time"]
		if m.Status != tc.want.Status || m.Reason != tc.want.Reason {
			t.Errorf("%s: got %s %s (%s), want %s %s", name, m.Status, m.Reason, m.Message, tc.want.Status, tc.want.Reason)
		}
		if diff := cmp.Diff(tc.levels, got.Levels); diff != "" {
			t.Errorf("%s: levels (-want +got):\n%s", name, diff)
		}
		if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || len(m.Groups) != len(m.Values) || m.Unit != "s" {
			t.Errorf("%s: %+v", name, m)
		}
		if slices.Contains(got.Warnings, warnExit) != (tc.exit != 0) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	got := Adapter{}.Read(harness.Suite{}, "bench_sum", fixed(precision(2, 2), 50), append(wall, "energy"), ended(0, fixture(t, "levels.json")))
	facts := got.Facts
	got.Facts = nil
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{0.0012, 0.0011, 0.00125, 0.00115}, Groups: []string{"0", "0", "1", "1"}, Unit: "s", OriginalUnit: "second"},
			"energy":    {Status: result.Failed, Reason: result.ReasonMapping, Unit: "J"},
		},
		InnerIterations: []int{50, 50, 50, 50}, Attempted: 4, Warmups: 2, Levels: counts(2, 2, 4, 4),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"perf_version": "2.10.0", "calibration_runs": "0", "env.PYTHONHASHSEED": "0", "hostname": "host"} {
		if facts[name] != want {
			t.Errorf("%s is %q, want %q", name, facts[name], want)
		}
	}
	got = Adapter{}.Read(harness.Suite{}, "bench_sum", precision(2, 2), wall, ended(0, fixture(t, "calibrated.json")))
	if !slices.Equal(got.InnerIterations, []int{128, 128, 128, 128}) || got.Warmups != 2 || got.Facts["calibration_runs"] != "1" {
		t.Errorf("calibrated: %+v", got)
	}
}

func TestEnvironmentIsProven(t *testing.T) {
	t.Parallel()
	good := fixture(t, "levels.json")
	tampered := bytes.Replace(good, []byte(`"benchx_env_sha256":"aa"`), []byte(`"benchx_env_sha256":"ab"`), 1)
	missing := bytes.Replace(good, []byte(`"benchx_env_sha256":"aa",`), nil, 1)
	start, worker := `{"sha256": "aa"}`, `{"PYTHONPATH": "x"}`
	for name, tc := range map[string]struct {
		native        []byte
		start, worker string
		want          []string
	}{
		"proven":            {good, start, worker, nil},
		"tampered":          {tampered, start, worker, []string{warnMismatch}},
		"missing":           {missing, start, worker, []string{warnMismatch}},
		"no first process":  {good, "", worker, []string{warnMismatch}},
		"another digest":    {good, `{"sha256": "bb"}`, worker, []string{warnMismatch}},
		"digest as number":  {good, `{"sha256": 3}`, worker, []string{warnMismatch}},
		"no capture":        {good, start, "", []string{warnNoCapture}},
		"capture of a list": {good, start, `["x"]`, []string{warnNoCapture}},
		"nothing":           {good, "", "{", []string{warnNoCapture, warnMismatch}},
	} {
		out := ended(0, tc.native)
		out.Files[startFile], out.Files[workerFile] = []byte(tc.start), []byte(tc.worker)
		got := Adapter{}.Read(harness.Suite{}, "bench_sum", precision(2, 2), wall, out)
		if diff := cmp.Diff(tc.want, got.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, recorded := got.Facts["env.PYTHONPATH"]; recorded != !slices.Contains(tc.want, warnNoCapture) {
			t.Errorf("%s: facts %v", name, got.Facts)
		}
		if got.Quantities["wall-time"].Status != result.Success {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{nativeFile: fixture(t, "levels.json")}
	for reason, out := range map[string]harness.Output{
		result.ReasonTimeout:      {Result: proc.Result{Cause: proc.TimedOut, Exit: -1}, Files: files},
		result.ReasonHarnessError: {Result: proc.Result{Cause: proc.OutputLimit, Exit: -1}, Files: files},
		result.ReasonMapping:      {Result: proc.Result{Cause: proc.Exited}, Unread: map[string]string{nativeFile: "no ordinary file"}},
	} {
		got := Adapter{}.Read(harness.Suite{}, "bench_sum", precision(2, 2), wall, out)
		if m := got.Quantities["wall-time"]; m.Status != result.Failed || m.Reason != reason {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}

// TestTruncatedFileIsNeverASuccess cuts a file at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	text := bytes.TrimSpace(fixture(t, "levels.json"))
	for cut := range text {
		if m := (Adapter{}).Read(harness.Suite{}, "bench_sum", precision(2, 2), wall, ended(0, text[:cut])).Quantities["wall-time"]; m.Status != result.Failed {
			t.Fatalf("cut at byte %d of %d: %+v", cut, len(text), m)
		}
	}
}

// TestWhatChangesNothing: the order of benchmarks and members, the level at which
// metadata stands, other members and line ends.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	read := func(text []byte) harness.Reading {
		r := Adapter{}.Read(harness.Suite{}, "f", precision(2, 1), wall, ended(0, text))
		r.Warnings = append([]string(nil), slices.DeleteFunc(r.Warnings, func(w string) bool { return w == warnStranger || w == warnNonFinite })...)
		return r
	}
	const a, b = `{"values":[1.5],"metadata":{"benchx_env_sha256":"aa"}}`, `{"values":[2.5],"metadata":{"benchx_env_sha256":"aa"}}`
	want := read(file(a + "," + b))
	if m := want.Quantities["wall-time"]; m.Status != result.Success {
		t.Fatalf("got %+v", want)
	}
	whole := func(metadata, benchmark string, others ...string) []byte {
		all := append(others, `{`+benchmark+`"runs":[`+a+","+b+`]}`)
		rng := rand.New(rand.NewPCG(3, uint64(len(all))))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return []byte(`{"version":"1.0","metadata":{` + metadata + `},"benchmarks":[` + strings.Join(all, ",") + `]}`)
	}
	for name, text := range map[string][]byte{
		"of the benchmark": whole("", `"metadata":{"name":"f","unit":"second","loops":4},`),
		"of both":          whole(`"loops":9,"unit":"byte"`, `"metadata":{"name":"f","unit":"second","loops":4},`),
		"other benchmarks": whole(`"unit":"second"`, `"metadata":{"name":"f","loops":4},`, `{"metadata":{"name":"g"},"runs":[{"values":[NaN]}]}`, `{"metadata":{"name":"ff"},"runs":[{"values":[3]}]}`),
		"unknown members":  bytes.ReplaceAll(file(a+","+b), []byte(`{"values"`), []byte(`{"new":{"x":[null,Infinity]},"values"`)),
		"carriage returns": bytes.ReplaceAll(file(a+","+b), []byte(","), []byte(",\r\n\t")),
	} {
		if diff := cmp.Diff(want, read(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
