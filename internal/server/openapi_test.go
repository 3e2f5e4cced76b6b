package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"writ/internal/server"
)

// TestDescription looks at the description as a whole: everything is there, has
// a name, a place and an error.
func TestDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	raw := w.ask("", "GET", "/openapi.json", nil).expect(t, 200)
	if got := raw.header.Get("Content-Type"); got != "application/openapi+json" {
		t.Errorf("served as %s", got)
	}
	golden(t, "openapi.json", raw.body)

	d := w.description()
	if !strings.HasPrefix(d.OpenAPI, "3.1.") || d.Components.SecuritySchemes["token"] == nil {
		t.Errorf("OpenAPI %s, schemes %v", d.OpenAPI, d.Components.SecuritySchemes)
	}
	var described []string
	ids := map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			at := strings.ToUpper(method) + " " + path
			described = append(described, at)
			if o.OperationID == "" || ids[o.OperationID] || o.Summary == "" || len(o.Tags) != 1 || o.Security == nil {
				t.Errorf("%s: id %q, summary %q, tags %v, security %v", at, o.OperationID, o.Summary, o.Tags, o.Security)
			}
			ids[o.OperationID] = true
			if _, ok := o.Responses["default"].Content["application/problem+json"]; !ok {
				t.Errorf("%s has no problem among its answers", at)
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(o.Responses)), func(s string) bool { return s[0] == '2' }) {
				t.Errorf("%s has no success among its answers", at)
			}
			for status, r := range o.Responses {
				if r.Description == "" {
					t.Errorf("%s: nothing is said of %s", at, status)
				}
			}
			for part := range strings.SplitSeq(path, "/") {
				name, is := strings.CutPrefix(part, "{")
				name = strings.TrimSuffix(name, "}")
				if is && !slices.ContainsFunc(o.Parameters, func(p struct{ Name, In string }) bool { return p.Name == name && p.In == "path" }) {
					t.Errorf("%s: the parameter %s is not described", at, name)
				}
			}
			if takes := method == "post" || method == "put"; takes != (len(o.RequestBody.Content) == 1) {
				t.Errorf("%s has the bodies %v", at, o.RequestBody.Content)
			}
		}
	}
	served := slices.Clone(w.srv.Patterns())
	for i := range served {
		served[i] = strings.ReplaceAll(served[i], "...}", "}")
	}
	slices.Sort(served)
	slices.Sort(described)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

// contract is the description, ready to hold answers against.
type contract struct {
	paths    described
	mu       sync.Mutex // over what follows
	compiler *jsonschema.Compiler
	met      map[string]bool // operations that answered with a success
}

// theContract is compiled once: the description does not depend on the server.
var theContract = sync.OnceValues(func() (*contract, error) {
	answer := httptest.NewRecorder()
	server.New(server.Params{Version: "test"}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	c := &contract{compiler: jsonschema.NewCompiler(), met: map[string]bool{}}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer.Body.Bytes()))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &c.paths); err != nil {
		return nil, err
	}
	// Clients must bear members that they do not know; these tests must not.
	for _, s := range doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := s.(map[string]any); s["properties"] != nil && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
	}
	return c, c.compiler.AddResource("openapi.json", doc)
})

// operation finds the operation of a request.
func (c *contract) operation(method, path string) (template string, o described1, ok bool) {
	have := strings.Split(path, "/")
	for template, methods := range c.paths.Paths {
		parts := strings.Split(template, "/")
		fits := len(parts) == len(have) || strings.HasSuffix(template, "{ref}") && len(have) >= len(parts)
		for i := 0; fits && i < len(parts); i++ {
			fits = parts[i] == have[i] || strings.HasPrefix(parts[i], "{")
		}
		if o, has := methods[strings.ToLower(method)]; fits && has {
			return template, o, true
		}
	}
	return "", o, false
}

// check says what an answer has that the description does not.
func (c *contract) check(method, path string, r reply) error {
	template, o, ok := c.operation(method, path)
	if !ok {
		return nil // no route, so it has no description
	}
	status := strconv.Itoa(r.status)
	if _, ok := o.Responses[status]; !ok {
		if status = "default"; r.status < 400 {
			return fmt.Errorf("%s answers %d, which is not described", o.OperationID, r.status)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.status < 300 {
		c.met[o.OperationID] = true
	}
	if len(r.body) == 0 {
		return nil
	}
	media := r.header.Get("Content-Type")
	if _, ok := o.Responses[status].Content[media]; !ok {
		return fmt.Errorf("%s answers %s, which is not described", o.OperationID, media)
	}
	if !strings.HasSuffix(media, "json") {
		return nil
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	at := fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/%s/schema", escape(template), strings.ToLower(method), status, escape(media))
	schema, err := c.compiler.Compile(at)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("%s answers what its description does not allow: %w\n%.500s", o.OperationID, err, r.body)
	}
	return nil
}

// unmet are the operations that no test had a success of. A stream has no end,
// and so no body to look at here.
func (c *contract) unmet() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, methods := range c.paths.Paths {
		for _, o := range methods {
			if !c.met[o.OperationID] && o.OperationID != "stream-events" {
				ids = append(ids, o.OperationID)
			}
		}
	}
	return ids
}

// TestContractBites: an answer that lacks a member, or is of the wrong kind, or
// is not described, is found.
func TestContractBites(t *testing.T) {
	t.Parallel()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	answer := func(status int, media, body string) reply {
		return reply{status: status, header: http.Header{"Content-Type": {media}}, body: []byte(body)}
	}
	for want, r := range map[bool][]reply{
		true: {answer(200, "application/json", `{"status":"ok","version":"1"}`), answer(503, "application/problem+json", `{"type":"about:blank","title":"t","status":503,"code":"unavailable","detail":"d","retry":true,"request_id":"r"}`)},
		false: {
			answer(200, "application/json", `{"status":"ok"}`), answer(200, "application/json", `{"status":"bad","version":"1"}`), answer(200, "application/json", `{"status":"ok","version":"1","more":1}`), answer(200, "text/plain", "ok"),
			answer(201, "application/json", `{"status":"ok","version":"1"}`), answer(503, "application/json", `{}`), answer(503, "application/problem+json", `{"type":"about:blank"}`),
		},
	} {
		for _, r := range r {
			if err := c.check("GET", "/healthz", r); (err == nil) != want {
				t.Errorf("%d %s: %v", r.status, r.body, err)
			}
		}
	}
}
