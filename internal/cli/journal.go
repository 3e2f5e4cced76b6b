package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

func (a *app) journalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "write, read and follow the journal of a workspace",
		Long: `The journal is the order of everything that happened in a workspace: gapless,
append-only, and acknowledged only when it is on disk.`,
		Example: "  writ journal list --limit 20\n  writ journal tail --after 100",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.journalAppend(), a.journalList(), a.journalTail())
	return c
}

type appendOptions struct{ kind, data, key string }

func (a *app) journalAppend() *cobra.Command {
	var o appendOptions
	c := &cobra.Command{
		Use:   "append TYPE",
		Short: "append an event",
		Long: `Append an event and show it as stored. The members of --data are those of the
event beside v, type and idempotency_key. Repeating the command with the same
--key writes nothing and shows the first event.`,
		Example: "  writ journal append message.posted --data '{\"lane_id\":\"lane_01K…\",\"body\":\"on it\"}'\n  writ journal append run.cancel_requested --data - --key 7f3a < cancel.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.kind = args[0]
			return a.append(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.data, "data", "{}", "members of the event as a JSON object; - reads standard input")
	c.Flags().StringVar(&o.key, "key", "", "idempotency key: the same event with the same key is written once (default: a new one)")
	return c
}

// entry is what `writ journal append --json` answers.
type entry struct {
	Event    json.RawMessage `json:"event"`
	Replayed bool            `json:"replayed"`
}

func (a *app) append(ctx context.Context, o appendOptions) error {
	raw, err := o.event(a.in)
	if err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	e, replayed, err := c.AppendRaw(ctx, raw)
	if err != nil {
		return a.remote(err)
	}
	return a.emit(entry{e.Raw, replayed}, func(w io.Writer) {
		showEvent(w, e)
		if replayed {
			fmt.Fprintln(w, "written before with this key")
		}
	})
}

// event puts the write form together.
func (o appendOptions) event(in io.Reader) ([]byte, error) {
	const op = "read event"
	data := []byte(o.data)
	if o.data == "-" {
		var err error
		if data, err = io.ReadAll(io.LimitReader(in, journal.MaxBytes+1)); err != nil {
			return nil, fault.Wrap(err, fault.Usage, op, "standard input cannot be read")
		}
	}
	v, err := canon.ParseLimits(data, canon.Limits{Bytes: journal.MaxBytes})
	if err != nil {
		return nil, err
	}
	if v.Kind() != canon.Object {
		return nil, fault.New(fault.Usage, op, "--data is a JSON object, found %s", v.Kind())
	}
	if o.key == "" && !v.Has("idempotency_key") {
		o.key = client.NewKey()
	}
	for _, m := range []canon.Member{
		{Name: "v", Value: canon.IntOf(journal.Version)}, {Name: "type", Value: canon.StringOf(o.kind)}, {Name: "idempotency_key", Value: canon.StringOf(o.key)},
	} {
		given, ok := v.Get(m.Name)
		switch {
		case !ok:
			v = v.With(m.Name, m.Value)
		case m.Name == "idempotency_key" && o.key == "":
		case !canon.Equal(given, m.Value):
			return nil, fault.New(fault.Usage, op, "--data has another %s than the command line", m.Name).At("/" + m.Name)
		}
	}
	return v.Canonical(), nil
}

type readOptions struct {
	after int64
	limit int
	client.Filter
}

func (o *readOptions) flags(c *cobra.Command, limit int, what string) {
	f := c.Flags()
	f.Int64Var(&o.after, "after", 0, "only events with a greater sequence number")
	f.IntVar(&o.limit, "limit", limit, what)
	f.StringArrayVar(&o.Types, "type", nil, "only this event type; may be repeated")
	f.StringVar(&o.Run, "run", "", "only this run")
	f.StringVar(&o.Lane, "lane", "", "only this lane")
}

func (o *readOptions) check() error {
	if o.after < 0 || o.limit < 0 {
		return fault.New(fault.Usage, "read journal", "--after and --limit are not negative")
	}
	for _, t := range o.Types {
		if !journal.Known(t) {
			return fault.New(fault.Usage, "read journal", "there is no event type %q", t)
		}
	}
	return nil
}

func (a *app) journalList() *cobra.Command {
	var o readOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "list events",
		Long:    `List events in order. With --json, next_after is the --after of the next page.`,
		Example: "  writ journal list --after 100 --limit 50\n  writ journal list --type run.requested --type run.completed --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.list(c.Context(), o) },
	}
	o.flags(c, 100, "largest number of events, at most 1000")
	return c
}

func (a *app) list(ctx context.Context, o readOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	p, err := c.Events(ctx, o.after, o.limit, o.Filter)
	if err != nil {
		return a.remote(err)
	}
	events := make([]json.RawMessage, len(p.Events))
	for i, e := range p.Events {
		events[i] = e.Raw
	}
	return a.emit(map[string]any{"events": events, "next_after": p.NextAfter, "head_seq": p.Head}, func(w io.Writer) {
		rows := [][]string{{"SEQ", "TIME", "TYPE", "RUN", "ID"}}
		for _, e := range p.Events {
			rows = append(rows, []string{fmt.Sprint(e.Seq), e.TS, e.Type, e.RunID, e.ID})
		}
		table(w, rows)
		if p.NextAfter < p.Head {
			fmt.Fprintf(w, "more: writ journal list --after %d (the log ends at %d)\n", p.NextAfter, p.Head)
		}
	})
}

func (a *app) journalTail() *cobra.Command {
	var o readOptions
	c := &cobra.Command{
		Use:   "tail",
		Short: "follow the journal",
		Long: `Show events as they come, each once and in order, until interrupted or until
--limit events were shown. A connection that breaks is made again where it was.
With --json, every event is one line with one JSON object, in its wire form.

Exit status: 0 the limit was reached; 2 bad usage; 4 --after is ahead of the log;
5 not allowed; 6 events after --after are no longer kept; 7 the server cannot be
reached; 130 interrupted.`,
		Example: "  writ journal tail --after 0\n  writ journal tail --run run_01K… --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.tail(c.Context(), o) },
	}
	o.flags(c, 0, "end after this many events; 0 goes on")
	return c
}

func (a *app) tail(ctx context.Context, o readOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	shown := 0
	for e, err := range c.Subscribe(ctx, o.after, o.Filter) {
		if err != nil {
			return a.remote(err)
		}
		if a.json {
			if _, err := fmt.Fprintf(a.out, "%s\n", e.Raw); err != nil {
				return err
			}
		} else {
			showEvent(a.out, e)
		}
		if shown++; o.limit > 0 && shown >= o.limit {
			return nil
		}
	}
	return exitStatus(fault.ExitInterrupted) // the user has seen enough: nothing to complain about
}

func showEvent(w io.Writer, e client.Event) {
	fmt.Fprintf(w, "%6d  %s  %-24s %s", e.Seq, e.TS, e.Type, e.ID)
	if e.RunID != "" {
		fmt.Fprintf(w, "  %s", e.RunID)
	}
	fmt.Fprintln(w)
}
