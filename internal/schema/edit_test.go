package schema

import (
	"strconv"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// edit is a change to a document: the member or item at a pointer becomes Put,
// or goes when Put is nil. "-" as the last token appends to an array.
type edit struct {
	At  string
	Put any
}

func apply(t testing.TB, v canon.Value, edits ...edit) canon.Value {
	t.Helper()
	x := v.Any()
	for _, e := range edits {
		tokens := strings.Split(e.At, "/")[1:]
		x = put(t, x, tokens, e.Put)
	}
	out, err := canon.From(x)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// null stands for a JSON null in an edit.
type null struct{}

func put(t testing.TB, x any, path []string, value any) any {
	t.Helper()
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
	last := len(path) == 1
	if _, ok := value.(null); ok && last {
		value = canon.Null()
	}
	switch x := x.(type) {
	case map[string]any:
		switch {
		case !last:
			x[name] = put(t, x[name], path[1:], value)
		case value == nil:
			delete(x, name)
		default:
			x[name] = value
		}
		return x
	case []any:
		if name == "-" {
			return append(x, value)
		}
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(x) {
			t.Fatalf("no item %s", name)
		}
		switch {
		case !last:
			x[i] = put(t, x[i], path[1:], value)
		case value == nil:
			return append(x[:i:i], x[i+1:]...)
		default:
			x[i] = value
		}
		return x
	}
	t.Fatalf("nothing at %s", name)
	return nil
}

// row of a table of documents: a sample with edits, and the failure it must
// have, or none.
type variant struct {
	name    string
	id      ID
	sample  string
	edits   []edit
	pointer string // of the failure
	rule    string // begins the rule; "" means that the document is valid
}

func (c variant) run(t *testing.T) {
	t.Helper()
	v := apply(t, sampleOf(t, c.id, c.sample), c.edits...)
	err := Validate(c.id, v)
	if c.rule == "" {
		if err != nil {
			e, _ := fault.As(err)
			t.Errorf("refused: %+v", e.Fields)
		}
		return
	}
	if !broken(err, c.pointer, c.rule) {
		e, _ := fault.As(err)
		if e == nil {
			t.Fatalf("accepted; want %s %s", c.pointer, c.rule)
		}
		t.Errorf("want %s %s, got %+v", c.pointer, c.rule, e.Fields)
	}
}

func runAll(t *testing.T, cases []variant) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}
