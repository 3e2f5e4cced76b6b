package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	at := int64(17)
	want := &Error{
		Status: 400, Code: "invalid_event", Title: "t", Detail: "must not be empty", Hint: "say something", Pointer: "/goal", Offset: &at,
		Fields: []Field{{"/goal", "must not be empty", ""}, {"/v", "must be 1", "2"}}, Data: map[string]string{"event_id": "evt_1"},
	}
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) { refuse(w, 400, *want) })
	_, err := c.Me(t.Context())
	var got *Error
	if !errors.As(err, &got) {
		t.Fatalf("error is %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error differs (-want +got):\n%s", diff)
	}
	if Code(err) != "invalid_event" || Code(io.EOF) != "" || len(p.all()) != 0 {
		t.Errorf("code is %q after %d pauses", Code(err), len(p.all()))
	}
	for want, e := range map[string]*Error{
		"x (at /goal)":   {Detail: "x", Pointer: "/goal"},
		"x (at byte 17)": {Detail: "x", Offset: &at},
		"x":              {Detail: "x"},
	} {
		if e.Error() != want {
			t.Errorf("text is %q, want %q", e.Error(), want)
		}
	}
}

func TestTheTokenIsSent(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer writ_token" {
			t.Errorf("authorization is %q", got)
		}
		_, _ = io.WriteString(w, `{"kind":"person","id":"per_1","workspace_id":"ws_1","scopes":["admin"]}`)
	})
	me, err := c.Me(t.Context())
	if err != nil || me.ID != "per_1" || me.WorkspaceID != "ws_1" || len(me.Scopes) != 1 {
		t.Errorf("me is %+v, %v", me, err)
	}
}

// What is repeated, how often, and after what pause.
func TestRetries(t *testing.T) {
	t.Parallel()
	get := func(c *Client) error { _, err := c.Me(context.Background()); return err }
	create := func(c *Client) error { _, err := c.CreateToken(context.Background(), "per_1", nil, 0); return err }
	busy := Error{Code: "unavailable", Detail: "busy", Retry: true}
	tests := map[string]struct {
		status int
		e      Error
		header string
		call   func(*Client) error
		tries  int
		low    time.Duration // of each pause; 0: its own
	}{
		"unavailable":            {503, busy, "", get, 5, 0},
		"unavailable, says when": {503, busy, "2", get, 5, 2 * time.Second},
		"rate limited, in ms":    {429, Error{Code: "rate_limited", Retry: true, Data: map[string]string{"retry_after_ms": "601"}}, "1", get, 5, 601 * time.Millisecond},
		"unavailable, creates":   {503, busy, "", create, 5, 0},
		"forge failed":           {502, Error{Code: "forge_failed", Retry: true}, "", get, 5, 0},
		"forge failed, creates":  {502, Error{Code: "forge_failed", Retry: true}, "", create, 1, 0},
		"state moved":            {409, Error{Code: "conflict", Retry: true}, "", get, 5, 0},
		"state moved, creates":   {409, Error{Code: "conflict", Retry: true}, "", create, 1, 0},
		"held":                   {409, Error{Code: "held", Retry: true}, "", get, 1, 0},
		"budget":                 {429, Error{Code: "budget_exhausted"}, "1", get, 1, 0},
		"internal":               {500, Error{Code: "internal"}, "", get, 1, 0},
		"not found":              {404, Error{Code: "not_found"}, "", get, 1, 0},
		"wait for an hour":       {503, busy, "3600", get, 1, 0},
		"proxy says 503":         {503, Error{}, "", get, 5, 0},
		"proxy says 504":         {504, Error{}, "", get, 5, 0},
		"proxy says 504, create": {504, Error{}, "", create, 1, 0},
		"proxy says 403":         {403, Error{}, "", get, 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries++
				if tc.header != "" {
					w.Header().Set("Retry-After", tc.header)
				}
				if tc.e.Code == "" {
					http.Error(w, "<html>", tc.status)
					return
				}
				refuse(w, tc.status, tc.e)
			})
			err := tc.call(c)
			p.settle()
			var e *Error
			if !errors.As(err, &e) || e.Status != tc.status || tries != tc.tries {
				t.Errorf("%d tries, want %d; %v", tries, tc.tries, err)
			}
			for i, d := range p.all() {
				low, high := tc.low, tc.low+tc.low/4+1
				if low == 0 {
					high = shortest << i
					low = high / 2
				}
				if d < low || d > high {
					t.Errorf("pause %d is %s, want %s to %s", i+1, d, low, high)
				}
			}
		})
	}
}

