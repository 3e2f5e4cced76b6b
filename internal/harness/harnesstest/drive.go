package harnesstest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

// Driver does with one adapter what a runner does, without documents.
type Driver struct {
	Harness harness.Harness
	Env     []string      // of every program
	Timeout time.Duration // of every program; 0 for a minute
	Grace   time.Duration // between being told to end and being killed

	t      testing.TB
	keeper *proc.Keeper
}

// Drive makes a driver that lives as long as the test.
func Drive(t testing.TB, h harness.Harness, env ...string) *Driver {
	t.Helper()
	k, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return &Driver{Harness: h, Env: env, Timeout: time.Minute, Grace: 100 * time.Millisecond, t: t, keeper: k}
}

// Suite locates the first suite of an order and lets the adapter probe it.
func (d *Driver) Suite(o order.Order) (harness.Suite, error) {
	d.t.Helper()
	s, err := d.Harness.Locate(o, o.Suites[0])
	if err != nil {
		return s, err
	}
	p, ok := d.Harness.(harness.Prober)
	if !ok {
		return s, nil
	}
	return p.Settle(s, d.launchAll(p.Probes(s)))
}

// Cases lists the cases of a suite.
func (d *Driver) Cases(s harness.Suite) ([]order.Case, error) {
	d.t.Helper()
	return d.Harness.Cases(s, d.launchAll(d.Harness.Listing(s)))
}

// Measure runs one case and reads what it wrote.
func (d *Driver) Measure(s harness.Suite, name string, p order.Precision, quantities ...string) (harness.Reading, harness.Output) {
	d.t.Helper()
	inv, err := d.Harness.Invocation(s, name, p)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	out := d.Launch(inv)
	return d.Harness.Read(s, name, p, quantities, out), out
}

func (d *Driver) launchAll(invs []harness.Invocation) (outs []harness.Output) {
	d.t.Helper()
	for _, inv := range invs {
		outs = append(outs, d.Launch(inv))
	}
	return outs
}

// Launch runs one program, with an exchange directory of its own.
func (d *Driver) Launch(inv harness.Invocation) harness.Output {
	t := d.t
	t.Helper()
	dir, exchange := t.TempDir(), t.TempDir()
	inv, err := inv.In(exchange)
	if err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(slices.Clone(d.Env), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		_, replaced := inv.Variables[name]
		return replaced
	})
	for name, value := range inv.Variables {
		env = append(env, name+"="+value)
	}
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		if files[i], err = os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	r, err := d.keeper.Run(t.Context(), proc.Command{
		Argv: inv.Argv, Dir: inv.Dir, Env: env, Stdout: files[0], Stderr: files[1], Timeout: d.Timeout, Grace: d.Grace,
	})
	if err != nil {
		t.Fatalf("%q: %v", inv.Argv, err)
	}
	out := harness.Output{Result: r}
	for i, b := range []*[]byte{&out.Stdout, &out.Stderr} {
		if *b, err = os.ReadFile(files[i].Name()); err != nil {
			t.Fatal(err)
		}
	}
	if err := inv.Collect(exchange, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Ended is an output of a program that ended by itself and left files.
func Ended(exit int, files map[string][]byte) harness.Output {
	return harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: exit}, Files: files}
}
