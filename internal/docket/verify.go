package docket

import (
	"errors"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/landing"
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
	taken   map[string]event    // the event that accepted a document, by ref
	blobs   map[string][]byte
	objects objects
	events  []event
	used    map[string]bool // refs of documents, digests of blobs and ids of objects that a station needed

	says     []string
	absent   bool
	space    string // of the request
	proposal proposal.Proposal
	review   proposal.Review
	decision proposal.Decision
	turn     proposal.Turn
	material
	run      taskpack.Run
	measured measured
	remeasured
	last   landing.Candidate // of the run, as it was seen last
	landed string
}

// Verify recomputes the docket. trust may be nil.
func Verify(b *Bundle, trust *Trust) Report {
	v := &verifier{b: b, trust: trust, used: map[string]bool{}}
	r := Report{Schema: "writ.docket-report/v1", Workspace: b.Workspace, Run: b.Run, Events: len(b.Events), Answer: Verified}
	if trust == nil {
		r.Answer = Consistent
	}
	for _, s := range []struct {
		name  string
		check func() error
	}{
		{"bytes", v.bytes},
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
		{"whole", v.whole},
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
	for _, d := range v.docs {
		if v.used[d.Ref] {
			r.Documents++
		}
	}
	r.Landed = v.landed
	r.Outcome = v.outcome()
	return r
}

// station runs one check. A panic of a decoder on hostile input is a misfit, not the end.
func (v *verifier) station(name string, check func() error) (st Station) {
	st = Station{Name: name, State: OK}
	err := guarded(check)
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

// guarded turns a panic of a decoder into an error.
func guarded(check func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "verify docket", "the verifier broke on it: %v", p)
		}
	}()
	return check()
}

// missing marks the station as absent.
func (v *verifier) missing() error {
	v.absent = true
	return nil
}

func (v *verifier) say(text string) { v.says = append(v.says, text) }

// of returns the documents of a kind, in order of acceptance.
func (v *verifier) of(kind string) []Document {
	var out []Document
	for _, d := range v.docs {
		if d.Kind == kind {
			out = append(out, d)
		}
	}
	return out
}

// use notes that a station needed the document, and verified it.
func (v *verifier) use(d Document) { v.used[d.Ref] = true }

// sole returns the one document of a kind; a second one is a misfit.
func (v *verifier) sole(kind string) (d Document, ok bool, err error) {
	docs := v.of(kind)
	switch len(docs) {
	case 0:
		return Document{}, false, nil
	case 1:
		return docs[0], true, nil
	}
	return docs[1], true, wrong(kind, docs[1].Ref, "a run has one %s, this is another", kind)
}

// one returns a document by ref, of the given kind.
func (v *verifier) one(kind, ref string) (Document, error) {
	d, ok := v.byRef[ref]
	if !ok || d.Kind != kind {
		return d, wrong(kind, ref, "it is named but not in the docket")
	}
	v.use(d)
	return d, nil
}

// sum returns a document by the SHA-256 of its bytes.
func (v *verifier) sum(kind string, d canon.Digest) (Document, error) {
	doc, ok := v.bySum[d.Hex()]
	if !ok || doc.Kind != kind {
		return doc, wrong(kind, d.String(), "it is named but not in the docket")
	}
	v.use(doc)
	return doc, nil
}

func (v *verifier) blob(kind, ref string, d canon.Digest) ([]byte, error) {
	body, ok := v.blobs[d.Hex()]
	if !ok {
		return nil, wrong(kind, ref, "its bytes are not in the docket")
	}
	v.used[d.Hex()] = true
	return body, nil
}

// commit returns a commit by id.
func (v *verifier) commit(id string) (commitObject, error) {
	body, err := v.objects.get("commit", id)
	if err != nil {
		return commitObject{}, at("commit", id, err)
	}
	v.used[id] = true
	c, err := parseCommit(body)
	return c, at("commit", id, err)
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
	if v.landed != "" {
		return "landed"
	}
	for _, e := range v.events {
		switch e.Type {
		case "run.completed":
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
