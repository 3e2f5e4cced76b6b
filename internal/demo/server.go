package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"writ/internal/fault"
)

// process is the server of the demo.
type process struct {
	cmd     *exec.Cmd
	address string
	first   struct {
		Token     string `json:"token"`
		Workspace string `json:"workspace_id"`
	}
}

// startServer starts `writ serve` on a free port and waits until it answers.
func startServer(ctx context.Context, p Params, dir string) (*process, error) {
	cmd := exec.CommandContext(ctx, p.Self, "serve", "--json", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = p.Err
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "start server", "%s cannot be run", p.Self)
	}
	s := &process{cmd: cmd}
	var ready struct {
		Address string `json:"address"`
		First   any    `json:"first"`
	}
	ready.First = &s.first
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %w", err), s.stop())
	}
	s.address = ready.Address
	return s, nil
}

// stop asks the server to end and waits for it.
func (s *process) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil // it ended already
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Success() {
		return fmt.Errorf("the server ended badly: %w", err)
	}
	return nil
}
