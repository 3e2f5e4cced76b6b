package schema

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// base is where the embedded files live as far as the compiler is concerned.
// References between schemas are by file name, relative to it.
const base = "embed:///"

// compiler compiles embedded schemas. Schemas that refer to each other share
// what was compiled before.
type compiler struct {
	mu sync.Mutex
	c  *jsonschema.Compiler
}

func newCompiler(fsys fs.FS) *compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(loader{fsys})
	c.UseRegexpEngine(compilePattern)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: dateTime})
	c.RegisterFormat(&jsonschema.Format{Name: "uri", Validate: absoluteURI})
	return &compiler{c: c}
}

func (c *compiler) compile(id ID) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.c.Compile(base + string(id) + suffix)
}

// loader reads schemas from embedded files and from nowhere else.
type loader struct{ fsys fs.FS }

func (l loader) Load(url string) (any, error) {
	name, ok := strings.CutPrefix(url, base)
	if !ok {
		return nil, fmt.Errorf("schema %s is not embedded", url)
	}
	return load(l.fsys, name)
}

// load parses a schema file and gets it ready for the compiler: its references
// become file names, so that nothing depends on how a URN resolves.
func load(fsys fs.FS, name string) (any, error) {
	b, err := fs.ReadFile(fsys, path.Join("files", name))
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if root, ok := doc.(map[string]any); ok {
		delete(root, "$id")
	}
	prepare(doc)
	return doc, nil
}

// prepare rewrites, in place, references by URN to references by file name, and
// rules about member names to the same rules in a form whose failures carry the
// right location.
func prepare(x any) {
	switch x := x.(type) {
	case []any:
		for _, e := range x {
			prepare(e)
		}
	case map[string]any:
		if ref, ok := x["$ref"].(string); ok {
			x["$ref"] = fileRef(ref)
		}
		if names, ok := x["propertyNames"].(map[string]any); ok && len(names) == 1 && x["properties"] == nil {
			if p, ok := names["pattern"].(string); ok {
				rest, ok := x["additionalProperties"]
				if !ok {
					rest = true
				}
				x["patternProperties"] = map[string]any{p: rest}
				x["additionalProperties"] = false
				delete(x, "propertyNames")
			}
		}
		for _, e := range x {
			prepare(e)
		}
	}
}

// fileRef turns "urn:<owner>:schema:<name>:<version>#<pointer>" into
// "<name>.v<version>.schema.json#<pointer>". Any other reference stays.
func fileRef(ref string) string {
	urn, fragment, _ := strings.Cut(ref, "#")
	parts := strings.Split(urn, ":")
	if len(parts) != 5 || parts[0] != "urn" || parts[2] != "schema" {
		return ref
	}
	return parts[3] + ".v" + strings.TrimPrefix(parts[4], "v") + suffix + "#" + fragment
}
