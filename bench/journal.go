package main

import (
	"context"
	"encoding/json"
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

// eventBody is a message of about 1 KB, as a client writes it.
func eventBody(key string) []byte {
	b, err := json.Marshal(map[string]any{"v": 1, "type": journal.MessagePosted, "idempotency_key": key, "body": strings.Repeat("measured, not guessed. ", 36)})
	if err != nil {
		panic(err) // the literal above
	}
	return b
}

// benchJournal compares durable appends of 1 KB events with an embedded
// nats-server that syncs every write.
func benchJournal(ctx context.Context, writ string, span time.Duration) ([]figure, error) {
	var out []figure
	for _, writers := range []int{1, 64} {
		ours, err := inProcess(ctx, writers, span)
		if err != nil {
			return nil, err
		}
		web, err := overHTTP(ctx, writ, writers, span)
		if err != nil {
			return nil, err
		}
		peer, err := natsSync(ctx, writers, span, eventBody("00000000000000000000"))
		if err != nil {
			return nil, err
		}
		beside := fmt.Sprintf("nats sync-always %.0f/s p99 %s", peer.perSecond, round(peer.p99))
		in, over := 0.0, 0.0
		if writers == 64 {
			in, over = 4, 1.5
		}
		out = append(out,
			figure{what: fmt.Sprintf("journal in process, %d writers", writers), value: fmt.Sprintf("%.0f/s p50 %s p99 %s", ours.perSecond, round(ours.p50), round(ours.p99)), beside: beside, ratio: ours.perSecond / peer.perSecond, floor: in},
			figure{what: fmt.Sprintf("journal over HTTP, %d writers", writers), value: fmt.Sprintf("%.0f/s p50 %s p99 %s", web.perSecond, round(web.p50), round(web.p99)), beside: beside, ratio: web.perSecond / peer.perSecond, floor: over})
	}
	return out, nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// inProcess appends through the desk: parsing, checking and committing, without HTTP.
func inProcess(ctx context.Context, writers int, span time.Duration) (rate, error) {
	dir, err := os.MkdirTemp("", "writ-bench-")
	if err != nil {
		return rate{}, err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "writ.db")})
	if err != nil {
		return rate{}, err
	}
	defer store.Close()
	desk := &lane.Desk{Store: store, Now: time.Now, NewID: ident.New}
	ws := ident.New(ident.Workspace)
	who := make([]journal.Principal, writers)
	for i := range who {
		who[i] = journal.Principal{Kind: journal.Person, ID: ident.New(ident.Person), Workspace: ws, Scopes: []string{journal.ScopeWrite}}
	}
	return measure(ctx, writers, span, func(w, n int) error {
		_, _, err := desk.Append(context.WithoutCancel(ctx), who[w], eventBody(fmt.Sprintf("%d-%d", w, n)), "")
		return err
	})
}

// overHTTP appends through a server process of its own, with the SDK.
func overHTTP(ctx context.Context, writ string, writers int, span time.Duration) (rate, error) {
	s, err := startServer(ctx, writ)
	if err != nil {
		return rate{}, err
	}
	defer s.stop()
	transport := &http.Transport{MaxIdleConnsPerHost: writers, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	defer transport.CloseIdleConnections()
	c := client.New(s.Address, s.First.Token, client.WithHTTP(&http.Client{Transport: transport}))
	return measure(ctx, writers, span, func(w, n int) error {
		_, _, err := c.AppendRaw(context.WithoutCancel(ctx), eventBody(fmt.Sprintf("%d-%d", w, n)))
		return err
	})
}
