// Package author signs the documents of the chain that people and agents write:
// a proposal, a review, a decision, a human answer. It asks the server for what
// they are about, checks that, builds the document, signs it with a private key
// that never leaves the process, and hands it in.
//
// Invariants: nothing is signed that was not read back and recomputed here; what
// the server says about a document is never taken for the document. Every call
// may be repeated after a crash: it finds what it did before, and the same words
// about the same bytes give the same document.
//
// The package reads no clock, no flag and no file, and prints nothing.
package author

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// Read fetches a document of the chain by ref, opens it and reads its view. It
// is fault.Relation when the server hands out another document than was asked.
func Read[T any](ctx context.Context, c *client.Client, kind proposal.Kind, ref string, view func(proposal.Document) (T, error)) (T, error) {
	var none T
	raw, err := c.Document(ctx, ref)
	if err != nil {
		return none, err
	}
	doc, err := proposal.Open(kind, raw)
	if err != nil {
		return none, err
	}
	if doc.Ref != ref {
		return none, fault.New(fault.Relation, "read "+string(kind), "asked for %s, the server sent %s", ref, doc.Ref)
	}
	return view(doc)
}

// Question fetches a question to a person by its ref.
func Question(ctx context.Context, c *client.Client, ref string) (taskpack.Question, error) {
	raw, err := c.Document(ctx, ref)
	if err != nil {
		return taskpack.Question{}, err
	}
	q, err := taskpack.ParseQuestion(raw)
	if err != nil {
		return q, err
	}
	if q.Ref != ref {
		return q, fault.New(fault.Relation, "read question", "asked for %s, the server sent %s", ref, q.Ref)
	}
	return q, nil
}

// Latest is the document of a kind that a run accepted last.
func Latest(ctx context.Context, c *client.Client, run string, kind proposal.Kind) (string, error) {
	docs, err := c.Documents(ctx, run, string(kind))
	if err != nil {
		return "", err
	}
	if len(docs) == 0 {
		return "", fault.New(fault.NotFound, "find "+string(kind), "run %s has no %s yet", run, kind)
	}
	return docs[len(docs)-1].Ref, nil
}

// speak posts text into the lane of a run and returns the turn that the host
// makes of it. The same key with the same text is one message and one turn.
func speak(ctx context.Context, c *client.Client, run client.Run, key, text string) (proposal.Turn, error) {
	members := map[string]any{"lane_id": run.LaneID, "body": text}
	if run.SpaceID != "" {
		members["space_id"] = run.SpaceID
	}
	e, _, err := c.Append(ctx, key, "message.posted", members)
	if err != nil {
		return proposal.Turn{}, err
	}
	ref, err := c.Turn(ctx, run.RunID, e.ID)
	if err != nil {
		return proposal.Turn{}, err
	}
	turn, err := Read(ctx, c, proposal.KindTurn, ref.Ref, proposal.AsTurn)
	if err != nil {
		return proposal.Turn{}, err
	}
	if turn.Content != text || turn.Query != proposal.QueryOf(run.RunID) {
		return proposal.Turn{}, fault.New(fault.Relation, "read turn", "turn %s is not about what was said", turn.Ref)
	}
	return turn, nil
}

// until is the end of something that begins at from; the zero time, which bounds
// nothing, when life is 0.
func until(from time.Time, life time.Duration) time.Time {
	if life <= 0 {
		return time.Time{}
	}
	return from.Add(life)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// keyOf makes an idempotency key out of everything that a call says.
func keyOf(what string, parts ...string) string {
	var all []byte
	for _, p := range parts {
		all = fmt.Appendf(all, "%d:%s", len(p), p)
	}
	sum := canon.Sum(all)
	return what + ":" + hex.EncodeToString(sum[:16])
}
