package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness/programs"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

const (
	collectorTimeout = 10 * time.Second // when the order has none
	collectorOutput  = 1 << 20          // bytes
)

// Warnings that collectors leave in results.
const (
	warnCollectorFailed = "collector-failed"
	warnCheckFailed     = "collector-check-failed"
)

// collect runs every collector of the order once, in the environment and the
// directory of the cases, and returns their facts. A collector that fails has no
// facts; a check that fails refuses the order, unless it only warns.
func (s suites) collect(ctx context.Context) (facts map[string]canon.Value, warnings []string, err error) {
	if len(s.Order.Collectors) == 0 {
		return nil, nil, nil
	}
	dir, err := os.MkdirTemp("", "writ-collect-")
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Internal, "run collectors", "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	facts = map[string]canon.Value{}
	for i, c := range s.Order.Collectors {
		v, why := s.ask(ctx, c, filepath.Join(dir, strconv.Itoa(i)))
		if err := ctx.Err(); err != nil {
			return nil, nil, fault.Wrap(err, fault.Cancelled, "run collectors", "stopped")
		}
		if why == "" {
			facts[c.Name] = v
		} else {
			warnings = append(warnings, warnCollectorFailed)
		}
		if broken := s.verify(c, v, why); broken != "" {
			if c.OnFail != "warn" {
				return nil, nil, fault.New(fault.Refused, "run collectors", "%s: %s", c.Name, broken).At("/collectors/" + strconv.Itoa(i))
			}
			warnings = append(warnings, warnCheckFailed)
		}
	}
	return facts, warnings, nil
}

// ask runs one collector. why says what is wrong with it, "" for nothing.
func (s suites) ask(ctx context.Context, c order.Collector, stem string) (v canon.Value, why string) {
	program, ok := lookPath(c.Command[0], s.environ, s.found[0].Dir)
	if !ok {
		return v, "no such program: " + c.Command[0]
	}
	out, err := os.OpenFile(stem, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return v, "no output file"
	}
	defer out.Close()
	limit := collectorTimeout
	if c.TimeoutS > 0 {
		limit = seconds(c.TimeoutS)
	}
	r, err := s.Place.Run(ctx, proc.Command{
		Argv: append(s.regime.launched([]string{program}), c.Command[1:]...), Dir: s.found[0].Dir, Env: s.environ,
		Stdout: out, OutputLimit: collectorOutput, Timeout: limit,
	})
	switch {
	case err != nil:
		return v, "it does not start"
	case r.Cause != proc.Exited:
		return v, "it was stopped: " + string(r.Cause)
	case !r.OK():
		return v, "it ended with status " + strconv.Itoa(r.Exit)
	}
	b, err := os.ReadFile(stem)
	if err != nil {
		return v, "its output is gone"
	}
	v, err = canon.Parse(b)
	if err != nil || v.Kind() != canon.Object {
		return canon.Value{}, "it does not print one JSON object"
	}
	return v, ""
}

// verify checks what the order expects of a collector's facts. A collector that
// has none fails every check.
func (s suites) verify(c order.Collector, v canon.Value, why string) string {
	var wanted []canon.Member
	if c.Verify == "how_built" {
		wanted = append(wanted, s.Order.Target.HowBuilt.Members()...)
	}
	wanted = append(wanted, c.Expect.Members()...)
	if len(wanted) > 0 && why != "" {
		return why
	}
	for _, w := range wanted {
		got, ok := v.Get(w.Name)
		if !ok {
			return strconv.Quote(w.Name) + " was not collected"
		}
		if !canon.Equal(got, w.Value) {
			return strconv.Quote(w.Name) + " is " + string(got.Canonical()) + ", not " + string(w.Value.Canonical())
		}
	}
	return ""
}

// lookPath finds a program the way a shell would, by the PATH of the programs'
// own environment.
func lookPath(name string, environ []string, dir string) (string, bool) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, true
	}
	path := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return programs.Look(name, path)
}
