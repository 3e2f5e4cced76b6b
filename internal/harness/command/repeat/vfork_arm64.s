#include "textflag.h"

// func vfork(program, argv, env, mask, self uintptr, exec *uintptr, attr uintptr, counter *uintptr) (pid, errno uintptr)
//
// The child runs in the memory of its parent, which waits, so it changes nothing
// there but *exec and *counter: no call, no store to the stack. It dies with its
// parent, opens the counter, takes the signal mask, and executes the program.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-80
	MOVD	$220, R8	// clone
	MOVD	$0x4111, R0	// CLONE_VM, CLONE_VFORK, SIGCHLD
	MOVD	attr+48(FP), R1
	CBZ	R1, start
	ORR	$0x400, R0	// CLONE_FILES: the counter is the parent's, too

start:
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	SVC
	CBNZ	R0, parent

	MOVD	$167, R8	// prctl
	MOVD	$1, R0		// PR_SET_PDEATHSIG
	MOVD	$9, R1		// SIGKILL
	SVC
	MOVD	$173, R8	// getppid
	SVC
	MOVD	self+32(FP), R1
	CMP	R1, R0
	BNE	gone
	MOVD	attr+48(FP), R0
	CBZ	R0, mask
	MOVD	$241, R8	// perf_event_open, for this process on any processor
	MOVD	$0, R1
	MOVD	$-1, R2
	MOVD	$-1, R3
	MOVD	$8, R4		// PERF_FLAG_FD_CLOEXEC
	SVC
	MOVD	counter+56(FP), R1
	MOVD	R0, (R1)

mask:
	MOVD	$135, R8	// rt_sigprocmask
	MOVD	$2, R0		// SIG_SETMASK
	MOVD	mask+24(FP), R1
	MOVD	$0, R2
	MOVD	$8, R3
	SVC
	MOVD	$221, R8	// execve
	MOVD	program+0(FP), R0
	MOVD	argv+8(FP), R1
	MOVD	env+16(FP), R2
	SVC
	NEG	R0, R0
	MOVD	exec+40(FP), R1
	MOVD	R0, (R1)

gone:
	MOVD	$94, R8		// exit_group
	MOVD	$0, R0
	SVC
	B	gone

parent:
	MOVD	ZR, errno+72(FP)
	MOVD	R0, pid+64(FP)
	CMN	$4095, R0
	BCC	ok
	NEG	R0, R0
	MOVD	R0, errno+72(FP)

ok:
	RET
