package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
	"writ/internal/ledger"
)

// put writes cells and nothing else.
func put(cells ...ledger.CellWrite) ledger.Commit {
	return ledger.Commit{Workspace: ws, Now: noon, Cells: cells}
}

func cellsCompareAndSet(t *testing.T, f *fixture) {
	_, err := f.Cell(t.Context(), ws, ledger.CellRun, "a")
	f.code(err, fault.NotFound)
	f.refuse(fault.Conflict, put(cell("a", 1, "early")))
	f.commit(put(cell("a", 0, "one")))
	e := f.refuse(fault.Conflict, put(cell("a", 0, "again")))
	if e.Get("kind") != ledger.CellRun || e.Get("key") != "a" || e.Get("version") != "1" {
		t.Errorf("the refusal names %v", e.Data)
	}
	f.commit(put(cell("a", 1, "two")))
	f.refuse(fault.Conflict, put(cell("a", 1, "late")))
	f.commit(put(cell("a", ledger.AnyVersion, "three")))
	f.commit(put(cell("b", ledger.AnyVersion, "one")))
	f.reopen()
	want := ledger.Cell{Kind: ledger.CellRun, Key: "a", State: "open", Version: 3, Value: []byte("three")}
	got, err := f.Cell(t.Context(), ws, ledger.CellRun, "a")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = f.Cell(t.Context(), ws, ledger.CellLane, "a")
	f.code(err, fault.NotFound)
	f.commit(put(ledger.CellWrite{Kind: ledger.CellRun, Key: "empty"}))
	if c, err := f.Cell(t.Context(), ws, ledger.CellRun, "empty"); err != nil || c.Version != 1 || len(c.Value) != 0 {
		t.Errorf("a cell without a value: %+v, %v", c, err)
	}
}

func deletedCellsKeepCounting(t *testing.T, f *fixture) {
	gone := func(key string, expect int64) ledger.CellWrite {
		return ledger.CellWrite{Kind: ledger.CellRun, Key: key, Expect: expect, Delete: true}
	}
	f.commit(put(cell("a", 0, "one")))
	f.refuse(fault.Conflict, put(gone("a", 2)))
	f.commit(put(gone("a", 1)))
	_, err := f.Cell(t.Context(), ws, ledger.CellRun, "a")
	f.code(err, fault.NotFound)
	f.refuse(fault.Conflict, put(cell("a", 2, "on a deleted one")))
	f.commit(put(gone("a", ledger.AnyVersion), gone("never", ledger.AnyVersion), gone("never too", 0)))
	f.reopen()
	f.commit(put(cell("a", 0, "two"))) // it does not exist, so it can be made
	if c, err := f.Cell(t.Context(), ws, ledger.CellRun, "a"); err != nil || c.Version != 3 {
		t.Errorf("made again as %+v, %v; want version 3", c, err)
	}
	all, err := f.Cells(t.Context(), ws, ledger.CellFilter{Kind: ledger.CellRun})
	if err != nil || len(all) != 1 {
		t.Errorf("%d cells, %v; want 1", len(all), err)
	}
	f.sound()
}

func cellsAreFiltered(t *testing.T, f *fixture) {
	for i, key := range []string{"b/2", "a", "b/1", "b", "c", "é/1", "b/\U0010FFFF", "B/1"} {
		w := cell(key, 0, "")
		if i%2 == 1 {
			w.State = "done"
		}
		f.commit(put(w, ledger.CellWrite{Kind: ledger.CellLane, Key: key}))
	}
	f.commit(put(ledger.CellWrite{Kind: ledger.CellRun, Key: "c", Expect: 1, Delete: true}))
	for _, test := range []struct {
		state, prefix string
		want          []string
	}{
		{"", "", []string{"B/1", "a", "b", "b/1", "b/2", "b/\U0010FFFF", "é/1"}},
		{"", "b/", []string{"b/1", "b/2", "b/\U0010FFFF"}},
		{"done", "", []string{"B/1", "a", "b", "é/1"}},
		{"open", "", []string{"b/1", "b/2", "b/\U0010FFFF"}},
		{"done", "b", []string{"b"}},
		{"", "é", []string{"é/1"}},
		{"", "x", nil},
		{"lost", "", nil},
	} {
		got, err := f.Cells(t.Context(), ws, ledger.CellFilter{Kind: ledger.CellRun, State: test.state, Prefix: test.prefix})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, c := range got {
			keys = append(keys, c.Key)
			one, err := f.Cell(t.Context(), ws, ledger.CellRun, c.Key)
			if diff := cmp.Diff(one, c, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%s differs from the list: %v\n%s", c.Key, err, diff)
			}
		}
		if diff := cmp.Diff(test.want, keys); diff != "" {
			t.Errorf("state %q, prefix %q (-want +got):\n%s", test.state, test.prefix, diff)
		}
	}
	_, err := f.Cells(t.Context(), ws, ledger.CellFilter{})
	f.code(err, fault.Invalid)
}

// oneWinnerPerVersion lets a crowd fight for the same cell: each version has
// one writer, and the losers wrote nothing at all.
func oneWinnerPerVersion(t *testing.T, f *fixture) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := map[int64]string{}
	for g := range crowd {
		wg.Go(func() {
			for n := range 6 {
				version := int64(n)
				c := appending(1)
				c.Cells = []ledger.CellWrite{cell("fence", version, fmt.Sprint(g))}
				switch _, err := f.Commit(t.Context(), c); fault.CodeOf(err) {
				case "":
					mu.Lock()
					if other, taken := won[version]; taken {
						t.Errorf("version %d was won by %s and %d", version, other, g)
					}
					won[version] = fmt.Sprint(g)
					mu.Unlock()
				case fault.Conflict:
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c, err := f.Cell(t.Context(), ws, ledger.CellRun, "fence")
	if err != nil || c.Version != int64(len(won)) || string(c.Value) != won[c.Version-1] {
		t.Errorf("the cell is %+v, %v; won: %v", c, err, won)
	}
	if f.head() != int64(len(won)) {
		t.Errorf("%d events for %d winners", f.head(), len(won))
	}
}
