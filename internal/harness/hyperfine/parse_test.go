package hyperfine

import (
	"bytes"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
)

// file is a file with one record.
func file(members string) []byte {
	return []byte(`{"results":[{"command":"plain","times":[1,2]` + members + `}]}`)
}

func TestParse(t *testing.T) {
	t.Parallel()
	d, err := Parse(fixture(t, "v1.20-memory.json"))
	want := Document{Commands: []Command{{
		Name: "plain", Times: []float64{0.25, 0.5, 0.75}, Exits: []Exit{0, 0, 0}, Memory: []float64{1048576, 1064960, 1064960},
		Statistics: []Statistic{{"mean", 0.5}, {"stddev", 0.25}, {"median", 0.5}, {"user", 0.125}, {"system", 0.0625}, {"min", 0.25}, {"max", 0.75}},
	}}}
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if d, err := Parse(fixture(t, "single.json")); err != nil || len(d.Commands[0].Times) != 1 {
		t.Errorf("one run: %+v %v", d, err)
	} else if _, has := d.Commands[0].of("stddev"); has {
		t.Error("a deviation that is null was read")
	}
	for _, name := range []string{"v1.10-parameter.json", "v1.5-times.json"} {
		if d, err := Parse(fixture(t, name)); err != nil || d.Commands[0].Exits != nil || len(d.Commands[0].Times) != 3 {
			t.Errorf("%s: %+v %v", name, d, err)
		}
	}
	if d, err := Parse(fixture(t, "null-exit.json")); err != nil || d.Commands[0].Exits[1] != Signalled {
		t.Errorf("a null exit code: %+v %v", d, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text []byte
		want fault.Code
	}{
		"empty":               {nil, fault.Nothing},
		"no object":           {[]byte("[]"), fault.Malformed},
		"no results":          {[]byte(`{"a":1}`), fault.Malformed},
		"no command":          {[]byte(`{"results":[{"times":[1]}]}`), fault.Malformed},
		"results twice":       {[]byte(`{"results":[],"results":[]}`), fault.Malformed},
		"times twice":         {file(`,"times":[1]`), fault.Malformed},
		"time as text":        {file(`,"memory_usage_byte":["1"]`), fault.Malformed},
		"fewer exit codes":    {file(`,"exit_codes":[0]`), fault.Malformed},
		"no exit codes":       {file(`,"exit_codes":[]`), fault.Malformed},
		"half an exit code":   {file(`,"exit_codes":[0.5,0]`), fault.Malformed},
		"large exit code":     {file(`,"exit_codes":[0,4294967296]`), fault.Malformed},
		"fewer memory usages": {file(`,"memory_usage_byte":[1]`), fault.Malformed},
		"thousands separator": {file(`,"mean":1,234`), fault.Malformed},
		"decimal comma":       {file(`,"mean":0,5`), fault.Malformed},
		"text after it":       {append(file(""), '{'), fault.Malformed},
		"byte order mark":     {append([]byte("\uFEFF"), file("")...), fault.Malformed},
	} {
		if d, err := Parse(tc.text); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %+v %v, want %q", name, d, err, tc.want)
		}
	}
}

// TestCutOffAnywhere: a file that was cut off is never a shorter one.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	text := bytes.TrimSpace(fixture(t, "plain.json"))
	for n := range text {
		if d, err := Parse(text[:n]); err == nil {
			t.Fatalf("cut after %d bytes: %+v", n, d)
		}
	}
}

// TestWhatChangesNothing: line ends, further members and their order.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	text := fixture(t, "plain.json")
	want, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][]byte{
		"line ends": bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"further":   bytes.Replace(text, []byte(`"command"`), []byte(`"x":{"times":[9]},"command"`), 1),
		"outside":   bytes.Replace(text, []byte(`"results"`), []byte(`"version":"2","results"`), 1),
	} {
		if got, err := Parse(changed); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for name, text := range map[string][]byte{
		"many commands":   []byte(`{"results":[` + strings.Repeat(`{"command":"","mean":1},`, 10000) + `{"command":""}]}`),
		"many times":      []byte(`{"results":[{"command":"","times":[` + strings.Repeat("1,", 50000) + `1]}]}`),
		"many exit codes": []byte(`{"results":[{"command":"","times":[` + strings.Repeat("1,", 50000) + `1],"exit_codes":[` + strings.Repeat("0,", 50000) + `0]}]}`),
		"many names":      []byte(`{"x":[` + strings.Repeat(`"command",`, 20000) + `1],"results":[]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(text)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give a record that does not fit
// itself, or answer differently the second time.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, path := range paths {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Add(file(`,"mean":NaN,"exit_codes":[null,-1]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || !cmp.Equal(d, again, cmpopts.EquateNaNs()) {
			t.Error("the same bytes gave another answer")
		}
		finite := 0
		for _, c := range d.Commands {
			if c.Exits != nil && len(c.Exits) != len(c.Times) || c.Memory != nil && len(c.Memory) != len(c.Times) {
				t.Errorf("record %+v", c)
			}
			for _, v := range c.Times {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					finite++
				}
			}
		}
		if finite > d.NonFinite {
			t.Errorf("%d numbers are not finite, %d were counted", finite, d.NonFinite)
		}
	})
}
