package sqlite

import (
	"database/sql/driver"
	"strconv"
	"unicode/utf8"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Limits of one commit. What is refused here is refused before it is queued.
const (
	maxKey      = 200      // characters of an idempotency key
	maxBody     = 16 << 20 // bytes of a document or an event
	maxPerWrite = 10_000   // events, documents and cells of one commit
)

// request is a commit on its way through the writer. The caller prepares all
// that it can, so that the one writer does little but write.
type request struct {
	commit ledger.Commit
	events []ledger.Event        // without place, time and hash
	args   [][]driver.NamedValue // of InsertEvent, one row per event
	docs   []ledger.DocumentReceipt
	size   int          // bytes it adds to a batch
	state  requestState // guarded by queue.mu

	done    chan struct{} // closed when receipt and err are final
	receipt ledger.Receipt
	err     error
}

type requestState uint8

const (
	queued requestState = iota
	taken
	withdrawn
)

// Columns of InsertEvent that the writer fills in.
const (
	argPlace = iota
	argWorkspace
	argTS
	argPrev = 12
	argHash = 13
)

func newRequest(c ledger.Commit) (*request, error) {
	if err := validate(c); err != nil {
		return nil, err
	}
	r := &request{commit: c, done: make(chan struct{})}
	r.events = make([]ledger.Event, len(c.Events))
	r.args = make([][]driver.NamedValue, len(c.Events))
	for i, e := range c.Events {
		r.events[i] = ledger.Event{
			Workspace: c.Workspace, ID: e.ID, Type: e.Type, Actor: e.Actor,
			SpaceID: e.SpaceID, RunID: e.RunID, LaneID: e.LaneID, Body: e.Body,
		}
		principal, key, fingerprint := "", "", []byte{}
		if o := c.Once; o != nil && o.Primary == i {
			principal, key, fingerprint = o.Principal, o.Key, o.Fingerprint[:]
		}
		r.args[i] = named(nil, nil, nil, e.ID, e.Type, e.Actor, e.SpaceID, e.RunID, e.LaneID,
			principal, key, fingerprint, nil, nil, e.Body)
		r.size += len(e.Body)
	}
	r.docs = make([]ledger.DocumentReceipt, len(c.Documents))
	for i, d := range c.Documents {
		r.docs[i] = ledger.DocumentReceipt{Ref: d.Ref, SHA256: canon.Sum(d.Body)}
		r.size += len(d.Body)
	}
	for _, w := range c.Cells {
		r.size += len(w.Value)
	}
	return r, nil
}

// primary is the index of the event that is written first: the one that
// carries the idempotency key, so that a replay is found before anything is
// written.
func (r *request) primary() int {
	if r.commit.Once != nil {
		return r.commit.Once.Primary
	}
	return 0
}

// validate refuses a commit whose shape is wrong whatever the store holds.
func validate(c ledger.Commit) error {
	n := len(c.Events) + len(c.Documents) + len(c.Cells)
	switch {
	case c.Workspace == "":
		return invalid("/workspace", "no workspace given")
	case n == 0:
		return invalid("", "the commit writes nothing")
	case n > maxPerWrite:
		return fault.New(fault.TooLarge, "commit", "%d parts, the limit is %d", n, maxPerWrite)
	}
	if err := validateOnce(c); err != nil {
		return err
	}
	ids := make(map[string]bool, len(c.Events))
	for i, e := range c.Events {
		at := "/events/" + strconv.Itoa(i)
		switch {
		case e.ID == "" || e.Type == "":
			return invalid(at, "an event needs an id and a type")
		case len(e.Body) == 0:
			return invalid(at, "the event has no body")
		case len(e.Body) > maxBody:
			return fault.New(fault.TooLarge, "commit", "event of %d bytes, the limit is %d", len(e.Body), maxBody).At(at)
		case ids[e.ID]:
			return fault.New(fault.EventID, "commit", "event %s stands in the commit twice", e.ID).At(at).With("event_id", e.ID)
		}
		ids[e.ID] = true
	}
	refs := map[string]string{}
	for i, d := range c.Documents {
		at := "/documents/" + strconv.Itoa(i)
		first, named := refs[d.Identity]
		switch {
		case d.Identity != "" && named && first != d.Ref:
			return errIdentity(i, first)
		case d.Kind == "" || d.Ref == "":
			return invalid(at, "a document needs a kind and a ref")
		case len(d.Body) == 0:
			return invalid(at, "the document has no body")
		case len(d.Body) > maxBody:
			return fault.New(fault.TooLarge, "commit", "document of %d bytes, the limit is %d", len(d.Body), maxBody).At(at)
		}
		refs[d.Identity] = d.Ref
	}
	return validateCells(c.Cells)
}

func validateOnce(c ledger.Commit) error {
	o := c.Once
	if o == nil {
		return nil
	}
	switch n := utf8.RuneCountInString(o.Key); {
	case o.Principal == "":
		return invalid("/once", "an idempotency key needs a principal")
	case n < 1 || n > maxKey:
		return invalid("/once", "an idempotency key has 1 to 200 characters")
	case o.Primary < 0 || o.Primary >= len(c.Events):
		return invalid("/once", "the primary event is not in the commit")
	}
	return nil
}

func validateCells(cells []ledger.CellWrite) error {
	type name struct{ kind, key string }
	seen := make(map[name]bool, len(cells))
	for i, w := range cells {
		at := "/cells/" + strconv.Itoa(i)
		switch {
		case w.Kind == "" || w.Key == "":
			return invalid(at, "a cell needs a kind and a key")
		case w.Expect < ledger.AnyVersion:
			return invalid(at, "no such version to expect")
		case len(w.Value) > maxBody:
			return fault.New(fault.TooLarge, "commit", "cell of %d bytes, the limit is %d", len(w.Value), maxBody).At(at)
		case seen[name{w.Kind, w.Key}]:
			return invalid(at, "the commit writes this cell twice")
		}
		seen[name{w.Kind, w.Key}] = true
	}
	return nil
}

func invalid(at, what string) error {
	return fault.New(fault.Invalid, "commit", "%s", what).At(at)
}
