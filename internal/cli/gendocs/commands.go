package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"writ/internal/cli"
)

// commands describes every command, in the order of the help.
func commands(string) (string, error) {
	root := cli.Tree()
	var p page
	p.gap("## writ")
	usual := p.command(root, "")
	p.gap("Flags of every command:")
	p.flags(root.PersistentFlags())
	for _, g := range root.Groups() {
		rows := [][]string{{strings.TrimSuffix(g.Title, ":"), ""}}
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				rows = append(rows, []string{"[" + c.Name() + "](#writ-" + c.Name() + ")", c.Short})
			}
		}
		p.line()
		p.table(rows)
	}
	for _, g := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				p.tree(c, usual)
			}
		}
	}
	return p.String(), nil
}

// designed are the commands that Writ is to have.
const designed = `serve runner demo init doctor fsck top key journal lane propose review decide inbox approve reject verify
	order run policy ingest series history head compare gate calibrate bisect land transfer docket mcp harness`

// absent lists the commands that this build leaves out.
func absent(string) (string, error) {
	root := cli.Tree()
	var out []string
	for name := range strings.FieldsSeq(designed) {
		if c, _, err := root.Find([]string{name}); err != nil || c == root {
			out = append(out, code(name))
		}
	}
	if len(out) == 0 {
		return "None.\n", nil
	}
	return strings.Join(out, ", ") + ".\n", nil
}

func (p *page) tree(c *cobra.Command, usual string) {
	p.line()
	p.gap("## ", c.CommandPath())
	p.command(c, usual)
	if c.Name() == "completion" {
		return // cobra's own: one for each shell, all alike
	}
	for _, sub := range c.Commands() {
		p.tree(sub, usual)
	}
}

// command writes what the help of a command says, and returns its exit statuses;
// the usual ones are not repeated.
func (p *page) command(c *cobra.Command, usual string) string {
	long, status, found := strings.Cut(c.Long, "Exit status:")
	p.prose(long)
	if c.Runnable() && !c.HasAvailableSubCommands() {
		p.gap("```text\n", c.UseLine(), "\n```")
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() && c.HasParent() {
		p.flags(c.LocalNonPersistentFlags())
		p.line()
	}
	if c.Example != "" {
		p.line("```sh")
		for l := range strings.SplitSeq(c.Example, "\n") {
			p.line(strings.TrimPrefix(l, "  "))
		}
		p.gap("```")
	}
	status = strings.Join(strings.Fields(status), " ")
	if found && status != usual {
		p.gap("Exit status: ", status)
	}
	return status
}

func (p *page) flags(set *pflag.FlagSet) {
	rows := [][]string{{"flag", "what it is", "default"}}
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			name += " " + kind
		}
		def := f.DefValue
		if def == "false" || def == "[]" || strings.Contains(usage, "default") {
			def = "" // said by the text, or by the kind
		}
		rows = append(rows, []string{code(name), usage, code(def)})
	})
	p.table(rows)
}
