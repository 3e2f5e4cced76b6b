package server

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/ledger"
)

// answer is a 200 with a JSON body.
type answer[T any] struct{ Body T }

// created is a 201 with a JSON body.
type created[T any] struct{ Body T }

// rawJSON is JSON that is passed on as it was stored.
type rawJSON []byte

// MarshalJSON returns the bytes themselves.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// Schema describes it as any JSON value.
func (rawJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

func rawCells(cells []ledger.Cell) []rawJSON {
	out := make([]rawJSON, len(cells))
	for i, c := range cells {
		out[i] = rawJSON(c.Value)
	}
	return out
}

// member reads one string member of a stored document; "" when there is none.
func member(body []byte, name string) string {
	var m map[string]json.RawMessage
	var text string
	if json.Unmarshal(body, &m) != nil || json.Unmarshal(m[name], &text) != nil {
		return ""
	}
	return text
}
