package docket

import (
	"os"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// TrustSchema of a trust file.
const TrustSchema = "writ.trust/v1"

// Trust pins the keys that a reader accepts, by what they may do.
type Trust struct {
	Schema    string   `json:"schema"`
	Hosts     []string `json:"hosts"`     // nodes whose execution records count
	Authors   []string `json:"authors"`   // nodes that may propose
	Reviewers []string `json:"reviewers"` // nodes that may review
	Chairs    []string `json:"chairs"`    // nodes that may decide
	Operators []string `json:"operators"` // nodes of people who may approve
}

// ReadTrust reads a trust file. Every entry has to be a node id in its one
// spelling, and nobody is trusted by an empty list.
func ReadTrust(path string) (*Trust, error) {
	const op = "read trust file"
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, op, "%s cannot be read", path)
	}
	v, err := canon.Parse(raw)
	if err != nil {
		return nil, err
	}
	var t Trust
	if err := v.Decode(&t); err != nil {
		return nil, err
	}
	if t.Schema != TrustSchema {
		return nil, fault.New(fault.UnknownKind, op, "schema is %q, not %s", t.Schema, TrustSchema).At("/schema")
	}
	for name, list := range map[string][]string{"hosts": t.Hosts, "authors": t.Authors, "reviewers": t.Reviewers, "chairs": t.Chairs, "operators": t.Operators} {
		for _, node := range list {
			if _, err := ident.ParseNode(node); err != nil {
				return nil, fault.Wrap(err, fault.Invalid, op, "%q is not a node id", node).At("/" + name)
			}
		}
	}
	return &t, nil
}
