package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// natsSync measures the peer: an embedded nats-server with a file store that
// syncs on every write, reached by its own client over loopback, one
// acknowledged publish at a time per writer.
func natsSync(ctx context.Context, writers int, span time.Duration, body []byte) (rate, error) {
	dir, err := os.MkdirTemp("", "writ-bench-nats-")
	if err != nil {
		return rate{}, err
	}
	defer os.RemoveAll(dir)
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, SyncAlways: true, NoLog: true, NoSigs: true})
	if err != nil {
		return rate{}, fmt.Errorf("start nats-server: %w", err)
	}
	go srv.Start()
	defer func() { srv.Shutdown(); srv.WaitForShutdown() }()
	if !srv.ReadyForConnections(10 * time.Second) {
		return rate{}, fmt.Errorf("nats-server is not ready")
	}
	admin, err := nats.Connect(srv.ClientURL())
	if err != nil {
		return rate{}, err
	}
	defer admin.Close()
	js, err := admin.JetStream()
	if err != nil {
		return rate{}, err
	}
	if _, err := js.AddStream(&nats.StreamConfig{Name: "EVENTS", Subjects: []string{"events"}, Storage: nats.FileStorage, Duplicates: time.Minute}); err != nil {
		return rate{}, fmt.Errorf("add stream: %w", err)
	}
	streams := make([]nats.JetStreamContext, writers)
	for i := range streams {
		conn, err := nats.Connect(srv.ClientURL())
		if err != nil {
			return rate{}, err
		}
		defer conn.Close()
		if streams[i], err = conn.JetStream(); err != nil {
			return rate{}, err
		}
	}
	return measure(ctx, writers, span, func(w, n int) error {
		_, err := streams[w].Publish("events", body, nats.MsgId(fmt.Sprintf("%d-%d", w, n)))
		return err
	})
}
