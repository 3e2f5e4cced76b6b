package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/catalogue"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
)

type runOptions struct {
	file, out, record string
	resume            string
	slot              int
	collectors, dry   bool
	policies          []string
	store             string
	noIngest          bool
}

func (a *app) runCommand() *cobra.Command {
	o := runOptions{slot: -1}
	c := &cobra.Command{
		Use:   "run [ORDER]",
		Short: "execute one work order and write its results; needs no server",
		Long: `Execute a work order: refuse what cannot be honoured exactly, fix the plan, run
one process per case, and write one result for every planned entry, whatever
happens. Nothing is built, checked out or judged. ORDER "-" is standard input.

Programs that the order brings along are run only with --allow-collectors.

--resume continues a run that was interrupted, from what is in its folder: entries
with a result keep it, the rest is measured. It needs the same programs, machine,
settings and boot. What comes after the gap says so, and is never paired with what
came before.

When everything is measured, the results go into the store that --store names, or into
the one of the data folder if there is one; writ ingest says what a store takes.

Exit status: 0 every entry is a success, partial or skipped; 1 some entry is an
error or was cut off by a limit, or the store rejected a result; 2 the order was
refused and nothing ran;
3 internal error; 4 the run to resume is alive; 6 no such file or run; 12 no case
was selected; 130 interrupted, what was measured until then is kept.`,
		Example: "  writ run order.json --out results\n  writ run order.json --dry-run\n  writ run order.json --out results --slot 3 --json\n  writ run --resume results",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.file = args[0]
			}
			return a.execute(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.out, "out", "o", "", "folder for order, results and native output; it must hold none of this order yet")
	f.IntVar(&o.slot, "slot", -1, "position of this order among those of a comparison, from 0; given by whoever drives them")
	f.BoolVar(&o.collectors, "allow-collectors", false, "run the programs that the order brings along")
	f.BoolVar(&o.dry, "dry-run", false, "resolve the order and show its plan; runs nothing but the listing of cases")
	f.StringVar(&o.resume, "resume", "", "folder of an interrupted run to continue, in place of an order")
	policyDirs(c, &o.policies)
	storeFlag(c, &o.store)
	f.BoolVar(&o.noIngest, "no-ingest", false, "put the results into no store")
	f.StringVar(&o.record, "record-env", "", "further environment variables that results may record, separated by commas")
	return c
}

// harnesses are the adapters of this build.
func harnesses() harness.Set { return catalogue.All() }

func (a *app) execute(ctx context.Context, o runOptions) error {
	const op = "run order"
	p := runner.Params{
		Dir: o.out, Harnesses: harnesses(), AllowCollectors: o.collectors, AllowList: o.record,
		Runner: result.Runner{Name: "writ", Version: version}, Now: time.Now, Slim: true,
	}
	if o.slot >= 0 {
		p.Slot = &o.slot
	}
	if !a.quiet {
		p.Progress = func(e runner.Event) { a.progress(e) }
	}
	switch {
	case o.resume != "" && (o.file != "" || o.out != "" || o.dry):
		return fault.New(fault.Usage, op, "--resume takes the order and the folder from the run").Help("leave ORDER, --out and --dry-run out")
	case o.resume != "":
		return a.resume(ctx, p, o)
	case o.noIngest && o.store != "":
		return fault.New(fault.Usage, op, "--store names a store, and --no-ingest says none")
	case o.file == "":
		return fault.New(fault.Usage, op, "no order").Help("writ run ORDER --out DIR, or writ run --resume DIR")
	}
	raw, err := a.readFile(o.file, maxInput)
	if err != nil {
		return err
	}
	if p.Order, err = order.Parse(raw); err != nil {
		return err
	}
	if p.Order.EnvironmentPolicy != nil {
		if p.Policies, err = policies(o.policies); err != nil {
			return err
		}
	}
	if o.dry {
		return a.plan(ctx, p)
	}
	if o.out == "" {
		return fault.New(fault.Usage, op, "no folder for the results").Help("pass --out DIR, or --dry-run to see the plan")
	}
	r, err := runner.Run(ctx, p)
	if err != nil {
		return err
	}
	return a.reportRun(ctx, r, p.Dir, o)
}

// resume continues a run that was interrupted.
func (a *app) resume(ctx context.Context, p runner.Params, o runOptions) (err error) {
	if p.Policies, err = policies(o.policies); err != nil {
		return err
	}
	p.Dir = o.resume
	r, err := runner.Resume(ctx, p)
	if err != nil {
		return err
	}
	return a.reportRun(ctx, r, p.Dir, o)
}

