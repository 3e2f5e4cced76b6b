package proc

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// init turns this process into a keeper when it was started as one. It is here,
// and not a call in main, so that every program that can start a keeper also is
// one; nothing else of the program runs then.
func init() {
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		return
	}
	runtime.LockOSThread() // children die with the thread that started them: it must be one that stays
	s := server{pid: os.Getpid()}
	s.serve()
	s.exit()
}

// server is the keeper's side of the socket. It has one thread and no state but
// the program that runs.
type server struct {
	pid    int
	null   int      // descriptor of /dev/null, open for reading
	report Report   // as answered to hello
	env    []string // of the last program
	kids   kernelFile
	status kernelFile
	peak   int64 // most memory of this process so far, in bytes
	group  cgroup
	buf    [maxMessage]byte
}

// kernelFile is a file of /proc that is read after every program: it stays open.
type kernelFile struct {
	fd   int
	open bool
}

// read returns what the file holds now, in buf. The path counts at the first use.
func (f *kernelFile) read(path string, buf []byte) ([]byte, error) {
	if !f.open {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		f.fd, f.open = fd, true
	}
	for n := 0; ; {
		m, err := unix.Pread(f.fd, buf[n:], int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case m == 0:
			return buf[:n], nil
		default:
			n += m
		}
	}
}

func (s *server) serve() {
	unix.CloseOnExec(socketFD)
	for {
		req, files, err := s.receive()
		if err != nil {
			return // the caller is gone, and nothing runs
		}
		switch req.Op {
		case opHello:
			s.answer(s.hello(req))
		case opRun:
			s.answer(s.run(req, files))
			s.peak = s.ownPeak() // of the next program: nobody waits for it now
		case opProbe:
			s.answer(probe(req))
		}
		for _, f := range files {
			unix.Close(f)
		}
	}
}

// exit ends the keeper, with nothing running.
func (s *server) exit() {
	s.group.remove()
	syscall.Exit(0)
}

// hello sets the keeper up: it adopts orphans, writes no core files, and gives
// up what the isolation says.
func (s *server) hello(req request) response {
	fail := func(what string, err error) response {
		var errno syscall.Errno
		errors.As(err, &errno)
		return response{Op: opFailed, ID: req.ID, Text: "cannot " + what, Errno: errno}
	}
	var err error
	if s.null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fail("open "+os.DevNull, err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail("adopt orphans", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fail("turn core files off", err)
	}
	if req.Isolation == nil || !req.Isolation.Any() { // inside, its files are read-only, and process ids of their own do as well
		s.group = newCgroup()
		s.report.Cgroup = s.group.in
	}
	if req.Isolation != nil && req.Isolation.Any() {
		if what, err := s.isolate(*req.Isolation); err != nil {
			return fail(what, err)
		}
	}
	s.look()
	s.peak = s.ownPeak()
	return response{Op: opReady, ID: req.ID, Report: &s.report}
}

// look fills the report with what is, not with what was asked for.
func (s *server) look() {
	ns := func(name string) string {
		v, _ := os.Readlink("/proc/self/ns/" + name) // "" when it cannot be read, as documented
		return v
	}
	s.report.PID, s.report.UID = s.pid, os.Getuid()
	s.report.Namespaces = Namespaces{User: ns("user"), Network: ns("net"), PID: ns("pid"), IPC: ns("ipc"), Mount: ns("mnt")}
	interfaces, _ := net.Interfaces() // none when it cannot be asked: the caller wants to see the loopback
	for _, i := range interfaces {
		s.report.Interfaces = append(s.report.Interfaces, Interface{
			Name: i.Name, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0})
	}
}

func probe(req request) response {
	resp := response{Op: opProbed, ID: req.ID}
	conn, err := net.DialTimeout(req.Network, req.Address, 5*time.Second)
	if err != nil {
		resp.Text = err.Error()
		return resp
	}
	conn.Close()
	return resp
}

// receive reads one message and the files that came with it.
func (s *server) receive() (request, []int, error) {
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := unix.Recvmsg(socketFD, s.buf[:], oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		n, oobn, _, _, err = unix.Recvmsg(socketFD, s.buf[:], oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return request{}, nil, err
	}
	if n == 0 {
		return request{}, nil, os.ErrClosed
	}
	var files []int
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil {
		for i := range messages {
			if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
				files = append(files, fds...)
			}
		}
	}
	var req request
	if err := json.Unmarshal(s.buf[:n], &req); err != nil {
		return request{}, files, err
	}
	return req, files, nil
}

// answer sends resp; a caller that is gone shows at the next receive.
func (s *server) answer(resp response) {
	b, err := json.Marshal(resp)
	if err != nil {
		b = []byte(`{"op":"failed","text":"` + strings.ReplaceAll(err.Error(), `"`, `'`) + `"}`)
	}
	_ = unix.Sendmsg(socketFD, b, nil, nil, 0)
}
