package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes returns how the keeper is to be started. It gets the capabilities
// over its own, new namespaces that it needs to set itself up, and gives them up
// before it starts any program.
func (i Isolation) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	for flag, on := range map[uintptr]bool{
		unix.CLONE_NEWUSER: i.User,
		unix.CLONE_NEWNET:  i.Network,
		unix.CLONE_NEWPID:  i.Processes,
		unix.CLONE_NEWIPC:  i.IPC,
		unix.CLONE_NEWNS:   i.Files,
	} {
		if on {
			a.Cloneflags |= flag
		}
	}
	if i.User {
		uid, gid := os.Geteuid(), os.Getegid()
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
	}
	return a
}
