package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/ident"
)

func TestRemoteKeepsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t, "")
	offset := int64(7)
	got, ok := fault.As(a.remote(&client.Error{
		Status: 400, Code: "invalid_event", Detail: "parse event: the key is missing", Hint: "choose one", Pointer: "/idempotency_key",
		Offset: &offset, Fields: []client.Field{{Pointer: "/a", Rule: "r", Got: "g"}}, Data: map[string]string{"seq": "4", "event_id": "evt_1"},
	}))
	if !ok {
		t.Fatal("not a fault")
	}
	want := &fault.Error{
		Code: fault.Event, Op: "parse event", Public: "the key is missing", Hint: "choose one", Pointer: "/idempotency_key", Offset: 8,
		Fields: []fault.Field{{Pointer: "/a", Rule: "r", Got: "g"}}, Data: []fault.Attr{{Name: "event_id", Value: "evt_1"}, {Name: "seq", Value: "4"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRemoteCodes(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t, "")
	for name, c := range map[string]struct {
		err  error
		want fault.Code
		exit int
	}{
		"nothing":            {nil, "", 0},
		"ours":               {fault.New(fault.Relation, "x", "y"), fault.Relation, 2},
		"known":              {&client.Error{Status: 409, Code: "held"}, fault.Held, 4},
		"newer, conflict":    {&client.Error{Status: 409, Code: "from_the_future"}, fault.Conflict, 4},
		"newer, bad request": {&client.Error{Status: 418, Code: "from_the_future"}, fault.Invalid, 2},
		"newer, broken":      {&client.Error{Status: 500, Code: "from_the_future"}, fault.Internal, 3},
		"newer, forbidden":   {&client.Error{Status: 403, Code: "from_the_future"}, fault.Forbidden, 5},
		"newer, gone":        {&client.Error{Status: 410, Code: "from_the_future"}, fault.NotFound, 6},
		"newer, busy":        {&client.Error{Status: 503, Code: "from_the_future"}, fault.Unavailable, 7},
		"no answer":          {&net.OpError{Op: "dial", Err: errors.New("refused")}, fault.Unavailable, 7},
		"no sense":           {errors.New("read answer: not JSON"), fault.Unavailable, 7},
	} {
		err := a.remote(c.err)
		if got := fault.CodeOf(err); got != c.want || fault.Exit(err) != c.exit {
			t.Errorf("%s: code %q, exit %d; want %q, %d", name, got, fault.Exit(err), c.want, c.exit)
		}
	}
	if err := a.remote(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call became %v", err)
	}
}

// TestTokensByPrecedence looks for the token in every place, from the last to
// the first: each one found later goes before the ones before.
func TestTokensByPrecedence(t *testing.T) {
	t.Parallel()
	_, inHome := ident.NewSecret()
	_, inEnv := ident.NewSecret()
	_, inEnvFile := ident.NewSecret()
	_, ofKey := ident.NewSecret()
	_, inFlag := ident.NewSecret()
	a, _, _ := newApp(t, "")
	a.home = t.TempDir()
	env := map[string]string{}
	a.getenv = func(name string) string { return env[name] }
	write := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := a.readToken("ann"); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	for _, step := range []struct {
		place  func()
		ann    string // found for a command that signs as ann
		nobody string // found for others
	}{
		{func() { write(filepath.Join(a.home, "token"), inHome) }, inHome, inHome},
		{func() { env["WRIT_TOKEN"] = inEnv }, inEnv, inEnv},
		{func() { env["WRIT_TOKEN_FILE"] = write(filepath.Join(a.home, "elsewhere"), inEnvFile) }, inEnvFile, inEnvFile},
		{func() { write(a.tokenPath("ann"), ofKey) }, ofKey, inEnvFile},
		{func() { a.token = write(filepath.Join(a.home, "flag"), inFlag) }, inFlag, inFlag},
	} {
		step.place()
		for key, want := range map[string]string{"ann": step.ann, "": step.nobody} {
			if got, err := a.readToken(key); err != nil || got != want {
				t.Errorf("key %q: %v, want another token", key, err)
			}
		}
	}
	write(a.token, "password1")
	if _, err := a.readToken(""); fault.CodeOf(err) != fault.Unauthenticated || strings.Contains(err.Error(), "password1") {
		t.Errorf("a file that holds no token: %v", err)
	}
}

func TestFailuresUnderJSON(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"status":404,"code":"not_found","detail":"read run: no run run_x","hint":"look at writ status"}`))
	}))
	defer srv.Close()
	_, token := ident.NewSecret()
	a, out, errs := newApp(t, "")
	a.getenv = func(name string) string { return map[string]string{"WRIT_SERVER": srv.URL, "WRIT_TOKEN": token}[name] }
	if got := a.run(t.Context(), []string{"status", "run_x", "--json"}); got != fault.ExitNotFound {
		t.Errorf("exit status %d", got)
	}
	want := `{
  "error": {
    "message": "read run: no run run_x",
    "code": "not_found",
    "exit": 6,
    "hint": "look at writ status"
  }
}
`
	if diff := cmp.Diff(want, errs.String()); diff != "" || out.Len() > 0 {
		t.Errorf("standard output %q, standard error (-want +got)\n%s", out, diff)
	}
}
