// Package schema holds the JSON Schemas of every document that Writ reads or
// writes, and validates values against them.
//
// Invariants: the schemas are embedded and never loaded from anywhere else;
// formats are asserted; white space means what ECMAScript means by it; the same
// value always gives the same failures in the same order. The first use of a
// schema compiles it, once; nothing happens before.
//
// The package says whether a value has the right shape, and nothing more: it
// computes no digest, checks no signature, compares no documents and does not
// know what time it is.
package schema

import (
	"embed"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"writ/internal/canon"
	"writ/internal/fault"
)

//go:embed files/*.schema.json
var files embed.FS

const suffix = ".schema.json"

// compiled is a schema, ready for use: what is not made yet is made at first use.
type compiled struct {
	quick func() *acceptor // nil when the schema has a rule that no acceptor knows
	full  func() (*jsonschema.Schema, error)
}

var catalogue = sync.OnceValue(func() map[ID]compiled {
	c := newCompiler(files)
	all := map[ID]compiled{}
	for _, id := range list(files) {
		all[id] = compiled{
			quick: sync.OnceValue(func() *acceptor { return acceptorOf(base+string(id)+suffix+"#", source) }),
			full:  sync.OnceValues(func() (*jsonschema.Schema, error) { return c.compile(id) }),
		}
	}
	return all
})

// list returns the ids of the documents among the embedded files. A file named
// defs.… holds shared definitions only: it describes no document.
func list(fsys fs.FS) []ID {
	names, err := fs.Glob(fsys, "files/*"+suffix)
	if err != nil {
		return nil
	}
	ids := make([]ID, 0, len(names))
	for _, n := range names {
		stem := strings.TrimSuffix(strings.TrimPrefix(n, "files/"), suffix)
		if !strings.HasPrefix(stem, "defs.") {
			ids = append(ids, ID(stem))
		}
	}
	return ids
}

// IDs returns all schemas in alphabetical order.
func IDs() []ID {
	ids := list(files)
	slices.Sort(ids)
	return ids
}

// Has reports whether there is a schema called id.
func Has(id ID) bool {
	_, err := fs.Stat(files, "files/"+string(id)+suffix)
	return err == nil && !strings.HasPrefix(string(id), "defs.")
}

// Raw returns the text of a schema as it is published, or nil when there is
// none called id. The bytes are the caller's own.
func Raw(id ID) []byte {
	if !Has(id) {
		return nil
	}
	b, err := files.ReadFile("files/" + string(id) + suffix)
	if err != nil {
		return nil
	}
	return b
}

// Prepare does what the first validation of a value that is valid would have to
// do, so that it takes no longer than the others. Without it that happens by itself.
func Prepare(id ID) {
	if c, ok := catalogue()[id]; ok {
		c.quick()
	}
}

// Validate checks v against a schema. A value of the wrong shape is
// fault.Invalid: Fields lists every failure (the first thousand), each with the JSON pointer of the
// value (or of the missing or unknown member), the rule in plain words and what
// was found; the first one is repeated in Pointer and Public. A failure that
// says "this is another kind of document" comes first, then the ones deepest in
// the document. An id that does not exist is fault.UnknownKind.
func Validate(id ID, v canon.Value) error {
	c, ok := catalogue()[id]
	if !ok {
		return fault.New(fault.UnknownKind, "validate", "no schema called %q", string(id))
	}
	if a := c.quick(); a != nil && a.accepts(v) {
		return nil
	}
	s, err := c.full()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "validate", "schema %s does not compile", id)
	}
	return check(id, s, v)
}

func check(id ID, s *jsonschema.Schema, v canon.Value) error {
	err := s.Validate(v.Any())
	if err == nil {
		return nil
	}
	fields := explain(err, v)
	first := fields[0]
	public := first.Rule
	if first.Pointer == "" {
		public = "the document " + public
	}
	if n := len(fields) - 1; n > 0 {
		public += ", and " + strconv.Itoa(n) + " more"
	}
	e := fault.New(fault.Invalid, "validate "+string(id), "%s", public).At(first.Pointer)
	e.Fields = fields
	return e
}
