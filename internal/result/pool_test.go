package result

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
)

// Sharing changes nothing that a result says, shares what is equal, and keeps apart
// what is not.
func TestSharedPartsSayTheSame(t *testing.T) {
	t.Parallel()
	read := func(kernel string) Result {
		d := sample(t)
		d.Coordinates.Environment.System = canon.MustFrom(map[string]any{"kernel": kernel, "cores": []int{1, 2}})
		built, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Parse(built.Raw())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var pool Pool
	first, second, other := read("6.1"), read("6.1"), read("6.2")
	before := []string{text(t, first), text(t, second), text(t, other)}
	for _, r := range []*Result{&first, &second, &other} {
		pool.Share(r)
	}
	if diff := cmp.Diff(before, []string{text(t, first), text(t, second), text(t, other)}); diff != "" {
		t.Error(diff)
	}
	name := func(r Result) *byte {
		s, _ := r.Coordinates.Environment.System.Members()[0].Value.String()
		if r.Coordinates.Environment.System.Members()[0].Value.Kind() != canon.String {
			s, _ = r.Coordinates.Environment.System.Members()[1].Value.String()
		}
		return unsafe.StringData(s)
	}
	if name(first) != name(second) {
		t.Error("two results of one place have two copies of it")
	}
	if name(first) == name(other) {
		t.Error("two places became one")
	}
}

func text(t *testing.T, r Result) string {
	t.Helper()
	b, err := canon.Marshal(r.Document)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + r.Digest().Hex() + string(r.Raw())
}
