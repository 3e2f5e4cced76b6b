package repeat

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/fault"
)

func TestSamplesGoThroughTheFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		whole := rapid.Map(rapid.Int64Range(0, 1<<53), func(i int64) float64 { return float64(i) })
		s := Samples{Clock: whole.Draw(t, "clock"), Floor: whole.Draw(t, "floor"), Warmups: rapid.IntRange(0, 9).Draw(t, "warmups"), Strays: rapid.IntRange(0, 9).Draw(t, "strays"), Shared: rapid.Bool().Draw(t, "shared")}
		for _, c := range s.columns() {
			*c.values = rapid.SliceOfN(whole, n, n).Draw(t, c.name)
		}
		if rapid.Bool().Draw(t, "uncounted") {
			s.Instructions = []float64{}
		}
		s.Stopped = rapid.SampledFrom([]string{"", "repetition 3 ended with status 1", "cannot start \"é\x01\": no"}).Draw(t, "stopped")
		s.Incomplete = s.Stopped != "" && rapid.Bool().Draw(t, "incomplete")
		got, err := Parse(s.Encode())
		if diff := cmp.Diff(s, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	whole := string(sample().Encode())
	for name, change := range map[string][2]string{
		"schema":              {"/v1", "/v2"},
		"no schema":           {`"schema"`, `"x"`},
		"a shorter column":    {`"user_ns":[10,20]`, `"user_ns":[10]`},
		"an empty column":     {`"wall_ns":[1000,2000]`, `"wall_ns":[]`},
		"half counted":        {`"instructions":[]`, `"instructions":[1]`},
		"negative":            {"[4096,", "[-4096,"},
		"a fraction":          {"[4096,", "[4096.5,"},
		"not finite":          {"[4096,", "[NaN,"},
		"beyond 2^53":         {"[4096,", "[9007199254740994,"},
		"thousands separator": {`"floor_bytes":2048`, `"floor_bytes":2,048`},
		"no column":           {`"peak_bytes"`, `"x"`},
		"no floor":            {`"floor_bytes"`, `"x"`},
		"no clock":            {`"clock_ns"`, `"x"`},
		"twice":               {`"warmups":1`, `"warmups":1,"warmups":1`},
		"no reason":           {`"incomplete":false`, `"incomplete":true`},
		"as text":             {`"incomplete":false`, `"incomplete":"false"`},
		"more":                {"}\n", "} {}"},
	} {
		text := strings.Replace(whole, change[0], change[1], 1)
		if text == whole {
			t.Fatalf("%s: nothing was changed", name)
		}
		if s, err := Parse([]byte(text)); fault.CodeOf(err) != fault.Malformed || len(s.Wall) > 0 {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
	if _, err := Parse(nil); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("nothing: %v", err)
	}
}

// TestCutOffAnywhere: a file that was cut off is never a shorter one.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	text := bytes.TrimSpace(sample().Encode())
	for n := range text {
		if s, err := Parse(text[:n]); err == nil {
			t.Fatalf("cut after %d bytes: %+v", n, s)
		}
	}
}

func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	text := sample().Encode()
	want, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][]byte{
		"line ends": bytes.ReplaceAll(text, []byte(","), []byte(",\r\n")),
		"further":   bytes.Replace(text, []byte(`"warmups"`), []byte(`"x":{"wall_ns":[9]},"warmups"`), 1),
	} {
		if got, err := Parse(changed); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	many := Samples{Instructions: make([]float64, 20000)}
	for _, c := range many.columns() {
		*c.values = make([]float64, 20000)
	}
	for name, text := range map[string][]byte{
		"many samples": many.Encode(),
		"many members": []byte("{" + strings.Repeat(`"":0,`, 20000) + `"x":0}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse(text)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d", name, got, len(text))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample().Encode())
	stopped := sample()
	stopped.Stopped, stopped.Incomplete, stopped.Instructions = "the loop was killed by signal 9", true, []float64{7, 8}
	f.Add(stopped.Encode())
	f.Add([]byte(`{"schema":"writ.command-samples/v1","wall_ns":[1e3]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		for _, c := range s.columns() {
			if n := len(*c.values); n != len(s.Wall) && (c.name != "instructions" || n > 0) {
				t.Errorf("%d values of %s for %d", n, c.name, len(s.Wall))
			}
			for _, v := range *c.values {
				if !(v >= 0) || v != math.Trunc(v) {
					t.Errorf("%s holds %v", c.name, v)
				}
			}
		}
		again, err := Parse(s.Encode())
		if err != nil || !cmp.Equal(s, again) {
			t.Errorf("written again: %v\n%s", err, cmp.Diff(s, again))
		}
	})
}

func FuzzParseCounters(f *testing.F) {
	f.Add(Counters{Instructions: true}.Encode())
	f.Add(Counters{Why: "no such \"file\""}.Encode())
	f.Add([]byte(`{"instructions":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseCounters(b)
		if err != nil {
			return
		}
		if again, err := ParseCounters(c.Encode()); err != nil || again != c {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}

func TestCountersGoThroughTheFile(t *testing.T) {
	t.Parallel()
	for _, c := range []Counters{{}, {Instructions: true}, {Why: "x\n\"y\""}} {
		if got, err := ParseCounters(c.Encode()); err != nil || got != c {
			t.Errorf("%+v %v", got, err)
		}
	}
	for _, text := range []string{"", "{", `{"instructions":tru`, `{"instructions":1}`, `[]`} {
		if c, err := ParseCounters([]byte(text)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%q: %+v %v", text, c, err)
		}
	}
}

func TestEncodeIsOneLine(t *testing.T) {
	t.Parallel()
	const want = `{"schema":"writ.command-samples/v1","wall_ns":[1000,2000],"user_ns":[10,20],"system_ns":[30,40],"peak_bytes":[4096,8192],` +
		`"minor_faults":[1,2],"major_faults":[0,0],"voluntary_switches":[1,1],"involuntary_switches":[0,3],"instructions":[],` +
		`"clock_ns":50,"floor_bytes":2048,"warmups":1,"strays":0,"shared_counter":false,"incomplete":false,"stopped":""}` + "\n"
	if diff := cmp.Diff(want, string(sample().Encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
