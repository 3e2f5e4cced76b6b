package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/author"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

func (a *app) inboxCommand() *cobra.Command {
	var run string
	c := &cobra.Command{
		Use:     "inbox",
		Short:   "list what waits for a person's answer",
		Long:    `List the questions that nobody has answered yet. Each is about one step of one run.`,
		Example: "  writ inbox\n  writ inbox --run run_01K… --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.inbox(c.Context(), run) },
	}
	c.Flags().StringVar(&run, "run", "", "only questions of this run")
	return c
}

func (a *app) inbox(ctx context.Context, run string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	open, err := questions(ctx, c, run)
	if err != nil {
		return a.remote(err)
	}
	return a.emit(map[string]any{"requests": open}, func(w io.Writer) {
		if len(open) == 0 {
			fmt.Fprintln(w, "nothing waits for an answer")
			return
		}
		rows := [][]string{{"RUN", "STEP", "EFFECT", "EXPIRES", "REQUEST"}}
		for _, r := range open {
			q, err := taskpack.ParseQuestion(r.Document)
			if err != nil {
				rows = append(rows, []string{r.RunID, "?", "cannot be read: " + string(fault.CodeOf(err)), "", r.Ref})
				continue
			}
			rows = append(rows, []string{r.RunID, q.Step.ID, q.Step.Effect, proposal.Instant(q.Expires), r.Ref})
		}
		table(w, rows)
	})
}

// questions lists the open questions, of one run or all.
func questions(ctx context.Context, c *client.Client, run string) ([]client.Request, error) {
	all, err := c.Inbox(ctx)
	if err != nil {
		return nil, err
	}
	open := []client.Request{}
	for _, r := range all {
		if run == "" || r.RunID == run {
			open = append(open, r)
		}
	}
	return open, nil
}

// showQuestion writes what an answer to the question would be about.
func showQuestion(w io.Writer, run string, q taskpack.Question) {
	rows := [][]string{
		{"question", q.Ref}, {"run", run}, {"plan", q.Plan}, {"step", q.Step.ID + " (" + q.Step.Kind + ")"}, {"effect", q.Step.Effect},
	}
	if q.Step.Profile != "" {
		rows = append(rows, []string{"profile", q.Step.Profile})
	}
	for i, argument := range q.Step.Arguments {
		rows = append(rows, []string{fmt.Sprintf("argument %d", i+1), harmless(argument)})
	}
	files, _ := q.Value.Get("patch/files")
	for _, f := range files.Elems() {
		size := ""
		if n, ok := f.Get("content/bytes"); ok {
			bytes, _ := n.Int()
			size = fmt.Sprintf(", %d bytes, %s", bytes, f.Str("content/digest"))
		}
		rows = append(rows, []string{"file", f.Str("operation") + " " + harmless(f.Str("path")) + size})
	}
	rows = append(rows, []string{"undone by", q.Rollback}, []string{"expires", proposal.Instant(q.Expires)})
	table(w, rows)
}

// find fetches the questions that the options mean, with the runs they are of.
func (o answerOptions) find(ctx context.Context, c *client.Client) ([]asking, error) {
	open, err := questions(ctx, c, o.run)
	if err != nil {
		return nil, err
	}
	var refs []asking
	for _, r := range open {
		if o.all || r.Ref == o.request {
			refs = append(refs, asking{run: r.RunID, ref: r.Ref})
		}
	}
	if len(refs) == 0 && !o.all {
		if o.run == "" {
			return nil, fault.New(fault.NotFound, "find question", "%s is not open", o.request).
				Help("writ inbox lists what is; with --run RUN an answer that was given before is found")
		}
		refs = []asking{{run: o.run, ref: o.request}}
	}
	for i := range refs {
		if refs[i].Question, err = author.Question(ctx, c, refs[i].ref); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// asking is a question with the run it is of.
type asking struct {
	taskpack.Question
	run, ref string
}
