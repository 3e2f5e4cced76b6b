package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// server is `writ serve` as a process of its own.
type server struct {
	Address string `json:"address"`
	First   struct {
		Token string `json:"token"`
	} `json:"first"`

	cmd *exec.Cmd
	dir string // removed when the server stops, unless ""
}

// startServer serves a fresh folder that goes with the server.
func startServer(ctx context.Context, s setup) (*server, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	p, err := serveIn(ctx, s.writ, dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p.dir = dir
	return p, nil
}

// serveIn serves dir and returns when the server says where it answers.
func serveIn(ctx context.Context, writ, dir string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, writ, "serve", "--json", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0")}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(s); err != nil {
		s.stop()
		return nil, fmt.Errorf("start %s serve: %w", writ, err)
	}
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// startLimit is how long the start of a server may take until the first answer.
const startLimit = 200 * time.Millisecond

// benchServe times from the start of the process to the first answer of HTTP, on
// a fresh data folder and on an existing one.
func benchServe(ctx context.Context, s setup) ([]figure, error) {
	var fresh, again times
	for range 11 {
		dir, err := os.MkdirTemp(s.dir, "writ-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		for _, into := range []*times{&fresh, &again} {
			took, err := startOnce(ctx, s.writ, dir)
			if err != nil {
				return nil, err
			}
			*into = append(*into, took)
		}
	}
	line := func(what string, all times) figure {
		mid := all.sorted().at(0.5)
		return limited(figure{
			What: "serve: start to first answer, " + what, Value: show(mid) + ", longest " + show(all.at(1)), Beside: "limit " + startLimit.String(),
			Numbers: map[string]float64{"median_ms": millis(mid), "longest_ms": millis(all.at(1)), "limit_ms": millis(startLimit)},
		}, mid.Seconds(), startLimit.Seconds())
	}
	return []figure{line("fresh folder", fresh), line("existing folder", again)}, nil
}

func startOnce(ctx context.Context, writ, dir string) (time.Duration, error) {
	t := time.Now()
	s, err := serveIn(ctx, writ, dir)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	r, err := http.Get(s.Address + "/healthz")
	if err != nil {
		return 0, err
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the first answer is %s", r.Status)
	}
	return time.Since(t), nil
}
