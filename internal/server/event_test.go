package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	head := w.state().Heads[w.ws]

	first := w.ask(me, "POST", "/v1/events", message("k", "hello")).expect(t, 201)
	if got := first.header.Get("Writ-Seq"); got != strconv.FormatInt(head+1, 10) || first.header.Get("Writ-Replayed") != "" || first.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", first.header)
	}
	var e struct {
		Seq   int64
		TS    string
		ID    string
		Actor struct{ Kind, ID string }
		Body  string
		WS    string `json:"workspace_id"`
	}
	first.read(t, &e)
	if e.Seq != head+1 || e.Actor.ID != w.ann.ID || e.Actor.Kind != "person" || e.Body != "hello" || e.WS != w.ws || len(e.TS) != len("2006-01-02T15:04:05.000Z") {
		t.Errorf("wire form %s", first.body)
	}

	again := w.ask(me, "POST", "/v1/events", message("k", "hello")).expect(t, 200)
	if again.header.Get("Writ-Replayed") != "true" || again.header.Get("Writ-Seq") != first.header.Get("Writ-Seq") || !bytes.Equal(again.body, first.body) {
		t.Errorf("replay %v\n%s", again.header, again.body)
	}
	other := w.ask(me, "POST", "/v1/events", message("k", "other")).refused(t, 409, "idempotency_conflict")
	if other.Data["event_id"] != e.ID || other.Data["seq"] != first.header.Get("Writ-Seq") {
		t.Errorf("the conflict names %v, the first event is %s", other.Data, e.ID)
	}
	w.ask(w.admin.token.Text, "POST", "/v1/events", message("k", "other")).expect(t, 201) // keys belong to whoever chose them

	taken := w.ask(me, "POST", "/v1/events", message("k2", "hello", `"id":"`+e.ID+`"`)).refused(t, 409, "event_id_conflict")
	if taken.Data["seq"] != first.header.Get("Writ-Seq") {
		t.Errorf("the conflict names %v", taken.Data)
	}
	if got := w.ask(me, "GET", "/v1/events/"+e.ID, nil).expect(t, 200); strings.TrimSpace(string(got.body)) != string(first.body) {
		t.Errorf("read by id: %s", got.body)
	}
}

