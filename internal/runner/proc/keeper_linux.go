package proc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"writ/internal/fault"
)

// keeperName is the name under which this executable starts again as a keeper.
const keeperName = "writ-keeper"

// Keeper is a running helper process. It is safe for concurrent use; programs
// wait for each other.
type Keeper struct {
	Report Report // what the keeper found when it was set up

	run    sync.Mutex // held while a program runs
	write  sync.Mutex // held while a message is written
	conn   *net.UnixConn
	proc   *os.Process
	stderr *os.File
	nextID int64
	buf    []byte   // of answers; guarded by run, as is env
	env    []string // of the last program: the next one mostly has the same
	close  sync.Once
	closed error
}

// Start starts a keeper with the given isolation and waits until it is set up.
// An isolation that the kernel denies is fault.NotContained; then nothing runs.
func Start(ctx context.Context, iso Isolation) (*Keeper, error) {
	const op = "start keeper"
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "no socket")
	}
	_ = unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, maxMessage) // more room, where allowed
	theirs := os.NewFile(uintptr(pair[1]), "keeper")
	defer theirs.Close()
	conn, err := packetConn(pair[0])
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "no socket")
	}
	k := &Keeper{conn: conn, buf: make([]byte, 64<<10)}
	if err := k.spawn(theirs, iso); err != nil {
		conn.Close()
		if iso.Any() {
			return nil, fault.Wrap(err, fault.NotContained, op, "the kernel denies the namespaces").
				Help("allow unprivileged user namespaces, or run on a host that does")
		}
		return nil, fault.Wrap(err, fault.Internal, op, "cannot start %s again", keeperName)
	}
	ready, err := k.ask(ctx, request{Op: opHello, Isolation: &iso}, nil, 10*time.Second)
	switch {
	case err != nil:
	case ready.Op == opFailed:
		err = fault.Wrap(ready.Errno, fault.NotContained, op, "%s", ready.Text)
	default:
		k.Report = *ready.Report
		return k, nil
	}
	k.Close()
	return nil, err
}

// packetConn wraps the caller's end of the socket; it owns fd from here on.
func packetConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "keeper")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

func (k *Keeper) spawn(theirs *os.File, iso Isolation) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	mem, err := unix.MemfdCreate("keeper-stderr", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	k.stderr = os.NewFile(uintptr(mem), "keeper-stderr")
	k.proc, err = os.StartProcess("/proc/self/exe", []string{keeperName}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOTRACEBACK=single"},
		Files: []*os.File{null, null, k.stderr, theirs},
		Sys:   iso.attributes(),
	})
	if err != nil {
		k.stderr.Close()
	}
	return err
}

// Run implements Launcher.
func (k *Keeper) Run(ctx context.Context, c Command) (Result, error) {
	const op = "run program"
	if len(c.Argv) == 0 || c.Argv[0] != Self && !filepath.IsAbs(c.Argv[0]) {
		return Result{}, fault.New(fault.Target, op, "the program has no absolute path")
	}
	if !filepath.IsAbs(c.Dir) {
		return Result{}, fault.New(fault.Target, op, "the working directory is not absolute")
	}
	k.run.Lock()
	defer k.run.Unlock()
	if err := ctx.Err(); err != nil {
		return Result{}, fault.Wrap(err, fault.Cancelled, op, "stopped before the start")
	}
	if c.OutputLimit == 0 {
		c.OutputLimit = DefaultOutputLimit
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	k.nextID++
	req := request{Op: opRun, ID: k.nextID, Argv: c.Argv, Dir: c.Dir, Env: c.Env,
		Limit: c.OutputLimit, Timeout: c.Timeout, Grace: c.Grace}
	if slices.Equal(req.Env, k.env) {
		req.Env, req.SameEnv = nil, true
	}
	out, release, err := outputs(c)
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Internal, op, "no output file")
	}
	defer release()
	resp, err := k.ask(ctx, req, out, c.Grace+2*killWait)
	if err != nil {
		return Result{}, err
	}
	if !req.SameEnv {
		k.env = slices.Clone(c.Env)
	}
	if resp.Op == opFailed {
		return Result{}, fault.Wrap(resp.Errno, fault.Target, op, "%s", resp.Text)
	}
	return *resp.Result, nil
}

