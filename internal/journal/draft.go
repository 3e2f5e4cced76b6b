package journal

import (
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// Draft is the write form of an event: what a client sent, with what the server
// owns removed, checked, and attributed to whoever holds the token. Drafts of
// the server come from Compose.
type Draft struct {
	Type      string
	ID        string // event id chosen by the client, or ""
	Workspace string
	SpaceID   string
	RunID     string // "" for a new run
	LaneID    string
	Key       string // idempotency key; "" only for the server
	Attempt   int64  // that the writer claims to be in; 0 when the type has none
	By        Principal
	Agent     string      // a harness writes as this agent of its own; whoever commits confirms that it is one
	Value     canon.Value // the object as supplied

	sum canon.Digest
}

// ParseDraft reads the write form of an event from p; see ParseKeyed.
func ParseDraft(raw []byte, p Principal) (Draft, error) { return ParseKeyed(raw, p, "") }

// ParseKeyed reads the write form of an event. The idempotency key may come in
// the event, beside it, or both when they agree; clients must give one.
//
// Errors: fault.TooLarge beyond MaxBytes, fault.Malformed for text that is not
// strict JSON, fault.Event with every failure in Fields, fault.Forbidden or
// fault.AgentApproval when p may not write the type at all.
func ParseKeyed(raw []byte, p Principal, key string) (Draft, error) {
	const op = "parse event"
	if len(raw) > MaxBytes {
		return Draft{}, fault.New(fault.TooLarge, op, "the event has %d bytes, at most %d are allowed", len(raw), MaxBytes).
			Help("send large content as a blob and name it in the event")
	}
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: MaxBytes, Depth: MaxDepth})
	if err != nil {
		return Draft{}, err
	}
	if v.Kind() != canon.Object {
		return Draft{}, fault.New(fault.Event, op, "an event is a JSON object, found %s", v.Kind())
	}
	t, ok := catalogue[v.Str("type")]
	if !ok {
		return Draft{}, fault.New(fault.Event, op, "unknown event type %q", clip(v.Str("type"), 60)).At("/type").
			Help("the catalogue is closed; see the list of event types")
	}
	d := Draft{By: p}
	c := checker{form: written}
	d.readActor(v)
	d.Value = strip(v, t.body)
	d.checkKey(&c, key)
	d.checkWorkspace(&c)
	c.object(d.Value, t.body)
	if t.rule != nil {
		t.rule(&c, d.Value)
	}
	if err := c.err(op); err != nil {
		return Draft{}, err
	}
	if err := p.MayWrite(v.Str("type")); err != nil {
		return Draft{}, err
	}
	d.fill()
	d.sum = d.fingerprint()
	d.Value = normalise(d.Value)
	return d, nil
}

// readActor takes the one thing that a client may say about the actor: a
// harness names the agent of its own that it speaks for.
func (d *Draft) readActor(v canon.Value) {
	if d.By.Kind != Harness {
		return
	}
	actor, _ := v.Get("actor")
	if name := actor.Str("id"); actor.Str("kind") == Agent && ident.Is(ident.Agent, name) {
		d.Agent = name
	}
}

func (d *Draft) checkKey(c *checker, key string) {
	const name = "idempotency_key"
	own, inside := d.Value.Get(name)
	switch text, _ := own.String(); {
	case !inside && key != "":
		d.Value = d.Value.With(name, canon.StringOf(key))
	case inside && key != "" && text != key:
		c.failAt(name, "must be the key that came with the request", text)
	case !inside && !d.By.IsServer():
		c.failAt(name, "is required: choose one key per event and keep it when you send again", "")
	}
}

func (d *Draft) checkWorkspace(c *checker) {
	if w := d.Value.Str("workspace_id"); w != "" && w != d.By.Workspace {
		c.failAt("workspace_id", "must be the workspace that the token is for", w)
	}
	if len(d.By.ID) == 0 || units(d.By.ID) > maxID {
		c.failAt("actor", "must have an id of 1 to 200 characters", clip(d.By.ID, 60))
	}
}

// fill takes out what others ask for often.
func (d *Draft) fill() {
	d.Type = d.Value.Str("type")
	d.ID = d.Value.Str("id")
	d.Workspace = d.By.Workspace
	d.SpaceID = d.Value.Str("space_id")
	d.RunID = d.Value.Str("run_id")
	d.LaneID = d.Value.Str("lane_id")
	d.Key = d.Value.Str("idempotency_key")
	if n, ok := d.Value.Get("attempt"); ok {
		d.Attempt, _ = n.Int()
	}
}

func (d *Draft) fingerprint() canon.Digest {
	if d.Agent == "" {
		return canon.Plain(d.Value)
	}
	return canon.Plain(d.Value.With("actor", canon.StringOf(d.Agent)))
}

// Fingerprint is the plain digest of what the client supplied. Two drafts with
// one key and one fingerprint are the same request.
func (d Draft) Fingerprint() canon.Digest { return d.sum }

// Get returns the text member called name, or "".
func (d Draft) Get(name string) string { return d.Value.Str(name) }

// Actor is the participant that the event is attributed to.
func (d Draft) Actor() (kind, id, harnessID string) {
	switch {
	case d.Agent != "":
		return Agent, d.Agent, d.By.Through()
	case d.By.Kind == Agent:
		return Agent, d.By.ID, d.By.HarnessID
	}
	return d.By.Kind, d.By.ID, ""
}

// normalise puts instants into UTC with fixed width and drops links that come
// twice. Everything else stays as it was sent.
func normalise(v canon.Value) canon.Value {
	for _, name := range [...]string{"deadline", "expires_at"} {
		text := v.Str(name)
		if text == "" {
			continue
		}
		if at, ok := ParseInstant(text); ok {
			v = v.With(name, canon.StringOf(Stamp(at)))
		}
	}
	if links, ok := v.Get("link_to"); ok {
		seen := make(map[string]bool, links.Len())
		var once []canon.Value
		for _, l := range links.Elems() {
			s, _ := l.String()
			if !seen[s] {
				seen[s] = true
				once = append(once, l)
			}
		}
		if len(once) < links.Len() {
			v = v.With("link_to", canon.ArrayOf(once...))
		}
	}
	return v
}

// InReplyToRun reports whether the draft belongs to a run that exists: all run
// events but the request.
func (d Draft) InReplyToRun() bool {
	return strings.HasPrefix(d.Type, "run.") && d.Type != RunRequested
}
