package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// syncing is the peer: an embedded nats-server with a file store that syncs on
// every write, reached by its own client over loopback, one connection and one
// acknowledged publish at a time per writer.
type syncing struct {
	dir     string
	server  *natsserver.Server
	conns   []*nats.Conn
	streams []nats.JetStreamContext
}

func newSyncing(s setup, writers int) (*syncing, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-nats-")
	if err != nil {
		return nil, err
	}
	p := &syncing{dir: dir}
	if err := p.start(writers); err != nil {
		p.close()
		return nil, fmt.Errorf("start nats-server: %w", err)
	}
	return p, nil
}

func (p *syncing) start(writers int) (err error) {
	p.server, err = natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: p.dir, SyncAlways: true, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return err
	}
	go p.server.Start()
	if !p.server.ReadyForConnections(10 * time.Second) {
		return errors.New("it does not get ready")
	}
	for range writers {
		conn, err := nats.Connect(p.server.ClientURL())
		if err != nil {
			return err
		}
		p.conns = append(p.conns, conn)
		js, err := conn.JetStream()
		if err != nil {
			return err
		}
		p.streams = append(p.streams, js)
	}
	_, err = p.streams[0].AddStream(&nats.StreamConfig{Name: "EVENTS", Subjects: []string{"events"}, Storage: nats.FileStorage, Duplicates: time.Minute})
	return err
}

func (p *syncing) append(writer int, key uint64) error {
	_, err := p.streams[writer].Publish("events", eventBody(writer, key), nats.MsgId(fmt.Sprintf("%d-%d", writer, key)))
	return err
}

func (p *syncing) close() {
	for _, c := range p.conns {
		c.Close()
	}
	if p.server != nil {
		p.server.Shutdown()
		p.server.WaitForShutdown()
	}
	os.RemoveAll(p.dir)
}
