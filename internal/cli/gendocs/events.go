package main

import (
	"encoding/json"
	"slices"
	"strings"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// envelope are the members that every event may have.
var envelope = []string{"v", "type", "id", "ts", "seq", "workspace_id", "space_id", "run_id", "lane_id", "idempotency_key", "actor"}

// events lists the catalogue: who may write a type, with which scope, and what
// the wire form has beside the envelope.
func events(string) (string, error) {
	var p page
	rows := [][]string{{"type", "written by", "scope", "members beside the envelope"}}
	for _, name := range journal.Types() {
		who, scope := writers(name)
		members, err := own(name)
		if err != nil {
			return "", err
		}
		rows = append(rows, []string{code(name), who, code(scope), members})
	}
	p.table(rows)
	return p.String(), nil
}

// writers asks the catalogue itself.
func writers(event string) (who, scope string) {
	var kinds []string
	for _, kind := range []string{journal.Person, journal.Harness, journal.Agent} {
		p := journal.Principal{Kind: kind, ID: "x"}
		err := p.MayWrite(event)
		if f, ok := fault.As(err); ok && f.Get("scope") != "" {
			scope = f.Get("scope")
		}
		p.Scopes = []string{journal.ScopeAdmin}
		if p.MayWrite(event) == nil {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return "server", ""
	}
	return strings.Join(kinds, ", "), scope
}

// own lists the members of a type; those that may be missing end in "?".
func own(event string) (string, error) {
	var s struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	raw := schema.Raw(schema.Event(event))
	if raw == nil {
		return "", fault.New(fault.NotFound, "list members", "%s has no schema", event)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	var must, may []string
	for name := range s.Properties {
		needed := slices.Contains(s.Required, name)
		switch {
		case slices.Contains(envelope, name) && (!needed || !strings.HasSuffix(name, "_id") || name == "workspace_id"):
		case needed:
			must = append(must, code(name))
		default:
			may = append(may, code(name+"?"))
		}
	}
	slices.Sort(must)
	slices.Sort(may)
	return strings.Join(append(must, may...), " "), nil
}

// chain lists what is fixed about the kinds of the chain.
func chain(string) (string, error) {
	var p page
	rows := [][]string{{"kind", "contract", "ref begins", "own ref in", "signer in", "valid", "once per", "at most"}}
	for _, r := range proposal.Kinds() {
		valid := strings.Trim(r.From+" to "+r.Until, " ")
		switch {
		case r.From == "" && r.Until == "":
			valid = "always"
		case r.Until == "":
			valid = "from " + r.From
		}
		signer := code(r.Node)
		if !r.Signed() {
			signer = "not signed"
		}
		rows = append(rows, []string{code(string(r.Kind)), code(r.Name), code(r.Prefix + ":"), code(r.Self), signer, valid, code(r.Once), inBytes(r.Size)})
	}
	p.table(rows)
	return p.String(), nil
}
