package gitcmd_test

import (
	"slices"
	"strings"
	"testing"

	"writ/internal/fault"
)

// Side branches are not on the line; what they brought is in the merge.
func TestFirstParents(t *testing.T) {
	t.Parallel()
	r := bare(t)
	a := commit(t, r, map[string]string{"f": "a"})
	b := commit(t, r, map[string]string{"f": "b"}, a)
	side := commit(t, r, map[string]string{"g": "s"}, a)
	merge := commit(t, r, map[string]string{"g": "s"}, b, side)
	c := commit(t, r, map[string]string{"f": "c"}, merge)
	for name, x := range map[string]struct {
		from, to string
		want     []string
	}{
		"all":        {a, c, []string{a, b, merge, c}},
		"neighbours": {b, merge, []string{b, merge}},
		"a side":     {a, side, []string{a, side}},
	} {
		if got, err := r.FirstParents(t.Context(), x.from, x.to); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, x.want)
		}
	}
	for name, x := range map[string][2]string{"backwards": {c, a}, "the same": {b, b}, "from a side branch": {side, c}} {
		_, err := r.FirstParents(t.Context(), x[0], x[1])
		wantCode(t, err, fault.Relation)
		if !strings.Contains(err.Error(), "line of first parents") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := r.FirstParents(t.Context(), "main", c)
	wantCode(t, err, fault.Invalid)
	_, err = r.FirstParents(t.Context(), strings.Repeat("1", 40), c)
	if err == nil {
		t.Error("a commit that is not there is on the line")
	}
	if title, err := r.Title(t.Context(), c); err != nil || title != "change" {
		t.Errorf("title %q, %v", title, err)
	}
	tree, err := r.TreeOf(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Title(t.Context(), tree)
	wantCode(t, err, fault.Invalid)
}
