package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/store/results"
	"writ/internal/verdict"
)

type historyOptions struct {
	store, prefix string
	repo, branch  string
	changes       bool
	last          int
	params        verdict.ChangeParams
	seed          int64
}

func (a *app) historyCommand() *cobra.Command {
	o := historyOptions{last: 1000, params: verdict.ChangeParams{Alpha: .01, Permutations: 999, Least: 5}}
	c := &cobra.Command{
		Use:   "history PREFIX",
		Short: "show one series, and where it changes",
		Long: `Show the points of the series whose digest begins with PREFIX; writ series lists
them. They come in the order of measurement, or with --repo in the order of commits,
parents before children; points of commits that --branch does not reach are left out
and named.

--changes looks for the places where the series starts to be another one. The points
of one run and commit are one step, their median. Steps of checkouts with changes that
were not committed are left out. The search splits the steps where the energy distance
between both parts is largest, as long as a permutation test says that chance does not
do that, and goes on in the parts. Fewer than twice --least steps have no answer, and
the output says so. A change is told with the last step before it and the first step
after it; with --repo, with the commits in between.

Exit status: 0 shown, whatever was found; 2 wrong usage, or several series begin with
PREFIX; 6 no such series, store, repository or branch.`,
		Example: "  writ history 41fd92fc\n  writ history 41fd92fc --changes\n  writ history 41fd92fc --changes --repo . --branch main --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.prefix, o.params.Seed = args[0], uint64(o.seed)
			return a.history(c.Context(), o)
		},
	}
	storeFlag(c, &o.store)
	f := c.Flags()
	f.StringVar(&o.repo, "repo", "", "repository whose commits give the order")
	f.StringVar(&o.branch, "branch", "", "with --repo, the revision whose ancestry counts (default HEAD)")
	f.BoolVar(&o.changes, "changes", false, "look for changes")
	f.IntVar(&o.last, "last", o.last, "with --changes, look at this many of the last steps")
	f.Float64Var(&o.params.Alpha, "alpha", o.params.Alpha, "with --changes, chance of a finding in a series that has no change")
	f.IntVar(&o.params.Least, "least", o.params.Least, "with --changes, fewest steps between two changes")
	f.IntVar(&o.params.Permutations, "permutations", o.params.Permutations, "with --changes, permutations of the test")
	f.Int64Var(&o.seed, "seed", 0, "with --changes, seed of the permutations")
	return c
}

// Orders of points.
const (
	inAncestry = "ancestry"
	inTime     = "measurement-start"
)

// past is what `writ history --json` answers.
type past struct {
	Series     seriesView   `json:"series"`
	Ordering   string       `json:"ordering"`
	Points     []pastPoint  `json:"points"`
	LeftOut    []leftOut    `json:"left_out"`
	Unfinished []withoutEnd `json:"without_value"` // attempts at the same that gave none
	Noise      *noiseView   `json:"noise,omitempty"`
	Changes    *pastChanges `json:"changes,omitempty"`
	line       results.Line // of Series
	repo       *gitcmd.Repo // nil without one
}

type pastPoint struct {
	Value     float64       `json:"value"`
	StartedAt time.Time     `json:"started_at"`
	Revision  string        `json:"revision"`
	Tree      string        `json:"tree,omitempty"`
	Dirty     string        `json:"dirty"`
	RunKey    string        `json:"run_key,omitempty"`
	Side      string        `json:"side,omitempty"`
	Round     *int          `json:"round,omitempty"`
	Slot      *int          `json:"slot,omitempty"`
	Status    result.Status `json:"status"`
	Producer  string        `json:"producer"`
	IngestKey string        `json:"ingest_key"`
	SHA256    string        `json:"sha256"`
}

type leftOut struct {
	pastPoint
	Why string `json:"reason"`
}

type withoutEnd struct {
	Status    result.Status `json:"status"`
	Reason    string        `json:"reason"`
	Revision  string        `json:"revision"`
	RunKey    string        `json:"run_key,omitempty"`
	IngestKey string        `json:"ingest_key"`
}

type noiseView struct {
	SD     float64 `json:"sd"` // of the differences of both sides per round
	Rounds int     `json:"rounds"`
	Runs   int     `json:"runs"`
}

func viewPoint(p history.Point) pastPoint {
	return pastPoint{
		p.Value, p.Started, p.Revision, p.Tree, p.Dirty, p.RunKey, p.Side, p.Round, p.Slot, p.Status, p.Result.Producer, p.Result.IngestKey, p.SHA256.Hex(),
	}
}

func (o historyOptions) check() error {
	const op = "show history"
	switch {
	case o.branch != "" && o.repo == "":
		return fault.New(fault.Usage, op, "--branch is a revision of --repo").Help("name the repository too")
	case o.last < 1 || o.last > verdict.MaxSeries:
		return fault.New(fault.Usage, op, "--last %d is not between 1 and %d", o.last, verdict.MaxSeries)
	}
	return nil
}

func (a *app) history(ctx context.Context, o historyOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	return a.withStore(ctx, o.store, false, func(s *results.Store) error {
		p, points, err := o.read(ctx, s)
		if err != nil {
			return err
		}
		if o.changes {
			if err := p.look(ctx, o, points); err != nil {
				return err
			}
		}
		return a.emit(p, p.show)
	})
}

