//go:build unix

package gitcmd

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the command as the leader of a process group and kills that
// group, with every helper that git started, when the context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
