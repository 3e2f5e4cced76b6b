package lane

import (
	"encoding/json"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// Participant is the part of a participant's cell that routing needs. The cell
// may hold more.
type Participant struct {
	ID        string `json:"participant_id"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	HarnessID string `json:"harness_id,omitempty"` // of an agent
	Ephemeral bool   `json:"ephemeral,omitempty"`  // made for one lane
	ForLane   string `json:"for_lane,omitempty"`
}

// ReadParticipant decodes what routing needs of a participant's cell.
func ReadParticipant(c ledger.Cell) (Participant, error) {
	var p Participant
	if err := json.Unmarshal(c.Value, &p); err != nil {
		return p, fault.Wrap(err, fault.Corrupt, "read participant", "stored participant %s is damaged", c.Key)
	}
	return p, nil
}

func (p Participant) write() (ledger.CellWrite, error) {
	b, err := canon.Marshal(p)
	return ledger.CellWrite{Kind: ledger.CellParticipant, Key: p.ID, State: p.Kind, Value: b}, err
}

func (p Participant) works() bool { return p.Kind == journal.Harness || p.Kind == journal.Agent }

// target is where a request goes.
type target struct {
	harness string
	agent   string // "" when one is to be minted
	name    string // of the agent to mint
	fresh   bool   // a child was asked for by type: never a circle
}

// directory finds participants.
type directory []Participant

func (d directory) find(id string) (Participant, bool) {
	i := slices.IndexFunc(d, func(p Participant) bool { return p.ID == id })
	if i < 0 {
		return Participant{}, false
	}
	return d[i], true
}

// route resolves whom a request is for: an id, the name of a harness or agent,
// the label as the name of one of the asker's own agents, and last a child of
// the asker's harness, made for the lane. asker is the harness of whoever asks,
// or "".
func (d directory) route(text, agentID, label, asker string) (target, error) {
	const op, at = "resolve specialist", "/specialist_id"
	p, ok := d.find(text)
	if !ok {
		var named []Participant
		for _, x := range d {
			if x.works() && x.Name == text && !x.Ephemeral {
				named = append(named, x)
			}
		}
		if len(named) > 1 {
			return target{}, ambiguous(op, at, text, named)
		}
		if len(named) == 1 {
			p, ok = named[0], true
		}
	}
	if !ok && label != "" && asker != "" {
		for _, x := range d {
			if x.Kind == journal.Agent && x.HarnessID == asker && x.Name == label && !x.Ephemeral {
				p, ok = x, true
			}
		}
	}
	switch {
	case !ok && asker != "" && agentID == "":
		name := label
		if name == "" {
			name = text
		}
		return target{harness: asker, name: name, fresh: true}, nil
	case !ok:
		return target{}, fault.New(fault.NotFound, op, "nobody here is called %q", journal.Clip(text, 60)).At(at).
			Help("name a harness or an agent of this workspace by id or by name")
	case p.Kind == journal.Harness:
		return d.agentOf(p, agentID, label)
	case p.Kind == journal.Agent && (agentID == "" || agentID == p.ID):
		return target{harness: p.HarnessID, agent: p.ID}, nil
	case p.Kind == journal.Agent:
		return target{}, fault.New(fault.Invalid, op, "%s is an agent, and agent_id names another", p.ID).At("/agent_id")
	}
	return target{}, fault.New(fault.Invalid, op, "%s is a %s: lanes run on harnesses", p.ID, p.Kind).At(at).
		Help("post a message to ask a person")
}

// agentOf picks the agent of a harness: the one named, the only one there is,
// or one to be made.
func (d directory) agentOf(h Participant, agentID, label string) (target, error) {
	const op = "resolve agent"
	if agentID != "" {
		if a, ok := d.find(agentID); !ok || a.Kind != journal.Agent || a.HarnessID != h.ID {
			return target{}, fault.New(fault.NotFound, op, "%s has no agent %s", h.Name, agentID).At("/agent_id")
		}
		return target{harness: h.ID, agent: agentID}, nil
	}
	var own []Participant
	for _, x := range d {
		if x.Kind == journal.Agent && x.HarnessID == h.ID && !x.Ephemeral {
			own = append(own, x)
		}
	}
	switch len(own) {
	case 0:
		name := label
		if name == "" {
			name = h.Name
		}
		return target{harness: h.ID, name: name}, nil
	case 1:
		return target{harness: h.ID, agent: own[0].ID}, nil
	}
	return target{}, ambiguous(op, "/agent_id", h.Name, own)
}

func ambiguous(op, at, text string, candidates []Participant) error {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
	}
	slices.Sort(ids)
	return fault.New(fault.Ambiguous, op, "%q could be any of %d", journal.Clip(text, 60), len(ids)).At(at).
		With("candidates", strings.Join(ids, " ")).Help("name one of %s", strings.Join(ids, ", "))
}
