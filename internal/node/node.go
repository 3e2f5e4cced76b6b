// Package node puts one server together: the ledger and the blobs of a data
// folder, the desk, the host and the HTTP server, started and stopped in the
// right order.
//
// One process serves a data folder; a lock file refuses a second one. The
// package holds no rule and answers no request itself.
package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"writ/internal/blob"
	"writ/internal/fault"
	"writ/internal/host"
	"writ/internal/ident"
	"writ/internal/keyring"
	"writ/internal/lane"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

// Params of a node.
type Params struct {
	Data    string // folder; made when it is not there
	Listen  string // host:port; port 0 picks a free one
	Version string
	Self    string // path of this binary
	Log     *slog.Logger
	Now     func() time.Time
	Crash   func(point string) // for tests
}

// Node is a running server.
type Node struct {
	Address string // http://host:port
	First   *First // what the first start of a data folder set up, else nil

	lock   *os.File
	store  *sqlite.Store
	server *server.Server
	http   *http.Server
	host   *host.Host
	desk   *lane.Desk
	log    *slog.Logger
	now    func() time.Time
	swept  chan struct{} // closed when the sweeper has ended
	stop   context.CancelFunc
	done   chan error // of the host
	served chan error // of the listener
}

// Start opens the data folder and begins to answer. It returns when the first
// request could be answered.
func Start(ctx context.Context, p Params) (*Node, error) {
	if err := os.MkdirAll(p.Data, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "open data folder", "%s cannot be made", p.Data)
	}
	lock, err := lockFolder(ctx, p.Data)
	if err != nil {
		return nil, err
	}
	n := &Node{lock: lock, now: p.Now, done: make(chan error, 1), served: make(chan error, 1)}
	if err := n.open(ctx, p); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// handOver is how long a start waits for a process that is just ending, and for
// what that one was starting when it was killed: it holds the lock until it runs.
const handOver = 3 * time.Second

func lockFolder(ctx context.Context, dir string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()
	tick := time.NewTicker(handOver / 60)
	defer tick.Stop()
	for {
		f, err := tryLock(dir)
		if fault.CodeOf(err) != fault.Held {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
}

func tryLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "lock data folder", "%s cannot be written", dir)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fault.New(fault.Held, "lock data folder", "another process serves %s", dir).Help("stop it, or pass another --data")
	}
	return f, nil
}

func (n *Node) open(ctx context.Context, p Params) error {
	var err error
	if n.store, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(p.Data, "writ.db")}); err != nil {
		return err
	}
	blobs, err := blob.Open(filepath.Join(p.Data, "blobs"))
	if err != nil {
		return err
	}
	key, err := hostKey(p.Data)
	if err != nil {
		return err
	}
	n.desk = &lane.Desk{Store: n.store, Now: p.Now, NewID: ident.New}
	desk := n.desk
	n.host = host.New(host.Params{
		Store: n.store, Blobs: blobs, Desk: desk, Key: key, Dir: p.Data, Self: p.Self, Version: p.Version, Now: p.Now, Log: p.Log, Crash: p.Crash,
	})
	n.server = server.New(server.Params{Store: n.store, Blobs: blobs, Desk: wakeful{desk, n.host.Wake}, Host: n.host, Now: p.Now, Log: p.Log, Version: p.Version})
	if n.First, err = setUp(ctx, n.store, n.server); err != nil {
		return err
	}
	return n.listen(p)
}

func (n *Node) listen(p Params) error {
	l, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "listen", "%s cannot be listened on", p.Listen).Help("pass another address with --listen")
	}
	n.Address = "http://" + l.Addr().String()
	n.http = server.HTTP(n.server, p.Log)
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	go func() { n.served <- n.http.Serve(l) }()
	go func() { n.done <- n.host.Run(ctx) }()
	n.log, n.swept = p.Log, make(chan struct{})
	go n.sweep(ctx)
	return nil
}

// sweep lets time act on runs: leases lapse, deadlines pass.
func (n *Node) sweep(ctx context.Context) {
	defer close(n.swept)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all, err := n.store.Workspaces(ctx)
		for _, ws := range all {
			if ident.Is(ident.Workspace, ws) && err == nil {
				var moved int
				if moved, err = n.desk.Sweep(ctx, ws); moved > 0 {
					n.host.Wake()
				}
			}
		}
		if err != nil && ctx.Err() == nil {
			n.log.ErrorContext(ctx, "leases were not looked at", "err", err)
		}
	}
}

// Wait returns when ctx ends or a part of the node fails, with the failure.
func (n *Node) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-n.served:
		n.served <- err
		return err
	case err := <-n.done:
		n.done <- err
		return err
	}
}

// Close stops answering, lets requests and the host finish within ctx, and
// closes the ledger.
func (n *Node) Close(ctx context.Context) error {
	n.server.Drain()
	err := n.http.Shutdown(ctx)
	if err != nil { // who has not finished by now is cut
		err = errors.Join(err, n.http.Close())
	}
	n.stop()
	err = errors.Join(err, <-n.done)
	<-n.swept
	if serr := <-n.served; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return errors.Join(err, n.close())
}

func (n *Node) close() error {
	var err error
	if n.store != nil {
		err = n.store.Close()
	}
	return errors.Join(err, n.lock.Close())
}

// hostKey reads the key that this host signs with; the first start makes it.
func hostKey(data string) (ident.PrivateKey, error) {
	ring := keyring.At(filepath.Join(data, "host"))
	_, key, err := ring.Load("host")
	if fault.CodeOf(err) != fault.NotFound {
		return key, err
	}
	if _, err := ring.New("host", keyring.Agent); err != nil {
		return key, err
	}
	_, key, err = ring.Load("host")
	return key, err
}
