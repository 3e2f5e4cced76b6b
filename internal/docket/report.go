package docket

import "writ/internal/fault"

// Answer is the one word that a verification ends in.
type Answer string

// The answers.
const (
	Verified   Answer = "verified"                       // everything fits, and every signer is pinned
	Consistent Answer = "consistent, signers not pinned" // everything fits; nobody said whom to trust
	Broken     Answer = "does not verify"                // the first misfit is named
)

// State of a station.
type State string

// The states.
const (
	OK      State = "ok"
	Absent  State = "absent"  // the run has no such part; that is not a pass
	Failed  State = "failed"  // the first document that does not fit is here
	Skipped State = "skipped" // not looked at, because an earlier station failed
)

// Station is one part of the way, and what was found there.
type Station struct {
	Name     string   `json:"name"`
	State    State    `json:"state"`
	Says     []string `json:"says"`               // what was established, in plain words
	Document string   `json:"document,omitempty"` // ref of the document that does not fit
	Kind     string   `json:"kind,omitempty"`     // its kind
	Why      string   `json:"why,omitempty"`
	Pointer  string   `json:"pointer,omitempty"`
}

// Report is the outcome of a verification.
type Report struct {
	Schema    string    `json:"schema"`
	Workspace string    `json:"workspace_id"`
	Run       string    `json:"run_id"`
	Answer    Answer    `json:"answer"`
	Outcome   string    `json:"outcome"` // how the run ended: landed, blocked, open, ...
	Landed    string    `json:"landed_commit,omitempty"`
	Documents int       `json:"documents"` // that were recomputed
	Events    int       `json:"events"`
	Stations  []Station `json:"stations"`
}

// Err is nil for a verified docket, and says otherwise what is missing.
func (r Report) Err() error {
	switch r.Answer {
	case Verified:
		return nil
	case Consistent:
		return fault.New(fault.Unpinned, "verify docket", "everything fits, but no signer is pinned").
			Help("pass --trust FILE with the nodes that you accept")
	default:
		s := r.misfit()
		return fault.New(fault.Unverified, "verify docket", "%s: %s %s: %s", s.Name, s.Kind, s.Document, s.Why).At(s.Pointer)
	}
}

func (r Report) misfit() Station {
	for _, s := range r.Stations {
		if s.State == Failed {
			return s
		}
	}
	return Station{}
}

// misfit is an error that names the document at fault.
type misfit struct {
	kind, ref string
	err       error
}

func (m *misfit) Error() string { return m.err.Error() }
func (m *misfit) Unwrap() error { return m.err }

// at names the document that err is about; nil stays nil.
func at(kind, ref string, err error) error {
	if err == nil {
		return nil
	}
	return &misfit{kind, ref, err}
}

// wrong makes a misfit out of words.
func wrong(kind, ref, format string, args ...any) error {
	return at(kind, ref, fault.New(fault.Unverified, "", format, args...))
}