func TestARepeatedCallGoesWell(t *testing.T) {
	t.Parallel()
	var bodies []string
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(b)); len(bodies) < 3 {
			refuse(w, 503, Error{Code: "unavailable", Retry: true})
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"kind":"proposal","ref":"r","sha256":"00","seq":4}`)
	})
	ref, err := c.Propose(t.Context(), "run_1", []byte(`{"a":1}`))
	p.settle()
	if err != nil || ref.Ref != "r" || ref.Seq != 4 {
		t.Errorf("got %+v, %v", ref, err)
	}
	if diff := cmp.Diff([]string{`{"a":1}`, `{"a":1}`, `{"a":1}`}, bodies); diff != "" {
		t.Errorf("bodies differ (-want +got):\n%s", diff)
	}
}

func TestACutConnectionIsRepeatedWhereThatIsSafe(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}
	tries := 0
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries < 3 {
			cut(w)
			return
		}
		_, _ = io.WriteString(w, `{"seq":1,"type":"message.posted","id":"evt_1"}`)
	})
	e, _, err := c.Append(t.Context(), "k", "message.posted", nil)
	p.settle()
	if err != nil || e.ID != "evt_1" || tries != 3 {
		t.Errorf("%d tries: %+v, %v", tries, e, err)
	}
	tries = 0
	_, err = c.CreateParticipant(t.Context(), Participant{Kind: "person", Name: "ann"})
	p.settle()
	if err == nil || tries != 1 {
		t.Errorf("a participant was sent %d times: %v", tries, err)
	}
}

func TestAServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	p := &pauses{}
	c := New(s.URL, "secret-token", WithTries(3))
	c.wait = p.wait
	defer c.Close()
	for name, call := range map[string]func() error{
		"read":   func() error { _, err := c.Me(t.Context()); return err },
		"create": func() error { _, err := c.CreateToken(t.Context(), "per_1", nil, 9); return err },
	} {
		p.list = nil
		err := call()
		if err == nil || len(p.all()) != 2 || Code(err) != "" || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%s: %v after %d pauses", name, err, len(p.all()))
		}
	}
}

func TestTheEndOfTheContextEndsTheCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		refuse(w, 503, Error{Code: "unavailable", Detail: "busy", Retry: true})
	})
	if _, err := c.Me(ctx); err == nil {
		t.Error("no error")
	}
	if n := len(p.all()); n > 1 {
		t.Errorf("%d pauses after the end", n)
	}
	c.wait = pause
	if err := c.wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause goes on after the end: %v", err)
	}
	if err := pause(t.Context(), time.Nanosecond); err != nil {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, tc := range []struct {
		header, ms string
		low, high  time.Duration
	}{
		{"", "", 0, 0}, {"3", "", 3 * time.Second, 3 * time.Second}, {"3", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		{"-1", "", 0, 0}, {"soon", "x", 0, 0}, {date, "", 60 * time.Second, 90 * time.Second}, {"Mon, 02 Jan 2006 15:04:05 GMT", "", 0, 0},
	} {
		if got := retryAfter(tc.header, tc.ms); got < tc.low || got > tc.high {
			t.Errorf("%q and %q: %s, want %s to %s", tc.header, tc.ms, got, tc.low, tc.high)
		}
	}
	if d := backoff(50, io.EOF); d < farthest/2 || d > farthest {
		t.Errorf("pause 50 is %s", d)
	}
}
