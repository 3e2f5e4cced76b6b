package client

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysAreMadeAndKept(t *testing.T) {
	t.Parallel()
	type sent struct{ Body, Header string }
	var got []sent
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Key string `json:"idempotency_key"`
		}
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
		if got = append(got, sent{body.Key, r.Header.Get("Idempotency-Key")}); len(got) == 1 {
			refuse(w, 503, Error{Code: "unavailable", Retry: true})
			return
		}
		w.Header().Set("Writ-Replayed", "true")
		_, _ = io.WriteString(w, `{"seq":7,"ts":"2026-01-02T03:04:05.000Z","id":"evt_1","type":"message.posted","run_id":"run_1","zz_new":[1]}`)
	})
	e, replayed, err := c.Append(t.Context(), "", "message.posted", map[string]any{"body": "hi"})
	p.settle()
	if err != nil || !replayed || e.Seq != 7 || e.RunID != "run_1" {
		t.Fatalf("got %+v, %v, %v", e, replayed, err)
	}
	if want := `{"seq":7,"ts":"2026-01-02T03:04:05.000Z","id":"evt_1","type":"message.posted","run_id":"run_1","zz_new":[1]}`; string(e.Raw) != want {
		t.Errorf("raw event is %s", e.Raw)
	}
	if len(got) != 2 || got[0].Body == "" || got[0] != got[1] {
		t.Errorf("the two tries had %+v", got)
	}
	first := got[0].Body
	got = append([]sent(nil), sent{}) // no more refusals
	if _, _, err := c.Append(t.Context(), "mine", "message.posted", nil); noted(p, err) != nil || got[1].Body != "mine" {
		t.Errorf("own key: %+v, %v", got, err)
	}
	if _, _, err := c.AppendRaw(t.Context(), []byte(`{"v":1}`)); noted(p, err) != nil || len(got[2].Header) != len(first) || got[2].Header == first {
		t.Errorf("key beside the event: %+v, %v", got, err)
	}
	if _, _, err := c.AppendRaw(t.Context(), []byte(`{"idempotency_key":"in"}`)); noted(p, err) != nil || got[3] != (sent{"in", ""}) {
		t.Errorf("key inside the event: %+v, %v", got, err)
	}
	if _, _, err := c.Append(t.Context(), "", "x", map[string]any{"f": func() {}}); err == nil {
		t.Error("what has no JSON form is sent")
	}
}

// noted waits for the handler and returns err.
func noted(p *pauses, err error) error { p.settle(); return err }

func TestPages(t *testing.T) {
	t.Parallel()
	var got url.Values
	c, calls := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Query()
		if r.URL.Path == "/v1/events/evt_1" {
			_, _ = io.WriteString(w, `{"seq":5,"type":"a","id":"evt_1"}`)
			return
		}
		_, _ = io.WriteString(w, `{"events":[{"seq":5,"type":"a","id":"e5"},{"seq":9,"type":"b","id":"e9"}],"next_after":9,"head_seq":12,"earliest_seq":1}`)
	})
	p, err := c.Events(t.Context(), 4, 2, Filter{Types: []string{"a", "b"}, Run: "run_1", Lane: "lane_1", Space: "spc_1"})
	if noted(calls, err) != nil {
		t.Fatal(err)
	}
	want := Page{NextAfter: 9, Head: 12, Earliest: 1, Events: []Event{
		{Seq: 5, Type: "a", ID: "e5", Raw: json.RawMessage(`{"seq":5,"type":"a","id":"e5"}`)},
		{Seq: 9, Type: "b", ID: "e9", Raw: json.RawMessage(`{"seq":9,"type":"b","id":"e9"}`)},
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("page differs (-want +got):\n%s", diff)
	}
	asked := url.Values{"after": {"4"}, "limit": {"2"}, "type": {"a", "b"}, "run": {"run_1"}, "lane": {"lane_1"}, "space": {"spc_1"}}
	if diff := cmp.Diff(asked, got); diff != "" {
		t.Errorf("query differs (-want +got):\n%s", diff)
	}
	if e, err := c.Event(t.Context(), "evt_1"); err != nil || e.Seq != 5 {
		t.Errorf("event is %+v, %v", e, err)
	}
	if _, err := c.Events(t.Context(), 0, 0, Filter{}); noted(calls, err) != nil || got.Has("limit") {
		t.Errorf("query is %v, %v", got, err)
	}
}
