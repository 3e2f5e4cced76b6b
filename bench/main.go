// Command bench measures what Writ promises about speed, each figure beside a
// peer or a limit in the same run, and prints the ratios. It fails when a floor
// is not reached.
//
// Ours and theirs take turns in short windows, because a machine that is shared
// changes from second to second: a ratio is that of windows next to each other.
//
// It is a module of its own: the peers are no dependencies of Writ.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

// setup is what every part is given.
type setup struct {
	writ string        // the binary that is measured
	dir  string        // where data is written
	span time.Duration // how long each rate is measured, all its windows together
}

// part is a group of figures that can be asked for alone.
type part struct {
	name    string
	measure func(context.Context, setup) ([]figure, error)
}

var parts = []part{
	{"serve", benchServe},
	{"run", benchRun},
	{"suite", benchSuite},
	{"command", benchCommand},
	{"plan", benchPlan},
	{"memory", benchMemory},
	{"docket", benchDocket},
	{"history", benchHistory},
	{"verdict", benchVerdict},
	{"judge", benchJudge},
	{"honesty", benchHonesty},
	{"journal", benchJournal},
}

func main() {
	var (
		s       setup
		only    = flag.String("only", "", "comma-separated: "+strings.Join(names(), ", "))
		asJSON  = flag.Bool("json", false, "print one JSON object")
		profile = flag.String("cpuprofile", "", "write a CPU profile of this process to the file")
	)
	flag.StringVar(&s.writ, "writ", "../bin/writ", "the binary that is measured")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "folder for the data; its disk is what is measured")
	flag.DurationVar(&s.span, "span", 6*time.Second, "how long each rate is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, s, *only, *asJSON, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func names() []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.name)
	}
	return out
}

// choose returns the parts of the comma-separated list, all of them for "".
func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	wanted := map[string]bool{}
	for n := range strings.SplitSeq(only, ",") {
		wanted[strings.TrimSpace(n)] = true
	}
	var out []part
	for _, p := range parts {
		if wanted[p.name] {
			out = append(out, p)
			delete(wanted, p.name)
		}
	}
	for n := range wanted {
		return nil, fmt.Errorf("no part %q, there are: %s", n, strings.Join(names(), ", "))
	}
	return out, nil
}

func run(ctx context.Context, w io.Writer, s setup, only string, asJSON bool, profile string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	stop, err := startProfile(profile)
	if err != nil {
		return err
	}
	defer stop()
	r := report{Span: s.span.Seconds()}
	if r.Machine, err = lookAround(s.dir); err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintln(w, r.Machine)
	}
	for _, p := range chosen {
		figures, err := p.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for i := range figures {
			figures[i].Part = p.name
		}
		r.Figures = append(r.Figures, figures...)
		if !asJSON {
			table(w, figures)
		}
	}
	if asJSON {
		if err := r.writeJSON(w); err != nil {
			return err
		}
	}
	return r.err()
}
