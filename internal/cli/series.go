package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/store/results"
)

type seriesOptions struct {
	store  string
	filter results.Filter
}

func (a *app) seriesCommand() *cobra.Command {
	var o seriesOptions
	c := &cobra.Command{
		Use:   "series",
		Short: "list what has been measured again and again",
		Long: `List the series of the store: one for each case and quantity, in one project and
environment, measured in one way and summed up by one estimator. Each has a digest,
whose beginning writ history takes, and its newest steps as a line of bars from the
smallest to the largest; a step is the median of what one run measured of one commit.

Results of other revisions, labels, conditions or times are of one series. Another
parameter, setting, configuration, harness version or machine makes another one.

Exit status: 0 listed, perhaps nothing; 2 wrong usage; 6 there is no store.`,
		Example: "  writ series\n  writ series --workload Distinct --quantity wall-time\n  writ series --project sample --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.series(c.Context(), o) },
	}
	storeFlag(c, &o.store)
	f := c.Flags()
	f.StringVar(&o.filter.Workload, "workload", "", "only workloads whose name has this in it")
	f.StringVar(&o.filter.Quantity, "quantity", "", "only this quantity")
	f.StringVar(&o.filter.Project, "project", "", "only this project")
	return c
}

// seriesView is a series in JSON.
type seriesView struct {
	Print       string                 `json:"series"`
	Comparison  string                 `json:"comparison"`
	Schema      string                 `json:"identity_schema"`
	Project     string                 `json:"project"`
	Thin        bool                   `json:"thin"`
	Source      string                 `json:"source"`
	Workload    string                 `json:"workload"`
	Parameters  map[string]canon.Value `json:"parameters,omitempty"`
	Quantity    string                 `json:"quantity"`
	Unit        string                 `json:"unit"`
	Direction   string                 `json:"direction,omitempty"`
	Estimator   result.Estimator       `json:"estimator"`
	Derived     bool                   `json:"derived"` // by the store, not by the harness
	Environment canon.Value            `json:"environment"`
	Points      int                    `json:"points"`
	Last        time.Time              `json:"last"`
	Recent      []float64              `json:"recent"` // newest steps, in the order of measurement
}

func viewSeries(l results.Line) seriesView {
	return seriesView{
		l.Print.Hex(), l.Comparison.Hex(), result.HistoryIdentity, l.Project, l.Thin, l.Source, l.Workload, l.Parameters, l.Quantity, l.Unit, l.Direction,
		l.Estimator, l.Derived, canon.MustFrom(l.Environment), l.Points, l.Last, l.Recent,
	}
}

func (a *app) series(ctx context.Context, o seriesOptions) error {
	return a.withStore(ctx, o.store, false, func(s *results.Store) error {
		found, err := s.Series(ctx, o.filter)
		if err != nil {
			return err
		}
		out := struct {
			Series []seriesView `json:"series"`
		}{[]seriesView{}}
		for _, l := range found {
			out.Series = append(out.Series, viewSeries(l))
		}
		return a.emit(out, func(w io.Writer) {
			rows := [][]string{{"SERIES", "PROJECT", "WORKLOAD", "QUANTITY", "ESTIMATOR", "POINTS", "LAST", "STEPS"}}
			for _, l := range found {
				rows = append(rows, []string{
					l.Print.Hex()[:printWidth], l.Project, caseName(l.Series), l.Quantity, estimatorName(l.Series), fmt.Sprint(l.Points),
					l.Last.Format(time.DateOnly), history.Sparkline(l.Recent, sparkWidth),
				})
			}
			table(w, rows)
			fmt.Fprintf(w, "%d series\n", len(found))
		})
	})
}

const (
	printWidth = 12 // hex digits of a digest that people are shown
	sparkWidth = 30
)

// caseName is the workload with its parameters.
func caseName(s history.Series) string {
	if len(s.Parameters) == 0 {
		return s.Workload
	}
	return s.Workload + " " + string(canon.MustFrom(s.Parameters).Canonical())
}

// estimatorName says who computed the values, when it was not the store.
func estimatorName(s history.Series) string {
	if s.Derived {
		return s.Estimator.Name
	}
	return s.Estimator.MethodVersion
}

// findSeries finds the series that begins with a prefix, and its points.
func findSeries(ctx context.Context, s *results.Store, prefix string) (results.Line, []history.Point, error) {
	if prefix == "" {
		return results.Line{}, nil, fault.New(fault.Usage, "find series", "an empty PREFIX is the beginning of every series").Help("writ series lists them")
	}
	l, err := s.Find(ctx, prefix)
	if err != nil {
		return l, nil, err
	}
	points, err := s.Points(ctx, l.Print)
	return l, points, err
}
