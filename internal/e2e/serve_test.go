package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"writ/client"
	"writ/internal/node"
)

// serveVariable makes this binary serve alone; its value is a life.
const serveVariable = "WRIT_E2E_SERVE"

// life is how a server of its own process lives, and dies.
type life struct {
	Data   string   `json:"data"`
	Listen string   `json:"listen"`
	Points string   `json:"points"` // file that lists the points it came by
	Kill   int      `json:"kill"`   // dies at the point of this number, from 1; 0 for none
	At     string   `json:"at"`     // dies at the first point that begins so
	Once   bool     `json:"once"`   // dies at the first point that is not in Points yet
	Spare  []string `json:"spare"`  // beginnings of points at which it does not die for Once
}

// born is what a server says when it answers.
type born struct {
	Address string      `json:"address"`
	First   *node.First `json:"first"`
}

// serveAlone is the life of a server.
func serveAlone(text string) int {
	var l life
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := l.serve(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (l life) serve(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	points, err := os.OpenFile(l.Points, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer points.Close()
	known, err := os.ReadFile(l.Points)
	if err != nil {
		return err
	}
	d := death{life: l, points: points, known: strings.Split(string(known), "\n")}
	n, err := node.Start(ctx, node.Params{
		Data: l.Data, Listen: l.Listen, Version: "e2e", Self: self, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Crash: d.pass,
	})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(born{n.Address, n.First}); err != nil {
		return err
	}
	if err := n.Shown(ctx); err != nil {
		return err
	}
	err = n.Wait(ctx)
	end, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if cerr := n.Close(end); err == nil {
		err = cerr
	}
	return err
}

// death kills its own process at one point.
type death struct {
	life
	mu     sync.Mutex
	points *os.File
	known  []string
	passed int
}

func (d *death) pass(point string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed++
	fresh := !slices.Contains(d.known, point)
	d.known = append(d.known, point)
	fmt.Fprintln(d.points, point)
	spared := slices.ContainsFunc(d.Spare, func(s string) bool { return strings.HasPrefix(point, s) })
	if d.passed == d.Kill || d.At != "" && strings.HasPrefix(point, d.At) || d.Once && fresh && !spared {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing more is done
	}
}

// supervisor starts a server again whenever it died.
type supervisor struct {
	t     testing.TB
	log   *log
	ready chan born
	mu    sync.Mutex
	next  life // of the next process
	lives int
	cmd   *exec.Cmd
	over  bool
	ended chan struct{} // closed when no process is left and none will come
	fatal error
}

// supervise starts a server with this life, and keeps one running until the test ends.
func supervise(t testing.TB, log *log, l life) *supervisor {
	t.Helper()
	s := &supervisor{t: t, log: log, next: l, ready: make(chan born, 1), ended: make(chan struct{})}
	go s.run()
	return s
}

// then says how the processes from the next one on live.
func (s *supervisor) then(change func(*life)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.next)
}

func (s *supervisor) run() {
	defer close(s.ended)
	for {
		cmd, out, err := s.start()
		if cmd == nil {
			s.fatal = err
			return
		}
		in := bufio.NewReader(out)
		line, _ := in.ReadString('\n') // a process that died before it answered says nothing
		var b born
		if json.Unmarshal([]byte(line), &b) == nil && b.First != nil {
			select {
			case s.ready <- b:
			default:
			}
		}
		_, _ = in.WriteTo(s.log)
		err = cmd.Wait()
		s.mu.Lock()
		over := s.over
		s.mu.Unlock()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if over && line == "" && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return // asked to end before it could listen to that
		}
		if over || !status.Signaled() {
			s.fatal = err
			return
		}
	}
}

// start starts the next process; none when it is all over.
func (s *supervisor) start() (*exec.Cmd, interface{ Read([]byte) (int, error) }, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(s.next)
	if err != nil {
		return nil, nil, err
	}
	s.next.Kill, s.next.At = 0, "" // one death each
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVariable+"="+string(text))
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	s.cmd = cmd
	s.lives++
	return cmd, out, nil
}

// kill kills the process that runs now.
func (s *supervisor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Process.Kill() // it may be dead already
}

// stop asks the last process to end, and waits for it.
func (s *supervisor) stop() {
	s.t.Helper()
	s.mu.Lock()
	s.over = true
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may be dead already
	}
	s.mu.Unlock()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Error("the server does not end")
		s.kill()
		<-s.ended
	}
	if s.fatal != nil {
		s.t.Errorf("the server ended badly: %v", s.fatal)
	}
}

// freeAddress is a loopback address that nobody listens on now.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newMortalWorld is a world whose server is a process of its own, started again
// whenever it dies. Its people are there already; how it dies is said with then.
func newMortalWorld(t testing.TB) (*world, *supervisor) {
	t.Helper()
	w := bareWorld(t, t.TempDir())
	l := life{Data: w.data(), Listen: freeAddress(t), Points: w.dir + "/points"}
	s := supervise(t, w.log, l)
	select {
	case b := <-s.ready:
		w.address, w.workspace = b.Address, b.First.Workspace
		w.admin = w.client(b.First.Token)
	case <-s.ended:
		t.Fatalf("the server did not start: %v", s.fatal)
	}
	w.people()
	return w, s
}

// points are the points that the servers of a world came by, in order.
func (w *world) points() []string {
	w.t.Helper()
	raw, err := os.ReadFile(w.dir + "/points")
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// client is one that outlives its server.
func (w *world) client(token string) *client.Client {
	return client.New(w.address, token, client.WithTries(60))
}
