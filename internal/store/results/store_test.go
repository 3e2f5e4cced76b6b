package results_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/history"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/store/results"
)

// measured makes a result of one attempt: n tells attempts apart.
func measured(t testing.TB, n int, change func(*result.Document)) result.Result {
	t.Helper()
	slot, round := n, n/2
	d := result.Document{
		Producer: result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"}, AttemptKey: "urn:benchx:attempt:41d3b2be28538f65:" + strconv.Itoa(n),
		Project: "demo", Source: result.Source{URI: "https://example.org/demo.git", Type: "git"}, Revision: result.Revision{Key: "c" + strconv.Itoa(n)},
		Benchmark: &result.Benchmark{Source: result.Source{URI: "https://example.org/demo.git"}, Revision: &result.Revision{Key: "c" + strconv.Itoa(n)}},
		Coordinates: result.Coordinates{
			Workload:          result.Workload{Name: "BM/1024"},
			Subject:           result.Subject{Name: "demo", Components: []result.Component{{Role: result.Primary}}},
			Quantity:          result.Quantity{Name: "wall-time", Unit: "s", Direction: result.LowerIsBetter},
			ComparisonContext: canon.MustFrom(map[string]any{"harness": map[string]string{"name": "go", "version": "1.26"}}),
			Environment:       result.Environment{Schema: "machine/v1", Identity: canon.MustFrom(map[string]string{"runner": "h"})},
		},
		Measurement: result.Measurement{Status: result.Success, Observations: result.Values(float64(n+1), float64(n+2), float64(n+3))},
		Procedure:   result.Procedure{Round: &round, Slot: &slot},
		Provenance: result.Provenance{
			RunKey: "run-1", StartedAt: time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC).Format(time.RFC3339), SubjectDirty: result.Unknown, BenchmarkDirty: result.Unknown,
		},
	}
	if change != nil {
		change(&d)
	}
	r, err := result.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t testing.TB, path string) *results.Store {
	t.Helper()
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s, err := results.Open(context.Background(), path, true, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// put brings results and returns how often each answer came.
func put(t testing.TB, s *results.Store, all ...result.Result) map[string]int {
	t.Helper()
	answers, err := s.Ingest(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, d := range answers {
		name := string(d.Answer)
		if d.Code != "" {
			name = string(d.Code)
		}
		out[name]++
	}
	return out
}

// TestTwentyFourResultsTwice: a batch that comes again changes nothing, also after
// the store was closed.
func TestTwentyFourResultsTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.db")
	s := open(t, path)
	var all []result.Result
	for n := range 24 {
		all = append(all, measured(t, n, nil))
	}
	if diff := cmp.Diff(map[string]int{"accepted": 24}, put(t, s, all...)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"duplicate": 24}, put(t, s, all...)); diff != "" {
		t.Error(diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if diff := cmp.Diff(map[string]int{"duplicate": 24}, put(t, s, all...)); diff != "" {
		t.Error(diff)
	}
	found, err := s.Series(t.Context(), results.Filter{})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d series, %v", len(found), err)
	}
	want := history.Values(&all[0])[0].Series
	if diff := cmp.Diff(want, found[0].Series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if l := found[0]; l.Points != 24 || l.Last.Minute() != 23 || len(l.Recent) != 24 || l.Recent[0] != 2 || l.Recent[23] != 25 {
		t.Errorf("%+v", l)
	}
	points, err := s.Points(t.Context(), want.Print)
	if err != nil || len(points) != 24 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	p := points[3]
	if p.Value != 5 || p.Revision != "c3" || p.SHA256 != all[3].Digest() || p.Result != all[3].Ref() || *p.Round != 1 || *p.Slot != 3 || p.RunKey != "run-1" || p.Dirty != result.Unknown {
		t.Errorf("%+v", p)
	}
}

// TestConflicts brings results that do not go together, in one batch and in
// several: the answers are the same, and what was there stays.
func TestConflicts(t *testing.T) {
	t.Parallel()
	first := measured(t, 0, nil)
	all := []result.Result{
		first,
		measured(t, 0, func(d *result.Document) { d.Measurement.Observations = result.Values(7) }),
		measured(t, 1, func(d *result.Document) { d.Coordinates.Quantity.Unit = "ms" }),
		measured(t, 2, func(d *result.Document) { d.AttemptKey, d.Coordinates.Workload.Name = first.AttemptKey, "BM/2048" }),
		measured(t, 0, func(d *result.Document) { d.Coordinates.Quantity.Name, d.Coordinates.Quantity.Unit = "peak-rss", "By" }),
		measured(t, 3, func(d *result.Document) { d.Project = ""; d.Coordinates.Quantity.Unit = "ms" }), // a project of its own
		measured(t, 4, func(d *result.Document) {
			d.Measurement = result.Measurement{Status: result.Failed, Reason: "harness.error"}
		}),
		first,
	}
	want := map[string]int{"accepted": 4, "duplicate": 1, "idempotency-conflict": 1, "unit-conflict": 1, "attempt-conflict": 1}
	whole := open(t, filepath.Join(t.TempDir(), "results.db"))
	if diff := cmp.Diff(want, put(t, whole, all...)); diff != "" {
		t.Errorf("in one batch (-want +got):\n%s", diff)
	}
	single := open(t, filepath.Join(t.TempDir(), "results.db"))
	got := map[string]int{}
	for _, r := range all {
		for answer, n := range put(t, single, r) {
			got[answer] += n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one by one (-want +got):\n%s", diff)
	}
	for _, s := range []*results.Store{whole, single} {
		head, err := s.Head(t.Context(), 10)
		if err != nil || len(head) != 4 || head[3].SHA256 != first.Digest() || !bytes.Equal(head[3].Body, first.Raw()) || head[1].Project != "local/h" {
			t.Errorf("%d results, %v", len(head), err)
		}
		for f, n := range map[results.Filter]int{{}: 3, {Workload: "1024"}: 3, {Workload: "none"}: 0, {Quantity: "peak-rss"}: 1, {Quantity: "peak"}: 0, {Project: "local/h"}: 1} {
			if found, err := s.Series(t.Context(), f); err != nil || len(found) != n {
				t.Errorf("%+v: %d series, %v", f, len(found), err)
			}
		}
		failed, err := s.Unfinished(t.Context(), history.Comparison(&all[6]))
		if err != nil || len(failed) != 1 || failed[0].SHA256 != all[6].Digest() {
			t.Errorf("%d without a value, %v", len(failed), err)
		}
	}
}

func TestFindingASeries(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "results.db"))
	seen := map[string]string{} // first digit -> digest
	twice := ""
	for n := 0; twice == ""; n++ {
		r := measured(t, n, func(d *result.Document) { d.Coordinates.Workload.Name = "w" + strconv.Itoa(n) })
		put(t, s, r)
		print := history.Values(&r)[0].Series.Print.Hex()
		if _, ok := seen[print[:1]]; ok {
			twice = print[:1]
		}
		seen[print[:1]] = print
	}
	whole := seen[twice]
	if l, err := s.Find(t.Context(), whole); err != nil || l.Print.Hex() != whole {
		t.Errorf("%v", err)
	}
	if _, err := s.Find(t.Context(), twice); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a beginning of two: %v", err)
	}
	for _, none := range []string{whole + "0", "x", whole[:63] + "%"} {
		if _, err := s.Find(t.Context(), none); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", none, err)
		}
	}
}

