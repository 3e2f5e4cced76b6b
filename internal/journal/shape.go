package journal

import (
	"writ/internal/ident"
)

// form is the stage that an event is in.
type form uint8

const (
	written  form = iota // by a client, what the server owns removed
	composed             // by the server, before lane and attempt are filled in
	kept                 // stored: complete but for seq, ts and what is made per reader
	wire                 // as a reader gets it
	forms
)

// duty says who provides a member and in which forms it must be there.
type duty uint8

const (
	required   duty = iota // always
	optional               // never
	claimed                // from clients; the server fills it in for its own events
	minted                 // filled in where a client leaves it out
	served                 // the server's: removed from what a client writes, there afterwards
	servedOpt              // the server's, there when it applies
	readers                // made for each reader: there on the wire only
	readersOpt             // made for each reader, when it applies
)

// mustBe lists, per duty, the forms in which a member must be there.
var mustBe = [...][forms]bool{
	required:   {written: true, composed: true, kept: true, wire: true},
	optional:   {},
	claimed:    {written: true, kept: true, wire: true},
	minted:     {kept: true, wire: true},
	served:     {kept: true, wire: true},
	servedOpt:  {},
	readers:    {wire: true},
	readersOpt: {},
}

// owned reports whether the server removes the member from what a client writes.
func (d duty) owned() bool { return d >= served }

// kind is the family of a shape.
type kind uint8

const (
	anything kind = iota
	constant      // the integer min
	textual       // min to max characters; max 0 means no limit of the format
	identifier
	integral // min to max
	numeric  // min to max
	boolean
	word // one of words
	instant
	address // absolute URI
	hexSum  // 64 lower-case hex digits
	listing // up to max items
	object
)

// shape says what a value must look like. The tables are written by hand; a
// shape is walked by check and strip.
type shape struct {
	kind     kind
	min, max int64
	solid    bool // text: more than white space, when written
	prefix   ident.Prefix
	words    []string
	item     *shape
	members  *members
}

// member is one named part of an object.
type member struct {
	name  string
	shape shape
	duty  duty
	loose bool // not held to its shape on the wire: the published schema does not name it
}

// members is an object's table. Names that it does not have are legal and kept,
// unless the object is closed: then they are removed when written.
type members struct {
	list   []member
	index  map[string]int
	must   [forms]uint64 // bit i: list[i] must be there
	closed bool
	strips bool // whether strip can find work here
}

func table(list ...member) *members {
	m := &members{list: list, index: make(map[string]int, len(list))}
	if len(list) > 64 {
		panic("journal: table too wide")
	}
	for i, f := range list {
		m.index[f.name] = i
		m.strips = m.strips || f.duty.owned() || f.shape.item != nil && f.shape.item.members != nil && f.shape.item.members.closed
		for stage := range forms {
			if mustBe[f.duty][stage] {
				m.must[stage] |= 1 << i
			}
		}
	}
	return m
}

func text(min, max int64) shape            { return shape{kind: textual, min: min, max: max} }
func prose(max int64) shape                { return shape{kind: textual, min: 1, max: max, solid: true} }
func id(p ident.Prefix) shape              { return shape{kind: identifier, prefix: p} }
func integer(min, max int64) shape         { return shape{kind: integral, min: min, max: max} }
func number(min, max int64) shape          { return shape{kind: numeric, min: min, max: max} }
func oneOf(words ...string) shape          { return shape{kind: word, words: words} }
func list(max int64, item shape) shape     { return shape{kind: listing, max: max, item: &item} }
func objectWith(list ...member) shape      { return shape{kind: object, members: table(list...)} }
func has(n string, s shape, d duty) member { return member{name: n, shape: s, duty: d} }

// loosely exempts a member of our own in an event whose wire form was published
// by others.
func loosely(m member) member { m.loose = true; return m }
