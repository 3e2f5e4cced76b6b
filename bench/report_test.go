package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFloors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		f  figure
		ok bool
	}{
		"no floor":                     {figure{Ratio: &ratio{Centre: 0.1}}, true},
		"a floor, and no ratio":        {figure{Floor: atLeast(1)}, false},
		"at least, under":              {figure{Ratio: &ratio{Centre: 3.99}, Floor: atLeast(4)}, false},
		"at least, reached":            {figure{Ratio: &ratio{Centre: 4}, Floor: atLeast(4)}, true},
		"at most, reached":             {figure{Ratio: &ratio{Centre: 1}, Floor: atMost(1)}, true},
		"at most, over":                {figure{Ratio: &ratio{Centre: 1.01}, Floor: atMost(1)}, false},
		"less than nothing is no cost": {figure{Ratio: &ratio{Centre: -0.2}, Floor: atMost(1)}, true},
		"within a limit":               {limited(figure{}, 150, 200), true},
		"over a limit":                 {limited(figure{}, 201, 200), false},
	} {
		if got := tc.f.ok(); got != tc.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func example() report {
	return report{
		Machine: machine{Cores: 2, Kernel: "6.1", FileSystem: "ext4"}, Span: 6,
		Figures: []figure{
			{Part: "journal", What: "fast", Value: "9/s", Beside: "peer 2/s", Ratio: &ratio{4.5, []float64{4, 5}, 0.96875}, Floor: atLeast(4), Numbers: map[string]float64{"ours": 9}},
			limited(figure{Part: "serve", What: "slow start", Value: "300ms", Beside: "limit 200ms", Numbers: map[string]float64{"median_ms": 300}}, 300, 200),
			{Part: "verdict", What: "alone", Value: "2µs", Numbers: map[string]float64{"pair_us": 2}},
		},
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	table(&b, example().Figures)
	want := `
WHAT        FIGURE  BESIDE       RATIO              FLOOR    OK
fast        9/s     peer 2/s     4.50 [4.00, 5.00]  >= 4.00  yes
slow start  300ms   limit 200ms  1.50               <= 1.00  NO
alone       2µs                                              
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissedFloorsAreAnError(t *testing.T) {
	t.Parallel()
	r := example()
	if err := r.err(); err == nil || !strings.Contains(err.Error(), "slow start") || strings.Contains(err.Error(), "fast") {
		t.Errorf("got %v", err)
	}
	r.Figures = append(r.Figures[:1], r.Figures[2:]...)
	if err := r.err(); err != nil {
		t.Error(err)
	}
}

func TestJSONSaysWhatTheTableSays(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := example().writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		report
		Missed []string `json:"missed"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), got.report); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"slow start"}, got.Missed); diff != "" {
		t.Errorf("missed (-want +got):\n%s", diff)
	}
}
