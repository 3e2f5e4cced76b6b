//go:build !race

package e2e

import (
	"path/filepath"
	"testing"

	"writ/internal/history"
	"writ/internal/ledger"
	"writ/internal/result"
	"writ/internal/store/results"
)

// stored brings the results of a docket to a store: all are taken, and both sides in
// all rounds are of one series for each case.
func (x exhibit) stored(t *testing.T) {
	store, err := results.Open(t.Context(), filepath.Join(t.TempDir(), "results.db"), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var found []result.Result
	cases := map[string]bool{}
	for _, d := range x.b.Documents {
		if d.Kind != ledger.KindResult {
			continue
		}
		r, refused := history.Read([]byte(d.Body))
		if refused.Answer != "" {
			t.Fatalf("%s: %+v", d.Ref, refused)
		}
		found = append(found, r)
		cases[r.Coordinates.Workload.Name] = true
	}
	for _, want := range []history.Answer{history.Accepted, history.Duplicate} {
		answers, err := store.Ingest(t.Context(), found)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			if a.Answer != want {
				t.Errorf("%s: %+v", found[i].IngestKey, a)
			}
		}
	}
	lines, err := store.Series(t.Context(), results.Filter{})
	if err != nil || len(found) == 0 || len(lines) != len(cases) {
		t.Errorf("%d series of %d results of %d cases, %v", len(lines), len(found), len(cases), err)
	}
	if broken, err := store.Check(t.Context()); err != nil || len(broken) > 0 {
		t.Errorf("%q, %v", broken, err)
	}
}
