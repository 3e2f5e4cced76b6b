package proposal

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// MaxContent is the largest utterance of a turn, in code points.
const MaxContent = 16384

const turnContribution = "expert-contribution"

// Turn is the typed view of a turn proposal v1: one utterance of a participant.
// It is not signed; the host builds it from what the journal holds.
type Turn struct {
	Document
	Query, Room string
	Participant Subject
	Assignment  string // ref
	No          int64
	Content     string
	Class       Class
	Key         string
}

// AsTurn reads the view.
func AsTurn(d Document) (Turn, error) {
	if err := d.as(KindTurn); err != nil {
		return Turn{}, err
	}
	v := d.Value
	no, _ := v.Get("turn/no")
	n, _ := no.Int()
	return Turn{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Participant: subjectOf(v, "participant"), Assignment: v.Str("assignment/id"), No: n,
		Content: v.Str("content"), Class: Class(v.Str("class/key")), Key: v.Str("idempotency/key"),
	}, nil
}

// turnContent checks that the content digest is that of the content: of its
// plain UTF-8 bytes, unlike every other digest of the chain.
func turnContent(v canon.Value) error {
	if want := DigestText(canon.Sum([]byte(v.Str("content")))); v.Str("content/digest") != want {
		return fault.New(fault.Relation, string(KindTurn), "content is %s", want).
			At(pointer("content/digest")).With("document", string(KindTurn))
	}
	return nil
}

// Message is what the journal knows about an utterance.
type Message struct {
	EventID    string     // becomes the idempotency key
	RunID      string     // becomes the query
	SpaceID    string     // becomes the room; "" means the lane
	LaneID     string     //
	Assignment Assignment // of the speaker; it must be accepted
	No         int64      // turn of this speaker in this run, from 1
	Content    string     // 1 to MaxContent code points
	Class      Class
	At, Until  time.Time // Until is narrowed to the expiry of the assignment
}

// TurnFrom builds the turn of a message. The same message gives the same turn.
func TurnFrom(m Message) (Turn, error) {
	d, err := sealTree(KindTurn, map[string]any{
		"schema/v": 1,
		"query/id": QueryOf(m.RunID), "room/id": RoomOf(m.SpaceID, m.LaneID),
		"participant":     m.Assignment.Participant.tree(),
		"assignment/id":   m.Assignment.Ref,
		"turn/no":         m.No,
		"kind":            turnContribution,
		"content/type":    "text/plain",
		"content":         m.Content,
		"content/digest":  DigestText(canon.Sum([]byte(m.Content))),
		"class/key":       string(m.Class),
		"proposed-at":     Instant(m.At),
		"expires-at":      Instant(Narrow(m.Until, m.Assignment.Until())),
		"idempotency/key": m.EventID,
	})
	if err != nil {
		return Turn{}, err
	}
	return AsTurn(d)
}
