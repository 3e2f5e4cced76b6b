package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/verdict"
	"writ/internal/verdict/render"
)

// showOptions say how a judgement is shown and where it is kept.
type showOptions struct {
	format, out string
}

const jsonFormat = "json"

func (o *showOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.format, "format", "", "how to show it: "+strings.Join(o.names(), ", ")+" (default table)")
	f.StringVarP(&o.out, "out", "o", "", "with --format, the file to write, while the table goes to standard output; without, a folder for the documents")
}

func (o showOptions) names() []string {
	names := append(render.Names(), jsonFormat)
	slices.Sort(names)
	return names
}

func (o showOptions) check() error {
	if o.format == "" || slices.Contains(o.names(), o.format) {
		return nil
	}
	return fault.New(fault.Usage, "show judgement", "there is no format %q", o.format).Help("one of %s", strings.Join(o.names(), ", "))
}

// show writes a report, and v where JSON is asked for.
func (a *app) show(o showOptions, r verdict.Report, v any) error {
	inFile := o.out != "" && o.format != ""
	if inFile {
		if err := o.write(r, v); err != nil {
			return err
		}
	}
	switch {
	case a.json || o.format == jsonFormat && !inFile:
		return writeJSON(a.out, v)
	case o.format == "" || inFile:
		o.format = "table"
	}
	text, err := render.Text(o.format, r)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, text)
	return err
}

func (o showOptions) write(r verdict.Report, v any) (err error) {
	var text strings.Builder
	if o.format == jsonFormat {
		err = writeJSON(&text, v)
	} else {
		var s string
		s, err = render.Text(o.format, r)
		text.WriteString(s)
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.out, []byte(text.String()), 0o644); err != nil {
		return fault.Wrap(err, fault.Usage, "show judgement", "%s cannot be written", o.out)
	}
	return nil
}

// keep writes documents into the folder of --out, in canonical form; without a
// folder it does nothing.
func (o showOptions) keep(documents map[string][]byte) error {
	if o.out == "" || o.format != "" {
		return nil
	}
	return keepDocuments(o.out, documents)
}

func keepDocuments(dir string, documents map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(err, fault.Usage, "write judgement", "%s cannot be made", dir)
	}
	for name, raw := range documents {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return fault.Wrap(err, fault.Usage, "write judgement", "%s cannot be written", filepath.Join(dir, name))
		}
	}
	return nil
}

// single is what `writ compare --profile single-run --json` answers.
type single struct {
	RunKey     string      `json:"run_key"`
	Method     string      `json:"method"`
	Rows       []singleRow `json:"rows"`
	Exclusions []string    `json:"exclusions"`
}

type singleRow struct {
	Workload   string                 `json:"workload"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity"`
	Unit       string                 `json:"unit"`
	N          int                    `json:"n"`
	Dropped    int                    `json:"dropped"`
	Word       string                 `json:"verdict"`
	Reason     string                 `json:"reason,omitempty"`
	Median     *float64               `json:"median,omitempty"`
	Interval   []float64              `json:"interval,omitempty"`
	Level      *float64               `json:"level,omitempty"`
	Warnings   []verdict.Note         `json:"warnings"`
}

func singleOf(r verdict.Report) single {
	s := single{RunKey: r.RunKey, Method: r.Method, Rows: []singleRow{}, Exclusions: append([]string{}, r.Exclusions...)}
	for _, x := range r.Rows {
		s.Rows = append(s.Rows, singleRow{
			x.Workload, x.Parameters, x.Quantity, x.Unit, x.N, x.Dropped, x.Word, x.Reason, x.Baseline, x.Interval, x.Level, x.Warnings,
		})
	}
	return s
}
