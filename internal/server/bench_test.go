package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

func BenchmarkAppend(b *testing.B) {
	store, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "writ.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	desk := &lane.Desk{Store: store, Now: time.Now, NewID: ident.New}
	srv := server.New(server.Params{Store: store, Desk: desk, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ws := ident.New(ident.Workspace)
	ann := server.Participant{ID: ident.New(ident.Person), Kind: "person", Name: "ann"}
	if err := srv.PutParticipant(b.Context(), ws, ann); err != nil {
		b.Fatal(err)
	}
	token, err := srv.IssueToken(b.Context(), ws, ann, []string{"events:write"}, 0)
	if err != nil {
		b.Fatal(err)
	}
	ts := httptest.NewServer(srv)
	defer ts.Close()
	const clients = 64
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	prose := strings.Repeat("measured, not guessed. ", 36)
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for w := range clients {
		n := b.N / clients
		if w < b.N%clients {
			n++
		}
		wg.Go(func() {
			for i := range n {
				body := fmt.Sprintf(`{"v":1,"type":%q,"idempotency_key":"%d-%d","body":%q}`, journal.MessagePosted, w, i, prose)
				req, _ := http.NewRequest("POST", ts.URL+"/v1/events", bytes.NewReader([]byte(body)))
				req.Header.Set("Authorization", "Bearer "+token.Text)
				res, err := c.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if res.StatusCode != 201 {
					b.Error(res.Status)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
