package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/runner"
)

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "list, show and try out environment policies",
		Long: `An environment policy says what is set on measured programs, what the machine must
be like, and what is only noted. An order names one by name and version. Policies
come with the program, from .writ/policies of this folder and those above it, and
from --policy-dir. A pair of name and version stands for one body for ever.`,
		Example: "  writ policy list\n  writ policy show laptop\n  writ policy check ci@1 --tree .",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.policyList(), a.policyShow(), a.policyCheck())
	return c
}

// policyDirs adds the flag that every command with policies has.
func policyDirs(c *cobra.Command, dirs *[]string) {
	c.Flags().StringArrayVar(dirs, "policy-dir", nil, "further folder of environment policies; may be repeated")
}

// policies are what orders may name here.
func policies(dirs []string) (policy.Set, error) {
	here, err := os.Getwd()
	if err != nil {
		return policy.Set{}, fault.Wrap(err, fault.Internal, "load policies", "no working directory")
	}
	return runner.LoadPolicies(here, dirs...)
}

// policyRef reads NAME@VERSION; nil for "".
func policyRef(flag, word string) (*order.PolicyRef, error) {
	if word == "" {
		return nil, nil
	}
	name, version, ok := strings.Cut(word, "@")
	if !ok || name == "" || version == "" {
		return nil, fault.New(fault.Usage, "write order", "--%s %q is no NAME@VERSION", flag, word).Help("see: writ policy list")
	}
	return &order.PolicyRef{Name: name, Version: version}, nil
}

// policyView is one line of `writ policy list --json`.
type policyView struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Rules   int    `json:"rules"`
	Hash    string `json:"domain_sha256"`
	Origin  string `json:"origin"`
}

func viewPolicy(h policy.Held) policyView {
	return policyView{h.Name, h.Version, len(h.Rules), h.Hash().Hex(), h.Origin}
}

func (a *app) policyList() *cobra.Command {
	var dirs []string
	c := &cobra.Command{
		Use:     "list",
		Short:   "list the environment policies that orders may name here",
		Example: "  writ policy list\n  writ policy list --policy-dir lab/policies --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := policies(dirs)
			if err != nil {
				return err
			}
			views := []policyView{}
			for _, h := range set.All() {
				views = append(views, viewPolicy(h))
			}
			return a.emit(map[string]any{"policies": views}, func(w io.Writer) {
				rows := [][]string{{"NAME", "VERSION", "RULES", "FROM"}}
				for _, v := range views {
					rows = append(rows, []string{v.Name, v.Version, fmt.Sprint(v.Rules), v.Origin})
				}
				table(w, rows)
			})
		},
	}
	policyDirs(c, &dirs)
	return c
}

