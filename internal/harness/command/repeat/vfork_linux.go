//go:build amd64 || arm64

package repeat

// vfork starts a program in a process that shares this one's memory until the
// program is executed: nothing is copied, and nothing can be inherited but what
// little this process has. exec gets the error number of an execution that failed,
// and then the process ends. Where attr is not 0, counter gets the descriptor of a
// counter of the program, or the negative error number.
//
//go:noescape
func vfork(program, argv, env, mask, self uintptr, exec *uintptr, attr uintptr, counter *uintptr) (pid, errno uintptr)
