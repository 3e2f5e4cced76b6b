package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/testkit"
)

// references are the normative shapes, and the schema of ours that has each.
var references = map[string]ID{
	"work-order.schema.json":             WorkOrder,
	"experiment-proposal-v2.schema.json": ExperimentProposal,
	"run-requested.schema.json":          RunRequested,
	"delivery-authority-v2.schema.json":  DeliveryAuthority,
}

// shared finds the folder "shared" that lies beside the repository.
func shared(t testing.TB, part string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	found := filepath.Join(filepath.Dir(dir), "shared", part)
	if _, err := os.Stat(found); err != nil {
		testkit.Absent(t, "the folder shared/"+part+" beside the repository")
	}
	return found
}

func reference(t testing.TB, name string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared(t, "schemas"), name))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// annotation reports whether a keyword only informs people.
func annotation(k string) bool {
	return slices.Contains([]string{"title", "description", "$comment", "examples"}, k) || strings.HasPrefix(k, "x-")
}

// structure is a schema without its annotations and without the order of what
// has none.
func structure(x any, names bool) any {
	switch x := x.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			if !names && annotation(k) {
				continue
			}
			e = structure(e, !names && slices.Contains([]string{"properties", "$defs", "dependentRequired"}, k))
			if list, ok := e.([]any); ok && !names && slices.Contains([]string{"required", "enum", "type"}, k) {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(quote(a), quote(b)) })
			}
			out[k] = e
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = structure(e, false)
		}
		return out
	}
	return x
}

func TestStructureOfReferences(t *testing.T) {
	t.Parallel()
	ours := documents(t)
	for name, id := range references {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			want := structure(reference(t, name), false)
			if diff := cmp.Diff(want, structure(ours[string(id)], false)); diff != "" {
				t.Errorf("not the structure of %s (-reference +ours):\n%s", name, diff)
			}
		})
	}
}

// texts collects what a schema says to people.
func texts(x any, names bool, into map[string]bool) {
	switch x := x.(type) {
	case map[string]any:
		for k, e := range x {
			if s, ok := e.(string); ok && !names && annotation(k) {
				into[s] = true
			}
			texts(e, !names && slices.Contains([]string{"properties", "$defs"}, k), into)
		}
	case []any:
		for _, e := range x {
			texts(e, false, into)
		}
	}
}

func TestWordsAreOurOwn(t *testing.T) {
	t.Parallel()
	theirs := map[string]bool{}
	for name := range references {
		texts(reference(t, name), false, theirs)
	}
	if len(theirs) < 50 {
		t.Fatalf("only %d texts in the references", len(theirs))
	}
	for stem, doc := range documents(t) {
		ours := map[string]bool{}
		texts(doc, false, ours)
		for s := range ours {
			if theirs[s] {
				t.Errorf("%s repeats %q", stem, s)
			}
		}
	}
}
