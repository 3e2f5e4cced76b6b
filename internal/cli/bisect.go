package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"writ/internal/bisect"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner"
	"writ/internal/verdict"
)

type bisectOptions struct {
	driveOptions
	policy, out, workload string
	tries                 int
	midway                bool
}

// searchFile is the state of a search, in its folder.
const searchFile = "bisect.json"

func (a *app) bisectCommand() *cobra.Command {
	var o bisectOptions
	c := &cobra.Command{
		Use:   "bisect GOOD BAD",
		Short: "find the commit that made a case slower",
		Long: `Search the line of first parents from GOOD to BAD for the commit that made a case
slower. Every commit that is tried is built and compared with GOOD, as writ compare does
it, under the same policy. BAD is tried first; the case is --case, or the one that it is
slowest in. slower is bad; no-difference, faster and identical are good; everything else
is neither, and commits around it are tried. What does not build is passed over. With
--midway the threshold of all trials but the first is half of what BAD has lost: where
one commit lost it all, that tells more on a noisy machine.

What is known is in bisect.json of the folder of results, written whole after every
step: after an interrupt, a crash or a kill the same command goes on from there. Where no
trial can tell, the answer is the range that is left.

Exit status: 0 one commit is found; 1 a range is left, or BAD is not shown to be slower
than GOOD; 2 refused, or the folder is of another search; 4 the search is alive
elsewhere; 6 no such commit; 130 interrupted, what is known is kept.`,
		Example: "  writ bisect v1.2 HEAD --build 'go test -c -o {out}/sum.test .' --suite sum.test --filter '^BenchmarkSum$' --rounds 10\n" +
			"  writ bisect 3f2a9c1 main --build 'make OUT={out} bench' --adapter google-benchmark --suite bench --rounds 8 --case BM_Sum --json",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return a.bisect(c.Context(), o, args[0], args[1]) },
	}
	o.driveFlags(c)
	f := c.Flags()
	f.StringVar(&o.policy, "policy", "default", "gate policy: a file, or default for the shipped one")
	f.StringVar(&o.workload, "case", "", "case that became slower (default: the one that BAD is slowest in)")
	f.BoolVar(&o.midway, "midway", false, "ask of all commits but BAD whether they have lost more than half of what it has")
	f.IntVar(&o.tries, "tries", 0, "commits to try at most in this call (default: no limit)")
	f.StringVarP(&o.out, "out", "o", "", "folder of the search and its results (default results/bisect-GOOD-BAD)")
	return c
}

