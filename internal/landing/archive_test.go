package landing

import (
	"slices"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// An ended chain leaves whole and comes back whole, so that the next attempt
// names its predecessor and the document stays valid for every reader.
func TestArchivedChainComesBack(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		first := *k.submit(1, "a").Candidate
		if _, err := k.end(first, Cancelled, nil); err != nil {
			t.Fatal(err)
		}
		k.tick(1)
		second := *k.submit(1, "a").Candidate
		k.submit(2, "b")
		k.wants(NothingToArchive)(Archive(k.s, ArchiveParams{}, k.now)) // the chain still has a live attempt
		k.tick(1)
		if _, err := k.end(second, Dequeued, nil); err != nil {
			t.Fatal(err)
		}
		k.wants(NothingToArchive)(Archive(k.s, ArchiveParams{Before: At(k.now)}, k.now))
		k.tick(1)
		gone := k.wants(Archiving)(Archive(k.s, ArchiveParams{Before: At(k.now)}, k.now))
		if len(k.s.Candidates) != 1 || len(gone.Archived) != 1 || len(gone.Archived[0].Candidates) != 2 {
			t.Fatalf("%d left, archived %+v", len(k.s.Candidates), gone.Archived)
		}
		kept := must(ParseArchived(must(gone.Archived[0].Value())(t)))(t)

		// A late event of an archived attempt is known, with the chain at hand.
		e := object(text("schema", "test/v1"))
		p := SettleParams{PullRequestNumber: 1, SourceHead: second.SourceHead, Outcome: Dequeued, Evidence: e}
		k.wants(SettleNotApplicable)(Settle(k.s, p, k.now))
		p.Archived = &kept
		_, err := Settle(k.s, p, k.now)
		refuses(t, fault.Terminal, err)
		p.Evidence, p.EvidenceRoot = canon.Null(), kept.Candidates[1].Terminal.EvidenceRoot
		late := k.wants(SettledDuplicate)(Settle(k.s, p, k.now))
		if late.Changed {
			t.Fatal("a late event changed the document")
		}

		k.tick(1)
		third := k.wants(Submitted)(Submit(k.s, SubmitParams{Submission: k.change(1, "a"), Archived: &kept, KeepAge: true}, k.now))
		if third.Candidate.PredecessorCandidateID != second.CandidateID || third.Candidate.EnqueuedAt != second.EnqueuedAt ||
			len(third.Restored) != 1 || len(k.s.Candidates) != 4 {
			t.Fatalf("%+v, %d candidates", third.Candidate, len(k.s.Candidates))
		}
		k.wants(SubmitDuplicate)(Submit(k.s, SubmitParams{Submission: k.change(1, "a"), Archived: &kept}, k.now))
	})
}

// A kept chain that was changed does not come back.
func TestForgedArchiveIsRefused(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		for n := int64(1); n <= 2; n++ {
			c := *k.submit(n, "a").Candidate
			if _, err := k.end(c, Cancelled, nil); err != nil {
				t.Fatal(err)
			}
		}
		k.sweep()
		good := k.archive[1]
		reroot := func(a Archived) Archived {
			a.Root = ""
			v := must(a.Value())(t)
			return must(ParseArchived(v))(t)
		}
		for name, forge := range map[string]func(Archived) Archived{
			"no root":        func(a Archived) Archived { a.Root = ""; return a },
			"wrong root":     func(a Archived) Archived { a.StateRoot = root("0"); return a },
			"other change":   func(Archived) Archived { return k.archive[2] },
			"empty identity": func(a Archived) Archived { a.Candidates = []Candidate{k.archive[2].Candidates[0]}; return reroot(a) },
			"other head": func(a Archived) Archived {
				c := a.Candidates[0]
				c.SourceRoot = root("0")
				a.Candidates = []Candidate{c}
				return reroot(a)
			},
			"live attempt": func(a Archived) Archived {
				c := a.Candidates[0]
				c.Status, c.Terminal = Queued, nil
				a.Candidates = []Candidate{c}
				return reroot(a)
			},
			"other repository": func(a Archived) Archived { a.Repository = "acme/gadgets"; return reroot(a) },
		} {
			bad := forge(good)
			if _, err := Submit(k.s, SubmitParams{Submission: k.change(1, "a"), Archived: &bad}, k.now); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		v := must(good.Value())(t)
		_, err := ParseArchived(v.With("archivedAt", canon.StringOf("2027-01-01T00:00:00.000Z")))
		refuses(t, fault.RootDrift, err)
	})
}

// landMany lands n changes one after the other, sweeping after each.
func landMany(k *desk, from, n int64) {
	for c := from; c < from+n; c++ {
		k.submit(c, "a")
		k.qualify()
		k.land()
		k.admit()
		k.tick(1)
		k.settle(Merged)
		k.sweep()
	}
}

// TestCostDoesNotGrow lands four hundred changes and holds the document's size.
func TestCostDoesNotGrow(t *testing.T) {
	t.Parallel()
	k := newDesk(t, Writ1, policy(2, 2, 3))
	k.light = true
	landMany(k, 1, 200)
	small := len(must(k.s.Value())(t).Canonical())
	landMany(k, 201, 200)
	large := len(must(k.s.Value())(t).Canonical())
	if large > small+16 {
		t.Fatalf("the document grew from %d to %d bytes", small, large)
	}
	if len(k.archive) != 400 || len(k.s.Candidates) != 0 {
		t.Fatalf("%d archived, %d left", len(k.archive), len(k.s.Candidates))
	}
}

// BenchmarkHistory lands ten thousand changes per round and reports what one
// transition costs at the beginning and at the end of the history: the median of
// a window of changes, divided by the transitions of one change.
func BenchmarkHistory(b *testing.B) {
	const changes, window, steps = 10_000, 500, 7
	for b.Loop() {
		k := newDesk(b, Writ1, policy(2, 2, 3))
		k.light = true
		measure := func(from int64) float64 {
			times := make([]time.Duration, window)
			for i := range times {
				start := time.Now()
				landMany(k, from+int64(i), 1)
				times[i] = time.Since(start)
			}
			slices.Sort(times)
			return float64(times[window/2].Nanoseconds()) / steps
		}
		first := measure(1)
		landMany(k, window+1, changes-2*window)
		last := measure(changes - window + 1)
		b.ReportMetric(first, "ns/first-transition")
		b.ReportMetric(last, "ns/last-transition")
		b.ReportMetric(last/first, "last/first")
	}
}

// BenchmarkTransition is one heartbeat in a document with a busy queue.
func BenchmarkTransition(b *testing.B) {
	k := newDesk(b, Writ1, policy(4, 2, 3))
	k.light = true
	for n := int64(1); n <= 50; n++ {
		s := k.change(n, "")
		s.QualificationDomains = []string{rootOf(n)}
		k.must(Submit(k.s, SubmitParams{Submission: s}, k.now))
	}
	f := k.lease().Lease.Fence()
	for b.Loop() {
		k.now = k.now.Add(time.Millisecond)
		k.must(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now))
	}
}
