#include "textflag.h"

// func vfork(program, argv, env, mask, self uintptr, exec *uintptr, attr uintptr, counter *uintptr) (pid, errno uintptr)
//
// The child runs in the memory of its parent, which waits, so it changes nothing
// there but *exec and *counter: no call, no push. It dies with its parent, opens
// the counter, takes the signal mask, and executes the program.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-80
	MOVQ	$56, AX		// clone
	MOVQ	$0x4111, DI	// CLONE_VM, CLONE_VFORK, SIGCHLD
	CMPQ	attr+48(FP), $0
	JEQ	start
	ORQ	$0x400, DI	// CLONE_FILES: the counter is the parent's, too

start:
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	SYSCALL
	TESTQ	AX, AX
	JNE	parent

	MOVQ	$157, AX	// prctl
	MOVQ	$1, DI		// PR_SET_PDEATHSIG
	MOVQ	$9, SI		// SIGKILL
	SYSCALL
	MOVQ	$110, AX	// getppid
	SYSCALL
	CMPQ	AX, self+32(FP)
	JNE	gone
	MOVQ	attr+48(FP), DI
	TESTQ	DI, DI
	JEQ	mask
	MOVQ	$298, AX	// perf_event_open, for this process on any processor
	XORL	SI, SI
	MOVQ	$-1, DX
	MOVQ	$-1, R10
	MOVQ	$8, R8		// PERF_FLAG_FD_CLOEXEC
	SYSCALL
	MOVQ	counter+56(FP), BX
	MOVQ	AX, (BX)

mask:
	MOVQ	$14, AX		// rt_sigprocmask
	MOVQ	$2, DI		// SIG_SETMASK
	MOVQ	mask+24(FP), SI
	XORL	DX, DX
	MOVQ	$8, R10
	SYSCALL
	MOVQ	$59, AX		// execve
	MOVQ	program+0(FP), DI
	MOVQ	argv+8(FP), SI
	MOVQ	env+16(FP), DX
	SYSCALL
	NEGQ	AX
	MOVQ	exec+40(FP), BX
	MOVQ	AX, (BX)

gone:
	MOVQ	$231, AX	// exit_group
	XORL	DI, DI
	SYSCALL
	JMP	gone

parent:
	MOVQ	$0, errno+72(FP)
	MOVQ	AX, pid+64(FP)
	CMPQ	AX, $-4095
	JCS	ok
	NEGQ	AX
	MOVQ	AX, errno+72(FP)

ok:
	RET
