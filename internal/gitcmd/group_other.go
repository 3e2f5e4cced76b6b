//go:build !unix

package gitcmd

import "os/exec"

// ownGroup leaves the default, which kills the command itself only: there are
// no process groups here.
func ownGroup(*exec.Cmd) {}
