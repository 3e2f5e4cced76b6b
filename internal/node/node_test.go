package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/node"
)

func params(data string) node.Params {
	return node.Params{Data: data, Listen: "127.0.0.1:0", Version: "test", Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, p node.Params) *node.Node {
	t.Helper()
	n, err := node.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func stop(t *testing.T, n *node.Node) {
	t.Helper()
	if err := n.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestLifeOfAFolder starts, uses and stops a node, and starts another on what it
// left: the token still works, and what was written is there.
func TestLifeOfAFolder(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "new", "data")
	n := start(t, params(data))
	if n.First == nil {
		t.Fatal("the first start set nothing up")
	}
	token := n.First.Token
	c := client.New(n.Address, token)
	defer c.Close()
	me, err := c.Me(t.Context())
	if err != nil || me.ID != n.First.Admin || me.WorkspaceID != n.First.Workspace || me.Kind != "person" {
		t.Errorf("%+v, %v", me, err)
	}
	if err := n.Shown(t.Context()); err != nil {
		t.Error(err)
	}
	e, _, err := c.Append(t.Context(), "k", "message.posted", map[string]any{"body": "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Start(t.Context(), params(data)); fault.CodeOf(err) != fault.Held {
		t.Errorf("a second process on the folder: %v", err)
	}
	stop(t, n)

	n = start(t, params(data))
	defer stop(t, n)
	if n.First != nil {
		t.Error("a second start sets up again")
	}
	again := client.New(n.Address, token)
	defer again.Close()
	if got, err := again.Event(t.Context(), e.ID); err != nil || !bytes.Equal(bytes.TrimSpace(got.Raw), e.Raw) {
		t.Errorf("read %s, %v; written was %s", got.Raw, err, e.Raw)
	}
}

// TestCloseEndsStreams: readers do not hold up a shutdown, and the folder is
// free afterwards.
func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	n := start(t, params(data))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.Address+"/v1/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+n.First.Token)
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, res.Body); ended <- err }()
	stop(t, n)
	if err := <-ended; err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
	stop(t, start(t, params(data)))
}

// TestCloseCutsWhoeverStays: a request that does not end is cut when its time is
// over.
func TestCloseCutsWhoeverStays(t *testing.T) {
	t.Parallel()
	n := start(t, params(t.TempDir()))
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.Address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// "100 Continue" says that the handler waits for the body, which never comes.
	fmt.Fprintf(conn, "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", n.First.Token)
	one := make([]byte, len("HTTP/1.1 100"))
	if _, err := io.ReadFull(conn, one); err != nil || string(one) != "HTTP/1.1 100" {
		t.Fatalf("answered %q, %v", one, err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("closed with %v", err)
	}
	if rest, err := io.ReadAll(conn); err == nil && strings.Contains(string(rest), "201") {
		t.Errorf("answered %s", rest)
	}
}

// TestWait returns what ends a node: its context, or the failure of a part.
func TestWait(t *testing.T) {
	t.Parallel()
	n := start(t, params(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Wait(ctx); err != nil {
		t.Error(err)
	}
	stop(t, n)
}

// TestStartThatFails leaves nothing behind: the folder can be served afterwards.
func TestStartThatFails(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := params(data)
	p.Listen = taken.Addr().String()
	if _, err := node.Start(t.Context(), p); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("an address that is taken: %v", err)
	}
	p = params(filepath.Join(data, "writ.db", "below a file"))
	if _, err := node.Start(t.Context(), p); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a folder that cannot be made: %v", err)
	}
	n := start(t, params(data))
	if n.First == nil {
		t.Error("the token of a start that failed was shown to nobody, and there is no other")
	}
	stop(t, n)
}
