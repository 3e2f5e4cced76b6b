package bisect

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/verdict"
)

// line is a search over n commits after the good one.
func line(t testing.TB, n int) Search {
	t.Helper()
	var commits []string
	for i := range n + 1 {
		commits = append(commits, "c"+strconv.Itoa(i))
	}
	s, err := New(canon.MustFrom(map[string]int{"rounds": 6}), commits, 7)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finish tries what the search asks for until it asks for nothing.
func finish(t testing.TB, s Search, mark func(i int) Mark) Search {
	t.Helper()
	for range 2 * len(s.Commits) {
		commit, more := s.Next()
		if !more {
			return s
		}
		i := slices.Index(s.Commits, commit)
		s.Attempts++
		var err error
		if s, err = s.Add(Trial{Commit: commit, Mark: mark(i), RunKey: "k"}); err != nil {
			t.Fatal(err)
		}
		if s, err = Parse(s.Raw()); err != nil { // as after a crash
			t.Fatal(err)
		}
	}
	t.Fatal("the search does not end")
	return s
}

func TestSearches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		marks   string // of the commits after the good one: g, b, u or x
		outcome Outcome
		good    string
		bad     string
		tries   int
	}{
		"neighbours":            {"b", Culprit, "c0", "c1", 1},
		"first of many":         {"bbbbbbbb", Culprit, "c0", "c1", 4},
		"last of many":          {"gggggggb", Culprit, "c7", "c8", 4},
		"in the middle":         {"ggggbbbb", Culprit, "c4", "c5", 4},
		"one does not build":    {"gggxbbbb", Range, "c3", "c5", 6},
		"it does not matter":    {"xggggbbb", Culprit, "c5", "c6", 4},
		"a zone without answer": {"gguuuubb", Range, "c2", "c7", 7},
		"nothing builds":        {"xxxxxxxb", Range, "c0", "c8", 8},
		"no regression":         {"bbbg", NoRegression, "c0", "c4", 1},
		"the end is unclear":    {"bbbu", NoRegression, "c0", "c4", 1},
	} {
		s := finish(t, line(t, len(c.marks)), func(i int) Mark {
			return map[byte]Mark{'g': Good, 'b': Bad, 'u': Unclear, 'x': Broken}[c.marks[i-1]]
		})
		f := s.Found()
		if f.Outcome != c.outcome || f.Good != c.good || f.Bad != c.bad || len(s.Trials) != c.tries || f.Left != 0 {
			t.Errorf("%s: %+v after %d trials, want %s from %s to %s after %d", name, f, len(s.Trials), c.outcome, c.good, c.bad, c.tries)
		}
	}
}

// Whatever cannot be told, the search ends, asks for every commit once, and what
// made the difference is among the suspects; where everything can be told it is the
// only one, and few commits were tried.
func TestTheCulpritIsAmongTheSuspects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(rt, "commits")
		culprit := rapid.IntRange(1, n).Draw(rt, "culprit")
		hidden := rapid.SliceOfDistinct(rapid.IntRange(1, n), func(i int) int { return i }).Draw(rt, "hidden")
		s := finish(t, line(t, n), func(i int) Mark {
			switch {
			case i != n && slices.Contains(hidden, i):
				return rapid.SampledFrom([]Mark{Unclear, Broken}).Draw(rt, "mark")
			case i >= culprit:
				return Bad
			}
			return Good
		})
		f := s.Found()
		if !slices.Contains(f.Suspects, "c"+strconv.Itoa(culprit)) || f.Suspects[len(f.Suspects)-1] != f.Bad {
			rt.Fatalf("c%d is not among %v", culprit, f.Suspects)
		}
		for _, c := range f.Suspects[:len(f.Suspects)-1] {
			if trial, ok := s.trial(c); !ok || trial.Mark == Good || trial.Mark == Bad {
				rt.Fatalf("%s is a suspect, and %v", c, trial)
			}
		}
		if len(hidden) == 0 {
			if f.Outcome != Culprit || len(s.Trials) > 1+bits.Len(uint(n)) {
				rt.Fatalf("%+v after %d trials of %d commits", f, len(s.Trials), n)
			}
		}
	})
}