func (a *app) bisect(ctx context.Context, o bisectOptions, good, bad string) (err error) {
	const op = "bisect"
	drawn := o.seed == -1
	if err := o.driveOptions.check(); err != nil {
		return err
	}
	if o.tries < 0 {
		return fault.New(fault.Usage, op, "--tries %d is below 0", o.tries)
	}
	h := hunt{app: a, o: o}
	if h.policy, err = readPolicy(o.policy); err != nil {
		return err
	}
	if h.repo, err = gitcmd.Open(ctx, o.repo); err != nil {
		return err
	}
	var ends [2]string
	for i, rev := range []string{good, bad} {
		if ends[i], err = h.repo.ResolveCommit(ctx, rev); err != nil {
			return err
		}
	}
	if h.dir = o.out; h.dir == "" {
		h.dir = resultsFolder("bisect-" + ends[0][:12] + "-" + ends[1][:12])
	}
	if h.dir, err = filepath.Abs(h.dir); err != nil {
		return fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	line, err := h.repo.FirstParents(ctx, ends[0], ends[1])
	if err != nil {
		return err
	}
	lock, err := h.open(line, drawn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := h.sweep(ctx); err != nil {
		return err
	}
	if err := h.run(ctx); err != nil {
		return err
	}
	return h.report(ctx)
}

// open takes the folder, and takes up the search that is in it.
func (h *hunt) open(line []string, drawn bool) (lock *os.File, err error) {
	const op = "bisect"
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return nil, fault.Wrap(err, fault.Usage, op, "%s cannot be made", h.dir)
	}
	if lock, err = runner.LockFolder(h.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	settings := h.settings()
	raw, err := os.ReadFile(filepath.Join(h.dir, searchFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := freshFolder(h.dir); err != nil {
			return lock, err
		}
		if h.search, err = bisect.New(settings, line, h.o.seed); err != nil {
			return lock, err
		}
		return lock, h.save()
	case err != nil:
		return lock, fault.Wrap(err, fault.Usage, op, "%s cannot be read", filepath.Join(h.dir, searchFile))
	}
	if h.search, err = bisect.Parse(raw); err != nil {
		return lock, in(filepath.Join(h.dir, searchFile), err)
	}
	same := canon.Equal(h.search.Settings, settings) && canon.Equal(canon.MustFrom(h.search.Commits), canon.MustFrom(line)) &&
		(drawn || h.search.Seed == h.o.seed)
	if !same {
		return lock, fault.New(fault.Refused, op, "%s holds a search of other commits or with other settings", h.dir).Help("name another folder with --out, or go on with the command that began it")
	}
	h.app.say("going on with the search in %s: %s", h.dir, plural(len(h.search.Trials), "trial"))
	return lock, nil
}

// settings are everything that decides what a trial says.
func (h *hunt) settings() canon.Value {
	o := h.o
	return canon.MustFrom(map[string]any{
		"adapter": o.adapter, "suites": list(o.suites), "filter": o.filter, "include": list(o.include), "exclude": list(o.exclude), "quantities": list(o.quantities),
		"suite_parameters": list(o.suiteParameters), "parameters": list(o.parameters), "variables": list(o.variables), "project": o.project,
		"repetitions": o.repetitions, "iterations": o.iterations, "warmups": o.warmups, "levels": list(o.levels), "min_time": o.minTime, "warmup_time": o.warmupTime,
		"case_timeout": o.caseLimit, "order_timeout": o.orderLimit, "rounds": o.rounds, "order": o.sequence,
		"build": o.build, "build_dir": o.buildDir, "policy": h.policy.Ref(), "case": o.workload, "midway": o.midway, "environment": o.environment,
	})
}

func list(words []string) []string { return append([]string{}, words...) }

func (h *hunt) save() error { return replaceFile(filepath.Join(h.dir, searchFile), h.search.Raw()) }

// bisected is what `writ bisect --json` answers.
type bisected struct {
	Outcome  bisect.Outcome `json:"outcome"`
	Good     string         `json:"good"`     // the last one that is
	Bad      string         `json:"bad"`      // the first one that is
	Suspects []suspect      `json:"suspects"` // one of them made the difference; oldest first
	Case     *bisect.Case   `json:"case,omitempty"`
	Row      *verdict.Row   `json:"row,omitempty"` // of Bad against the first good commit
	Trials   []bisect.Trial `json:"trials"`
	Search   string         `json:"search"` // file that the search is kept in
}

type suspect struct {
	Commit string      `json:"commit"`
	Title  string      `json:"title"`
	Mark   bisect.Mark `json:"mark,omitempty"` // "" when it was not tried
}

func (h *hunt) report(ctx context.Context) error {
	found := h.search.Found()
	b := bisected{Outcome: found.Outcome, Good: found.Good, Bad: found.Bad, Case: h.search.Case, Trials: h.search.Trials, Search: filepath.Join(h.dir, searchFile)}
	marks := map[string]bisect.Mark{}
	for _, t := range h.search.Trials {
		marks[t.Commit] = t.Mark
		if t.Commit == found.Bad {
			b.Row = t.Row
		}
	}
	for _, c := range found.Suspects {
		title, err := h.repo.Title(ctx, c)
		if err != nil {
			return err
		}
		b.Suspects = append(b.Suspects, suspect{c, title, marks[c]})
	}
	if err := h.app.emit(b, func(w io.Writer) { h.show(w, b, found) }); err != nil {
		return err
	}
	if found.Outcome != bisect.Culprit {
		return exitStatus(fault.ExitFinding)
	}
	return nil
}

func (h *hunt) show(w io.Writer, b bisected, found bisect.Found) {
	rows := [][]string{{"COMMIT", "PLACE", "MARK", "CHANGE", "INTERVAL", "VERDICT"}}
	for _, t := range b.Trials {
		change, interval, word := "", "", t.Reason
		if t.Row != nil {
			r := rowOf(*t.Row)
			change, interval, word = r.Change(), r.Range(), r.Text
		}
		rows = append(rows, []string{t.Commit[:12], fmt.Sprintf("%d of %d", h.place(t.Commit), len(h.search.Commits)-1), string(t.Mark), change, interval, word})
	}
	table(w, rows)
	fmt.Fprintln(w)
	switch b.Outcome {
	case bisect.Culprit:
		fmt.Fprintf(w, "culprit: %s %s\n", b.Bad, b.Suspects[0].Title)
	case bisect.NoRegression:
		fmt.Fprintf(w, "no regression: %.12s is not shown to be slower than %.12s\n", b.Bad, b.Good)
	default:
		fmt.Fprintf(w, "range: after %.12s, up to %.12s: %s\n", b.Good, b.Bad, plural(len(b.Suspects), "commit"))
		for _, s := range b.Suspects {
			mark := string(s.Mark)
			if mark == "" {
				mark = "not tried"
			}
			fmt.Fprintf(w, "  %s %s (%s)\n", s.Commit[:12], s.Title, mark)
		}
	}
	if b.Row != nil && b.Outcome != bisect.NoRegression {
		r := rowOf(*b.Row)
		fmt.Fprintf(w, "%s %s: %s, %s -> %s, %s %s, n = %s, against %.12s\n", r.Case, r.Quantity, r.Text, r.Before(), r.After(), r.Change(), r.Range(), r.Rounds(), h.search.Commits[0])
	}
	if b.Outcome == bisect.Open {
		fmt.Fprintf(w, "at most %s left: the same command goes on\n", plural(found.Left, "commit"))
	}
}

// rowOf makes one row ready to be shown.
func rowOf(r verdict.Row) verdict.ReportRow {
	return verdict.Document{Rows: []verdict.Row{r}}.Report().Rows[0]
}

// place counts commits from the good one.
func (h *hunt) place(commit string) int {
	for i, c := range h.search.Commits {
		if c == commit {
			return i
		}
	}
	return -1
}

func (h *hunt) runKey(attempt int) string {
	return filepath.Base(h.dir) + "." + strconv.Itoa(attempt)
}
