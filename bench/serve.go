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
	"slices"
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
	dir string
}

func startServer(ctx context.Context, writ string) (*server, error) {
	dir, err := os.MkdirTemp("", "writ-bench-")
	if err != nil {
		return nil, err
	}
	s, err := serveIn(ctx, writ, dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s.dir = dir
	return s, nil
}

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

// benchServe times from the start of the process to the first answer of HTTP, on
// a fresh data folder and on an existing one.
func benchServe(ctx context.Context, writ string, _ time.Duration) ([]figure, error) {
	const limit = 200 * time.Millisecond
	var fresh, again []time.Duration
	for range 5 {
		dir, err := os.MkdirTemp("", "writ-bench-")
		if err != nil {
			return nil, err
		}
		for _, into := range []*[]time.Duration{&fresh, &again} {
			t := time.Now()
			s, err := serveIn(ctx, writ, dir)
			if err != nil {
				return nil, err
			}
			r, err := http.Get(s.Address + "/healthz")
			if err != nil {
				return nil, err
			}
			r.Body.Close()
			*into = append(*into, time.Since(t))
			s.stop()
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	line := func(what string, all []time.Duration) figure {
		slices.Sort(all)
		mid := all[len(all)/2]
		return figure{what: what, value: "median " + mid.Round(time.Millisecond).String(), beside: "limit " + limit.String(), ratio: mid.Seconds() / limit.Seconds(), floor: 1, atMost: true}
	}
	return []figure{line("serve: start to first answer, fresh", fresh), line("serve: start to first answer, existing", again)}, nil
}
