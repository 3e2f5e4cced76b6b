package verdict

import (
	"strings"
	"testing"

	"writ/internal/fault"
)

func TestAttemptsShareTheirLevel(t *testing.T) {
	t.Parallel()
	once := policy(t, .02)
	thrice := policy(t, .02, func(p *GatePolicy) { p.Attempts = 3 })
	near(t, "level of one", once.Level(), .05, 0)
	near(t, "level of three", thrice.Level(), .05/3, 1e-15)

	// Six rounds are enough at 5 %, and not at a third of it, whichever attempt it is.
	r := newRun(t).add("A", "wall-time", steady(1, 6), scaled(steady(1, 6), .3, .31, .32, .33, .34, .35))
	if got := judge(t, params(t, r, once)).Document; got.Overall != Slower || got.Method.Alpha != .05 {
		t.Errorf("one attempt: %s at %v", got.Overall, got.Method.Alpha)
	}
	if got := judge(t, params(t, r, thrice)).Document; got.Overall != Underpowered || got.Method.Alpha != thrice.Level() || got.Rows[0].Need != NeedRounds(2, .05/3) {
		t.Errorf("three attempts: %s at %v, needs %d", got.Overall, got.Method.Alpha, got.Rows[0].Need)
	}
	if first, second := (Stages{6, 6}).Spend(thrice.Level()); (Stages{6, 6}).At(thrice, 1).Level() != first || (Stages{6, 6}).At(thrice, 2).Level() != second {
		t.Error("two looks of three attempts do not share what one attempt may take")
	}
	for _, n := range []int{-1, MaxAttempts + 1} {
		p := DefaultPolicy()
		p.Attempts = n
		if _, err := NewPolicy(p); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "attempts") {
			t.Errorf("%d attempts: %v", n, err)
		}
	}
}

func TestWhoMayTryAgain(t *testing.T) {
	t.Parallel()
	p := policy(t, .02, func(p *GatePolicy) { p.Attempts = 3 })
	answer := func(run string, a Answer) GateAnswer {
		return GateAnswer{RunKey: run, Policy: p.Ref(), Answer: a, Verdict: "sha256:1", Reasons: []string{"because"}}
	}
	other := answer("r1", Hold)
	other.Policy.Version = "2"
	for name, c := range map[string]struct {
		policy  GatePolicy
		earlier []GateAnswer
		code    fault.Code
		notes   int
	}{
		"the first":              {p, nil, "", 1},
		"the only one":           {policy(t, .02), nil, "", 0},
		"a second of one":        {policy(t, .02), []GateAnswer{answer("r1", Hold)}, fault.Refused, 0},
		"after a hold":           {p, []GateAnswer{answer("r1", Hold)}, "", 2},
		"after two":              {p, []GateAnswer{answer("r1", Hold), answer("r2", NotJudged)}, "", 3},
		"after three":            {p, []GateAnswer{answer("r1", Hold), answer("r2", Hold), answer("r3", Hold)}, fault.Refused, 0},
		"after a block":          {p, []GateAnswer{answer("r1", Block)}, fault.Refused, 0},
		"after a pass":           {p, []GateAnswer{answer("r1", Pass)}, fault.Refused, 0},
		"the same run":           {p, []GateAnswer{answer("r9", Hold)}, fault.Refused, 0},
		"the same earlier twice": {p, []GateAnswer{answer("r1", Hold), answer("r1", Hold)}, fault.Refused, 0},
		"under another policy":   {p, []GateAnswer{other}, fault.Relation, 0},
	} {
		notes, err := c.policy.Retry("r9", c.earlier)
		if c.code == "" && err != nil || c.code != "" && fault.CodeOf(err) != c.code || len(notes) != c.notes {
			t.Errorf("%s: %q, %v", name, notes, err)
		}
	}
}