// findPolicy takes a file, or NAME@VERSION, or NAME where that is one policy.
func findPolicy(word string, dirs []string) (policy.Held, error) {
	const op = "find policy"
	if strings.HasSuffix(word, ".json") || strings.ContainsRune(word, '/') {
		p, err := runner.ReadPolicy(word)
		return policy.Held{Policy: p, Origin: word}, err
	}
	set, err := policies(dirs)
	if err != nil {
		return policy.Held{}, err
	}
	name, version, exact := strings.Cut(word, "@")
	var found []policy.Held
	var versions []string
	for _, h := range set.All() {
		if h.Name == name {
			versions = append(versions, h.Version)
			if !exact || h.Version == version {
				found = append(found, h)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return policy.Held{}, fault.New(fault.Usage, op, "policy %s has versions %s", name, strings.Join(versions, ", ")).Help("say which: %s@%s", name, versions[0])
	case len(versions) > 0:
		return policy.Held{}, fault.New(fault.NotFound, op, "no version %q of policy %s", version, name).Help("there is version %s", strings.Join(versions, ", "))
	}
	return policy.Held{}, fault.New(fault.NotFound, op, "no policy %q", name).Help("see: writ policy list")
}

func (a *app) policyShow() *cobra.Command {
	var dirs []string
	c := &cobra.Command{
		Use:     "show POLICY",
		Short:   "show the rules of an environment policy",
		Long:    "Show an environment policy: NAME, NAME@VERSION, or a file.",
		Example: "  writ policy show laptop\n  writ policy show lab/tuned.json --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := findPolicy(args[0], dirs)
			if err != nil {
				return err
			}
			view := struct {
				policyView
				Policy canon.Value `json:"policy"`
			}{viewPolicy(h), h.Value()}
			return a.emit(view, func(w io.Writer) {
				fmt.Fprintf(w, "policy %s, from %s\n", h.Ref(), h.Origin)
				rows := [][]string{{"RULE", "TIER", "CHECK", "PARAMETERS", "ON FAIL"}}
				for i, r := range h.Rules {
					rows = append(rows, []string{fmt.Sprint(i), string(r.Tier), r.Check, parametersOf(r), r.OnFail})
				}
				table(w, rows)
			})
		},
	}
	policyDirs(c, &dirs)
	return c
}

func parametersOf(r policy.Rule) string {
	var parts []string
	for _, m := range r.Parameters.Members() {
		text, isText := m.Value.String()
		if !isText {
			text = string(m.Value.Canonical())
		}
		parts = append(parts, m.Name+"="+text)
	}
	return strings.Join(parts, " ")
}

func (a *app) policyCheck() *cobra.Command {
	var dirs []string
	var tree string
	c := &cobra.Command{
		Use:   "check POLICY",
		Short: "say what an environment policy comes to on this machine, now",
		Long: `Read an environment policy, NAME, NAME@VERSION or a file, look at this machine, and
say for each rule what it comes to: set on measured programs, holds, fails, noted,
later when it is judged during the measurement, or unable when this runner refuses
orders with the policy. Nothing of the machine is changed.

Exit status: 0 orders with the policy would be measured here; 1 they would be
refused, or a rule that refuses does not hold; 2 not a valid policy; 6 no such
policy.`,
		Example: "  writ policy check ci --tree .\n  writ policy check lab/tuned.json --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := findPolicy(args[0], dirs)
			if err != nil {
				return err
			}
			return a.checkPolicy(c.Context(), h, tree)
		},
	}
	policyDirs(c, &dirs)
	c.Flags().StringVar(&tree, "tree", "", "checkout that rules about the subject look at")
	return c
}

// ruleView is one rule of `writ policy check --json`.
type ruleView struct {
	Rule  int    `json:"rule"`
	Check string `json:"check"`
	Tier  string `json:"tier"`
	State string `json:"state"` // set, holds, fails, noted, later or unable
	Says  string `json:"says"`
	Bars  bool   `json:"bars"` // orders with the policy would not be measured here, because of this rule
}

func (a *app) checkPolicy(ctx context.Context, h policy.Held, tree string) error {
	prospects, err := runner.Outlook(ctx, runner.Params{}, h.Policy, tree)
	if err != nil {
		return err
	}
	views, bars := []ruleView{}, 0
	for i, p := range prospects {
		v := ruleView{Rule: i, Check: p.Rule.Check, Tier: string(p.Rule.Tier), State: p.State, Says: p.Says}
		v.Bars = p.State == runner.WouldBlock || p.State == runner.WouldFail && p.Rule.OnFail != policy.Warn
		if v.Bars {
			bars++
		}
		views = append(views, v)
	}
	err = a.emit(map[string]any{"policy": viewPolicy(h), "rules": views}, func(w io.Writer) {
		rows := [][]string{{"RULE", "TIER", "CHECK", "STATE", "WHAT"}}
		for _, v := range views {
			rows = append(rows, []string{fmt.Sprint(v.Rule), v.Tier, v.Check, v.State, v.Says})
		}
		table(w, rows)
		if bars > 0 {
			fmt.Fprintf(w, "policy %s: %s would keep orders from being measured here\n", h.Ref(), plural(bars, "rule"))
			return
		}
		fmt.Fprintf(w, "policy %s: orders would be measured here\n", h.Ref())
	})
	if err == nil && bars > 0 {
		return exitStatus(fault.ExitFinding)
	}
	return err
}
