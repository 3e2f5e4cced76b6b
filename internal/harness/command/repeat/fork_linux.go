//go:build !amd64 && !arm64

package repeat

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// vfork starts a program in a copy of this process, which has little to copy. exec
// gets the error number of an execution that failed, and then the process ends.
// Where attr is not 0, counter gets the descriptor of a counter of the program, or
// the negative error number.
//
//go:norace
//go:nosplit
//go:nocheckptr
func vfork(program, argv, env, mask, self uintptr, exec *uintptr, attr uintptr, counter *uintptr) (pid, errno uintptr) {
	flags := uintptr(unix.SIGCHLD)
	if attr != 0 {
		flags |= unix.CLONE_FILES // the counter is the parent's, too
	}
	pid, e := call(unix.SYS_CLONE, flags, 0, 0, 0)
	if e != 0 || pid != 0 {
		return pid, uintptr(e)
	}
	call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0)
	if above, _ := call(unix.SYS_GETPPID, 0, 0, 0, 0); above == self {
		if attr != 0 {
			fd, _, e := syscall.RawSyscall6(unix.SYS_PERF_EVENT_OPEN, attr, 0, ^uintptr(0), ^uintptr(0), unix.PERF_FLAG_FD_CLOEXEC, 0)
			if *counter = fd; e != 0 {
				*counter = -uintptr(e)
			}
		}
		call(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, mask, 0, 8)
		_, e = call(unix.SYS_EXECVE, program, argv, env, 0)
		*exec = uintptr(e)
	}
	for {
		call(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
	}
}
