package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"writ/client"
	"writ/internal/author"
	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
)

// event is the part of a journal event that the demo looks at.
type event struct {
	Kind    string  `json:"kind"`
	Ref     string  `json:"ref"`
	Step    string  `json:"step"`
	Note    string  `json:"note"`
	Pct     float64 `json:"pct"`
	Action  string  `json:"action"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Summary string  `json:"summary"`
}

// stations says at which documents the demo stops to tell.
var stations = map[string]string{
	"plan": "plan", "comparison": "measure", "verdict": "judge", "gate": "gate", "execution": "record",
	"docket-binding": "submit", "landing-qualification-receipt": "qualify", "landing-admission": "admit", "landing-readback": "land",
}

// follow reads the journal until the run has ended, and answers for ann.
func (w *way) follow(ctx context.Context) error {
	bar := newBar(w.Err, w.Live)
	defer bar.done()
	counts := map[string]int{}
	for e, err := range w.cast.ann.c.Subscribe(ctx, 0, client.Filter{Run: w.run}) {
		if err != nil {
			return err
		}
		var v event
		if err := json.Unmarshal(e.Raw, &v); err != nil {
			return err
		}
		switch e.Type {
		case "document.accepted":
			counts[v.Kind]++
			if station, ok := stations[v.Kind]; ok {
				bar.pause()
				w.tell(ctx, station, v, counts)
			}
		case "run.progress":
			bar.set(v.Step, v.Note, v.Pct)
		case "run.approval_requested":
			bar.pause()
			if err := w.approve(ctx, v); err != nil {
				return err
			}
		case "run.completed":
			bar.pause()
			w.say("end", "%s", v.Summary)
			return nil
		case "run.failed", "run.expired", "run.cancelled":
			bar.pause()
			w.say("end", "%s %s", e.Type, v.Code)
			for line := range strings.Lines(v.Message) {
				w.say("", "%s", strings.TrimRight(line, "\n"))
			}
			return nil
		}
	}
	return ctx.Err()
}

// approve is ann answering a question about one mutation.
func (w *way) approve(ctx context.Context, v event) error {
	d, err := author.Answer(ctx, w.cast.ann.c, w.cast.ann.key, author.AnswerParams{Run: w.run, Request: v.Ref, Approve: true, At: w.Now()})
	if err != nil {
		return err
	}
	w.say("approve", "ann: yes to %s  (%s)", v.Action, d.Ref)
	return nil
}

// tell says what a document is about.
func (w *way) tell(ctx context.Context, station string, v event, counts map[string]int) {
	line := v.Ref
	switch v.Kind {
	case "comparison":
		line = fmt.Sprintf("%d orders, %d results  (%s)", counts["work-order"], counts["order-result"], v.Ref)
	case "verdict":
		if table, err := w.verdict(ctx, v.Ref); err == nil {
			for i, row := range strings.Split(strings.TrimRight(table, "\n"), "\n") {
				if i > 0 {
					station = ""
				}
				w.say(station, "%s", row)
			}
			return
		}
	case "gate":
		if raw, err := w.cast.ann.c.Document(ctx, v.Ref); err == nil {
			if g, err := canon.Parse(raw); err == nil {
				line = g.Str("answer") + "  (" + v.Ref + ")"
			}
		}
	}
	w.say(station, "%s", line)
}

// prove exports the docket, pins the signers of this demo, and verifies.
func (w *way) prove(ctx context.Context, r *Result) error {
	body, err := w.cast.ann.c.Docket(ctx, w.run)
	if err != nil {
		return err
	}
	defer body.Close()
	b, err := docket.Read(body)
	if err != nil {
		return err
	}
	host, err := w.cast.ann.c.Host(ctx)
	if err != nil {
		return err
	}
	trust := docket.Trust{
		Schema: docket.TrustSchema, Hosts: []string{host.NodeID},
		Authors: []string{w.cast.solver.key.Public().Node()}, Reviewers: []string{w.cast.reviewer.key.Public().Node()},
		Chairs: []string{w.cast.ann.key.Public().Node()}, Operators: []string{w.cast.ann.key.Public().Node()},
	}
	r.Export, r.Trust = filepath.Join(w.dir, "docket.json"), filepath.Join(w.dir, "trust.json")
	pins, err := json.MarshalIndent(trust, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.Trust, append(pins, '\n'), 0o644); err != nil {
		return err
	}
	f, err := os.Create(r.Export)
	if err != nil {
		return err
	}
	if err := b.Write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	report := docket.Verify(b, &trust)
	r.Docket, r.Outcome, r.Documents = report.Answer, report.Outcome, report.Documents
	w.say("docket", "%d events and %d documents recomputed", report.Events, report.Documents)
	for _, s := range report.Stations {
		if s.State == docket.Failed {
			return fault.New(fault.Unverified, "verify docket", "%s: %s %s: %s", s.Name, s.Kind, s.Document, s.Why)
		}
	}
	return nil
}
