package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/fault"
)

func (a *app) landCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "land",
		Short:   "show and steer what lands on a branch",
		Example: "  writ land status --repository acme/sample --base main",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.landStatus(), a.landCancel())
	return c
}

// branchOptions name a branch; the workspace's own when nobody does.
type branchOptions struct{ repository, base string }

func (o *branchOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.repository, "repository", "", "OWNER/NAME (default: the workspace's repository)")
	c.Flags().StringVar(&o.base, "base", "", "branch (default: the one that the workspace lands on)")
}

func (o *branchOptions) complete(ctx context.Context, c *client.Client) error {
	if o.repository != "" && o.base != "" {
		return nil
	}
	all, err := c.Repositories(ctx)
	if err != nil {
		return err
	}
	for _, raw := range all {
		var r struct{ Alias, Base string }
		if err := json.Unmarshal(raw, &r); err != nil {
			return fault.Wrap(err, fault.Internal, "find branch", "the server sent a repository that this build cannot read")
		}
		if o.repository == "" || o.repository == r.Alias {
			o.repository = r.Alias
			if o.base == "" {
				o.base = r.Base
			}
			return nil
		}
	}
	return fault.New(fault.NotFound, "find branch", "the workspace lands on no such repository").
		Help("an admin configures one: writ init --repo PATH --base main --alias owner/name")
}

func (a *app) landStatus() *cobra.Command {
	var o branchOptions
	c := &cobra.Command{
		Use:   "status",
		Short: "show who lands, who qualifies and who waits",
		Long: `Show the state of a branch: the one candidate that holds the landing warrant, the
candidates that are being qualified, those that wait, in order, and how the last
ones ended.`,
		Example: "  writ land status\n  writ land status --repository acme/sample --base main --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.landing(c.Context(), o) },
	}
	o.flags(c)
	return c
}

// landingView is the part of a branch's state that people look at.
type landingView struct {
	State struct {
		Repository    string `json:"repository"`
		ProtectedBase string `json:"protectedBase"`
		Generation    int64  `json:"generation"`
		StateRoot     string `json:"stateRoot"`
		Candidates    []struct {
			ID         string `json:"candidateId"`
			Change     int64  `json:"pullRequestNumber"`
			SourceHead string `json:"sourceHead"`
			Status     string `json:"status"`
			EnqueuedAt string `json:"enqueuedAt"`
			Terminal   *struct {
				Reason string `json:"reason"`
			} `json:"terminal"`
		} `json:"candidates"`
		Warrant *struct {
			CandidateID string `json:"candidateId"`
			Generation  int64  `json:"generation"`
			ExpiresAt   string `json:"expiresAt"`
		} `json:"landingWarrant"`
	} `json:"state"`
}

func (a *app) landing(ctx context.Context, o branchOptions) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	if err := o.complete(ctx, c); err != nil {
		return a.remote(err)
	}
	raw, err := c.Landing(ctx, o.repository, o.base)
	if err != nil {
		return a.remote(err)
	}
	var v landingView
	if err := json.Unmarshal(raw, &v); err != nil {
		return fault.Wrap(err, fault.Internal, "show landing", "the server sent a state that this build cannot read")
	}
	return a.emit(raw, func(w io.Writer) { showLanding(w, v) })
}

func showLanding(w io.Writer, v landingView) {
	s := v.State
	table(w, [][]string{{"branch", s.Repository + " " + s.ProtectedBase}, {"generation", fmt.Sprint(s.Generation)}, {"state root", s.StateRoot}})
	if s.Warrant != nil {
		fmt.Fprintf(w, "warrant held by %s until %s (generation %d)\n", short(s.Warrant.CandidateID), s.Warrant.ExpiresAt, s.Warrant.Generation)
	}
	if len(s.Candidates) == 0 {
		fmt.Fprintln(w, "nothing wants to land")
		return
	}
	fmt.Fprintln(w)
	rows := [][]string{{"CHANGE", "STATUS", "SOURCE", "SINCE", "CANDIDATE"}}
	for _, c := range s.Candidates {
		status := c.Status
		if c.Terminal != nil && c.Terminal.Reason != "" {
			status += " (" + clip(c.Terminal.Reason, 60) + ")"
		}
		rows = append(rows, []string{fmt.Sprint(c.Change), status, c.SourceHead[:min(12, len(c.SourceHead))], c.EnqueuedAt, c.ID})
	}
	table(w, rows)
}

func (a *app) landCancel() *cobra.Command {
	var o branchOptions
	var reason string
	c := &cobra.Command{
		Use:   "cancel CANDIDATE",
		Short: "take a candidate out of the queue",
		Long: `Settle a candidate that is not landing yet as cancelled. What is landing ends by
what the remote shows, and by nothing else.`,
		Example: "  writ land cancel sha256:… --reason \"superseded by change 12\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if reason == "" {
				return fault.New(fault.Usage, "cancel landing", "a cancellation has a reason").Help("pass --reason TEXT")
			}
			return a.cancelLanding(c.Context(), o, args[0], reason)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&reason, "reason", "", "why, for everybody who asks later")
	return c
}

func (a *app) cancelLanding(ctx context.Context, o branchOptions, candidate, reason string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	if err := o.complete(ctx, c); err != nil {
		return a.remote(err)
	}
	if err := c.CancelLanding(ctx, o.repository, o.base, candidate, reason); err != nil {
		return a.remote(err)
	}
	return a.emit(map[string]string{"candidate_id": candidate, "outcome": "cancelled"}, func(w io.Writer) {
		fmt.Fprintf(w, "cancelled %s\n", candidate)
	})
}
