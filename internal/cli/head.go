package cli

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/store/results"
	"writ/internal/verdict"
)

func (a *app) headCommand() *cobra.Command {
	var store string
	n := 10
	c := &cobra.Command{
		Use:   "head",
		Short: "show the results that arrived last",
		Long: `Show the results that the store took last, the newest first. With --json the
documents themselves, as they are stored, each held against its digest.

Exit status: 0 shown, perhaps nothing; 2 wrong usage; 3 a stored document is damaged;
6 there is no store.`,
		Example: "  writ head\n  writ head --number 3 --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.head(c.Context(), store, n) },
	}
	storeFlag(c, &store)
	c.Flags().IntVarP(&n, "number", "n", n, "how many")
	return c
}

func (a *app) head(ctx context.Context, store string, n int) error {
	if n < 1 {
		return fault.New(fault.Usage, "read results", "-n %d shows nothing", n)
	}
	return a.withStore(ctx, store, false, func(s *results.Store) error {
		found, err := s.Head(ctx, n)
		if err != nil {
			return err
		}
		out := struct {
			Documents []json.RawMessage `json:"documents"`
		}{[]json.RawMessage{}}
		rows := [][]string{{"RECEIVED", "PROJECT", "CASE", "QUANTITY", "STATUS", "MEDIAN", "REVISION", "INGEST KEY"}}
		for _, x := range found {
			r, err := x.Result()
			if err != nil {
				return err
			}
			out.Documents = append(out.Documents, x.Body)
			rows = append(rows, headRow(x, r))
		}
		return a.emit(out, func(w io.Writer) { table(w, rows) })
	})
}

func headRow(x results.Stored, r result.Result) []string {
	status, value := string(r.Measurement.Status), ""
	if r.Measurement.Reason != "" {
		status += " (" + r.Measurement.Reason + ")"
	}
	line := history.Series{Workload: r.Coordinates.Workload.Name, Parameters: r.Coordinates.Workload.Parameters}
	if v := history.Values(&r); len(v) > 0 && v[0].Series.Derived {
		value = verdict.Amount(v[0].Value, r.Coordinates.Quantity.Unit)
	}
	return []string{
		x.Received.Format(time.DateTime), x.Project, caseName(line), r.Coordinates.Quantity.Name, status, value, commitName(r.Revision.Key), r.IngestKey,
	}
}

// commitName shortens a commit id for people.
func commitName(revision string) string { return revision[:min(len(revision), printWidth)] }
