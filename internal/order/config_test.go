package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	known := []string{"pyperf", "gobench"}
	c, err := ParseConfig([]byte(`{"adapters":{"pyperf":{"precision":{"repetitions":{"mode":"fixed","levels":[{"unit":"process","n":7}]},"warmup":{"mode":"count","n_warmup":0}}},"gobench":{"precision":{}}}}`), known)
	if err != nil {
		t.Fatal(err)
	}
	defaults := Precision{
		Repetitions: Repetitions{Levels: []Level{{"process", 20}, {"value", 3}}},
		Calibration: &Calibration{Mode: Adaptive, MinimumSampleSeconds: 0.1}, Warmup: &Warmup{Mode: None},
	}
	flags := Precision{Repetitions: Repetitions{Levels: []Level{{"value", 5}}}}
	got := flags.Over(c["pyperf"].Over(defaults))
	want := `{"calibration":{"minimum_sample_seconds":0.1,"mode":"adaptive"},"repetitions":{"levels":[{"n":7,"unit":"process"},{"n":5,"unit":"value"}],"mode":"fixed"},"warmup":{"mode":"count","n_warmup":0}}`
	if diff := cmp.Diff(want, string(canon.MustFrom(got).Canonical())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if bare := (Precision{Repetitions: Times(9)}).Over(defaults); !bare.Repetitions.Bare || bare.Repetitions.Total() != 9 {
		t.Errorf("a bare count: %+v", bare.Repetitions)
	}
	if levels := flags.Over(Precision{Repetitions: Times(9)}); levels.Repetitions.Bare || levels.Repetitions.Total() != 5 {
		t.Errorf("levels over a bare count: %+v", levels.Repetitions)
	}
	if same := (Precision{}).Over(defaults); !cmp.Equal(same, defaults) {
		t.Errorf("nothing over the defaults: %+v", same)
	}
	precision := func(text string) string { return `{"adapters":{"gobench":{"precision":` + text + `}}}` }
	for text, says := range map[string]string{
		`{"adapters":{"jmh":{"precision":{}}}}`:                               "no adapter",
		`{"adapter":{}}`:                                                      "adapter",
		`{"adapters":{"gobench":{"precision":{},"suite":"x"}}}`:               "suite",
		precision(`{"calibration":{"mode":"fixed"}}`):                         "n_iterations",
		precision(`{"calibration":{"mode":"adaptive","n_iterations":1}}`):     "minimum_sample_seconds",
		precision(`{"calibration":{"mode":"auto"}}`):                          "adaptive or fixed",
		precision(`{"warmup":{"mode":"time"}}`):                               "seconds",
		precision(`{"warmup":{"mode":"count"}}`):                              "n_warmup",
		precision(`{"warmup":{"mode":"none","seconds":1}}`):                   "none",
		precision(`{"warmup":{"mode":"cold"}}`):                               "none, count or time",
		precision(`{"repetitions":0}`):                                        "above 0",
		precision(`{"repetitions":{"mode":"fixed","levels":[{"unit":"x"}]}}`): "above 0",
	} {
		if _, err := ParseConfig([]byte(text), known); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseConfig([]byte(`{"adapters":{}`), known); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("no JSON: %v", err)
	}
}
