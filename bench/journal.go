package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/client"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/store/sqlite"
)

// Floors at 64 writers, over the peer's durable appends.
const (
	floorInProcess = 4
	floorOverHTTP  = 1.5
)

// benchJournal compares durable appends of 1 KB events with an embedded
// nats-server that syncs every write.
func benchJournal(ctx context.Context, s setup) ([]figure, error) {
	var out []figure
	for _, writers := range []int{1, 64} {
		figures, err := journalAt(ctx, s, writers)
		if err != nil {
			return nil, err
		}
		out = append(out, figures...)
	}
	return out, nil
}

func journalAt(ctx context.Context, s setup, writers int) ([]figure, error) {
	inside, err := newInProcess(ctx, s, writers)
	if err != nil {
		return nil, err
	}
	defer inside.close()
	web, err := newOverHTTP(ctx, s, writers)
	if err != nil {
		return nil, err
	}
	defer web.close()
	peer, err := newSyncing(s, writers)
	if err != nil {
		return nil, err
	}
	defer peer.close()
	r, err := compete(ctx, writers, s.span, contestant{"in process", inside.append}, contestant{"over HTTP", web.append}, contestant{"nats-server", peer.append})
	if err != nil {
		return nil, err
	}
	who := plural(writers, "writer")
	a := appends("journal in process, "+who, r[0], r[2])
	b := appends("journal over HTTP, "+who, r[1], r[2])
	if writers == 64 {
		a.Floor, b.Floor = atLeast(floorInProcess), atLeast(floorOverHTTP)
	}
	return []figure{a, b}, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// appends puts the rates of durable appends beside those of the peer.
func appends(what string, ours, peer rates) figure {
	say := func(r rates) string {
		return fmt.Sprintf("%.0f/s p50 %s p99 %s", r.median(), show(r.took.at(0.5)), show(r.took.at(0.99)))
	}
	over := ours.over(peer)
	return figure{
		What: what, Value: say(ours), Beside: "nats-server, sync always: " + say(peer), Ratio: &over,
		Numbers: map[string]float64{
			"ours_per_second": ours.median(), "ours_p50_us": micros(ours.took.at(0.5)), "ours_p99_us": micros(ours.took.at(0.99)),
			"peer_per_second": peer.median(), "peer_p50_us": micros(peer.took.at(0.5)), "peer_p99_us": micros(peer.took.at(0.99)),
		},
	}
}

// eventBody is a message of about 1 KB, as a client writes it.
func eventBody(writer int, key uint64) []byte {
	b := make([]byte, 0, 1024)
	b = fmt.Appendf(b, `{"v":1,"type":"%s","idempotency_key":"%02d-%016x","body":"`, journal.MessagePosted, writer, key)
	return append(append(b, text...), `"}`...)
}

var text = strings.Repeat("measured, not guessed. ", 40)

// inProcess appends through the desk: parsing, checking and committing, without HTTP.
type inProcess struct {
	dir   string
	store *sqlite.Store
	desk  *lane.Desk
	who   []journal.Principal
}

func newInProcess(ctx context.Context, s setup, writers int) (*inProcess, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "writ.db")})
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p := &inProcess{dir: dir, store: store, desk: &lane.Desk{Store: store, Now: time.Now, NewID: ident.New}}
	ws := ident.New(ident.Workspace)
	for range writers {
		p.who = append(p.who, journal.Principal{Kind: journal.Person, ID: ident.New(ident.Person), Workspace: ws, Scopes: []string{journal.ScopeWrite}})
	}
	return p, nil
}

func (p *inProcess) append(writer int, key uint64) error {
	_, _, err := p.desk.Append(context.Background(), p.who[writer], eventBody(writer, key), "")
	return err
}

func (p *inProcess) close() {
	p.store.Close()
	os.RemoveAll(p.dir)
}

// overHTTP appends through a server process of its own, with the SDK.
type overHTTP struct {
	server    *server
	transport *http.Transport
	client    *client.Client
}

func newOverHTTP(ctx context.Context, s setup, writers int) (*overHTTP, error) {
	server, err := startServer(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{MaxIdleConnsPerHost: writers, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	return &overHTTP{server, t, client.New(server.Address, server.First.Token, client.WithHTTP(&http.Client{Transport: t}))}, nil
}

func (p *overHTTP) append(writer int, key uint64) error {
	_, _, err := p.client.AppendRaw(context.Background(), eventBody(writer, key))
	return err
}

func (p *overHTTP) close() {
	p.transport.CloseIdleConnections()
	p.server.stop()
}
