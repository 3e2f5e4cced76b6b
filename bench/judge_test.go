package main

import (
	"os"
	"path/filepath"
	"testing"

	"writ/internal/verdict"
	"writ/internal/verdict/benchfile"
)

// The files that the judge is measured on are what they are said to be.
func TestLinesThatAreMeasured(t *testing.T) {
	t.Parallel()
	for _, rounds := range []bool{true, false} {
		var files [2]*benchfile.File
		for i, name := range []string{"old", "new"} {
			path := filepath.Join(t.TempDir(), name)
			if err := writeLines(path, 30, 10, rounds, uint64(i)); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			files[i], err = benchfile.Read(name, f, benchfile.Options{})
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
		g, err := benchfile.Gather(files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{true: 10}[rounds]
		if len(g.Series) != 30 || len(g.Failed) > 0 || g.Rounds != want || len(g.Series[0].Samples[1]) != 10 || rounds && (g.Fixed || g.Unknown) {
			t.Errorf("%d series, %d rounds, failed %v", len(g.Series), g.Rounds, g.Failed)
		}
	}
}

func TestResultsThatAreMeasured(t *testing.T) {
	t.Parallel()
	n, err := writeResults(filepath.Join(t.TempDir(), "results"), 3, 2)
	if err != nil || n != 12 {
		t.Errorf("%d results, %v", n, err)
	}
}

// What a suite is drawn for decides what is found: nothing at the threshold, and
// everything far above it.
func TestSuitesAtTheThreshold(t *testing.T) {
	t.Parallel()
	f, err := suite{what: "x", cases: 1, rounds: 10}.blocked()
	if err != nil || !f.ok() || f.Numbers["share"] == 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if f := (detection{10, .05, 0, "nothing"}).seen(); f.ok() || f.Numbers["share"] > .05 {
		t.Errorf("nothing is seen: %+v", f)
	}
	if f := covered(10); !f.ok() {
		t.Errorf("%+v", f)
	}
	if f := rarely(rateOf("x", "y", 9, 100)); !f.ok() {
		t.Errorf("nine of a hundred are within the error of five: %+v", f)
	}
	if f := rarely(rateOf("x", "y", 400, 4000)); f.ok() {
		t.Errorf("a tenth is not: %+v", f)
	}
	if n := verdict.NeedRounds(1, nominal); n > runsPerSide {
		t.Errorf("%d rounds are needed", n)
	}
}
