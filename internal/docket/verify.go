package docket

import (
	"errors"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// verifier walks the stations in the order in which the documents came into
// being. What one station establishes, later ones build on.
type verifier struct {
	b     *Bundle
	trust *Trust // nil: nobody is pinned

	docs    []Document
	byRef   map[string]Document
	bySum   map[string]Document // by hex SHA-256
	blobs   map[string][]byte
	objects objects
	events  []event

	says     []string
	absent   bool
	counted  map[string]bool
	proposal proposal.Proposal
	review   proposal.Review
	decision proposal.Decision
	turn     proposal.Turn
	material
	run      taskpack.Run
	measured measured
	landed   string
}

// material is what the proposal names, and what was compiled from it.
type material struct {
	candidate taskpack.Candidate
	patches   []taskpack.Patch
	profile   taskpack.Profile
	binding   taskpack.Binding
	plan      taskpack.Plan
}

// Verify recomputes the docket. trust may be nil.
func Verify(b *Bundle, trust *Trust) Report {
	v := &verifier{b: b, trust: trust, counted: map[string]bool{}}
	r := Report{Schema: "writ.docket-report/v1", Workspace: b.Workspace, Run: b.Run, Events: len(b.Events), Answer: Verified}
	if trust == nil {
		r.Answer = Consistent
	}
	for _, s := range []struct {
		name  string
		check func() error
	}{
		{"journal", v.journal},
		{"documents", v.documents},
		{"ask", v.ask},
		{"propose", v.propose},
		{"plan", v.planned},
		{"approve", v.approve},
		{"run", v.ran},
		{"measure", v.measure},
		{"record", v.recorded},
		{"commit", v.committed},
		{"land", v.landing},
		{"end", v.ended},
	} {
		v.says, v.absent = []string{}, false
		st := Station{Name: s.name, State: Skipped, Says: v.says}
		if r.Answer != Broken {
			st = v.station(s.name, s.check)
		}
		if st.State == Failed {
			r.Answer = Broken
		}
		r.Stations = append(r.Stations, st)
	}
	r.Documents = len(v.counted)
	r.Landed = v.landed
	r.Outcome = v.outcome()
	return r
}

// station runs one check. A panic of a decoder on hostile input is a misfit, not the end.
func (v *verifier) station(name string, check func() error) (st Station) {
	st = Station{Name: name, State: OK}
	err := check()
	st.Says = v.says
	switch {
	case err != nil:
		st.State = Failed
		st.Why = err.Error()
		var m *misfit
		if errors.As(err, &m) {
			st.Kind, st.Document, st.Why = m.kind, m.ref, m.err.Error()
		}
		if f, ok := fault.As(err); ok {
			st.Pointer = f.Pointer
			if d := f.Get("document"); d != "" && st.Kind == "" {
				st.Kind = d
			}
		}
	case v.absent:
		st.State = Absent
	}
	return st
}

// missing marks the station as absent.
func (v *verifier) missing() error {
	v.absent = true
	return nil
}

func (v *verifier) say(text string) { v.says = append(v.says, text) }

// of returns the documents of a kind, in order of acceptance, and counts them as looked at.
func (v *verifier) of(kind string) []Document {
	var out []Document
	for _, d := range v.docs {
		if d.Kind == kind {
			v.counted[d.Ref] = true
			out = append(out, d)
		}
	}
	return out
}

// one returns a document by ref, of the given kind.
func (v *verifier) one(kind, ref string) (Document, error) {
	d, ok := v.byRef[ref]
	if !ok || d.Kind != kind {
		return d, wrong(kind, ref, "it is named but not in the docket")
	}
	v.counted[ref] = true
	return d, nil
}

// sum returns a document by the SHA-256 of its bytes.
func (v *verifier) sum(kind string, d canon.Digest) (Document, error) {
	doc, ok := v.bySum[d.Hex()]
	if !ok || doc.Kind != kind {
		return doc, wrong(kind, d.String(), "it is named but not in the docket")
	}
	v.counted[doc.Ref] = true
	return doc, nil
}

func (v *verifier) blob(kind, ref string, d canon.Digest) ([]byte, error) {
	body, ok := v.blobs[d.Hex()]
	if !ok {
		return nil, wrong(kind, ref, "its bytes are not in the docket")
	}
	return body, nil
}

// open opens a signed or content-addressed document of the chain.
func open[T any](v *verifier, kind proposal.Kind, ref string, view func(proposal.Document) (T, error)) (T, error) {
	var none T
	d, err := v.one(string(kind), ref)
	if err != nil {
		return none, err
	}
	return view1(d, kind, view)
}

func view1[T any](d Document, kind proposal.Kind, view func(proposal.Document) (T, error)) (T, error) {
	var none T
	doc, err := proposal.Open(kind, []byte(d.Body))
	if err != nil {
		return none, at(d.Kind, d.Ref, err)
	}
	if doc.Ref != d.Ref {
		return none, wrong(d.Kind, d.Ref, "its own ref is %s", doc.Ref)
	}
	t, err := view(doc)
	return t, at(d.Kind, d.Ref, err)
}

// pinned checks that a node may do what it did; without a trust file nobody is asked.
func (v *verifier) pinned(kind, ref, what, node string, list func(*Trust) []string) error {
	if v.trust == nil {
		return nil
	}
	for _, n := range list(v.trust) {
		if n == node {
			return nil
		}
	}
	return wrong(kind, ref, "%s signed as %s and is not pinned", node, what)
}

// outcome says in a word how the run ended.
func (v *verifier) outcome() string {
	for _, e := range v.events {
		switch e.Type {
		case "run.completed":
			if v.landed != "" {
				return "landed"
			}
			return "completed"
		case "run.failed":
			return e.body.Str("code")
		case "run.declined", "run.cancelled", "run.expired":
			return e.Type[len("run."):]
		}
	}
	switch {
	case len(v.of(ledger.KindExecution)) > 0:
		return "recorded"
	case v.plan.Ref != "":
		return "admitted"
	case v.proposal.Ref != "":
		return "proposed"
	default:
		return "asked"
	}
}
