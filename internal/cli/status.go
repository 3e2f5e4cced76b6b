package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/ledger"
)

// standing is a run with what would move it on, which the documents of the chain
// say better than the run itself.
type standing struct {
	client.Run
	Next *next `json:"next"` // null when it waits for nothing that a command can give
}

// next is the one thing that a run needs to go on.
type next struct {
	What    string `json:"what"`
	Who     string `json:"who"`
	Command string `json:"command"`
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "show where a run stands, what it waits for and what would release it",
		Long: `Show where a run stands: its step, what it waits for, who can give that, since
when, and the command that does. Without RUN, list the runs.`,
		Example: "  writ status\n  writ status run_01K…",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.runs(c.Context())
			}
			return a.status(c.Context(), args[0])
		},
	}
}

func (a *app) runs(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	all, err := c.Runs(ctx, "")
	if err != nil {
		return a.remote(err)
	}
	if all == nil {
		all = []client.Run{}
	}
	return a.emit(map[string]any{"runs": all}, func(w io.Writer) {
		rows := [][]string{{"RUN", "STATUS", "GOAL"}}
		for _, r := range all {
			rows = append(rows, []string{r.RunID, r.Status, clip(r.Goal, 60)})
		}
		table(w, rows)
	})
}

func (a *app) status(ctx context.Context, run string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	r, err := c.Run(ctx, run)
	if err != nil {
		return a.remote(err)
	}
	s := standing{Run: r, Next: nextOf(r)}
	return a.emit(s, func(w io.Writer) { showRun(w, s) })
}

// nextOf reads off the documents what the chain lacks: the newest of its links
// says who is next. Once the host drives the run, the run itself says what it
// waits for.
func nextOf(r client.Run) *next {
	if r.Over() {
		return &next{"nothing: the run has ended", "", "writ docket show " + r.RunID}
	}
	newest := ""
	for _, d := range r.Documents {
		switch d.Kind {
		case ledger.KindProposal, ledger.KindReview, ledger.KindDecision, ledger.KindPlan:
			if newest != ledger.KindPlan {
				newest = d.Kind
			}
		}
	}
	switch newest {
	case ledger.KindPlan:
		if slices.ContainsFunc(r.Waiting, func(w client.Why) bool { return w.Ref != "" }) {
			return &next{"an answer to what the host asks", "an operator who is not the author", "writ inbox --run " + r.RunID}
		}
		return nil
	case ledger.KindReview:
		return &next{"a decision about the review", "a person with the role chair or operator", "writ decide " + r.RunID + " --key NAME --decision admit --reason CODE"}
	case ledger.KindProposal:
		return &next{"a review of the proposal", "a participant with the role reviewer", "writ review " + r.RunID}
	}
	what := "a proposal"
	if newest == ledger.KindDecision {
		what = "another proposal: the last one was not admitted"
	}
	return &next{what, "a participant with the role implementer", "writ propose " + r.RunID + " --key NAME --worktree DIR --message TEXT"}
}

// position is the part of the host's own record that people look at.
type position struct {
	Phase      string `json:"phase"`
	BaseHead   string `json:"base_head"`
	SourceHead string `json:"source_head"`
	Candidate  string `json:"candidate_id"`
	MergeHead  string `json:"merge_head"`
	Failure    string `json:"failure"`
	Reason     string `json:"reason"`
}

func showRun(w io.Writer, s standing) {
	rows := [][]string{
		{"run", s.RunID}, {"lane", s.LaneID}, {"goal", clip(s.Goal, 100)},
		{"status", fmt.Sprintf("%s (attempt %d)", s.Status, s.Attempt)}, {"asked by", s.RequestedBy},
	}
	if s.Step != "" {
		rows = append(rows, []string{"step", s.Step})
	}
	var p position
	if json.Unmarshal(s.Position, &p) == nil {
		for _, row := range [][2]string{
			{"phase", p.Phase}, {"base", p.BaseHead}, {"change", p.SourceHead}, {"candidate", p.Candidate},
			{"merge", p.MergeHead}, {"failure", strings.TrimSpace(p.Failure + " " + p.Reason)},
		} {
			if row[1] != "" {
				rows = append(rows, row[:])
			}
		}
	}
	table(w, rows)
	if len(s.Documents) > 0 {
		fmt.Fprintf(w, "%s: %s\n", plural(len(s.Documents), "document"), kinds(s.Documents))
	}
	for _, y := range s.Waiting {
		fmt.Fprintln(w, "\nwaits")
		table(w, [][]string{{"  for", y.What}, {"  since", y.Since}, {"  released when", y.Release}})
	}
	if s.Next != nil {
		fmt.Fprintln(w, "\nnext")
		rows := [][]string{{"  needs", s.Next.What}}
		if s.Next.Who != "" {
			rows = append(rows, []string{"  from", s.Next.Who})
		}
		table(w, append(rows, []string{"  command", s.Next.Command}))
	}
}

// kinds counts documents by kind, in the order in which the kinds came.
func kinds(docs []client.DocRef) string {
	count := map[string]int{}
	var order []string
	for _, d := range docs {
		if count[d.Kind]++; count[d.Kind] == 1 {
			order = append(order, d.Kind)
		}
	}
	for i, kind := range order {
		if count[kind] > 1 {
			order[i] = fmt.Sprintf("%s (%d)", kind, count[kind])
		}
	}
	return strings.Join(order, ", ")
}

// clip shortens others' text for a table to n characters, on one line.
func clip(text string, n int) string {
	text = harmless(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return text
}