// TestTwoWritersOfOneFile: each result is accepted once, whoever comes first.
func TestTwoWritersOfOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.db")
	var all []result.Result
	for n := range 40 {
		all = append(all, measured(t, n, nil))
	}
	stores := []*results.Store{open(t, path), open(t, path)}
	counts := make([]map[string]int, 2)
	var writers sync.WaitGroup
	for i, s := range stores {
		writers.Go(func() {
			counts[i] = map[string]int{}
			for _, r := range all {
				answers, err := s.Ingest(t.Context(), []result.Result{r})
				if err != nil {
					t.Error(err)
					return
				}
				counts[i][string(answers[0].Answer)]++
			}
		})
	}
	writers.Wait()
	if a, b := counts[0], counts[1]; a["accepted"]+b["accepted"] != 40 || a["duplicate"]+b["duplicate"] != 40 {
		t.Errorf("%v and %v", a, b)
	}
}

// sampleOrder is an order of one entry.
func sampleOrder(t *testing.T) order.Order {
	t.Helper()
	o, err := order.Build(order.BuildParams{
		RunKey: "run-1", Side: "baseline", Requester: order.Requester{Kind: order.Person, Name: "ann"},
		Suites: []order.Suite{{Adapter: "gobench", Suite: "x"}}, Quantities: []string{"wall-time"},
		Target:    order.Target{Kind: order.BuildTree, Path: "/x", Source: order.Source{URI: "https://example.org/demo.git"}},
		Precision: order.Precision{Repetitions: order.Times(1)}, Timeouts: order.Timeouts{CaseS: 1, OrderS: 1},
		Plan: []order.Entry{{ID: "p0", Case: "a", Quantity: "wall-time"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOrdersAreKept(t *testing.T) {
	t.Parallel()
	o, s := sampleOrder(t), open(t, filepath.Join(t.TempDir(), "results.db"))
	for range 2 {
		if _, err := s.Ingest(t.Context(), nil, o); err != nil {
			t.Fatal(err)
		}
	}
	if raw, err := s.Order(t.Context(), o.Digest()); err != nil || !bytes.Equal(raw, o.Value().Canonical()) {
		t.Errorf("%s, %v", raw, err)
	}
	if _, err := s.Order(t.Context(), canon.Digest{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an order that never came: %v", err)
	}
}

// raw opens the file behind a store, to do to it what a store never does.
func raw(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	res, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n == 0 {
		t.Fatalf("%s changed nothing", statement)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestChangedBytesAreNotShown: a stored document is what its digest says, or an
// error.
func TestChangedBytesAreNotShown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.db")
	s := open(t, path)
	r := measured(t, 0, nil)
	put(t, s, r)
	changed := bytes.Replace(r.Raw(), []byte("[1,2,3]"), []byte("[1,2,9]"), 1)
	if bytes.Equal(changed, r.Raw()) {
		t.Fatal("nothing was changed")
	}
	raw(t, path, "UPDATE results SET body = ?", changed)
	if _, err := s.Head(t.Context(), 1); fault.CodeOf(err) != fault.Corrupt {
		t.Errorf("a changed document: %v", err)
	}
	raw(t, path, `UPDATE series SET estimator = '{"name":'`)
	if _, err := s.Series(t.Context(), results.Filter{}); fault.CodeOf(err) != fault.Corrupt {
		t.Errorf("a changed series: %v", err)
	}
}

func TestOpening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "below", "results.db")
	if _, err := results.Open(t.Context(), path, false, nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a store that is not there: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("looking for a store made a folder")
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	raw(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (77, 1)")
	if _, err := results.Open(t.Context(), path, false, nil); fault.CodeOf(err) != fault.Schema {
		t.Errorf("a newer schema: %v", err)
	}
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, bytes.Repeat([]byte("not a database. "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Open(t.Context(), junk, true, nil); fault.CodeOf(err) != fault.Corrupt {
		t.Errorf("another file: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, filepath.Join(dir, "c.db")).Ingest(ended, nil); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestReleasedMigrationsNeverChange pins every migration: one that has run
// somewhere cannot be edited, only followed by another.
func TestReleasedMigrationsNeverChange(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, line := range pinned {
		want[line[0]] = line[1]
	}
	got := map[string]string{}
	files, err := fs.Glob(results.Migrations, "migrations/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := fs.ReadFile(results.Migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		got[name] = hex.EncodeToString(sum[:])
		if bytes.Contains(b, []byte("+goose Down")) {
			t.Errorf("%s goes backwards", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("migrations (-pinned +here):\n%s", diff)
	}
}

var pinned = [][2]string{{"migrations/00001_results.sql", "5700705530d937dc6973937cd518ffce9caa92396aaf23481b0db7a65291f689"}}

// BenchmarkIngest stores batches of a thousand results that were parsed before.
func BenchmarkIngest(b *testing.B) {
	const batch = 1000
	s := open(b, filepath.Join(b.TempDir(), "results.db"))
	n := 0
	for b.Loop() {
		b.StopTimer()
		all := make([]result.Result, batch)
		for i := range all {
			all[i] = measured(b, n, func(d *result.Document) {
				d.Coordinates.Workload.Name = fmt.Sprintf("BM/%d", n%100)
				d.Provenance.StartedAt = "2026-01-01T00:00:00Z"
			})
			n++
		}
		b.StartTimer()
		if got := put(b, s, all...); got["accepted"] != batch {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "results/s")
}

func TestCheckFindsWhatWasChanged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		statement string
		want      string // of the one finding
	}{
		"nothing":    {"", ""},
		"a document": {"UPDATE results SET body = x'7b7d' WHERE id = 1", "its bytes have another digest"},
		"a value":    {"UPDATE points SET value = 9 WHERE result = 2", "has 9, not 3"},
		"a point":    {"DELETE FROM points WHERE result = 2", "it has 0 points, not 1"},
		"an order":   {"UPDATE orders SET body = x'7b7d'", "its bytes have another digest"},
		"a page":     {"DROP INDEX results_key; PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'results_comparison'", "file: "},
	} {
		path := filepath.Join(t.TempDir(), "results.db")
		s := open(t, path)
		put(t, s, measured(t, 0, nil), measured(t, 1, nil))
		if _, err := s.Ingest(t.Context(), nil, sampleOrder(t)); err != nil {
			t.Fatal(err)
		}
		if tc.statement != "" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			raw(t, path, tc.statement)
			s = open(t, path)
		}
		found, err := s.Check(t.Context())
		if name == "a page" && fault.CodeOf(err) == fault.Corrupt {
			continue // so damaged that it cannot be read on
		}
		if err != nil || tc.want == "" && len(found) > 0 || tc.want != "" && (len(found) == 0 || !strings.Contains(found[0], tc.want)) {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
}
