//go:build !amd64 && !arm64

package repeat

import "golang.org/x/sys/unix"

// vfork starts a program in a copy of this process, which has little to copy. exec
// gets the error number of an execution that failed, and then the process ends.
//
//go:norace
//go:nosplit
//go:nocheckptr
func vfork(program, argv, env, mask, self uintptr, exec *uintptr) (pid, errno uintptr) {
	pid, e := call(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0)
	if e != 0 || pid != 0 {
		return pid, uintptr(e)
	}
	call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0)
	if above, _ := call(unix.SYS_GETPPID, 0, 0, 0, 0); above == self {
		call(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, mask, 0, 8)
		_, e = call(unix.SYS_EXECVE, program, argv, env, 0)
		*exec = uintptr(e)
	}
	for {
		call(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
	}
}
