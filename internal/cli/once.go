package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// onceValue is a flag that may be given once: the second of two values would
// override the first without a word.
type onceValue struct {
	pflag.Value
	given bool
}

var errTwice = errors.New("the flag is given twice")

// Set implements pflag.Value.
func (o *onceValue) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(text)
}

// IsBoolFlag tells pflag that a boolean flag needs no value.
func (o *onceValue) IsBoolFlag() bool { return o.Type() == "bool" }

// finish gives every command what all of them have: flags that are given once,
// and the exit statuses in the help.
func finish(c *cobra.Command) {
	for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			_, list := f.Value.(pflag.SliceValue)
			if _, done := f.Value.(*onceValue); !done && !list {
				f.Value = &onceValue{Value: f.Value}
			}
		})
	}
	if c.Long == "" {
		c.Long = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	if !strings.Contains(c.Long, "Exit status:") {
		c.Long += "\n" + exitHelp
	}
	for _, sub := range c.Commands() {
		finish(sub)
	}
}
