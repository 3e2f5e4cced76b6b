package hyperfine

import (
	"bytes"
	"math"
	"slices"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Document is the meaning of one file that hyperfine wrote.
type Document struct {
	Commands  []Command // in the order of the command line
	NonFinite int       // numbers in it that are not finite, used or not
}

// Command is the record of one command. All times are seconds.
type Command struct {
	Name       string // the command line, unless a name was given
	Times      []float64
	Exits      []Exit    // beside Times; nil where older versions do not write it
	Memory     []float64 // bytes, beside Times; nil where the version does not write it
	Statistics []Statistic
}

// Exit is the exit status of one repetition, or Signalled.
type Exit int32

// Signalled is written as null: a signal ended the repetition. Many versions write
// 128 and the number of the signal instead.
const Signalled = Exit(math.MinInt32)

// Statistic is a number that hyperfine computed from the times.
type Statistic struct {
	Name  string // one of statistics
	Value float64
}

// statistics are the numbers that hyperfine computes; user and system are means.
var statistics = []string{"mean", "stddev", "median", "user", "system", "min", "max"}

// Parse reads a file. An empty one is fault.Nothing: hyperfine creates it before
// it measures. Everything that is not exactly what hyperfine writes is
// fault.Malformed with its place. What other versions have more, such as
// parameters in two forms, is passed over.
func Parse(text []byte) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read native output", "the file is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	var d Document
	has := false
	err = r.Object(func(member string) error {
		if member != "results" {
			return r.Skip()
		}
		has = true
		d.Commands = make([]Command, 0, bytes.Count(text, []byte(`"command"`)))
		return r.Array(func() error { return d.command(r) })
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && !has {
		err = r.Fail("the file has no results")
	}
	if err != nil {
		return Document{}, err
	}
	d.NonFinite = r.NonFinite()
	return d, nil
}

func (d *Document) command(r *nativejson.Reader) error {
	var c Command
	named := false
	err := r.Object(func(member string) (err error) {
		switch member {
		case "command":
			named = true
			c.Name, err = r.Text()
		case "times":
			c.Times, err = list(r)
		case "memory_usage_byte":
			c.Memory, err = list(r)
		case "exit_codes":
			c.Exits, err = exits(r)
		default:
			if i := slices.Index(statistics, member); i >= 0 {
				return c.statistic(r, statistics[i])
			}
			err = r.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !named:
		return r.Fail("a result has no command")
	case c.Exits != nil && len(c.Exits) != len(c.Times):
		return r.Fail("%d exit codes for %d times", len(c.Exits), len(c.Times))
	case c.Memory != nil && len(c.Memory) != len(c.Times):
		return r.Fail("%d memory usages for %d times", len(c.Memory), len(c.Times))
	}
	d.Commands = append(d.Commands, c)
	return nil
}

// list reads numbers, or nothing where the version has no numbers to write.
func list(r *nativejson.Reader) ([]float64, error) {
	if r.Kind() == nativejson.Null {
		return nil, r.Skip()
	}
	return r.Numbers()
}

// statistic reads a number that is null where it cannot be computed.
func (c *Command) statistic(r *nativejson.Reader, name string) error {
	if r.Kind() == nativejson.Null {
		return r.Skip()
	}
	n, err := r.Number()
	c.Statistics = append(c.Statistics, Statistic{name, n.Value})
	return err
}

// of finds a statistic.
func (c Command) of(name string) (float64, bool) {
	for _, s := range c.Statistics {
		if s.Name == name {
			return s.Value, true
		}
	}
	return 0, false
}

func exits(r *nativejson.Reader) ([]Exit, error) {
	out := []Exit{}
	err := r.Array(func() error {
		if r.Kind() == nativejson.Null {
			out = append(out, Signalled)
			return r.Skip()
		}
		n, err := r.Number()
		if err != nil {
			return err
		}
		v, ok := n.Int()
		if !ok || v <= math.MinInt32 || v > math.MaxInt32 {
			return r.Fail("%v is no exit code", n.Value)
		}
		out = append(out, Exit(v))
		return nil
	})
	return out, err
}
