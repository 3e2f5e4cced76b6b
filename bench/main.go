// Command bench measures what Writ promises about speed, each figure beside a
// peer or a limit in the same run, and prints the ratios. It fails when a floor
// is not reached.
//
// It is a module of its own: the peers are no dependencies of Writ.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	var (
		writ = flag.String("writ", "../bin/writ", "the binary that is measured")
		span = flag.Duration("span", 3*time.Second, "how long each rate is measured")
		only = flag.String("only", "", "comma-separated: journal, run, docket, serve, verdict")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *writ, *span, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// figure is one line of the report.
type figure struct {
	what   string
	value  string
	beside string  // what it is compared with
	ratio  float64 // ours over theirs; 0 when there is none
	floor  float64 // the ratio that has to be reached; 0 for none
	atMost bool    // the ratio may not be above the floor
}

func (f figure) ok() bool {
	switch {
	case f.floor == 0:
		return true
	case f.atMost:
		return f.ratio <= f.floor
	default:
		return f.ratio >= f.floor
	}
}

func run(ctx context.Context, writ string, span time.Duration, only string) error {
	parts := []struct {
		name    string
		measure func(context.Context, string, time.Duration) ([]figure, error)
	}{
		{"serve", benchServe}, {"run", benchRun}, {"docket", benchDocket}, {"verdict", benchVerdict}, {"journal", benchJournal},
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "WHAT\tFIGURE\tBESIDE\tRATIO\tFLOOR\tOK")
	var missed []string
	for _, p := range parts {
		if only != "" && !strings.Contains(","+only+",", ","+p.name+",") {
			continue
		}
		figures, err := p.measure(ctx, writ, span)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, f := range figures {
			ratio, floor, ok := "", "", ""
			if f.ratio != 0 {
				ratio = fmt.Sprintf("%.2f", f.ratio)
			}
			if f.floor != 0 {
				sign := ">="
				if f.atMost {
					sign = "<="
				}
				floor, ok = fmt.Sprintf("%s %.2f", sign, f.floor), "yes"
				if !f.ok() {
					ok = "NO"
					missed = append(missed, f.what)
				}
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", f.what, f.value, f.beside, ratio, floor, ok)
		}
		out.Flush()
	}
	if len(missed) > 0 {
		return fmt.Errorf("under the floor: %s", strings.Join(missed, "; "))
	}
	return nil
}
