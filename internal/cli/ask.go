package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/fault"
)

type askOptions struct {
	goal, to, deadline, key, lane, label string
	autonomy                             int
	constraints                          []string
}

// asked is what `writ ask --json` answers.
type asked struct {
	RunID    string `json:"run_id"`
	LaneID   string `json:"lane_id"`
	EventID  string `json:"event_id"`
	Seq      int64  `json:"seq"`
	Replayed bool   `json:"replayed"`
}

func (a *app) askCommand() *cobra.Command {
	o := askOptions{autonomy: -1}
	c := &cobra.Command{
		Use:   "ask GOAL",
		Short: "ask for work: a run in a lane of its own",
		Long: `Ask for work. The ask is an event of the journal, it opens a lane and a run in
it, and nothing else wakes a harness. Whoever proposes a change for it names the
run.`,
		Example: "  writ ask \"make Distinct faster for long inputs\"\n  writ ask \"drop the global lock\" --to solver --autonomy 1 --deadline 2026-12-24T12:00:00Z",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.goal = args[0]
			return a.ask(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "name or id of the harness or agent (default: the only harness of the workspace)")
	f.IntVar(&o.autonomy, "autonomy", -1, "level from 0 to 3 (default: the server's)")
	f.StringArrayVar(&o.constraints, "constraint", nil, "something that must hold; may be repeated")
	f.StringVar(&o.deadline, "deadline", "", "instant after which the run is over, such as 2026-12-24T12:00:00Z")
	f.StringVar(&o.label, "label", "", "name for the agent that works on it")
	f.StringVar(&o.lane, "lane", "", "ask again in this open lane instead of a new one")
	f.StringVar(&o.key, "key", "", "idempotency key: the same ask with the same key is made once (default: a new one)")
	return c
}

func (a *app) ask(ctx context.Context, o askOptions) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	if o.to == "" {
		if o.to, err = onlyHarness(ctx, c); err != nil {
			return a.remote(err)
		}
	}
	members := map[string]any{"goal": o.goal, "specialist_id": o.to}
	for name, text := range map[string]string{"deadline": o.deadline, "label": o.label, "lane_id": o.lane} {
		if text != "" {
			members[name] = text
		}
	}
	if o.autonomy >= 0 {
		members["autonomy"] = o.autonomy
	}
	if len(o.constraints) > 0 {
		members["constraints"] = o.constraints
	}
	if o.key == "" {
		o.key = client.NewKey()
	}
	e, replayed, err := c.Append(ctx, o.key, "run.requested", members)
	if err != nil {
		return a.remote(err)
	}
	return a.emit(asked{e.RunID, e.LaneID, e.ID, e.Seq, replayed}, func(w io.Writer) {
		table(w, [][]string{{"run", e.RunID}, {"lane", e.LaneID}})
		if replayed {
			fmt.Fprintln(w, "asked before with this key")
		}
	})
}

// onlyHarness is whom an ask goes to when nobody is named.
func onlyHarness(ctx context.Context, c *client.Client) (string, error) {
	all, err := c.Participants(ctx)
	if err != nil {
		return "", err
	}
	var ids, names []string
	for _, p := range all {
		if p.Kind == "harness" {
			ids, names = append(ids, p.ID), append(names, p.Name)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", fault.New(fault.NotFound, "ask", "the workspace has no harness").
			Help("an admin makes one: writ init, or POST /v1/participants")
	}
	return "", fault.New(fault.Usage, "ask", "there are %s: %s", plural(len(ids), "harness"), strings.Join(names, ", ")).
		Help("name one with --to")
}
