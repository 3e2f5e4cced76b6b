package landing

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// Readback is what a reader of the remote saw after an attempt ended. It is a
// capability, not a document: only the seal functions make one, from facts that
// they check against the state, and a copy of its JSON is worth nothing. The
// zero Readback is none.
type Readback struct {
	document canon.Value
	view     ReadbackView
}

// ReadbackKind says what the reader looked at.
type ReadbackKind string

// The kinds of readback.
const (
	GitHubReadback  ReadbackKind = "github"
	GitReadback     ReadbackKind = "git"
	OutsideReadback ReadbackKind = "outside" // a merge that the authority did not make (W7)
)

// ReadbackView is what every readback says, whatever its kind.
type ReadbackView struct {
	Kind          ReadbackKind
	Repository    string
	ProtectedBase string
	StateRoot     string // state that is being settled
	CandidateID   string
	Fence         Fence   // zero for an outside merge
	Attempt       Attempt // none for an outside merge
	AdmissionRoot string
	SourceHead    string
	BaseHead      string // head of the protected base as it was read
	Contained     bool   // what was to be landed is part of that base
	LandedTree    string // git: tree of the landed commit
	FenceHead     string // git: object that the fence ref names
	Outcome       Status
	Reason        string
	ObservedAt    Timestamp
	EvidenceRoot  string
	Root          string
}

// IsZero reports whether there is no readback.
func (r Readback) IsZero() bool { return r.view.Kind == "" }

// View returns what the readback says.
func (r Readback) View() ReadbackView { return r.view }

// Document returns the document to keep.
func (r Readback) Document() canon.Value { return r.document }

// readbackDoc is a readback of one kind.
type readbackDoc interface {
	shaped
	view() ReadbackView
}

func seal(d *Dialect, x readbackDoc) (Readback, error) {
	v, err := write(d, x)
	if err != nil {
		return Readback{}, err
	}
	return Readback{document: v, view: x.view()}, nil
}

// RecomputeReadback reads a kept readback document of any kind, recomputes its
// two roots and the outcome that follows from what it says. It proves that the
// document is sound, not that anybody saw it: Settle does not take the result.
func RecomputeReadback(v canon.Value) (ReadbackView, error) {
	r, err := openReadback(v)
	return r.view, err
}

func openReadback(v canon.Value) (Readback, error) {
	var x readbackDoc
	var of *Dialect
	schema := v.Str("schema")
	for _, d := range Dialects() {
		switch schema {
		case "":
		case d.gitHub.Readback:
			x, of = &gitHubReadback{ids: d.gitHub}, d
		case d.git.Readback:
			x, of = &gitReadback{ids: d.git}, d
		case d.outside:
			x = &outsideReadback{schema: d.outside}
		}
	}
	if x == nil {
		return Readback{}, fault.New(fault.UnknownKind, "read readback", "%q is no readback", schema).At("/schema")
	}
	if err := read(of, v, x); err != nil {
		return Readback{}, err
	}
	return Readback{document: v, view: x.view()}, nil
}

// admitted returns the landing candidate and its warrant, if an attempt was
// admitted: nothing else has a readback.
func admitted(s *State, op string) (*Candidate, *Warrant, error) {
	c := s.landing()
	if c == nil || s.Warrant.Admitted == nil {
		return nil, nil, fault.New(fault.State, op, "no attempt has been admitted")
	}
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	return c, s.Warrant, nil
}

// bind checks that a readback is about exactly what is being settled.
func (r Readback) bind(s *State, c *Candidate) error {
	refused := func(what, got, want string) error {
		return fault.New(fault.Evidence, "settle candidate", "readback has %s %s, not %s", what, got, want).At("/readback")
	}
	v := r.view
	for _, p := range []pair{
		{"repository", v.Repository, s.Repository},
		{"protected base", v.ProtectedBase, s.ProtectedBase},
		{"state root", v.StateRoot, s.StateRoot},
		{"candidate", v.CandidateID, c.CandidateID},
		{"source head", v.SourceHead, c.SourceHead},
	} {
		if p.got != p.want {
			return refused(p.what, p.got, p.want)
		}
	}
	if v.Kind == OutsideReadback {
		return nil
	}
	w := s.Warrant
	switch {
	case v.Fence != w.Fence():
		return fault.New(fault.StaleToken, "settle candidate", "readback is of another grant of the warrant").At("/readback")
	case w.Admitted == nil || v.AdmissionRoot != w.Admitted.AdmissionRoot || !v.Attempt.Equal(w.Admitted.Attempt):
		return refused("attempt", v.AdmissionRoot, "the admitted one")
	case v.ObservedAt < w.IssuedAt:
		return refused("time", string(v.ObservedAt), "after the warrant was issued at "+string(w.IssuedAt))
	}
	return nil
}