func TestMarksOfVerdicts(t *testing.T) {
	t.Parallel()
	want := map[verdict.Word]Mark{
		verdict.Slower: Bad, verdict.NoDifference: Good, verdict.Faster: Good, verdict.Identical: Good,
		verdict.Inconclusive: Unclear, verdict.Underpowered: Unclear, verdict.Invalid: Unclear,
	}
	for _, w := range verdict.Words() {
		if got := Of(w); got != want[w] {
			t.Errorf("%s: %s, want %s", w, got, want[w])
		}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	n := map[string]canon.Value{"n": canon.IntOf(1)}
	c := Case{Workload: "A", Quantity: "wall-time"}
	for name, x := range map[string]struct {
		c    Case
		r    verdict.Row
		want bool
	}{
		"same":               {c, verdict.Row{Workload: "A", Quantity: "wall-time"}, true},
		"empty parameters":   {c, verdict.Row{Workload: "A", Quantity: "wall-time", Parameters: map[string]canon.Value{}}, true},
		"with a parameter":   {c, verdict.Row{Workload: "A", Quantity: "wall-time", Parameters: n}, false},
		"the same parameter": {Case{"A", n, "wall-time"}, verdict.Row{Workload: "A", Quantity: "wall-time", Parameters: n}, true},
		"another quantity":   {c, verdict.Row{Workload: "A", Quantity: "cpu-time"}, false},
		"another case":       {c, verdict.Row{Workload: "B", Quantity: "wall-time"}, false},
	} {
		if got := x.c.Has(x.r); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	s := finish(t, line(t, 4), func(i int) Mark { return map[bool]Mark{true: Bad, false: Good}[i > 2] })
	good := string(s.Raw())
	for name, c := range map[string]struct {
		old, new string
		code     fault.Code
		at       string
	}{
		"no JSON":              {"{", "", fault.Malformed, ""},
		"another kind":         {Schema, "writ.bisect/v2", fault.UnknownKind, "/schema"},
		"a member too many":    {`"attempts"`, `"more":1,"attempts"`, fault.Invalid, "/more"},
		"no such mark":         {`"mark":"good"`, `"mark":"fine"`, fault.Invalid, "/trials/1/mark"},
		"tried twice":          {`"commit":"c2"`, `"commit":"c4"`, fault.Invalid, "/trials/1/commit"},
		"the good one tried":   {`"commit":"c2"`, `"commit":"c0"`, fault.Invalid, "/trials/1/commit"},
		"a stranger tried":     {`"commit":"c2"`, `"commit":"d2"`, fault.Invalid, "/trials/1/commit"},
		"not the bad one":      {`"commit":"c4"`, `"commit":"c1"`, fault.Invalid, "/trials/0/commit"},
		"too few attempts":     {`"attempts":3`, `"attempts":2`, fault.Invalid, "/attempts"},
		"a commit comes twice": {`"c0","c1"`, `"c1","c1"`, fault.Invalid, "/commits/1"},
		"one commit":           {`["c0","c1","c2","c3","c4"]`, `["c4"]`, fault.Invalid, "/commits"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s: nothing was changed in %s", name, good)
		}
		_, err := Parse([]byte(text))
		if e, ok := fault.As(err); !ok || e.Code != c.code || e.Pointer != c.at {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Add(Trial{Commit: "c4", Mark: Good}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("tried twice: %v", err)
	}
	if len(s.Trials) != 3 {
		t.Errorf("a refused trial stays: %v", s.Trials)
	}
}

func FuzzParse(f *testing.F) {
	s := finish(f, line(f, 4), func(int) Mark { return Bad })
	f.Add([]byte(s.Raw()))
	f.Add([]byte(`{"schema":"writ.bisect/v1","commits":["a","b"]}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(s.Raw())
		if err != nil || string(again.Raw()) != string(s.Raw()) {
			t.Errorf("read again: %v", err)
		}
		if commit, more := s.Next(); more {
			if _, tried := s.trial(commit); tried {
				t.Errorf("%s is tried twice", commit)
			}
		}
		s.Found()
	})
}
