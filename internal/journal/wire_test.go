package journal

import (
	"bytes"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/ledger"
)

func TestWireAddsSeqAndTime(t *testing.T) {
	t.Parallel()
	e := parse(t, post(), person()).Stored(Fill{ID: "evt_" + ulid, Set: []canon.Member{textMember("message_id", "msg_"+ulid)}})
	if !bytes.Equal(value(t, e.Body).Canonical(), e.Body) {
		t.Errorf("stored form is not canonical: %s", e.Body)
	}
	got := Wire(ledger.Event{Seq: 12, TS: time.Date(2026, 1, 2, 5, 4, 5, 670_999_999, time.FixedZone("", 7200)), Body: e.Body})
	want := `{"seq":12,"ts":"2026-01-02T03:04:05.670Z",` + string(e.Body[1:])
	if string(got) != want {
		t.Errorf("wire form is %s, want %s", got, want)
	}
	if err := CheckWire(value(t, got)); err != nil {
		t.Errorf("wire form: %v", detail(err))
	}
	if n, ok := WireSeq(got); !ok || n != 12 {
		t.Errorf("WireSeq = %d, %v", n, ok)
	}
	for _, bad := range []string{"", "{}", `{"seq":0,"x":1}`, `{"seq":1}`, `{"ts":"","seq":3,}`} {
		if n, ok := WireSeq([]byte(bad)); ok {
			t.Errorf("WireSeq(%s) = %d", bad, n)
		}
	}
}

func TestReadersPassOnUnknownTypes(t *testing.T) {
	t.Parallel()
	if err := CheckWire(value(t, []byte(`{"type":"message.liked","v":7}`))); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"type":1}`, `"x"`} {
		if CheckWire(value(t, []byte(bad))) == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

func TestServerEvents(t *testing.T) {
	t.Parallel()
	long := string(bytes.Repeat([]byte("é"), 9000))
	ids := IDs{Event: "evt_" + ulid, Workspace: "ws_" + ulid, Run: "run_" + ulid, Lane: "lane_" + ulid}
	attempt := canon.Member{Name: "attempt", Value: canon.IntOf(1)}
	for _, p := range []Payload{
		AcceptedUntil(time.Unix(0, 0)), AcceptedUntil(time.Time{}), Started(), Progress("compare", long, 12.5), Progress("", "", -1),
		InputRequested("r", long, time.Unix(0, 0)), InputRequested("r", "", time.Time{}),
		ApprovalRequested("r", long, long, "operator-task-hil:x"), ApprovalDecided("r", true, "per_x", ""), ApprovalDecided("r", false, "per_x", "a"),
		CancelRequested("per_x", long), Cancelled(""), Completion{}.Payload(),
		Completion{Summary: long, CandidateID: "c", Outcome: "merged", TerminalRoot: "sha256:0", LandedCommit: "abc"}.Payload(),
		Failed("gate_blocked", long, false), Failed("", "", true), Expired(ByLease), Closed("lane_"+ulid, OutcomeDone),
	} {
		p.Members = append(p.Members, attempt)
		e, err := System(ids, p)
		if err != nil {
			t.Errorf("%s: %v", p.Type, detail(err))
			continue
		}
		if err := CheckWire(value(t, Wire(ledger.Event{Seq: 1, Body: e.Body}))); err != nil {
			t.Errorf("%s: %v", p.Type, detail(err))
		}
	}
	if _, err := System(ids, Payload{Type: WorkspaceCreated}); err == nil {
		t.Error("an event without what it needs is made")
	}
	if _, err := System(IDs{Workspace: "ws_" + ulid}, Payload{WorkspaceCreated, []canon.Member{textMember("name", "x")}}); err == nil {
		t.Error("an event without an id is made")
	}
}

func TestCompletionCarriesTheLanding(t *testing.T) {
	t.Parallel()
	want := Completion{Summary: "landed", CandidateID: "candidate-1", Outcome: "merged", TerminalRoot: "sha256:00", LandedCommit: "0123"}
	p := want.Payload()
	p.Members = append(p.Members, canon.Member{Name: "attempt", Value: canon.IntOf(1)})
	e, err := System(IDs{Event: "evt_" + ulid, Workspace: "ws_" + ulid, Run: "run_" + ulid, Lane: "lane_" + ulid}, p)
	if err != nil {
		t.Fatal(detail(err))
	}
	if got, ok := ReadCompletion(e.Body); !ok || got != want {
		t.Errorf("read %+v (%v), want %+v", got, ok, want)
	}
	if _, ok := ReadCompletion(Accepted(IDs{Event: "evt_" + ulid, Workspace: "ws_" + ulid}, ledger.NewDocument{}).Body); ok {
		t.Error("another event is read as a completion")
	}
}

func TestAcceptedNamesTheDocument(t *testing.T) {
	t.Parallel()
	doc := ledger.NewDocument{Kind: ledger.KindGate, Ref: "sha256:x", Body: []byte("{}")}
	e := Accepted(IDs{Event: "evt_" + ulid, Workspace: "ws_" + ulid, Run: "run_" + ulid}, doc)
	v := value(t, Wire(ledger.Event{Seq: 1, Body: e.Body}))
	if err := CheckWire(v); err != nil {
		t.Fatal(detail(err))
	}
	if v.Str("sha256") != canon.Sum(doc.Body).Hex() || v.Str("ref") != doc.Ref || v.Str("kind") != doc.Kind || e.RunID != "run_"+ulid {
		t.Errorf("event is %s", e.Body)
	}
}

func TestTheCatalogueIsClosed(t *testing.T) {
	t.Parallel()
	if n := len(Types()); n != 41 {
		t.Errorf("the catalogue has %d types, want 41", n)
	}
	if Known("message.liked") || !Known(RunRequested) {
		t.Error("what is known is not what the catalogue has")
	}
}
