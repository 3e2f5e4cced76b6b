package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"writ/internal/author"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

type reviewOptions struct {
	run, proposal, key, verdict string
	findings                    []string
	expires                     time.Duration
}

func (a *app) reviewCommand() *cobra.Command {
	var o reviewOptions
	c := &cobra.Command{
		Use:   "review RUN",
		Short: "look at a proposal, or review it, signed with your key",
		Long: `Without --verdict, show the proposal of a run with every byte that it is about;
nothing is signed. With --verdict, have the host fix that as the evidence, post
the findings into the lane, and sign and hand in a review of exactly those bytes.`,
		Example: "  writ review run_01K…\n  writ review run_01K… --key critic --verdict accept --finding \"same results on all inputs of the tests\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.run = args[0]
			if o.verdict == "" {
				return a.showProposal(c.Context(), o)
			}
			return a.review(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "name of the key to sign with (see writ key list)")
	f.StringVar(&o.verdict, "verdict", "", "accept, reject or request-regeneration")
	f.StringArrayVar(&o.findings, "finding", nil, "what you found, at most 1024 characters; needed with --verdict, may be repeated")
	f.StringVar(&o.proposal, "proposal", "", "ref of the proposal (default: the last one of the run)")
	f.DurationVar(&o.expires, "expires", 0, "how long the review may be acted on (default: as long as the proposal)")
	return c
}

func (a *app) review(ctx context.Context, o reviewOptions) error {
	switch o.verdict {
	case proposal.VerdictAccept, proposal.VerdictReject, proposal.VerdictRegenerate:
	default:
		return fault.New(fault.Usage, "review", "--verdict is accept, reject or request-regeneration, not %q", o.verdict)
	}
	if len(o.findings) == 0 {
		return fault.New(fault.Usage, "review", "a review says what was found").Help("pass --finding TEXT")
	}
	c, key, err := a.signer(o.key)
	if err != nil {
		return err
	}
	ref, err := author.Review(ctx, c, key, author.ReviewParams{
		Run: o.run, Proposal: o.proposal, Verdict: o.verdict, Findings: o.findings, Life: o.expires,
	})
	if err != nil {
		return a.remote(err)
	}
	return a.accepted(ref, "reviewed: "+o.verdict+"; a chair is next: writ decide "+o.run)
}

// proposalView is what `writ review RUN --json` answers.
type proposalView struct {
	Proposal  canon.Value   `json:"proposal"`
	Candidate canon.Value   `json:"candidate"`
	Patches   []canon.Value `json:"patches"`
}

func (a *app) showProposal(ctx context.Context, o reviewOptions) error {
	c, err := a.clientOf(o.key)
	if err != nil {
		return err
	}
	s, err := author.Show(ctx, c, o.run, o.proposal)
	if err != nil {
		return a.remote(err)
	}
	v := proposalView{Proposal: s.Proposal.Value, Candidate: s.Candidate.Value, Patches: []canon.Value{}}
	for _, p := range s.Patches {
		v.Patches = append(v.Patches, p.Value)
	}
	return a.emit(v, func(w io.Writer) { showProposal(w, s) })
}

func showProposal(w io.Writer, s author.Shown) {
	p := s.Proposal
	table(w, [][]string{
		{"proposal", p.Ref}, {"author", p.Author.ID}, {"signed by", p.Node}, {"change", p.Candidate.Ref},
		{"proposed", proposal.Instant(p.From())}, {"expires", proposal.Instant(p.Until())},
	})
	fmt.Fprintln(w, "\nif admitted, the host will")
	for _, step := range s.Candidate.Steps {
		fmt.Fprintf(w, "  %-8s %-8s %s %s\n", step.ID, step.Kind, step.Profile, strings.Join(step.Arguments, " "))
	}
	for _, patch := range s.Patches {
		for _, f := range patch.Files {
			showFile(w, f)
		}
	}
}

// showFile writes a whole file, with what a terminal would obey made visible.
func showFile(w io.Writer, f taskpack.File) {
	if f.Op == taskpack.OpDelete {
		fmt.Fprintf(w, "\n--- %s (deleted)\n", f.Path)
		return
	}
	fmt.Fprintf(w, "\n+++ %s (whole file, %d bytes, %s)\n", f.Path, len(f.Content), canon.Sum(f.Content))
	if !utf8.Valid(f.Content) {
		fmt.Fprintln(w, "not text")
		return
	}
	for line := range strings.Lines(string(f.Content)) {
		fmt.Fprintf(w, "| %s\n", harmless(strings.TrimSuffix(line, "\n")))
	}
}
