package proposal

import (
	"writ/internal/canon"
)

// MaxEvidenceBytes is the most that one reader is shown, in bytes.
const MaxEvidenceBytes = 262144

const omittedTooLarge = "exceeds-limit"

// Manifest is the typed view of an evidence manifest: what a reader saw before
// saying anything. It carries no time, so equal evidence has one address.
type Manifest struct {
	Document
	Query, Room string
	Reader      Subject
	Items       []Item
	Content     string // digest of the bytes that were shown
	Target      string // ref of the proposal under review, "" when there is none
	Class       Class
}

// Item is one thing that could be shown.
type Item struct {
	Kind      string // execution, artifact, candidate, proposal, review or decision
	Ref       string
	Digest    string
	Required  bool
	Included  bool
	Execution string // ref of the execution it came from; needed for an artifact
	Step      string // "" when it came from no step
}

// AsManifest reads the view.
func AsManifest(d Document) (Manifest, error) {
	if err := d.as(KindManifest); err != nil {
		return Manifest{}, err
	}
	v := d.Value
	m := Manifest{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Reader: subjectOf(v, "reader"), Content: v.Str("content/digest"), Class: Class(v.Str("class/key")),
	}
	if t, ok := v.Get("review/target"); ok {
		m.Target = t.Str("proposal/ref")
	}
	items, _ := v.Get("items")
	for _, i := range items.Elems() {
		m.Items = append(m.Items, Item{
			Kind: i.Str("kind"), Ref: i.Str("ref"), Digest: i.Str("digest"),
			Required: flag(i, "required"), Included: flag(i, "included"),
			Execution: i.Str("execution/ref"), Step: i.Str("step/id"),
		})
	}
	return m, nil
}

func flag(v canon.Value, name string) bool {
	m, _ := v.Get(name)
	b, _ := m.Bool()
	return b
}

// ManifestParams is what the host shows to a reader.
type ManifestParams struct {
	Query, Room string
	Reader      Subject
	Flow        string // ref of the flow binding that the reader speaks under
	Items       []Item
	Content     []byte    // the bytes shown, 1 to MaxEvidenceBytes
	Target      *Proposal // what a reviewer is to review
	Class       Class
}

// NewManifest fixes what a reader is shown.
func NewManifest(p ManifestParams) (Manifest, error) {
	items := make([]map[string]any, 0, len(p.Items))
	for _, i := range p.Items {
		item := map[string]any{"kind": i.Kind, "ref": i.Ref, "digest": i.Digest, "required": i.Required, "included": i.Included}
		if i.Execution != "" {
			item["execution/ref"] = i.Execution
		}
		if i.Step != "" {
			item["step/id"] = i.Step
		}
		if !i.Included {
			item["omitted/reason"] = omittedTooLarge
		}
		items = append(items, item)
	}
	sum := canon.Sum(p.Content)
	body := map[string]any{
		"schema/v": 1,
		"query/id": p.Query, "room/id": p.Room,
		"reader":                     p.Reader.tree(),
		"inference-flow-binding/ref": p.Flow,
		"projection":                 map[string]any{"id": "corpus-task-pack-evidence", "revision": 1},
		"bytes/max":                  MaxEvidenceBytes,
		"items":                      items,
		"class/key":                  string(p.Class),
		"content/ref":                canon.ObjectRef(sum),
		"content/digest":             DigestText(sum),
		"content/size-bytes":         len(p.Content),
	}
	if t := p.Target; t != nil {
		body["review/target"] = map[string]string{
			"proposal/ref": t.Ref, "proposal/digest": t.Digest(), "candidate/digest": t.Candidate.Digest,
		}
	}
	d, err := sealTree(KindManifest, body)
	if err != nil {
		return Manifest{}, err
	}
	return AsManifest(d)
}
