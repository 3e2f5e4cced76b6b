package proposal

import (
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// The artifact types of a candidate.
const (
	ArtifactPlan     = "inquirium.candidate-plan.v1"
	ArtifactTaskPack = "operator-task-experiment-candidate.v1"
)

// The executor modes of the wire. Only ModeCompiler is carried out here.
const (
	ModeObserve    = "observe-only"
	ModeLocalAgent = "local-agent"
	ModeCompiler   = "deterministic-host-compiler"
	ModeRemote     = "remote-chair-agent"
	ModeDesignated = "designated-participant-agent"
)

// The roles of a deliberation. An assignment binds a participant to one.
const (
	RoleImplementer = "implementer"
	RoleReviewer    = "reviewer"
	RoleCritic      = "adversarial-critic"
	RoleSummarizer  = "summarizer"
)

// Class is the handling class of a document, from widest to narrowest audience.
type Class string

// The classes, widest first.
const (
	Public    Class = "Public"
	Community Class = "Community"
	Personal  Class = "Personal"
)

var classes = []Class{Public, Community, Personal}

// Join returns the narrower of two classes. A class that is not known counts as
// Personal.
func (c Class) Join(o Class) Class { return classes[max(c.rank(), o.rank())] }

// Wider reports whether c lets more people in than o.
func (c Class) Wider(o Class) bool { return c.rank() < o.rank() }

func (c Class) rank() int {
	if i := slices.Index(classes, c); i >= 0 {
		return i
	}
	return len(classes) - 1
}

// Subject is a participant. Its id has no grammar: it is compared as a whole
// and never by stripping a prefix.
type Subject struct {
	Kind string // nym, participant, node, routing-subject or organization
	ID   string
}

// Participant is the subject of a participant of the workspace.
func Participant(id string) Subject { return Subject{Kind: "participant", ID: id} }

func (s Subject) tree() map[string]string { return map[string]string{"kind": s.Kind, "id": s.ID} }

func subjectOf(v canon.Value, name string) Subject {
	m, _ := v.Get(name)
	return Subject{Kind: m.Str("kind"), ID: m.Str("id")}
}

// Executor says who shall carry out a candidate.
type Executor struct {
	Mode        string
	Node        string   // "" unless the mode names one
	Agent       string   // "" unless the mode names one
	Participant *Subject // nil unless the mode names one
}

func executorOf(v canon.Value) Executor {
	e := Executor{Mode: v.Str("mode"), Node: v.Str("node/id"), Agent: v.Str("agent/ref")}
	if v.Has("participant") {
		s := subjectOf(v, "participant")
		e.Participant = &s
	}
	return e
}

// Candidate names the bytes of a wish: they lie in the object store.
type Candidate struct {
	Type     string // of the artifact
	Ref      string // a name, for people
	Artifact string // address in the object store
	Digest   string // of the same bytes
}

// CandidateOf names stored candidate bytes of a task pack by their digest.
func CandidateOf(name string, d canon.Digest) Candidate {
	return Candidate{Type: ArtifactTaskPack, Ref: name, Artifact: canon.ObjectRef(d), Digest: DigestText(d)}
}

var candidateMembers = []string{"artifact/type", "ref", "artifact-ref", "digest"}

func (c Candidate) tree() map[string]string {
	return map[string]string{
		"artifact/type": c.Type, "ref": c.Ref, "artifact-ref": c.Artifact, "digest": c.Digest,
	}
}

func candidateOf(v canon.Value, name string) Candidate {
	m, _ := v.Get(name)
	return Candidate{Type: m.Str("artifact/type"), Ref: m.Str("ref"), Artifact: m.Str("artifact-ref"), Digest: m.Str("digest")}
}

// Target is what a task-pack candidate is meant for: one task profile, by
// digest, under one binding of one host.
type Target struct {
	Profile       string // ref of the task profile
	ProfileDigest string
	Binding       string // ref of the host's binding
}

var targetMembers = []string{"task-profile/ref", "task-profile/digest", "binding/ref"}

func (t Target) tree() map[string]string {
	return map[string]string{
		"task-profile/ref": t.Profile, "task-profile/digest": t.ProfileDigest, "binding/ref": t.Binding,
	}
}

func targetOf(v canon.Value, name string) Target {
	m, _ := v.Get(name)
	return Target{Profile: m.Str("task-profile/ref"), ProfileDigest: m.Str("task-profile/digest"), Binding: m.Str("binding/ref")}
}

// QueryOf and RoomOf spell the joint between a run and its chain.
func QueryOf(runID string) string { return "query:" + runID }

// RoomOf names the room of a run: its space, or its lane when it has none.
func RoomOf(spaceID, laneID string) string {
	if spaceID != "" {
		return "room:" + spaceID
	}
	return "room:" + laneID
}

// RunOf returns the run id that a query names.
func RunOf(query string) (string, error) {
	id, ok := strings.CutPrefix(query, "query:")
	if !ok || id == "" {
		return "", fault.New(fault.Invalid, "query", "%q does not name a run", query)
	}
	return id, nil
}

// as checks that d is of the kind that a view reads.
func (d Document) as(kind Kind) error {
	if d.Kind != kind {
		return fault.New(fault.UnknownKind, string(kind), "document is a %s", string(d.Kind)).With("document", d.Ref)
	}
	return nil
}
