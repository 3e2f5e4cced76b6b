package docket

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// bytes checks everything against its digest: events against the journal's
// chain, documents, blobs and git objects against what names them.
func (v *verifier) bytes() error {
	if err := v.chain(); err != nil {
		return err
	}
	v.byRef, v.bySum, v.blobs, v.objects = map[string]Document{}, map[string]Document{}, map[string][]byte{}, objects{}
	for _, d := range v.b.Documents {
		if got := canon.Sum([]byte(d.Body)).Hex(); got != d.SHA256 {
			return wrong(d.Kind, d.Ref, "its bytes have the digest %s, the docket says %s", got, d.SHA256)
		}
		if _, twice := v.byRef[d.Ref]; twice {
			return wrong(d.Kind, d.Ref, "it is in the docket twice")
		}
		v.docs = append(v.docs, d)
		v.byRef[d.Ref], v.bySum[d.SHA256] = d, d
	}
	for _, b := range v.b.Blobs {
		if got := canon.Sum(b.Body).Hex(); got != b.SHA256 {
			return wrong("blob", b.SHA256, "its bytes have the digest %s", got)
		}
		if _, twice := v.blobs[b.SHA256]; twice {
			return wrong("blob", b.SHA256, "it is in the docket twice")
		}
		v.blobs[b.SHA256] = b.Body
	}
	for _, o := range v.b.Git {
		if err := v.objects.add(o); err != nil {
			return at("git object", o.ID, err)
		}
	}
	v.say("every event, document, blob and git object has the bytes of its digest")
	return nil
}

// documents checks that the journal says when each document was accepted, under
// that kind, ref and digest, that they stand in that order, and that the journal
// knows none of this run that the docket leaves out.
func (v *verifier) documents() error {
	v.taken = map[string]event{}
	for _, e := range v.events {
		if e.Type != journal.DocumentAccepted {
			continue
		}
		kind, ref, sum := e.body.Str("kind"), e.body.Str("ref"), e.body.Str("sha256")
		d, ok := v.byRef[ref]
		_, twice := v.taken[ref]
		switch {
		case !ok:
			return wrong(kind, ref, "the journal accepted it (event %s), the docket leaves it out", e.ID)
		case d.Kind != kind || d.SHA256 != sum:
			return wrong(kind, ref, "the journal accepted %s with digest %s, the docket has %s with %s", kind, sum, d.Kind, d.SHA256)
		case twice:
			return wrong(kind, ref, "the journal accepted it a second time (event %s)", e.ID)
		case e.body.Str("run_id") != v.b.Run:
			return wrong(kind, ref, "the journal accepted it for no run (event %s)", e.ID)
		}
		v.taken[ref] = e
	}
	var before event
	for _, d := range v.docs {
		e, ok := v.taken[d.Ref]
		switch {
		case !ok:
			return wrong(d.Kind, d.Ref, "the journal of this docket never accepted it")
		case e.Seq <= before.Seq:
			return wrong(d.Kind, d.Ref, "it stands out of order")
		case d.Event != "" && d.Kind != ledger.KindTurn:
			return wrong(d.Kind, d.Ref, "no event makes a %s", d.Kind)
		}
		before = e
	}
	v.say("the journal accepted every document")
	return nil
}

// accepted returns the event that accepted a document.
func (v *verifier) accepted(ref string) (event, bool) {
	e, ok := v.taken[ref]
	return e, ok
}

// whole checks that nothing is in the docket that no station needed, and that
// the host has sealed exactly this.
func (v *verifier) whole() error {
	for _, d := range v.docs {
		if !v.used[d.Ref] {
			return wrong(d.Kind, d.Ref, "nothing in this docket needs it")
		}
	}
	for _, b := range v.b.Blobs {
		if !v.used[b.SHA256] {
			return wrong("blob", b.SHA256, "nothing in this docket names it")
		}
	}
	for _, o := range v.b.Git {
		if !v.used[o.ID] {
			return wrong(o.Type, o.ID, "nothing in this docket names it")
		}
	}
	if v.b.Schema != Schema {
		return at("docket", v.b.Run, fault.New(fault.UnknownKind, "verify docket", "schema is %q, not %s", v.b.Schema, Schema))
	}
	if err := v.pinned("docket", v.b.Run, "host", v.b.Host, func(t *Trust) []string { return t.Hosts }); err != nil {
		return err
	}
	if err := v.b.checkSeal(); err != nil {
		return at("docket", v.b.Run, err)
	}
	v.say("nothing is left over, and host " + v.b.Host + " sealed it at " + v.b.Exported)
	return nil
}
