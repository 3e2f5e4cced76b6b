package sqlite

import (
	"database/sql/driver"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// apply writes one commit into the open transaction and fills its receipt. It
// says whether it wrote: a replay and a conflict that reading can find leave
// the transaction as it was.
func (w *writer) apply(r *request) (wrote bool, err error) {
	p, err := w.position(r.commit.Workspace)
	if err != nil {
		return false, err
	}
	var versions []int64
	if len(r.commit.Documents)+len(r.commit.Cells) > 0 {
		// A replay is answered before its cells are compared: they have moved
		// since, by its own first writing.
		if known, err := w.replay(r, p); known || err != nil {
			return false, err
		}
		if err := w.identities(r, p); err != nil {
			return false, err
		}
		if versions, err = w.versions(r, p); err != nil {
			return false, err
		}
	}
	if p.number == 0 {
		wrote = true
		if err := w.enter(p, r.commit.Workspace); err != nil {
			return wrote, err
		}
	}
	ts := w.stamp(r, p)
	if done, err := w.putEvents(r, p, ts, &wrote); done || err != nil {
		return wrote, err
	}
	if len(r.docs) > 0 {
		wrote = true
		if err := w.putDocuments(r, p, ts); err != nil {
			return wrote, err
		}
	}
	if len(versions) > 0 {
		wrote = true
		if err := w.putCells(r, p, versions); err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// stamp is the time of the commit in Unix milliseconds: never before that of
// the newest event.
func (w *writer) stamp(r *request, p *position) int64 {
	now := r.commit.Now
	if now.IsZero() {
		now = w.now()
	}
	return max(now.UnixMilli(), p.ts)
}

// putEvents appends the events of r. The primary one goes in first: if its id
// or its key is taken nothing was written, and done says that the commit is
// answered as a replay.
func (w *writer) putEvents(r *request, p *position, ts int64, wrote *bool) (done bool, err error) {
	if len(r.events) == 0 {
		return false, nil
	}
	if p.seq+int64(len(r.events)) > maxSeq {
		return false, errFull("events", maxSeq)
	}
	seq, prev := p.seq, p.hash
	for i := range r.events {
		e := &r.events[i]
		seq++
		e.Seq, e.TS, e.Prev = seq, time.UnixMilli(ts).UTC(), prev
		e.Hash = ledger.Chain(prev, seq, e.TS, e.Body)
		prev = e.Hash
		a := r.args[i]
		a[argPlace].Value, a[argWorkspace].Value, a[argTS].Value = place(p.number, seq), p.number, ts
		a[argPrev].Value, a[argHash].Value = e.Prev[:], e.Hash[:]
	}
	first := r.primary()
	switch n, err := w.do.insertEvent.run(r.args[first]); {
	case err != nil:
		return false, err
	case n == 0:
		if known, err := w.replay(r, p); known || err != nil {
			return known, err
		}
		return false, w.taken(p, &r.events[first])
	}
	*wrote = true
	for i := range r.events {
		if i == first {
			continue
		}
		switch n, err := w.do.insertEvent.run(r.args[i]); {
		case err != nil:
			return false, err
		case n == 0:
			return false, w.taken(p, &r.events[i])
		}
	}
	p.seq, p.ts, p.hash = seq, ts, prev
	r.receipt.Events = r.events
	return false, nil
}

// taken explains why e could not be inserted: its id is there.
func (w *writer) taken(p *position, e *ledger.Event) error {
	row := make([]driver.Value, 1)
	found, err := w.do.placeOfEvent.row(row, p.number, e.ID)
	if err != nil {
		return err
	}
	if !found { // neither the id nor the key: then it is the place
		delete(w.positions, e.Workspace)
		return fault.New(fault.Corrupt, "commit", "the place of event %d is taken", e.Seq)
	}
	seq := strconv.FormatInt(seqOf(row[0].(int64)), 10)
	return fault.New(fault.EventID, "commit", "event %s is stored already, as number %s", e.ID, seq).
		With("event_id", e.ID).With("seq", seq)
}

// replay answers r if its idempotency key is known: with the event of the
// first commit, or with a refusal when the content differs.
func (w *writer) replay(r *request, p *position) (known bool, err error) {
	o := r.commit.Once
	if o == nil || p.number == 0 {
		return false, nil
	}
	row := make([]driver.Value, 1+eventColumns)
	if known, err = w.do.onceEvent.row(row, p.number, o.Key, o.Principal); !known || err != nil {
		return false, err
	}
	first := eventOf(r.commit.Workspace, row[1:])
	if string(row[0].([]byte)) != string(o.Fingerprint[:]) {
		return true, fault.New(fault.Idempotency, "commit", "key %q was used for other content, in event %d", o.Key, first.Seq).
			Help("use a new key for new content").
			With("event_id", first.ID).With("seq", strconv.FormatInt(first.Seq, 10))
	}
	r.receipt = ledger.Receipt{Events: []ledger.Event{first}, Replayed: true}
	for _, d := range r.docs {
		sum, found, err := w.sumOf(p, d.Ref)
		if err != nil {
			return true, err
		}
		if found {
			r.receipt.Documents = append(r.receipt.Documents, ledger.DocumentReceipt{Ref: d.Ref, SHA256: sum, Replayed: true})
		}
	}
	return true, nil
}

// sumOf returns the digest of the document stored under ref.
func (w *writer) sumOf(p *position, ref string) (sum canon.Digest, found bool, err error) {
	row := make([]driver.Value, 1)
	if found, err = w.do.sumOfDocument.row(row, p.number, ref); found {
		copy(sum[:], row[0].([]byte))
	}
	return sum, found, err
}

// identities refuses a document whose identity is known under another ref.
func (w *writer) identities(r *request, p *position) error {
	row := make([]driver.Value, 1)
	for i, d := range r.commit.Documents {
		if d.Identity == "" {
			continue
		}
		found, err := w.do.refOfIdentity.row(row, p.number, d.Identity)
		if err != nil {
			return err
		}
		if found && row[0].(string) != d.Ref {
			return errIdentity(i, row[0].(string))
		}
	}
	return nil
}

func errIdentity(i int, ref string) error {
	return fault.New(fault.Idempotency, "commit", "the document's idempotency key was used for %s", ref).
		At("/documents/"+strconv.Itoa(i)).
		Help("use a new key for new content").With("ref", ref)
}

// putDocuments stores the documents of r whose refs are new. The others keep
// their first bytes.
func (w *writer) putDocuments(r *request, p *position, ts int64) error {
	if p.order+int64(len(r.docs)) > maxSeq {
		return errFull("documents", maxSeq)
	}
	out := make([]ledger.DocumentReceipt, len(r.docs))
	for i, d := range r.commit.Documents {
		out[i] = r.docs[i]
		n, err := w.do.insertDocument.run(named(place(p.number, p.order+1), p.number, ts,
			d.Kind, d.Ref, d.RunID, d.Identity, d.Event, out[i].SHA256[:], d.Body))
		if err != nil {
			return err
		}
		if n == 1 {
			p.order++
			continue
		}
		if out[i].SHA256, out[i].Replayed, err = w.sumOf(p, d.Ref); err != nil {
			return err
		}
		if !out[i].Replayed {
			return fault.New(fault.Corrupt, "commit", "the place of document %d is taken", p.order+1)
		}
	}
	r.receipt.Documents = out
	return nil
}

// versions compares every cell of r with what it was decided on, and returns
// the versions to write; 0 where there is nothing to write.
func (w *writer) versions(r *request, p *position) ([]int64, error) {
	next := make([]int64, len(r.commit.Cells))
	row := make([]driver.Value, 2)
	for i, c := range r.commit.Cells {
		found, err := w.do.versionOfCell.row(row, p.number, c.Kind, c.Key)
		if err != nil {
			return nil, err
		}
		var last, current int64 // newest version ever, version that exists now
		if found {
			if last = row[0].(int64); row[1].(int64) == 0 {
				current = last
			}
		}
		if c.Expect != ledger.AnyVersion && c.Expect != current {
			return nil, fault.New(fault.Conflict, "commit", "%s %s is at version %d, not %d", c.Kind, c.Key, current, c.Expect).
				At("/cells/"+strconv.Itoa(i)).
				Help("read it again and decide again").
				With("kind", c.Kind).With("key", c.Key).With("version", strconv.FormatInt(current, 10))
		}
		if c.Delete && current == 0 {
			continue
		}
		next[i] = last + 1
	}
	return next, nil
}

func (w *writer) putCells(r *request, p *position, versions []int64) error {
	for i, c := range r.commit.Cells {
		if versions[i] == 0 {
			continue
		}
		deleted, state, value := int64(0), c.State, c.Value
		if c.Delete {
			deleted, state, value = 1, "", nil
		}
		if value == nil {
			value = []byte{} // nil would be stored as NULL
		}
		if _, err := w.do.putCell.run(named(p.number, c.Kind, c.Key, versions[i], deleted, state, value)); err != nil {
			return err
		}
	}
	return nil
}
