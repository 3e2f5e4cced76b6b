package googlebenchmark

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

var both = []string{"wall-time", "cpu-time"}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	success := harness.Measured{Status: result.Success}
	partial := harness.Measured{Status: result.Partial, Reason: result.ReasonPartial}
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	skipped := harness.Measured{Status: result.Skipped, Reason: result.ReasonSkipped}
	for name, tc := range map[string]struct {
		file, bench string
		exit        int
		p           order.Precision
		want        map[string]harness.Measured // of status and reason
		message     string
	}{
		"success":              {"quiet.json", "BM_Quiet/1024", 0, times(3), map[string]harness.Measured{"wall-time": success, "cpu-time": success, "throughput-bytes": failed(result.ReasonNoOutput)}, ""},
		"1.9":                  {"v1.9-quiet.json", "BM_Quiet/1024", 0, times(3), map[string]harness.Measured{"wall-time": success, "cpu-time": success}, ""},
		"fixed":                {"v1.9-fixed.json", "BM_thr/threads:2", 0, fixed(2, 50), map[string]harness.Measured{"wall-time": success}, ""},
		"opaque name":          {"named.json", "BM_named/a:1/b/c:2", 0, times(1), map[string]harness.Measured{"wall-time": success}, ""},
		"special characters":   {"weird.json", `we.ird[x]+$^|(y)*?{1}\ é`, 0, times(1), map[string]harness.Measured{"wall-time": success}, ""},
		"counters":             {"counters.json", "BM_counters", 0, times(3), map[string]harness.Measured{"wall-time": success, "throughput-bytes": success, "throughput-items": success, "score": success, "allocations": failed(result.ReasonNoOutput)}, ""},
		"not finite":           {"not-finite.json", "BM_not_finite", 0, times(2), map[string]harness.Measured{"wall-time": success, "cycles": failed(result.ReasonMapping), "instructions": failed(result.ReasonMapping)}, ""},
		"error":                {"error.json", "BM_error", 0, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, `broken "here"`},
		"error, 1.9":           {"v1.9-error.json", "BM_error", 0, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, `broken "here"`},
		"skip":                 {"v1.9-skip.json", "BM_skip", 0, times(2), map[string]harness.Measured{"wall-time": skipped, "cpu-time": skipped}, "not on this machine"},
		"one failed":           {"flaky.json", "BM_flaky/iterations:100", 0, times(5), map[string]harness.Measured{"wall-time": partial}, "fourth time unlucky"},
		"fewer than ordered":   {"quiet.json", "BM_Quiet/1024", 0, times(4), map[string]harness.Measured{"wall-time": partial}, ""},
		"more than ordered":    {"own-repetitions.json", "BM_repeats/repeats:4", 0, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, "4 repetitions in the file, 3 were ordered: the benchmark sets its own"},
		"its own iterations":   {"v1.9-own-iterations.json", "BM_t/iterations:50", 0, fixed(2, 100), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, "50 iterations in the file, 100 were ordered: the benchmark sets its own"},
		"aggregates only":      {"aggregates-only.json", "BM_aggregates/repeats:3", 0, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, "the benchmark reports aggregates only"},
		"manual time":          {"manual.json", "BM_manual/manual_time", 0, times(2), map[string]harness.Measured{"wall-time": success}, ""},
		"zero time":            {"zero.json", "BM_zero/iterations:10/manual_time", 0, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, ""},
		"another case":         {"quiet.json", "BM_Quiet/102", 0, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, "the last words"},
		"no match":             {"no-match.json", "BM_none", 0, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, "the last words"},
		"no match and a crash": {"no-match.json", "BM_none", 134, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, "the last words"},
		"abort":                {"abort.json", "BM_behave/iterations:10", 134, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, "the last words"},
		"bad exit vetoes":      {"quiet.json", "BM_Quiet/1024", 9, times(3), map[string]harness.Measured{"wall-time": partial}, "the last words"},
		"counter called time":  {"clash.json", "BM_clash", 0, times(1), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, `read native output: member "real_time" comes twice (at byte 1136)`},
		"control character":    {"label.json", "BM_label", 0, times(1), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, `read native output: raw control character '\x01' in a string (at byte 1149)`},
		"complexity":           {"complexity.json", "BM_complexity", 0, times(1), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, "the benchmark reports aggregates only"},
		"one of a family":      {"complexity.json", "BM_complexity/64", 0, times(1), map[string]harness.Measured{"wall-time": success}, ""},
	} {
		s := probed(t, "1.9")
		s.Traits[traitCounter+"score"], s.Traits[traitCounter+"cycles"], s.Traits[traitCounter+"instructions"] = "score", "nothing", "endless"
		quantities := make([]string, 0, len(tc.want))
		for q := range tc.want {
			quantities = append(quantities, q)
		}
		out := ended(tc.exit, fixture(t, tc.file))
		out.Stderr = []byte("Run on (2 X 2445 MHz CPU s)\nthe last words\n")
		got := Adapter{}.Read(s, tc.bench, tc.p, quantities, out)
		if got.Message != tc.message {
			t.Errorf("%s: message %q, want %q", name, got.Message, tc.message)
		}
		if len(got.Quantities) != len(tc.want) {
			t.Errorf("%s: %d outcomes for %d quantities", name, len(got.Quantities), len(tc.want))
		}
		for q, want := range tc.want {
			m := got.Quantities[q]
			if m.Status != want.Status || m.Reason != want.Reason {
				t.Errorf("%s: %s is %s %s (%s), want %s %s", name, q, m.Status, m.Reason, m.Message, want.Status, want.Reason)
			}
			if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || m.Unit == "" {
				t.Errorf("%s: %s: %+v", name, q, m)
			}
		}
		if slices.Contains(got.Warnings, warnExit) != (tc.exit != 0) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	times2 := func(rest string) string {
		return `"time_unit":"us","iterations":10,"real_time":1234.5,"cpu_time":1000` + rest
	}
	text := file(
		`{"name":"a","run_name":"a","run_type":"iteration","repetition_index":1,`+times2(`,"bytes_per_second":9,"odd":-1`)+`}`,
		`{"name":"a","run_name":"a","run_type":"iteration","repetition_index":0,"iterations":20,"real_time":2,"cpu_time":0,"time_unit":"s","bytes_per_second":1e16,"odd":2}`,
		`{"name":"a_mean","run_name":"a","run_type":"aggregate","aggregate_name":"mean","aggregate_unit":"time","iterations":2,"real_time":1000617.25,"cpu_time":500,"time_unit":"us"}`,
		`{"name":"a_median","run_name":"a","run_type":"aggregate","aggregate_name":"median","iterations":2,"real_time":1000617.25,"cpu_time":500,"time_unit":"us"}`,
		`{"name":"a_stddev","run_name":"a","run_type":"aggregate","aggregate_name":"stddev","aggregate_unit":"time","iterations":2,"real_time":1e6,"cpu_time":NaN,"time_unit":"us"}`,
		`{"name":"a_cv","run_name":"a","run_type":"aggregate","aggregate_name":"cv","aggregate_unit":"percentage","iterations":2,"real_time":0.1,"cpu_time":0.1,"time_unit":"us"}`,
		`{"name":"a_mean","run_name":"a","run_type":"aggregate","aggregate_name":"p90","aggregate_unit":"time","iterations":2,"real_time":3,"cpu_time":3,"time_unit":"us"}`,
	)
	text = bytes.Replace(text, []byte(`"context":{`), []byte(`"context":{"aslr_enabled":false,`), 1)
	s := probed(t, "1.7")
	s.Traits[traitCounter+"score"] = "odd"
	got := Adapter{}.Read(s, "a", times(2), []string{"wall-time", "cpu-time", "throughput-bytes", "score"}, ended(0, text))
	mean, deviation := 1.00061725, 1.0
	estimate := func(name string) result.Summary {
		return result.Summary{Type: "estimate", Source: "producer", Value: &mean, Estimator: &result.Estimator{Name: name, MethodVersion: "google-benchmark/" + name, InputLevel: "observations"}}
	}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{2, 0.0012345}, Unit: "s", OriginalUnit: "s", Summaries: []result.Summary{
				estimate("mean"), estimate("median"), {Type: "statistic", Source: "producer", Name: "stddev", Method: "of the sample", Value: &deviation},
			}},
			"cpu-time":         {Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{0.001}, Unit: "s", OriginalUnit: "s", Message: "cpu_time of 0 cannot be used"},
			"throughput-bytes": {Status: result.Success, Values: []float64{1e16, 9}, Unit: "By/s"},
			"score":            {Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{2}, Unit: "1", Message: "odd of -1 cannot be used"},
		},
		InnerIterations: []int{20, 10}, Attempted: 2, Facts: map[string]string{"library_version": "v1.9.1", "aslr_enabled": "false"}, Warnings: []string{warnNonFinite},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummariesOfARealRun(t *testing.T) {
	t.Parallel()
	got := Adapter{}.Read(probed(t, "1.7"), "BM_Quiet/1024", times(3), both, ended(0, fixture(t, "quiet.json")))
	for _, q := range both {
		m := got.Quantities[q]
		if len(m.Values) != 3 || len(m.Summaries) != 3 {
			t.Fatalf("%s: %+v", q, m)
		}
		sum := 0.0
		for _, v := range m.Values {
			sum += v
		}
		if mean := *m.Summaries[0].Value; mean < sum/3*0.999999 || mean > sum/3*1.000001 || m.Summaries[0].Estimator.Name != "mean" {
			t.Errorf("%s: mean %v of %v", q, mean, m.Values)
		}
	}
	if diff := cmp.Diff([]string{warnDebug}, got.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestReadHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	s, native := probed(t, "1.9"), map[string][]byte{nativeFile: fixture(t, "quiet.json")}
	for reason, out := range map[string]harness.Output{
		result.ReasonTimeout:      {Result: proc.Result{Cause: proc.TimedOut, Exit: -1}, Files: native},
		result.ReasonHarnessError: {Result: proc.Result{Cause: proc.OutputLimit, Exit: -1}, Files: native},
		result.ReasonMapping:      {Result: proc.Result{Cause: proc.Exited}, Unread: map[string]string{nativeFile: "no ordinary file"}},
		result.ReasonNoOutput:     {Result: proc.Result{Cause: proc.Exited}},
	} {
		got := Adapter{}.Read(s, "BM_Quiet/1024", times(3), both, out)
		if m := got.Quantities["wall-time"]; m.Status != result.Failed || m.Reason != reason || len(got.Quantities) != 2 {
			t.Errorf("%s: %+v", reason, got)
		}
	}
	if m := (Adapter{}).Read(harness.Suite{}, "a", fixed(1, 5), both, ended(0, nil)).Quantities["wall-time"]; m.Reason != result.ReasonMapping {
		t.Errorf("precision that was never planned: %+v", m)
	}
	if m := (Adapter{}).Read(s, "BM_Quiet/1024", times(3), []string{"score"}, ended(0, native[nativeFile])).Quantities["score"]; m.Reason != result.ReasonMapping {
		t.Errorf("a quantity that nothing stands for: %+v", m)
	}
}

// TestTruncatedFileIsNeverASuccess cuts real output at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	s, text := probed(t, "1.9"), bytes.TrimSpace(fixture(t, "quiet.json"))
	for cut := range len(text) {
		for n := 1; n <= 3; n++ {
			got := Adapter{}.Read(s, "BM_Quiet/1024", times(n), both, ended(0, text[:cut]))
			for q, m := range got.Quantities {
				if m.Status != result.Failed || len(m.Values) > 0 {
					t.Fatalf("cut at byte %d of %d: %s of %d repetitions is %+v", cut, len(text), q, n, m)
				}
			}
		}
	}
	if m := (Adapter{}).Read(s, "BM_Quiet/1024", times(3), both, ended(0, text)).Quantities["wall-time"]; m.Status != result.Success {
		t.Errorf("the whole file: %+v", m)
	}
}