func TestPreferMinimal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i, c := range []struct {
		prefer  []string
		minimal bool
	}{
		{[]string{"return=minimal"}, true}, {[]string{"RETURN = Minimal"}, true}, {[]string{`respond-async, return="minimal"; x=1`}, true}, {[]string{"wait=5", "return=minimal"}, true},
		{[]string{"return=representation"}, false}, {[]string{"return=representation, return=minimal"}, false}, {[]string{"minimal"}, false}, {nil, false},
	} {
		var header []string
		for _, p := range c.prefer {
			header = append(header, "Prefer", p)
		}
		key := strconv.Itoa(i)
		for _, replayed := range []bool{false, true} {
			r := w.ask(w.ann.token.Text, "POST", "/v1/events", message(key, "x"), header...)
			want := map[bool]int{false: 201, true: 200}[replayed]
			if c.minimal {
				want = 204
			}
			if r.status != want || (len(r.body) == 0) != c.minimal || r.header.Get("Writ-Seq") == "" || (r.header.Get("Writ-Replayed") == "true") != replayed || (r.header.Get("Preference-Applied") == "return=minimal") != c.minimal {
				t.Errorf("%q, replayed %v: %d %v", c.prefer, replayed, r.status, r.header)
			}
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	const bare = `{"v":1,"type":"message.posted","body":"x"}`
	first := w.ask(me, "POST", "/v1/events", bare, "Idempotency-Key", "k").expect(t, 201)
	for _, r := range []reply{
		w.ask(me, "POST", "/v1/events", bare, "Idempotency-Key", "k"),
		w.ask(me, "POST", "/v1/events", message("k", "x")),
		w.ask(me, "POST", "/v1/events", message("k", "x"), "Idempotency-Key", "k"),
		w.ask(me, "POST", "/v1/events", " {\"body\" : \"\\u0078\",\n\"type\":\"message.posted\", \"v\": 1.0}", "Idempotency-Key", "k"), // the same in other words
	} {
		if r.expect(t, 200); !bytes.Equal(r.body, first.body) {
			t.Errorf("replay %s, first %s", r.body, first.body)
		}
	}
	before := w.state()
	p := w.ask(me, "POST", "/v1/events", message("a", "x"), "Idempotency-Key", "b").refused(t, 400, "invalid_event")
	if p.Pointer != "/idempotency_key" {
		t.Errorf("pointer %q", p.Pointer)
	}
	p = w.ask(me, "POST", "/v1/events", bare).refused(t, 400, "invalid_event")
	if p.Pointer != "/idempotency_key" {
		t.Errorf("pointer %q", p.Pointer)
	}
	w.ask(me, "POST", "/v1/events", bare, "Idempotency-Key", strings.Repeat("k", 201)).refused(t, 400, "invalid_event")
	w.unchanged(t, before)
}

// TestDuplicatesAtOnce sends one event from 64 connections together.
func TestDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	head := w.state().Heads[w.ws]
	const n = 64
	replies := make([]reply, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			replies[i] = w.ask(w.ann.token.Text, "POST", "/v1/events", requestRun("k", w.solver.ID))
		})
	}
	close(start)
	wg.Wait()
	count := map[int]int{}
	for _, r := range replies {
		count[r.status]++
		if !bytes.Equal(r.body, replies[0].body) || (r.status == 200) != (r.header.Get("Writ-Replayed") == "true") {
			t.Errorf("%d %s\nbeside %s", r.status, r.body, replies[0].body)
		}
	}
	if diff := cmp.Diff(map[int]int{201: 1, 200: n - 1}, count); diff != "" {
		t.Errorf("statuses (-want +got)\n%s", diff)
	}
	if got := w.state().Heads[w.ws]; got != head+2 { // lane.opened and run.requested
		t.Errorf("%d events were appended", got-head)
	}
}

// TestUnknownMembers: what this build does not know comes back as it was sent.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	r := w.ask(w.ann.token.Text, "POST", "/v1/events", message("k", "x", `"zz_new":{"b":[1,2.5,null,"ü\u0001"],"a":{}},"future":true`)).expect(t, 201)
	v, err := canon.Parse(r.body)
	w.must(err)
	for name, want := range map[string]string{"zz_new": `{"a":{},"b":[1,2.5,null,"ü\u0001"]}`, "future": "true"} {
		if got, _ := v.Get(name); string(got.Canonical()) != want {
			t.Errorf("%s is %s, want %s", name, got.Canonical(), want)
		}
	}
	page := w.page(t, "?after="+strconv.FormatInt(w.state().Heads[w.ws]-1, 10))
	if string(page.Events[0]) != string(r.body) {
		t.Errorf("listed as %s\nposted as %s", page.Events[0], r.body)
	}
}

// TestServerOwned: what the server owns is never taken from a client.
func TestServerOwned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	v := w.post(w.ann.token.Text, message("k", "x", `"ts":"1999-01-01T00:00:00Z","seq":99,"actor":{"kind":"system","id":"system"},"workspace_id":"`+w.ws+`"`))
	actor, _ := v.Get("actor")
	if seq, _ := v.Get("seq"); string(seq.Canonical()) == "99" || v.Str("ts") < "2020" || actor.Str("id") != w.ann.ID || actor.Str("kind") != "person" {
		t.Errorf("stored %s", v.Canonical())
	}
}

type page struct {
	Events    []json.RawMessage `json:"events"`
	NextAfter int64             `json:"next_after"`
	Head      int64             `json:"head_seq"`
	Earliest  int64             `json:"earliest_seq"`
}