// read reads a series in the order that was asked for.
func (o historyOptions) read(ctx context.Context, s *results.Store) (p past, points []history.Point, err error) {
	p = past{Ordering: inTime, Points: []pastPoint{}, LeftOut: []leftOut{}, Unfinished: []withoutEnd{}}
	if p.line, points, err = findSeries(ctx, s, o.prefix); err != nil {
		return p, nil, err
	}
	p.Series = viewSeries(p.line)
	failed, err := s.Unfinished(ctx, p.line.Comparison)
	if err != nil {
		return p, nil, err
	}
	for _, x := range failed {
		r, err := x.Result()
		if err != nil {
			return p, nil, err
		}
		p.Unfinished = append(p.Unfinished, withoutEnd{r.Measurement.Status, r.Measurement.Reason, r.Revision.Key, r.Provenance.RunKey, r.IngestKey})
	}
	if n, ok := history.NoiseOf(points, p.line.Quantity); ok {
		p.Noise = &noiseView{n.SD, n.Rounds, n.Runs}
	}
	if o.repo != "" {
		if points, err = p.inRepo(ctx, o, points); err != nil {
			return p, nil, err
		}
	}
	for _, x := range points {
		p.Points = append(p.Points, viewPoint(x))
	}
	return p, points, nil
}

// inRepo puts points in the order of commits.
func (p *past) inRepo(ctx context.Context, o historyOptions, points []history.Point) ([]history.Point, error) {
	repo, err := gitcmd.Open(ctx, o.repo)
	if err != nil {
		return nil, err
	}
	tip, err := repo.ResolveCommit(ctx, cmp.Or(o.branch, "HEAD"))
	if err != nil {
		return nil, err
	}
	commits, err := repo.Ancestry(ctx, tip)
	if err != nil {
		return nil, err
	}
	in, outside := history.ByAncestry(points, commits)
	p.Ordering, p.repo = inAncestry, &repo
	for _, x := range outside {
		p.LeftOut = append(p.LeftOut, leftOut{viewPoint(x), "no commit that " + cmp.Or(o.branch, "HEAD") + " reaches"})
	}
	return in, nil
}

func (p past) show(w io.Writer) {
	l := p.line
	fmt.Fprintf(w, "series %s\n%s  %s  %s in %s, %s\n", l.Print.Hex(), l.Project, caseName(l.Series), l.Quantity, cmp.Or(l.Unit, "1"), estimatorName(l.Series))
	values := make([]float64, len(p.Points))
	for i, x := range p.Points {
		values[i] = x.Value
	}
	if p.Changes == nil {
		rows := [][]string{{"STARTED", "REVISION", "RUN", "ROUND", "VALUE", "NOTE"}}
		for _, x := range p.Points {
			round := ""
			if x.Round != nil {
				round = strconv.Itoa(*x.Round)
			}
			rows = append(rows, []string{x.StartedAt.Format(time.DateTime), commitName(x.Revision), x.RunKey, round, verdict.Amount(x.Value, l.Unit), x.note()})
		}
		table(w, rows)
		fmt.Fprintf(w, "%s  %s, %s\n", history.Sparkline(values, 2*sparkWidth), plural(len(values), "point"), p.orderText())
	} else {
		p.Changes.show(w, p)
	}
	p.remarks(w)
}

// note says what is special about a point.
func (x pastPoint) note() string {
	switch {
	case x.Dirty != result.Clean:
		return x.Dirty
	case x.Status != result.Success:
		return string(x.Status)
	}
	return ""
}

func (p past) orderText() string {
	if p.Ordering == inAncestry {
		return "in the order of commits"
	}
	return "in the order of measurement"
}

// remarks tell what is not in the table.
func (p past) remarks(w io.Writer) {
	if p.Noise != nil {
		what := "of the logarithm of contender over baseline"
		if info, _ := result.Known(p.Series.Quantity); info.ZeroLegal {
			what = "of contender less baseline"
		}
		fmt.Fprintf(w, "noise: standard deviation %.3g %s per round, from %s of %s\n", p.Noise.SD, what, plural(p.Noise.Rounds, "round"), plural(p.Noise.Runs, "run"))
	}
	var why groups
	for _, x := range p.Unfinished {
		why.add("no value: "+string(x.Status)+" ("+x.Reason+")", x.Revision)
	}
	for _, x := range p.LeftOut {
		why.add("left out: "+x.Why, x.Revision)
	}
	why.show(w)
}

// groups are revisions by what is to be said about them, in the order of coming.
type groups struct {
	texts     []string
	revisions map[string][]string
}

func (g *groups) add(text, revision string) {
	if g.revisions == nil {
		g.revisions = map[string][]string{}
	}
	if _, ok := g.revisions[text]; !ok {
		g.texts = append(g.texts, text)
	}
	g.revisions[text] = append(g.revisions[text], commitName(revision))
}

// named is how many revisions of a group are named to people; --json has all.
const named = 5

func (g groups) show(w io.Writer) {
	for _, text := range g.texts {
		all := g.revisions[text]
		names := slices.Compact(slices.Clone(all))
		more := ""
		if len(names) > named {
			names, more = names[:named], ", …"
		}
		fmt.Fprintf(w, "%s: %s of %s%s\n", text, plural(len(all), "result"), strings.Join(names, ", "), more)
	}
}
