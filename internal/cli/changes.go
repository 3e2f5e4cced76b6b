package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/verdict"
)

// pastChanges is what --changes found.
type pastChanges struct {
	Method       string       `json:"method"`
	Alpha        float64      `json:"alpha"`
	Permutations int          `json:"permutations"`
	Least        int          `json:"least"`
	Seed         uint64       `json:"seed"`
	Steps        []step       `json:"steps"`         // that were looked at
	Earlier      int          `json:"earlier_steps"` // that were not, because of --last
	TooFew       bool         `json:"too_few"`       // there are not enough steps for an answer
	Found        []pastChange `json:"found"`
}

type step struct {
	Value     float64   `json:"value"` // median of its points
	Points    int       `json:"points"`
	StartedAt time.Time `json:"started_at"`
	Revision  string    `json:"revision"`
	Tree      string    `json:"tree,omitempty"`
	RunKey    string    `json:"run_key,omitempty"`
}

// pastChange is one change. Its cause is after Last, up to and with First.
type pastChange struct {
	Word    string   `json:"word"`
	Before  float64  `json:"before"` // median of the steps up to the change before
	After   float64  `json:"after"`
	Ratio   *float64 `json:"ratio,omitempty"`
	P       float64  `json:"p"`
	Energy  float64  `json:"energy"`
	At      int      `json:"at"` // index of First in the steps
	Last    step     `json:"last"`
	First   step     `json:"first"`
	Commits []string `json:"commits,omitempty"` // that First has and Last has not, oldest first
}

const changeMethod = "e-divisive/1"

// look looks for changes among the points.
func (p *past) look(ctx context.Context, o historyOptions, points []history.Point) error {
	clean, rest := history.Clean(points)
	for _, x := range rest {
		why := "the checkout had changes that were not committed"
		if x.Dirty == result.Unknown {
			why = "nobody knows whether the checkout was as committed"
		}
		p.LeftOut = append(p.LeftOut, leftOut{viewPoint(x), why})
	}
	steps := history.Steps(clean)
	c := &pastChanges{
		Method: changeMethod, Alpha: o.params.Alpha, Permutations: o.params.Permutations, Least: o.params.Least, Seed: o.params.Seed,
		Steps: []step{}, Found: []pastChange{},
	}
	if c.Earlier = max(0, len(steps)-o.last); c.Earlier > 0 {
		steps = steps[c.Earlier:]
	}
	for _, s := range steps {
		c.Steps = append(c.Steps, step{s.Value, s.Points, s.Started, s.Revision, s.Tree, s.RunKey})
	}
	c.TooFew = len(steps) < 2*o.params.Least
	found, err := history.Changes(steps, p.line.Direction, o.params)
	if err != nil {
		return err
	}
	for _, f := range found {
		x := pastChange{Word: f.Word, Before: f.Before, After: f.After, P: f.P, Energy: f.Energy, At: f.First, Last: c.Steps[f.Last], First: c.Steps[f.First]}
		if r := f.Ratio(); !math.IsNaN(r) {
			x.Ratio = &r
		}
		if x.Commits, err = p.between(ctx, x.Last.Revision, x.First.Revision); err != nil {
			return err
		}
		c.Found = append(c.Found, x)
	}
	p.Changes = c
	return nil
}

// between lists the commits of a range; none without a repository, or when the
// repository does not have them.
func (p *past) between(ctx context.Context, last, first string) ([]string, error) {
	if p.repo == nil || last == first || !gitcmd.IsID(last) || !gitcmd.IsID(first) {
		return nil, nil
	}
	commits, err := p.repo.Ancestry(ctx, first, last)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	return commits, err
}

func (c pastChanges) show(w io.Writer, p past) {
	values := make([]float64, len(c.Steps))
	points := 0
	for i, s := range c.Steps {
		values[i] = s.Value
		points += s.Points
	}
	fmt.Fprintf(w, "%s  %s of %s, %s\n", history.Sparkline(values, 2*sparkWidth), plural(len(c.Steps), "step"), plural(points, "point"), p.orderText())
	if c.Earlier > 0 {
		fmt.Fprintf(w, "%s before them not looked at\n", plural(c.Earlier, "step"))
	}
	switch {
	case c.TooFew:
		fmt.Fprintf(w, "too few steps for an answer: %d, and %d are needed\n", len(c.Steps), 2*c.Least)
	case len(c.Found) == 0:
		fmt.Fprintf(w, "no change found at alpha %g\n", c.Alpha)
	}
	for _, f := range c.Found {
		unit := p.line.Unit
		text := verdict.Amount(f.Before, unit) + " -> " + verdict.Amount(f.After, unit)
		if f.Ratio != nil {
			text += ", x" + strconv.FormatFloat(*f.Ratio, 'f', 3, 64)
		}
		fmt.Fprintf(w, "%s: %s, p = %.3g\n", f.Word, text, f.P)
		fmt.Fprintf(w, "  last before  %s\n  first after  %s\n", f.Last.text(), f.First.text())
		switch {
		case f.Last.Revision == f.First.Revision:
			fmt.Fprintln(w, "  no commit in between: the cause is not in the code")
		case len(f.Commits) > 0:
			fmt.Fprintf(w, "  %s: git log %s..%s\n", plural(len(f.Commits), "commit"), commitName(f.Last.Revision), commitName(f.First.Revision))
		default:
			fmt.Fprintf(w, "  git log %s..%s\n", commitName(f.Last.Revision), commitName(f.First.Revision))
		}
	}
}

func (s step) text() string {
	line := s.StartedAt.Format(time.DateTime) + "  " + commitName(s.Revision)
	if s.RunKey != "" {
		line += "  " + s.RunKey
	}
	return line
}
