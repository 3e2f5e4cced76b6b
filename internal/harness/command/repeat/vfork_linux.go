//go:build amd64 || arm64

package repeat

// vfork starts a program in a process that shares this one's memory until the
// program is executed: nothing is copied, and nothing can be inherited but what
// little this process has. exec gets the error number of an execution that failed,
// and then the process ends.
//
//go:noescape
func vfork(program, argv, env, mask, self uintptr, exec *uintptr) (pid, errno uintptr)
