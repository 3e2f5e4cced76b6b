package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"writ/internal/canon"
	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/store/sqlite"
)

// A child is this test binary run again, to commit until it is killed. It says
// "acked <seq> <event id>" on its output after every acknowledgement, in one
// write, so that what the parent has read was acknowledged.
const (
	childJob  = "WRIT_STORE_CHILD"      // what the child does: crowd, single
	childPath = "WRIT_STORE_CHILD_PATH" // the database
	childDie  = "WRIT_STORE_CHILD_DIE"  // "point n": ends itself at the nth passing of a point
)

const crashWorkspace = "ws_crash"

func child(job string) int {
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: os.Getenv(childPath), Hook: dieAt(os.Getenv(childDie))})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	writers := map[string]int{"crowd": 16, "single": 1}[job]
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; ; n++ {
				e, err := crashCommit(s, w, n)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				_, _ = os.Stdout.WriteString("acked " + strconv.FormatInt(e.Seq, 10) + " " + e.ID + "\n")
			}
		})
	}
	wg.Wait()
	return 0
}

// crashCommit commits an event, a document and a step of a counter. The three
// are either all there afterwards or all absent.
func crashCommit(s *sqlite.Store, writer, n int) (ledger.Event, error) {
	ctx, id, counter := context.Background(), ident.New(ident.Event), "counter/"+strconv.Itoa(writer)
	version := int64(0)
	if c, err := s.Cell(ctx, crashWorkspace, ledger.CellRun, counter); err == nil {
		version = c.Version
	}
	body := []byte(`{"id":"` + id + `","text":"` + strings.Repeat("x", 200+n%1500) + `"}`)
	r, err := s.Commit(ctx, ledger.Commit{
		Workspace: crashWorkspace,
		Once:      &ledger.Once{Principal: "per_1", Key: id, Fingerprint: canon.Sum(body)},
		Events:    []ledger.NewEvent{{ID: id, Type: "message.posted", RunID: "run_" + strconv.Itoa(writer), Body: body}},
		Documents: []ledger.NewDocument{{Kind: ledger.KindRunFact, Ref: "doc/" + id, Event: id, Body: body}},
		Cells:     []ledger.CellWrite{{Kind: ledger.CellRun, Key: counter, Expect: version, Value: []byte(id)}},
	})
	if err != nil {
		return ledger.Event{}, err
	}
	return r.Events[0], nil
}

// dieAt makes a hook that kills the process like the machine would.
func dieAt(spec string) sqlite.Hook {
	if spec == "" {
		return nil
	}
	point, count, _ := strings.Cut(spec, " ")
	left, err := strconv.Atoi(count)
	if err != nil {
		panic(err)
	}
	return func(p sqlite.Point) error {
		if p == sqlite.Point(point) {
			if left--; left == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the signal may take a moment
			}
		}
		return nil
	}
}

// process is a running child.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	acked map[string]int64 // event id -> seq
	errs  strings.Builder
}

func spawn(t *testing.T, job, path, die string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self), acked: map[string]int64{}}
	p.cmd.Env = append(os.Environ(), childJob+"="+job, childPath+"="+path, childDie+"="+die)
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	return p
}

// next reads one acknowledgement; false at the end of the child. A line that
// was cut off is no acknowledgement.
func (p *process) next() bool {
	p.t.Helper()
	if !p.lines.Scan() {
		if err := p.lines.Err(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
			p.t.Fatal(err)
		}
		return false
	}
	var seq int64
	var id string
	if _, err := fmt.Sscanf(p.lines.Text(), "acked %d %s", &seq, &id); err == nil && len(id) == 30 {
		p.acked[id] = seq
	}
	return true
}

// kill ends the child at once, reads what it still had said, and checks that
// it died of that.
func (p *process) kill() {
	p.t.Helper()
	_ = p.cmd.Process.Kill()
	p.reap()
}

func (p *process) reap() {
	p.t.Helper()
	for p.next() {
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		p.t.Fatalf("the child ended by itself: %v\n%s", err, p.errs.String())
	}
}
