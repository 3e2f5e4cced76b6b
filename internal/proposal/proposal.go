package proposal

import (
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
)

// Proposal is the typed view of an experiment proposal v2: one content-addressed
// candidate, bound to the run, room and turn it came from.
type Proposal struct {
	Document
	Query, Room, Turn string
	Author            Subject
	Node              string
	Executor          Executor
	Candidate         Candidate
	Target            *Target // nil unless the candidate is a task pack
	Class             Class
	Key               string
}

// AsProposal reads the view.
func AsProposal(d Document) (Proposal, error) {
	if err := d.as(KindProposal); err != nil {
		return Proposal{}, err
	}
	v := d.Value
	executor, _ := v.Get("executor")
	p := Proposal{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"), Turn: v.Str("turn/id"),
		Author: subjectOf(v, "author"), Node: v.Str("author/node-id"),
		Executor: executorOf(executor), Candidate: candidateOf(v, "candidate"),
		Class: Class(v.Str("class/key")), Key: v.Str("idempotency/key"),
	}
	if v.Has("target") {
		t := targetOf(v, "target")
		p.Target = &t
	}
	return p, nil
}

// Executable says whether this host can carry out what p proposes: a task-pack
// candidate by the host's own compiler. Every other pair of artifact and mode
// is refused, whatever its mode is called.
func (p Proposal) Executable() error {
	if p.Candidate.Type == ArtifactTaskPack && p.Executor.Mode == ModeCompiler {
		return nil
	}
	return fault.New(fault.Unsupported, "executor", "%s by %s is not carried out here", p.Candidate.Type, p.Executor.Mode).
		At(pointer("executor", "mode")).With("document", p.Ref).With("reason", "executor_mode_not_implemented")
}

// ProposalParams is what an author decides; the rest of a task-pack proposal is
// fixed.
type ProposalParams struct {
	Turn      Turn // the author's retained turn: query, room, author and class come from it
	Candidate Candidate
	Target    Target
	At, Until time.Time // Until is narrowed to the expiry of the turn
	Key       string    // idempotency key, 1 to 256 characters
}

// SignProposal builds and signs a task-pack proposal.
func SignProposal(p ProposalParams, key ident.PrivateKey) (Proposal, error) {
	d, err := signTree(KindProposal, key, map[string]any{
		"schema/v": 2,
		"query/id": p.Turn.Query, "room/id": p.Turn.Room, "turn/id": p.Turn.Ref,
		"author":                 p.Turn.Participant.tree(),
		"executor":               map[string]string{"mode": ModeCompiler},
		"candidate":              p.Candidate.tree(),
		"target":                 p.Target.tree(),
		"class/key":              string(p.Turn.Class),
		"human-in-loop/required": true,
		"proposed-at":            Instant(p.At),
		"expires-at":             Instant(Narrow(p.Until, p.Turn.Until())),
		"idempotency/key":        p.Key,
	})
	if err != nil {
		return Proposal{}, err
	}
	return AsProposal(d)
}
