package cli

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"writ/internal/fault"
	"writ/internal/verdict"
	"writ/internal/verdict/benchfile"
)

const filesHelp = `OLD.txt and NEW.txt are files in the Go benchmark format. Their lines are two samples,
and every row says: unpaired: order-confounded; medians, ranges, change and p-value are
those of benchstat, the interval and the word are our own. Lines "round: 0", "round: 1"
and so on in both files, each before the results of that round, make pairs of them, and
then the exact test of rounds judges; "slot", "schedule" and "seed" may say in which
order they ran. One file with "side: baseline" and "side: contender" holds both sides.
--method benchstat prints what benchstat prints, as a table or with --format csv.`

// fileArguments reports whether one or two arguments mean files, and no states of a
// source: one of them is a file, and none is a folder.
func fileArguments(args []string) bool {
	some := false
	for _, name := range args {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			return false
		}
		some = some || err == nil
	}
	return some && len(args) <= 2
}

// compareFiles judges benchmark files: two, or one with both sides. stray is a flag
// that says nothing about files.
func (a *app) compareFiles(o compareOptions, args []string, stray string) error {
	const op = "compare benchmark files"
	switch {
	case stray != "":
		return fault.New(fault.Usage, op, "--%s says nothing about files", stray).Help("leave it out")
	case o.out != "" && o.format == "" && o.method != verdict.BenchstatMethod:
		return fault.New(fault.Usage, op, "there are no documents to keep in %s", o.out).Help("pass --format too, to write the judgement to that file")
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.method == verdict.BenchstatMethod {
		return a.benchstat(o, args)
	}
	if o.method != verdict.MethodName && o.method != "" {
		return fault.New(fault.Usage, op, "files are not judged by %q", o.method).Help("%s or %s", verdict.MethodName, verdict.BenchstatMethod)
	}
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // numbers stay, and little else: half a heap of garbage is enough
	files, err := readFiles(args, benchfile.Options{})
	if err != nil {
		return err
	}
	var second *benchfile.File
	if len(files) == 2 {
		second = files[1]
	}
	g, err := benchfile.Gather(files[0], second)
	if err != nil {
		return err
	}
	g.Policy, g.RunKey = policy, runKeyOf(args)
	judged, err := verdict.JudgeSeries(g.SeriesParams)
	if err != nil {
		return err
	}
	if err := a.showSeries(o.showOptions, judged, g, files); err != nil {
		return err
	}
	return invalidFiles(judged, g.RunKey)
}

// runKeyOf names a comparison of files.
func runKeyOf(args []string) string {
	name := filepath.Base(args[0])
	if len(args) > 1 {
		name += ".." + filepath.Base(args[1])
	}
	return name
}

// readFiles reads them side by side; "-" is standard input's business elsewhere.
func readFiles(args []string, o benchfile.Options) ([]*benchfile.File, error) {
	files, errs := make([]*benchfile.File, len(args)), make([]error, len(args))
	var readers sync.WaitGroup
	for i, name := range args {
		readers.Go(func() { files[i], errs[i] = readFile(name, o) })
	}
	readers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func readFile(name string, o benchfile.Options) (*benchfile.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "read benchmark file", "%s cannot be read", name)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return benchfile.Read(name, f, o)
}

// fileComparison is what `writ compare OLD NEW --json` answers.
type fileComparison struct {
	Files    []fileRead           `json:"files"`
	RunKey   string               `json:"run_key"`
	Method   verdict.Method       `json:"method"`
	Policy   verdict.PolicyRef    `json:"policy"`
	Rounds   int                  `json:"rounds"` // 0 for two samples
	Rows     []fileRow            `json:"rows"`
	Failed   []verdict.Failure    `json:"failed"`
	Excluded []string             `json:"exclusions"`
	Notes    []string             `json:"notes"`
	Counts   map[verdict.Word]int `json:"counts"`
	Overall  verdict.Word         `json:"overall"`
}

type fileRead struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"`
	Values int    `json:"values"`
}

type fileRow struct {
	verdict.Row
	Benchstat *verdict.Shown `json:"benchstat,omitempty"` // what benchstat prints, of two samples
}

// showSeries shows a judgement of files. A table is written row by row, so that
// large files need no more memory than their numbers.
func (a *app) showSeries(o showOptions, j *verdict.SeriesOutcome, g benchfile.Gathered, files []*benchfile.File) error {
	view := verdict.SeriesView{Names: g.Names, Remarks: g.Remarks, Binary: func(i int) bool { return benchfile.Binary(g.Units[i]) }}
	if !a.json && o.out == "" && (o.format == "" || o.format == "table") {
		w := bufio.NewWriter(a.out)
		if err := j.WriteTable(w, view); err != nil {
			return err
		}
		return w.Flush()
	}
	report := j.Report(view)
	d := j.Document()
	answer := fileComparison{
		RunKey: d.RunKey, Method: d.Method, Policy: d.Policy, Rounds: d.Rounds, Rows: make([]fileRow, len(d.Rows)),
		Failed: notNil(d.Failed), Excluded: notNil(report.Exclusions), Notes: notNil(report.Notes), Counts: d.Counts, Overall: d.Overall,
	}
	for _, f := range files {
		answer.Files = append(answer.Files, fileRead{f.Name, f.SHA256, f.Lines, f.Values})
	}
	for i, r := range d.Rows {
		answer.Rows[i] = fileRow{r, report.Rows[i].Shown}
	}
	return a.show(o, report, answer)
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// invalidFiles is the fault of a comparison of files that allows no judgement.
func invalidFiles(j *verdict.SeriesOutcome, runKey string) error {
	failed := j.Failed()
	switch {
	case j.Overall() != verdict.Invalid:
		return nil
	case len(failed) == 0:
		return fault.New(fault.Incomparable, "judge", "not every row of %s can be judged", runKey)
	}
	return fault.New(fault.Incomparable, "judge", "%s cannot be judged: %s", runKey, failed[0].Text()).With("invariant", failed[0].Invariant)
}

// benchstat tells two files exactly as benchstat does.
func (a *app) benchstat(o compareOptions, args []string) error {
	const op = "compare benchmark files"
	if len(args) != 2 {
		return fault.New(fault.Usage, op, "%s takes two files", verdict.BenchstatMethod)
	}
	if a.json || o.format != "" && o.format != "table" && o.format != "csv" {
		return fault.New(fault.Usage, op, "%s prints tables and CSV only", verdict.BenchstatMethod).Help("--format table or csv, without --json")
	}
	files, err := readFiles(args, benchfile.Options{Plain: true})
	if err != nil {
		return err
	}
	table, warnings := benchfile.Benchstat(files[0], files[1], o.format == "csv")
	warnings += "note: unpaired: order-confounded\n"
	if _, err := io.WriteString(a.err, warnings); err != nil {
		return err
	}
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(table), 0o644); err != nil {
			return fault.Wrap(err, fault.Usage, op, "%s cannot be written", o.out)
		}
		return nil
	}
	_, err = io.WriteString(a.out, table)
	return err
}
