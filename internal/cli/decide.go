package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/author"
	"writ/internal/fault"
	"writ/internal/proposal"
)

type decideOptions struct {
	run, review, key, decision, reason string
	expires                            time.Duration
}

// decisions are the words of the command line.
var decisions = map[string]string{
	"admit": proposal.DecisionAdmit, "block": proposal.DecisionBlock, "revise": proposal.DecisionRevise,
}

func (a *app) decideCommand() *cobra.Command {
	var o decideOptions
	c := &cobra.Command{
		Use:   "decide RUN",
		Short: "decide about a reviewed proposal, signed with your key",
		Long: `Decide about a review and the proposal that it is about. To admit lets the host
compile the change and list the benchmarks; every step that changes something
still asks an operator. A key decides once about a review; repeating the command
with the same words finds the decision.`,
		Example: "  writ decide run_01K… --key ann --decision admit --reason reviewed\n  writ decide run_01K… --key ann --decision revise --reason tests-missing",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.run = args[0]
			return a.decide(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "name of the key to sign with (see writ key list)")
	f.StringVar(&o.decision, "decision", "", "admit, block or revise")
	f.StringVar(&o.reason, "reason", "", "why, as a short code such as reviewed")
	f.StringVar(&o.review, "review", "", "ref of the review (default: the last one of the run)")
	f.DurationVar(&o.expires, "expires", 0, "how long the decision may be acted on (default: as long as proposal and review)")
	return c
}

func (a *app) decide(ctx context.Context, o decideOptions) error {
	word, ok := decisions[o.decision]
	if !ok {
		return fault.New(fault.Usage, "decide", "--decision is admit, block or revise, not %q", o.decision)
	}
	if o.reason == "" {
		return fault.New(fault.Usage, "decide", "a decision has a reason").Help("pass --reason CODE, such as reviewed")
	}
	c, key, err := a.signer(o.key)
	if err != nil {
		return err
	}
	ref, err := author.Decide(ctx, c, key, author.DecideParams{
		Run: o.run, Review: o.review, Decision: word, Reason: o.reason, At: time.Now(), Life: o.expires,
	})
	if err != nil {
		return a.remote(err)
	}
	next := "decided: " + word
	if word == proposal.DecisionAdmit {
		next += "; operators are asked next: writ inbox"
	}
	return a.accepted(ref, next)
}
