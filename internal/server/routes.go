package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

// operation is one route: how it is described and which scope it needs, "" when
// any token will do.
type operation struct {
	id, method, path string
	scope            string
	tag, summary     string
	open             bool // needs no token
}

// routes registers operations: whatever is served is described, and the other
// way round.
type routes struct {
	mux      *http.ServeMux
	api      huma.API
	patterns []string        // of mux, in order of registration
	taken    map[string]bool // refs of the schemas of request bodies
	describe func() []byte
}

func newRoutes(version string) *routes {
	shapeErrors()
	t := &routes{mux: http.NewServeMux(), taken: map[string]bool{}}
	t.api = humago.New(t, description(version))
	t.mux.HandleFunc("/", t.nowhere)
	t.describe = sync.OnceValue(func() []byte {
		t.loosen()
		b, err := json.MarshalIndent(t.api.OpenAPI(), "", " ")
		if err != nil {
			panic(err) // a type that has no schema; every test would see it
		}
		return append(b, '\n')
	})
	return t
}

// loosen lets answers have further members: later versions add some.
func (t *routes) loosen() {
	for name, s := range t.api.OpenAPI().Components.Schemas.Map() {
		if s.AdditionalProperties == false && !t.taken["#/components/schemas/"+name] {
			s.AdditionalProperties = nil
		}
	}
}

func description(version string) huma.Config {
	c := huma.DefaultConfig("Writ", version)
	c.Info.Description = "Carry a change from the ask to the landed commit, and prove every step."
	c.CreateHooks = nil // no $schema member in answers
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.RejectUnknownQueryParameters = true
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "An opaque token, scoped to one workspace. Each operation names the scope that it needs; admin includes all."},
	}
	return c
}

// HandleFunc and ServeHTTP are what huma needs of a mux.
func (t *routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	t.patterns = append(t.patterns, pattern)
	t.mux.HandleFunc(pattern, h)
}

// ServeHTTP implements http.Handler.
func (t *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.mux.ServeHTTP(w, r) }

// nowhere answers what no route takes: 405 when another method would do, else 404.
func (t *routes) nowhere(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := t.mux.Handler(other); pattern != "/" {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		x.fail(fault.New(fault.NotFound, "find route", "there is nothing at %s", r.URL.Path).Help("GET /openapi.json lists every route"))
		return
	}
	list := strings.Join(allow, ", ")
	x.fail(fault.New(fault.Method, "find route", "%s takes %s, not %s", r.URL.Path, list, r.Method).With("allow", list))
}

func (o operation) described(api huma.API) huma.Operation {
	d := huma.Operation{
		OperationID: o.id, Method: o.method, Path: strings.ReplaceAll(o.path, "...}", "}"), Summary: o.summary, Tags: []string{o.tag},
		Security: []map[string][]string{{"token": {}}},
		Responses: map[string]*huma.Response{"default": {
			Description: "a problem document",
			Content:     map[string]*huma.MediaType{problemType: {Schema: schemaOf[Problem](api)}},
		}},
	}
	switch {
	case o.open:
		d.Security = []map[string][]string{}
	case o.scope != "":
		d.Security = []map[string][]string{{"token": {o.scope}}}
	}
	return d
}

func schemaOf[T any](api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// typed registers an operation whose parameters and answer are Go types. status
// is that of a success.
func typed[I, O any](t *routes, o operation, status int, do func(context.Context, journal.Principal, *I) (*O, error)) *huma.Operation {
	d := o.described(t.api)
	d.DefaultStatus = status
	d.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		_, w := humago.Unwrap(ctx)
		x := w.(*exchange)
		if err := x.may(o.scope); err != nil {
			x.fail(err)
			return
		}
		next(huma.WithValue(ctx, exchangeKey{}, x))
	}}
	huma.Register(t.api, d, func(ctx context.Context, in *I) (*O, error) {
		x := exchangeOf(ctx)
		out, err := do(ctx, x.by, in)
		if err != nil {
			return nil, x.problem(err)
		}
		return out, nil
	})
	return t.documented(o.method, d.Path)
}

// posted registers an operation that takes a JSON body of type B as well.
func posted[I, B, O any](t *routes, o operation, status int, do func(context.Context, journal.Principal, *I, B) (*O, error)) *huma.Operation {
	schema := schemaOf[B](t.api)
	schemas := t.api.OpenAPI().Components.Schemas
	d := typed(t, o, status, func(ctx context.Context, p journal.Principal, in *I) (*O, error) {
		raw, err := exchangeOf(ctx).read(maxDocument)
		if err != nil {
			return nil, err
		}
		body, err := decode[B](schemas, schema, raw)
		if err != nil {
			return nil, err
		}
		return do(ctx, p, in, body)
	})
	d.RequestBody = body("application/json", schema)
	t.taken[schema.Ref] = true
	return d
}

