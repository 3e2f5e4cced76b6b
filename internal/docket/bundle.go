// Package docket follows the documents of one run from the ask to the tree of
// the landed commit, and verifies them: it recomputes every digest, signature,
// relation and root from the bytes, offline, and names the first document that
// does not fit and why.
//
// It believes nothing that it can recompute, and it shows what is absent as
// absent, never as passed. Without pinned signers its best answer is that a
// docket is consistent; "verified" is kept for dockets whose signers the reader
// has named.
package docket

import (
	"encoding/json"
	"io"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Schema of a bundle.
const Schema = "writ.docket/v1"

// maxBundle is the largest bundle that is read, in bytes.
const maxBundle = 256 << 20

// Bundle is the docket of one run in one file.
type Bundle struct {
	Schema    string      `json:"schema"`
	Workspace string      `json:"workspace_id"`
	Run       string      `json:"run_id"`
	Lane      string      `json:"lane_id"`
	Host      string      `json:"host_node"` // node that compiled, ran and landed
	Exported  string      `json:"exported_at"`
	Events    []Event     `json:"events"`    // of the run and its lane, by sequence
	Documents []Document  `json:"documents"` // in the order of acceptance
	Blobs     []Blob      `json:"blobs"`     // by digest
	Git       []GitObject `json:"git"`       // commits, and the trees on the way to changed files
	Signature string      `json:"signature"` // of the host, over all the rest; see Seal
}

// Event is one link of the journal's chain.
type Event struct {
	Seq  int64  `json:"seq"`
	TS   int64  `json:"ts_ms"` // Unix milliseconds
	Prev string `json:"prev"`  // hex
	Hash string `json:"hash"`  // hex
	Body string `json:"body"`  // stored form, verbatim
}

// Document is one accepted document, verbatim.
type Document struct {
	Kind   string `json:"kind"`
	Ref    string `json:"ref"`
	SHA256 string `json:"sha256"` // hex, of body
	Event  string `json:"event_id,omitempty"`
	Body   string `json:"body"`
}

// Blob is kept bytes.
type Blob struct {
	SHA256 string `json:"sha256"` // hex
	Body   []byte `json:"base64"`
}

// Read reads a bundle strictly.
func Read(r io.Reader) (*Bundle, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBundle+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "read docket", "the file cannot be read")
	}
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: maxBundle})
	if err != nil {
		return nil, err
	}
	var b Bundle
	if err := v.Decode(&b); err != nil {
		return nil, err
	}
	if b.Schema != Schema {
		return nil, fault.New(fault.UnknownKind, "read docket", "schema is %q, not %s", b.Schema, Schema).At("/schema")
	}
	return &b, nil
}

// Write writes the bundle as one JSON object.
func (b *Bundle) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(b)
}

// fromEvent and fromDocument carry stored rows into a bundle.
func fromEvent(e ledger.Event) Event {
	return Event{Seq: e.Seq, TS: e.TS.UnixMilli(), Prev: e.Prev.Hex(), Hash: e.Hash.Hex(), Body: string(e.Body)}
}

func fromDocument(d ledger.Document) Document {
	return Document{Kind: d.Kind, Ref: d.Ref, SHA256: d.SHA256.Hex(), Event: d.Event, Body: string(d.Body)}
}

// object is how steps name the document's bytes.
func (d Document) object() string {
	sum, err := canon.ParseHex(d.SHA256)
	if err != nil {
		return ""
	}
	return canon.ObjectRef(sum)
}

// time of an event.
func (e Event) time() time.Time { return time.UnixMilli(e.TS).UTC() }