func (w *world) page(t testing.TB, query string) page {
	t.Helper()
	var p page
	w.ask(w.ann.token.Text, "GET", "/v1/events"+query, nil).expect(t, 200).read(t, &p)
	return p
}

func seqOf(t testing.TB, raw []byte) int64 {
	t.Helper()
	var e struct{ Seq int64 }
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e.Seq
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	run := w.post(me, requestRun("r", w.solver.ID))
	for i := range 10 {
		w.post(me, message(fmt.Sprint("m", i), "x"))
		w.post(me, message(fmt.Sprint("l", i), "x", `"lane_id":"`+run.Str("lane_id")+`"`))
	}
	w.post(me, message("s", "x", `"space_id":"spc_01ARZ3NDEKTSV4RRFFQ69G5FAV"`))
	head := w.state().Heads[w.ws]

	var seqs []int64
	for after := int64(0); ; {
		p := w.page(t, fmt.Sprintf("?limit=3&after=%d", after))
		for _, e := range p.Events {
			seqs = append(seqs, seqOf(t, e))
		}
		if p.Head != head || p.Earliest != 1 || len(p.Events) > 3 || p.NextAfter < after {
			t.Fatalf("page %+v", p)
		}
		if after = p.NextAfter; after == head {
			break
		}
	}
	var want []int64
	for i := range head {
		want = append(want, i+1)
	}
	if diff := cmp.Diff(want, seqs); diff != "" {
		t.Errorf("events of all pages (-want +got)\n%s", diff)
	}

	for query, n := range map[string]int{
		"?type=message.posted": 21, "?type=message.posted&type=run.requested": 22, "?type=lane.opened&type=run.requested": 2,
		"?lane=" + run.Str("lane_id"): 12, "?run=" + run.Str("run_id"): 2, "?space=spc_01ARZ3NDEKTSV4RRFFQ69G5FAV": 1,
		"?lane=" + run.Str("lane_id") + "&type=message.posted": 10, "?run=none": 0, "?type=run.completed": 0, "?after=" + fmt.Sprint(head): 0,
	} {
		p := w.page(t, query)
		if len(p.Events) != n || p.NextAfter != head || p.Head != head {
			t.Errorf("%s: %d events up to %d, want %d up to %d", query, len(p.Events), p.NextAfter, n, head)
		}
		if !slices.IsSortedFunc(p.Events, func(a, b json.RawMessage) int { return int(seqOf(t, a) - seqOf(t, b)) }) {
			t.Errorf("%s: not in order", query)
		}
	}
	if p := w.ask(me, "GET", fmt.Sprintf("/v1/events?after=%d", head+1), nil).refused(t, 409, "cursor_ahead"); p.Data["head"] != fmt.Sprint(head) {
		t.Errorf("the refusal says %v", p.Data)
	}
	theirs := w.join("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV", 8, w.ann.Participant, personScopes)
	if p := w.ask(theirs.token.Text, "GET", "/v1/events", nil).expect(t, 200); !strings.Contains(string(p.body), `"head_seq":1`) {
		t.Errorf("another workspace: %s", p.body)
	}
}