// verbatim registers an operation that takes a document byte for byte.
func verbatim[I, O any](t *routes, o operation, status int, what string, do func(context.Context, journal.Principal, *I, []byte) (*O, error)) *huma.Operation {
	d := typed(t, o, status, func(ctx context.Context, p journal.Principal, in *I) (*O, error) {
		raw, err := exchangeOf(ctx).read(maxDocument)
		if err != nil {
			return nil, err
		}
		return do(ctx, p, in, raw)
	})
	d.RequestBody = body("application/json", &huma.Schema{Type: huma.TypeObject, Description: what, AdditionalProperties: true})
	return d
}

// raw registers an operation that reads and writes bytes itself. The rest of its
// description is for the caller to add.
func (t *routes) raw(o operation, do func(x *exchange, r *http.Request) error) *huma.Operation {
	d := o.described(t.api)
	for _, part := range strings.Split(d.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			d.Parameters = append(d.Parameters, &huma.Param{Name: strings.TrimSuffix(name, "}"), In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
		}
	}
	t.HandleFunc(o.method+" "+o.path, func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		err := x.may(o.scope)
		if err == nil {
			err = do(x, r)
		}
		if err != nil {
			x.fail(err)
		}
	})
	t.api.OpenAPI().AddOperation(&d)
	return &d
}

func (t *routes) documented(method, path string) *huma.Operation {
	item := t.api.OpenAPI().Paths[path]
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	default:
		return item.Delete
	}
}

func body(media string, s *huma.Schema) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{media: {Schema: s}}}
}

func response(what, media string, s *huma.Schema) *huma.Response {
	return &huma.Response{Description: what, Content: map[string]*huma.MediaType{media: {Schema: s}}}
}

// Errors that huma finds itself, such as a parameter of the wrong type, take the
// same shape as all others.
var shapeErrors = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return newProblem(foreign(status, msg, errs))
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		_, w := humago.Unwrap(ctx)
		return w.(*exchange).problem(foreign(status, msg, errs))
	}
})

// foreign makes a fault of what huma found.
func foreign(status int, msg string, errs []error) error {
	code := fault.Invalid
	if status >= http.StatusInternalServerError {
		code = fault.Internal
	}
	e := fault.New(code, "read request", "%s", msg)
	for _, err := range errs {
		f := fault.Field{Rule: err.Error()}
		if d, ok := err.(huma.ErrorDetailer); ok {
			_, at, _ := strings.Cut(d.ErrorDetail().Location, ".")
			f = fieldOf(at, d.ErrorDetail().Message)
		}
		e.Fields = append(e.Fields, f)
	}
	return summed(e)
}

// summed lets the first of several failures speak for all.
func summed(e *fault.Error) *fault.Error {
	if len(e.Fields) == 0 {
		return e
	}
	e.Public, e.Pointer = e.Fields[0].Rule, e.Fields[0].Pointer
	if n := len(e.Fields); n > 1 {
		e.Public += ", and " + strconv.Itoa(n-1) + " more"
	}
	return e
}

// fieldOf turns what huma found at a.b[2] into a failure of ours, at /a/b/2. A
// member that is missing is at fault itself, not the object that lacks it.
func fieldOf(location, rule string) fault.Field {
	at := ""
	if location != "" {
		at = "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(location)
	}
	if name, ok := strings.CutPrefix(rule, "expected required property "); ok {
		name = strings.TrimSuffix(name, " to be present")
		return fault.Field{Pointer: canon.PointerTo(at, name), Rule: "is required"}
	}
	return fault.Field{Pointer: at, Rule: rule}
}

// failures lists what huma's validation found, by pointer.
func failures(res *huma.ValidateResult) []fault.Field {
	out := make([]fault.Field, 0, len(res.Errors))
	for _, err := range res.Errors {
		if d, ok := err.(huma.ErrorDetailer); ok {
			out = append(out, fieldOf(d.ErrorDetail().Location, d.ErrorDetail().Message))
		}
	}
	slices.SortStableFunc(out, func(a, b fault.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	return out
}

// asAny is raw, which is JSON, as huma's validation wants it.
func asAny(raw []byte) (v any) {
	_ = json.NewDecoder(bytes.NewReader(raw)).Decode(&v)
	return v
}