// TestWhatChangesNothing: the order of rows, other members, other cases, line ends
// and the unit of time.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	s := probed(t, "1.9")
	read := func(text []byte) harness.Reading {
		r := Adapter{}.Read(s, "a", times(4), both, ended(0, text))
		r.Warnings = nil
		return r
	}
	make1 := func(index, unit, real string) string {
		return `{"name":"a","run_name":"a","run_type":"iteration","repetition_index":` + index + `,"iterations":10,"real_time":` + real + `,"cpu_time":` + real + `,"time_unit":"` + unit + `"}`
	}
	rows := []string{make1("0", "ns", "1000"), make1("1", "ns", "2500"), make1("2", "ns", "3000"), make1("3", "ns", "4000")}
	want := read(file(rows...))
	if m := want.Quantities["wall-time"]; !slices.Equal(m.Values, []float64{1e-6, 2.5e-6, 3e-6, 4e-6}) {
		t.Fatalf("got %+v", want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		shuffled := append(slices.Clone(rows), row("ab", ""), row("a/1", ""))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, read(file(shuffled...))); diff != "" {
			t.Fatalf("shuffled (-want +got):\n%s", diff)
		}
	}
	more := slices.Clone(rows)
	for i := range more {
		more[i] = strings.Replace(more[i], "{", `{"new":{"x":[null,NaN,true]},`, 1)
	}
	numbered := slices.Clone(rows) // as under another filter
	for i := range numbered {
		numbered[i] = strings.Replace(numbered[i], "{", `{"family_index":7,"per_family_instance_index":3,`, 1)
	}
	micro := []string{make1("0", "us", "1"), make1("1", "us", "2.5"), make1("2", "us", "3"), make1("3", "us", "4")}
	spread := bytes.ReplaceAll(file(rows...), []byte(","), []byte(",\r\n\t"))
	for name, text := range map[string][]byte{"unknown members": file(more...), "numbered anew": file(numbered...), "microseconds": file(micro...), "carriage returns": spread} {
		got := read(text)
		if name == "microseconds" {
			for q, m := range got.Quantities {
				m.OriginalUnit = "ns"
				got.Quantities[q] = m
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
