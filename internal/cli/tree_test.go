package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newApp(t *testing.T, stdin string) (a *app, out, err *bytes.Buffer) {
	t.Helper()
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	home := t.TempDir()
	env := map[string]string{"WRIT_HOME": home, "HOME": home}
	return &app{in: strings.NewReader(stdin), out: out, err: err, getenv: func(name string) string { return env[name] }}, out, err
}

// each visits every command below c, c included.
func each(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t, "")
	root := a.root()
	seen := 0
	each(root, func(c *cobra.Command) {
		seen++
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || strings.ToLower(c.Short[:1]) != c.Short[:1] {
			t.Errorf("%s: short is %q, not a lower-case phrase", path, c.Short)
		}
		if c != root && c.Example == "" {
			t.Errorf("%s has no example", path)
		}
		if !strings.Contains(c.Long, "Exit status:") {
			t.Errorf("%s does not tell its exit statuses", path)
		}
		if c.RunE == nil && c.Run == nil && !c.HasSubCommands() {
			t.Errorf("%s cannot be run", path)
		}
		if c.Flag("json") == nil {
			t.Errorf("%s has no --json", path)
		}
		for _, set := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if f.Usage == "" {
					t.Errorf("%s: --%s does not say what it does", path, f.Name)
				}
			})
		}
		for _, line := range append(strings.Split(c.Long, "\n"), strings.Split(c.Short, "\n")...) {
			if n := len([]rune(line)); n > 90 {
				t.Errorf("%s: a line of the help has %d characters: %q", path, n, line)
			}
		}
	})
	if seen < 30 {
		t.Errorf("only %d commands were seen", seen)
	}
}

// TestExamplesAreCommands reads every example as the program would.
func TestExamplesAreCommands(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t, "")
	root := a.root()
	each(root, func(c *cobra.Command) {
		named := false
		for line := range strings.SplitSeq(c.Example, "\n") {
			if line == "" {
				continue
			}
			for command := range strings.SplitSeq(line, " | ") {
				found, err := examine(root, command)
				if err != nil {
					t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
					continue
				}
				named = named || found == c || found.Parent() == c
			}
		}
		if !named && c != root && c.Name() != "help" {
			t.Errorf("%s: no example shows it", c.CommandPath())
		}
	})
}

// examine finds the command of an example and parses its flags and arguments.
func examine(root *cobra.Command, line string) (*cobra.Command, error) {
	line, _, _ = strings.Cut(line, " < ")
	line, _, _ = strings.Cut(line, " > ")
	words, err := split(line)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0] != "writ" {
		return nil, fmt.Errorf("does not begin with writ")
	}
	c, rest, err := root.Find(words[1:])
	if err != nil {
		return nil, err
	}
	var args []string
	for i := 0; i < len(rest); i++ {
		name, isFlag := strings.CutPrefix(rest[i], "--")
		if !isFlag {
			args = append(args, rest[i])
			continue
		}
		f := c.Flag(name)
		if f == nil {
			return nil, fmt.Errorf("%s has no --%s", c.CommandPath(), name)
		}
		if f.NoOptDefVal == "" {
			i++
		}
	}
	if c.Args == nil {
		return c, nil
	}
	return c, c.Args(c, args)
}

// split takes a line apart as a shell does, as far as examples need it.
func split(line string) (words []string, err error) {
	quote, word, open := rune(0), strings.Builder{}, false
	for _, r := range line {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case r == quote:
			quote = 0
		case quote == 0 && r == ' ':
			if open {
				words, open = append(words, word.String()), false
				word.Reset()
			}
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark is not closed")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// TestFlagsAreGivenOnce tries every flag of every command twice.
func TestFlagsAreGivenOnce(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t, "")
	tried := 0
	each(a.root(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == "version" || f.Name == "no-descriptions" {
				return
			}
			_, list := f.Value.(pflag.SliceValue)
			text := map[string]string{"bool": "true", "int": "1", "int64": "1", "float64": "1", "duration": "1s"}[f.Value.Type()]
			if err := f.Value.Set(text); err != nil {
				t.Errorf("%s --%s: %v", c.CommandPath(), f.Name, err)
			}
			if err := f.Value.Set(text); (err == nil) != list {
				t.Errorf("%s --%s given twice: %v", c.CommandPath(), f.Name, err)
			}
			tried++
		})
	})
	if tried < 50 {
		t.Errorf("only %d flags were tried", tried)
	}
}
