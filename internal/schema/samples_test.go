package schema

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// sample is a valid document of one schema, from testdata/valid.
type sample struct {
	id    ID
	name  string
	raw   []byte
	value canon.Value
}

func samples(t testing.TB) []sample {
	t.Helper()
	var all []sample
	root := os.DirFS("testdata/valid")
	names, err := fs.Glob(root, "*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		raw, err := fs.ReadFile(root, n)
		if err != nil {
			t.Fatal(err)
		}
		v, err := canon.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		all = append(all, sample{ID(path.Dir(n)), strings.TrimSuffix(path.Base(n), ".json"), raw, v})
	}
	return all
}

func sampleOf(t testing.TB, id ID, name string) canon.Value {
	t.Helper()
	for _, s := range samples(t) {
		if s.id == id && s.name == name {
			return s.value
		}
	}
	t.Fatalf("no sample %s of %s", name, id)
	return canon.Value{}
}

func TestEverySchemaHasAValidSample(t *testing.T) {
	t.Parallel()
	seen := map[ID]bool{}
	for _, s := range samples(t) {
		seen[s.id] = true
		if err := Validate(s.id, s.value); err != nil {
			e, _ := fault.As(err)
			t.Errorf("%s/%s: %v\n%+v", s.id, s.name, err, e.Fields)
		}
	}
	for _, id := range IDs() {
		if !seen[id] {
			t.Errorf("%s has no sample", id)
		}
	}
}

// TestMissingAndUnknownMembers takes every required member out of every sample
// and puts a strange one in.
func TestMissingAndUnknownMembers(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		var doc struct {
			Required             []string `json:"required"`
			AdditionalProperties any      `json:"additionalProperties"`
		}
		if err := json.Unmarshal(Raw(s.id), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Required) == 0 {
			t.Errorf("%s requires nothing", s.id)
		}
		for _, name := range doc.Required {
			err := Validate(s.id, s.value.Without(name))
			if !broken(err, canon.PointerTo("", name), "is required") {
				t.Errorf("%s/%s without %s: %v", s.id, s.name, name, err)
			}
		}
		err := Validate(s.id, s.value.With("strange~/member", canon.Null()))
		switch {
		case doc.AdditionalProperties == nil:
			if err != nil {
				t.Errorf("%s/%s is open but refuses a new member: %v", s.id, s.name, err)
			}
		case !broken(err, "/strange~0~1member", "is not a known member"):
			t.Errorf("%s/%s with a strange member: %v", s.id, s.name, err)
		}
		for _, other := range []canon.Value{canon.Null(), canon.IntOf(1), canon.StringOf("x"), canon.ArrayOf(s.value)} {
			if !broken(Validate(s.id, other), "", "must be an object") {
				t.Errorf("%s takes %s", s.id, other.Kind())
			}
		}
	}
}

// broken reports whether err lists a failure at the pointer with the rule.
func broken(err error, pointer, rule string) bool {
	e, ok := fault.As(err)
	if !ok || e.Code != fault.Invalid {
		return false
	}
	for _, f := range e.Fields {
		if f.Pointer == pointer && strings.HasPrefix(f.Rule, rule) {
			return true
		}
	}
	return false
}
