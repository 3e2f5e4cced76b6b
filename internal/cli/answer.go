package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"writ/client"
	"writ/internal/author"
	"writ/internal/fault"
)

type answerOptions struct {
	request, run, key string
	all, yes, approve bool
}

func (a *app) approveCommand() *cobra.Command {
	return a.answerCommand(true, &cobra.Command{
		Use:   "approve [REQUEST]",
		Short: "approve one step of a run, signed with your key",
		Long: `Approve a step: show what would happen, ask, and sign and hand in the answer.
An answer is about one step of one run and is never taken back. Agents cannot
answer, nor can the author of the change.`,
		Example: "  writ approve operator-task-hil-request:sha256:… --key ann\n  writ approve --all --run run_01K… --key ann --yes",
	})
}

func (a *app) rejectCommand() *cobra.Command {
	return a.answerCommand(false, &cobra.Command{
		Use:   "reject [REQUEST]",
		Short: "reject one step of a run, signed with your key",
		Long: `Reject a step: show what would have happened, ask, and sign and hand in the
answer. A rejected step ends its run.`,
		Example: "  writ reject operator-task-hil-request:sha256:… --key ann",
	})
}

func (a *app) answerCommand(approve bool, c *cobra.Command) *cobra.Command {
	o := answerOptions{approve: approve}
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && !o.all:
			o.request = args[0]
		case len(args) == 0 && o.all && o.run != "":
		default:
			return fault.New(fault.Usage, c.Name(), "name one REQUEST, or all of a run with --all --run RUN").Help("writ inbox lists what is open")
		}
		return a.answer(c.Context(), o)
	}
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "name of the key to sign with (see writ key list)")
	f.StringVar(&o.run, "run", "", "run that the question is of")
	f.BoolVar(&o.all, "all", false, "answer every open question of --run")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before signing")
	return c
}

func (o answerOptions) verb() string {
	if o.approve {
		return "approve"
	}
	return "reject"
}

func (a *app) answer(ctx context.Context, o answerOptions) error {
	c, key, err := a.signer(o.key)
	if err != nil {
		return err
	}
	asked, err := o.find(ctx, c)
	if err != nil {
		return a.remote(err)
	}
	if err := a.confirm(o, asked); err != nil {
		return err
	}
	given := []client.DocRef{}
	for _, q := range asked {
		ref, err := author.Answer(ctx, c, key, author.AnswerParams{Run: q.run, Request: q.Ref, Approve: o.approve, At: time.Now()})
		if err != nil {
			return a.remote(err)
		}
		given = append(given, ref)
	}
	return a.emit(map[string]any{"answers": given}, func(w io.Writer) {
		rows := [][]string{{"STEP", "ANSWER", "REF"}}
		for i, ref := range given {
			word := o.verb()
			if ref.Replayed {
				word += " (given before)"
			}
			rows = append(rows, []string{asked[i].Step.ID, word, ref.Ref})
		}
		table(w, rows)
	})
}

// confirm shows what is signed and asks. Where nobody can be asked, --yes has to
// say so.
func (a *app) confirm(o answerOptions, asked []asking) error {
	if len(asked) == 0 {
		return fault.New(fault.NotFound, o.verb(), "run %s asks nothing", o.run)
	}
	for i, q := range asked {
		if i > 0 {
			fmt.Fprintln(a.err)
		}
		if !a.quiet || !o.yes {
			showQuestion(a.err, q.run, q.Question)
		}
	}
	if o.yes {
		return nil
	}
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fault.New(fault.Usage, o.verb(), "nobody to ask: standard input is no terminal").Help("pass --yes to sign without being asked")
	}
	fmt.Fprintf(a.err, "\n%s %s? [y/N] ", o.verb(), plural(len(asked), "step"))
	line, err := bufio.NewReader(in).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); err != nil || word != "y" && word != "yes" {
		return fault.New(fault.Cancelled, o.verb(), "nothing was signed")
	}
	return nil
}
