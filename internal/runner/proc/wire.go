package proc

import (
	"syscall"
	"time"
)

// The two sides of a keeper speak JSON messages over a sequenced-packet socket,
// one message per packet. Both sides are the same build, so the form may change
// at will; it is never stored.

type op string

const (
	opHello  op = "hello"  // caller: set yourself up; answered by ready or failed
	opRun    op = "run"    // caller: start a program, output files attached; answered by done or failed
	opCancel op = "cancel" // caller: stop the program that runs; no answer of its own
	opProbe  op = "probe"  // caller: try to connect to an address; answered by probed
	opReady  op = "ready"
	opDone   op = "done"
	opFailed op = "failed"
	opProbed op = "probed"
)

type request struct {
	Op        op            `json:"op"`
	ID        int64         `json:"id"`
	Isolation *Isolation    `json:"isolation,omitempty"`
	Argv      []string      `json:"argv,omitempty"`
	Dir       string        `json:"dir,omitempty"`
	Env       []string      `json:"env,omitempty"`
	SameEnv   bool          `json:"sameEnv,omitempty"` // as that of the program before; Env is empty
	Limit     int64         `json:"limit,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"`
	Grace     time.Duration `json:"grace,omitempty"`
	Network   string        `json:"network,omitempty"`
	Address   string        `json:"address,omitempty"`
}

type response struct {
	Op     op            `json:"op"`
	ID     int64         `json:"id"`
	Result *Result       `json:"result,omitempty"`
	Report *Report       `json:"report,omitempty"`
	Text   string        `json:"text,omitempty"`
	Errno  syscall.Errno `json:"errno,omitempty"`
}

const (
	maxMessage = 1 << 20 // bytes of one message
	socketFD   = 3       // the keeper's end of the socket
)
