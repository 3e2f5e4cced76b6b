package server

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/ledger"
)

// answer is a JSON body.
type answer[T any] struct{ Body T }

// rawJSON is JSON that is passed on as it was stored.
type rawJSON []byte

// MarshalJSON returns the bytes themselves.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// Schema describes it as any JSON value.
func (rawJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

var null = rawJSON("null")

func rawCells(cells []ledger.Cell) []rawJSON {
	out := make([]rawJSON, len(cells))
	for i, c := range cells {
		out[i] = rawJSON(c.Value)
	}
	return out
}

// encoded passes on what the host answers.
func encoded(v any, err error) (*answer[rawJSON], error) {
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(v)
	return &answer[rawJSON]{body}, err
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

// wireEvent is an event as readers get it.
type wireEvent []byte

// MarshalJSON returns the bytes themselves.
func (e wireEvent) MarshalJSON() ([]byte, error) { return e, nil }

// Schema describes what every event has.
func (wireEvent) Schema(r huma.Registry) *huma.Schema {
	const name = "Event"
	if r.Map()[name] == nil {
		text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
		r.Map()[name] = &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: true, Description: "A journal event in its wire form. Each type has members of its own.",
			Required: []string{"v", "type", "id", "ts", "workspace_id", "seq", "actor"},
			Properties: map[string]*huma.Schema{
				"v": {Type: huma.TypeInteger, Enum: []any{1}}, "type": text("one of a closed set"), "id": text(""),
				"ts":           {Type: huma.TypeString, Format: "date-time", Description: "by the server's clock; never less than that of an earlier seq"},
				"workspace_id": text(""), "space_id": text(""), "run_id": text(""), "lane_id": text(""), "idempotency_key": text(""),
				"seq": {Type: huma.TypeInteger, Minimum: new(float64(1)), Description: "position in the journal, from 1 without gaps"},
				"actor": {Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"kind", "id"}, Properties: map[string]*huma.Schema{
					"kind": {Type: huma.TypeString, Enum: []any{"person", "harness", "agent", "system"}}, "id": text(""), "harness_id": text("of an agent: the harness that it speaks through"),
				}},
			},
		}
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}
