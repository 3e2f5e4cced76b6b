package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"writ/internal/server"
)

// described is the part of an OpenAPI description that the page needs.
type described struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]shape }
}

type operation struct {
	OperationID, Summary, Description string

	Tags        []string
	Security    []map[string][]string
	Parameters  []parameter
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}

	method, path string
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                shape
}

type media struct{ Schema shape }

type shape struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Enum        []any
	Items       *shape
	Properties  map[string]shape
	Required    []string
}

// stations are the tags in the order of the page.
var stations = []struct{ tag, title string }{
	{"server", "Server"}, {"workspace", "Workspace"}, {"ask", "Ask"}, {"propose", "Propose and approve"}, {"land", "Land"}, {"prove", "Prove"},
}

// operations describes what the server describes of itself.
func operations(string) (string, error) {
	answer := httptest.NewRecorder()
	server.New(server.Params{Version: "dev"}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if answer.Code != http.StatusOK {
		return "", fmt.Errorf("/openapi.json answers %d", answer.Code)
	}
	var d described
	if err := json.Unmarshal(answer.Body.Bytes(), &d); err != nil {
		return "", err
	}
	byTag := map[string][]operation{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if len(o.Tags) != 1 || !slices.ContainsFunc(stations, func(s struct{ tag, title string }) bool { return s.tag == o.Tags[0] }) {
				return "", fmt.Errorf("%s has the tags %v", o.OperationID, o.Tags)
			}
			o.method, o.path = strings.ToUpper(method), path
			byTag[o.Tags[0]] = append(byTag[o.Tags[0]], o)
		}
	}
	var p page
	for _, s := range stations {
		all := byTag[s.tag]
		slices.SortFunc(all, func(a, b operation) int {
			return strings.Compare(a.path+" "+a.method, b.path+" "+b.method)
		})
		p.gap("## ", s.title)
		for _, o := range all {
			p.operation(d, o)
		}
	}
	return p.String(), nil
}

func (p *page) operation(d described, o operation) {
	p.gap("### ", o.method, " ", o.path)
	p.gap(strings.ToUpper(o.Summary[:1]), o.Summary[1:], ".", o.needs())
	if o.Description != "" {
		p.gap(o.Description)
	}
	rows := [][]string{{"member", "in", "type", "meaning"}}
	for _, q := range o.Parameters {
		name := code(q.Name)
		if !q.Required {
			name = code(q.Name + "?")
		}
		rows = append(rows, []string{name, q.In, d.kind(q.Schema), q.Description})
	}
	for _, m := range o.RequestBody.Content {
		rows = append(rows, d.members(m.Schema, "body")...)
	}
	if len(rows) > 1 {
		p.table(rows)
		p.line()
	}
	var status []string
	for s := range o.Responses {
		status = append(status, s)
	}
	slices.Sort(status)
	for _, s := range status {
		r := o.Responses[s]
		if s == "default" {
			continue // a problem, as everywhere
		}
		p.line("`", s, "`", answered(r.Description), d.media(r.Content))
		for _, m := range r.Content {
			if rows := d.members(m.Schema, ""); len(rows) > 0 {
				p.line()
				p.table(append([][]string{{"member", "type", "meaning"}}, rows...))
			}
		}
		p.line()
	}
}

// needs says what the token must have.
func (o operation) needs() string {
	switch {
	case o.Security != nil && len(o.Security) == 0:
		return " No token."
	case len(o.Security) == 1 && len(o.Security[0]["token"]) == 1:
		return " Scope " + code(o.Security[0]["token"][0]) + "."
	}
	return " Any token."
}

func answered(text string) string {
	switch text {
	case "", "OK", "Created", "No Content":
		return ""
	}
	return " " + text
}

// media names what comes back when that is not an object with members.
func (d described) media(content map[string]media) string {
	for name, m := range content {
		if len(d.members(m.Schema, "")) == 0 {
			return " (" + name + ")"
		}
	}
	return ""
}

// members are the rows of an object; the place is left out when it is "".
func (d described) members(s shape, in string) [][]string {
	s = d.resolve(s)
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := slices.Contains(s.Required, a), slices.Contains(s.Required, b); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a, b)
	})
	var rows [][]string
	for _, name := range names {
		m := s.Properties[name]
		label := code(name)
		if !slices.Contains(s.Required, name) {
			label = code(name + "?")
		}
		row := []string{label, d.kind(m), m.Description}
		if in != "" {
			row = slices.Insert(row, 1, in)
		}
		rows = append(rows, row)
	}
	return rows
}

func (d described) resolve(s shape) shape {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

// kind says in a few words what a value is.
func (d described) kind(s shape) string {
	s = d.resolve(s)
	words := fmt.Sprint(s.Type)
	if list, ok := s.Type.([]any); ok { // nullable
		words = fmt.Sprint(list[0])
	}
	switch {
	case len(s.Enum) > 0:
		var all []string
		for _, e := range s.Enum {
			all = append(all, fmt.Sprint(e))
		}
		return strings.Join(all, ", ")
	case words == "array" && s.Items != nil:
		return "list of " + d.kind(*s.Items)
	case s.Type == nil:
		return "any JSON"
	}
	return words
}