// outputs returns the files to send, both open for writing.
func outputs(c Command) (files []*os.File, release func(), err error) {
	release = func() {}
	files = []*os.File{c.Stdout, c.Stderr}
	for i, f := range files {
		if f != nil {
			continue
		}
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			release()
			return nil, nil, err
		}
		files[i] = null
		before := release
		release = func() { before(); null.Close() }
	}
	return files, release, nil
}

// ask sends a message and waits for its answer. When ctx ends, the keeper is
// told, and has patience to answer; after that it is killed.
func (k *Keeper) ask(ctx context.Context, req request, files []*os.File, patience time.Duration) (response, error) {
	if err := k.send(req, files); err != nil {
		return response{}, err
	}
	if req.Op != opRun {
		k.conn.SetReadDeadline(time.Now().Add(patience))
		defer k.conn.SetReadDeadline(time.Time{})
	} else {
		stop := context.AfterFunc(ctx, func() {
			_ = k.send(request{Op: opCancel, ID: req.ID}, nil) // a dead keeper shows at the read below
			k.conn.SetReadDeadline(time.Now().Add(patience))
		})
		defer k.conn.SetReadDeadline(time.Time{})
		defer stop()
	}
	n, err := k.conn.Read(k.buf)
	if err != nil || n == 0 {
		return response{}, k.lost(err)
	}
	var resp response
	if err := json.Unmarshal(k.buf[:n], &resp); err != nil {
		return response{}, fault.Wrap(err, fault.Internal, "ask keeper", "answer cut off at %d bytes", n)
	}
	return resp, nil
}

func (k *Keeper) send(req request, files []*os.File) error {
	b, err := json.Marshal(req)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "ask keeper", "message cannot be written")
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	k.write.Lock()
	defer k.write.Unlock()
	_, _, err = k.conn.WriteMsgUnix(b, rights, nil)
	switch {
	case errors.Is(err, syscall.EMSGSIZE):
		return fault.Wrap(err, fault.TooLarge, "run program", "arguments and environment have %d bytes", len(b))
	case err != nil:
		return k.lost(err)
	}
	return nil
}

// lost makes the error for a keeper that does not answer any more, and ends it:
// its programs die with it.
func (k *Keeper) lost(cause error) error {
	if errors.Is(cause, net.ErrClosed) {
		return fault.Wrap(cause, fault.State, "run program", "the keeper is closed")
	}
	_ = k.proc.Kill() // already dead in most cases
	text := "the keeper has died"
	if b, err := io.ReadAll(io.NewSectionReader(k.stderr, 0, 4<<10)); err == nil && len(b) > 0 {
		text += ": " + strings.TrimSpace(string(b))
	}
	return fault.Wrap(cause, fault.Internal, "run program", "%s", text)
}

// Probe asks the keeper to connect to an address from where its programs run.
// It returns nil when the connection is made, and else what the kernel said.
func (k *Keeper) Probe(ctx context.Context, network, address string) error {
	k.run.Lock()
	defer k.run.Unlock()
	resp, err := k.ask(ctx, request{Op: opProbe, Network: network, Address: address}, nil, 10*time.Second)
	if err != nil {
		return err
	}
	if resp.Text == "" {
		return nil
	}
	return fault.New(fault.Unavailable, "probe "+address, "%s", resp.Text)
}

// Close stops whatever runs and ends the keeper. It is idempotent.
func (k *Keeper) Close() error {
	k.close.Do(func() {
		k.conn.Close() // the keeper sees the end of the stream, kills everything and exits
		timer := time.AfterFunc(3*killWait, func() { k.proc.Kill() })
		_, k.closed = k.proc.Wait()
		timer.Stop()
		k.stderr.Close()
	})
	return k.closed
}
