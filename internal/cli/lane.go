package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"writ/internal/fault"
)

func (a *app) laneCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "lane",
		Short:   "show the lanes of a workspace and how they came to be",
		Example: "  writ lane list --state open\n  writ lane show lane_01K…",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.laneList(), a.laneShow())
	return c
}

// laneView is the part of a lane that people look at.
type laneView struct {
	ID           string   `json:"lane_id"`
	Parent       string   `json:"parent_lane_id"`
	Depth        int64    `json:"depth"`
	SpecialistID string   `json:"specialist_id"`
	AgentID      string   `json:"agent_id"`
	RequestedBy  string   `json:"requested_by"`
	Autonomy     int64    `json:"autonomy"`
	Status       string   `json:"status"`
	Outcome      string   `json:"outcome"`
	Runs         []string `json:"runs"`
	LastRunID    string   `json:"last_run_id"`
	OpenedAt     string   `json:"opened_at"`
}

func (a *app) laneList() *cobra.Command {
	var state string
	c := &cobra.Command{
		Use:     "list",
		Short:   "list lanes",
		Example: "  writ lane list --state open --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if state != "" && state != "open" && state != "closed" {
				return fault.New(fault.Usage, "list lanes", "--state is open or closed, not %q", state)
			}
			return a.lanes(c.Context(), state)
		},
	}
	c.Flags().StringVar(&state, "state", "", "only lanes that are open, or closed")
	return c
}

func (a *app) lanes(ctx context.Context, state string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	all, err := c.Lanes(ctx, state)
	if err != nil {
		return a.remote(err)
	}
	if all == nil {
		all = []json.RawMessage{}
	}
	rows := [][]string{{"LANE", "STATUS", "DEPTH", "SPECIALIST", "LAST RUN"}}
	for _, raw := range all {
		var l laneView
		if err := json.Unmarshal(raw, &l); err != nil {
			return fault.Wrap(err, fault.Internal, "list lanes", "the server sent a lane that this build cannot read")
		}
		status := l.Status
		if l.Outcome != "" {
			status += " (" + l.Outcome + ")"
		}
		rows = append(rows, []string{l.ID, status, fmt.Sprint(l.Depth), l.SpecialistID, l.LastRunID})
	}
	return a.emit(map[string]any{"lanes": all}, func(w io.Writer) { table(w, rows) })
}

func (a *app) laneShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show LANE",
		Short:   "show a lane and the trail that led to it",
		Long:    `Show a lane, and every hop from whoever asked first to it.`,
		Example: "  writ lane show lane_01K…",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.lane(c.Context(), args[0]) },
	}
}

func (a *app) lane(ctx context.Context, id string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	raw, err := c.Lane(ctx, id)
	if err != nil {
		return a.remote(err)
	}
	var v struct {
		Lane  laneView          `json:"lane"`
		Trail []json.RawMessage `json:"trail"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return fault.Wrap(err, fault.Internal, "show lane", "the server sent a lane that this build cannot read")
	}
	return a.emit(raw, func(w io.Writer) {
		l := v.Lane
		rows := [][]string{
			{"lane", l.ID}, {"status", l.Status}, {"depth", fmt.Sprint(l.Depth)}, {"specialist", l.SpecialistID},
			{"asked by", l.RequestedBy}, {"autonomy", fmt.Sprint(l.Autonomy)}, {"last run", l.LastRunID}, {"opened", l.OpenedAt},
		}
		for _, optional := range [][]string{{"parent", l.Parent}, {"agent", l.AgentID}, {"outcome", l.Outcome}} {
			if optional[1] != "" {
				rows = append(rows, optional)
			}
		}
		table(w, rows)
		fmt.Fprintln(w, "\ntrail")
		for i, raw := range v.Trail {
			var hop struct {
				Participant string `json:"participant_id"`
				Run         string `json:"run_id"`
				Goal        string `json:"goal"`
			}
			if json.Unmarshal(raw, &hop) == nil {
				fmt.Fprintf(w, "  %d  %s  %s  %s\n", i+1, hop.Participant, hop.Run, clip(hop.Goal, 70))
			}
		}
	})
}