// reportRun tells what was measured, after it went into the store: measuring is over
// then, and has nothing to wait for.
func (a *app) reportRun(ctx context.Context, r runner.Report, dir string, o runOptions) error {
	view := viewReport(r)
	stored, failed := a.keepResults(ctx, r, dir, o)
	view.Ingest = stored
	err := a.emit(view, func(w io.Writer) {
		showReported(w, r)
		if stored != nil {
			fmt.Fprintf(w, "%s: %s\n", stored.Store, stored.summary())
		}
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case r.Exit() != fault.ExitOK:
		return exitStatus(r.Exit())
	case stored != nil && len(stored.Rejected) > 0:
		return exitStatus(fault.ExitFinding)
	}
	return nil
}

// keepResults puts the results of a run into the store; nil when there is none.
func (a *app) keepResults(ctx context.Context, r runner.Report, dir string, o runOptions) (*ingested, error) {
	if o.noIngest {
		return nil, nil
	}
	return a.feed(ctx, o.store, dir, r.Files, readResults(dir, r.Files), r.Order)
}

// plan shows what an order would run.
func (a *app) plan(ctx context.Context, p runner.Params) error {
	ord, err := runner.Plan(ctx, p)
	if err != nil {
		return err
	}
	return a.emit(map[string]any{"ref": ord.Ref(), "order": ord.Value()}, func(w io.Writer) {
		fmt.Fprintf(w, "order %s would run %s\n", ord.Ref(), plural(len(ord.Plan), "entry"))
		rows := [][]string{{"ENTRY", "CASE", "QUANTITY"}}
		for _, e := range ord.Plan {
			rows = append(rows, []string{e.ID, e.Case, e.Quantity})
		}
		table(w, rows)
	})
}

func (a *app) progress(e runner.Event) {
	left := ""
	if e.Left >= time.Second {
		left = ", " + e.Left.Round(time.Second).String() + " left"
	}
	where := ""
	if e.Side != "" && e.Round != nil {
		where = fmt.Sprintf("round %d of %d, %s: ", *e.Round+1, e.Rounds, e.Side)
	}
	switch e.Stage {
	case runner.Calibrating:
		a.say("%s: calibrating", e.Case)
	case runner.CaseStart:
		a.say("[%d/%d] %s%s%s", e.Done+1, e.Total, where, e.Case, left)
	case runner.CaseEnd:
		for _, r := range e.Results {
			if r.Measurement.Status != result.Success {
				a.say("[%d/%d] %s %s: %s (%s)", e.Done, e.Total, e.Case, r.Coordinates.Quantity.Name, r.Measurement.Status, r.Measurement.Reason)
			}
		}
	}
}

// reported is what `writ run --json` answers.
type reported struct {
	Order   string                `json:"workorder_ref"`
	RunKey  string                `json:"run_key"`
	Counts  map[result.Status]int `json:"counts"`
	Entries []reportedEntry       `json:"entries"`
	Ingest  *ingested             `json:"ingest,omitempty"` // absent when the results went into no store
}

type reportedEntry struct {
	Workload string        `json:"workload"`
	Quantity string        `json:"quantity"`
	Status   result.Status `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	Samples  int           `json:"samples"`
	File     string        `json:"file"`
	SHA256   string        `json:"sha256"` // of the result's canonical bytes
}

func viewReport(r runner.Report) reported {
	out := reported{Order: r.Order.Ref(), RunKey: r.Order.RunKey, Counts: r.Counts, Entries: []reportedEntry{}}
	for i, e := range r.Entries {
		out.Entries = append(out.Entries, reportedEntry{e.Workload, e.Quantity, e.Status, e.Reason, e.Samples, r.Files[i], e.Digest.Hex()})
	}
	return out
}

func showReported(w io.Writer, r runner.Report) {
	rows := [][]string{{"CASE", "QUANTITY", "STATUS", "SAMPLES", "FILE"}}
	for _, e := range viewReport(r).Entries {
		status := string(e.Status)
		if e.Reason != "" {
			status += " (" + e.Reason + ")"
		}
		rows = append(rows, []string{e.Workload, e.Quantity, status, fmt.Sprint(e.Samples), e.File})
	}
	table(w, rows)
	fmt.Fprintf(w, "order %s: %s\n", r.Order.Ref(), plural(len(r.Entries), "result"))
}