// TestBodies sends bodies as transports do: whole, in chunks, cut, too large.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	w.ask(me, "POST", "/v1/events", io.MultiReader(strings.NewReader(message("chunks", "x")))).expect(t, 201)
	before := w.state()
	w.ask(me, "POST", "/v1/events", nil).refused(t, 400, "malformed")
	w.ask(me, "POST", "/v1/events", "").refused(t, 400, "malformed")
	huge := message("huge", strings.Repeat("x", 1<<20))
	w.ask(me, "POST", "/v1/events", huge).refused(t, 413, "too_large")
	w.ask(me, "POST", "/v1/events", io.MultiReader(strings.NewReader(huge))).refused(t, 413, "too_large")
	w.ask(me, "POST", "/v1/runs/run_1/proposals", bytes.Repeat([]byte(" "), 4<<20+1)).refused(t, 413, "too_large")
	w.ask(w.admin.token.Text, "POST", "/v1/tokens", io.MultiReader(bytes.NewReader(bytes.Repeat([]byte(" "), 4<<20+1)))).refused(t, 413, "too_large")
	w.ask(w.admin.token.Text, "PUT", "/v1/repositories/a/b", bytes.Repeat([]byte(" "), 4<<20+1)).refused(t, 413, "too_large")

	// A body that ends before its announced length: the request fails, and
	// nothing of it was taken.
	req := w.request(me, "POST", "/v1/events", io.MultiReader(strings.NewReader(message("cut", "x"))))
	req.ContentLength = 1000
	if res, err := w.http.Do(req); err == nil {
		_ = res.Body.Close()
		t.Errorf("a body that was cut is answered %d", res.StatusCode)
	}
	w.unchanged(t, before)
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	var got struct {
		SHA256      string `json:"sha256"`
		Size        int64  `json:"size"`
		ObjectRef   string `json:"object_ref"`
		ArtifactRef string `json:"artifact_ref"`
	}
	for range 2 {
		w.ask(me, "POST", "/v1/blobs", body).expect(t, 201).read(t, &got)
	}
	d := canon.Sum(body)
	if got.SHA256 != d.Hex() || got.Size != int64(len(body)) || got.ObjectRef != canon.ObjectRef(d) || got.ArtifactRef != canon.ArtifactRef(d) {
		t.Errorf("answered %+v", got)
	}
	r := w.ask(me, "GET", "/v1/blobs/"+got.SHA256, nil).expect(t, 200)
	if !bytes.Equal(r.body, body) || r.header.Get("Content-Disposition") != "attachment" || r.header.Get("Content-Type") != "application/octet-stream" ||
		r.header.Get("ETag") != `"`+d.Hex()+`"` || r.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(r.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("served %d bytes with %v", len(r.body), r.header)
	}
	w.ask(me, "POST", "/v1/blobs", "").expect(t, 201)
	before := w.state()
	for _, sum := range []string{"x", strings.ToUpper(d.Hex()), d.Hex()[1:], strings.Repeat("0", 64)} {
		w.ask(me, "GET", "/v1/blobs/"+sum, nil).refused(t, 404, "not_found")
	}
	big := io.LimitReader(zeros{}, 64<<20+1)
	w.ask(me, "POST", "/v1/blobs", io.MultiReader(big)).refused(t, 413, "too_large")
	req := w.request(me, "POST", "/v1/blobs", io.LimitReader(zeros{}, 64<<20+1))
	req.ContentLength = 64<<20 + 1
	req.Header.Set("Expect", "100-continue")
	if res, err := w.http.Do(req); err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("an announced length over the limit: %v, %v", res, err)
	} else {
		_ = res.Body.Close()
	}
	req = w.request(me, "POST", "/v1/blobs", io.MultiReader(strings.NewReader("short")))
	req.ContentLength = 1000
	if res, err := w.http.Do(req); err == nil {
		_ = res.Body.Close()
		t.Errorf("a blob that was cut is answered %d", res.StatusCode)
	}
	w.unchanged(t, before)
}

// TestDamagedBlob: bytes that are no longer those of their digest are cut, and
// said to whoever runs the server.
func TestDamagedBlob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	body := bytes.Repeat([]byte("x"), 1<<20)
	w.ask(me, "POST", "/v1/blobs", body).expect(t, 201)
	sum := canon.Sum(body).Hex()
	body[len(body)-1] = 'y'
	w.must(os.WriteFile(filepath.Join(w.dir, "blobs", sum[:2], sum[2:4], sum), body, 0o600))
	res, err := w.http.Do(w.request(me, "GET", "/v1/blobs/"+sum, nil))
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("damaged bytes came whole")
	}
	if lines := w.log.lines(t, "request failed"); len(lines) != 1 || lines[0]["code"] != "store_corrupt" {
		t.Errorf("logged %v", lines)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
