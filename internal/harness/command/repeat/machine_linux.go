package repeat

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is all that the loop has: it lies, with the texts that it points to, in
// memory of its own that three processes share: the one that plans, the loop, and
// the program until it is executed. Addresses in it are plain numbers.
type machine struct {
	program, argv, env uintptr // as execve takes them

	parent   uintptr // process id of the one that plans
	self     uintptr // that of the loop
	in, out  int     // descriptors: standard input, or -1 for none; where output goes, or -1 for where it goes already
	notes    int     // descriptor that samples are written to
	counting bool    // what attr says
	attr     unix.PerfEventAttr
	total    int // repetitions with warm-ups
	expected [256]bool
	mask     uint64 // signals that programs block
	all      uint64
	spare    [maxSpare]span // memory that the loop does not need
	listed   bool           // children can be listed

	// What happened.
	done     int           // repetitions that ended as expected
	status   uint32        // of the last, as wait4 has it
	exec     uintptr       // error number: why the program could not be executed
	failed   unix.Errno    // of another system call
	strays   int           // processes that were killed
	text     [4 << 10]byte // of /proc
	length   int           // of text, at the end the loop's own status
	counter  uintptr       // descriptor of the counter of the program that runs, or a negative error number
	counted  counted
	begun    unix.Timespec
	end      unix.Timespec
	clock    int64 // ns between two looks at the clock, at best
	usage    unix.Rusage
	note     note
	ended    uint32
	lost     uint32      // how the loop ended
	pathOf   [2][32]byte // files of /proc that the loop opens
	finished bool
}

const maxSpare = 512

// span is memory from one address to another.
type span struct{ from, to uintptr }

// note is what is written down after each repetition.
type note struct {
	wall, user, system             int64 // ns
	peak                           int64 // bytes
	minor, major                   int64
	voluntary, involuntary         int64
	instructions, enabled, running int64
}

// errLeft says that what outlived a program cannot be found.
const errLeft = unix.EBUSY

const noteSize = int(unsafe.Sizeof(note{}))

// files of /proc, by their place in machine.pathOf.
const (
	fileStatus = iota
	fileChildren
)

// newMachine makes a machine for one command line.
func newMachine(program string, argv, env []string) (*machine, error) {
	spare, err := spareMemory()
	if err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(machine{})) + len(program) + 1 + 8*(len(argv)+len(env)+2) + 64
	for _, s := range append(append([]string{}, argv...), env...) {
		size += len(s) + 1
	}
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("no memory: %w", err)
	}
	m := (*machine)(unsafe.Pointer(&b[0]))
	rest := b[(unsafe.Sizeof(machine{})+7)&^7:]
	vector := func(texts []string) uintptr {
		out := unsafe.Slice((*uintptr)(unsafe.Pointer(&rest[0])), len(texts)+1)
		rest = rest[8*(len(texts)+1):]
		for i, s := range texts {
			out[i] = uintptr(unsafe.Pointer(&rest[0]))
			copy(rest, s)
			rest = rest[len(s)+1:]
		}
		pad := -uintptr(unsafe.Pointer(unsafe.SliceData(rest))) & 7
		rest = rest[pad:]
		return uintptr(unsafe.Pointer(&out[0]))
	}
	m.argv, m.env = vector(argv), vector(env)
	m.program = uintptr(unsafe.Pointer(&rest[0]))
	copy(rest, program)
	m.all = math.MaxUint64
	for i, path := range []string{"/proc/self/status", "/proc/thread-self/children"} {
		copy(m.pathOf[i][:], path)
	}
	copy(m.spare[:], spare)
	id, err := os.Readlink("/proc/self")
	m.listed = err == nil && id == strconv.Itoa(os.Getpid()) // /proc speaks of the same ids as we do
	return m, nil
}

// spareMemory lists the memory of this process that its copy can do without the
// content of: all but the program's own code.
func spareMemory() ([]span, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, fmt.Errorf("no list of memory: %w", err)
	}
	var out []span
	own := ""
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		low, high, _ := strings.Cut(f[0], "-")
		from, err := strconv.ParseUint(low, 16, 64)
		to, err2 := strconv.ParseUint(high, 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		name := strings.Join(f[5:], " ")
		if own == "" {
			own = name // the program comes first
		}
		code := name == own && !strings.Contains(f[1], "w")
		if code || strings.HasPrefix(name, "[v") || to > math.MaxInt64 {
			continue
		}
		if len(out) == maxSpare {
			break // the rest stays; it counts, and the floor says so
		}
		out = append(out, span{uintptr(from), uintptr(to)})
	}
	return out, nil
}

// collect makes samples of what the loop noted.
func (p Plan) collect(m *machine, notes *os.File, status unix.WaitStatus) (Samples, error) {
	size := m.done * noteSize
	b := make([]byte, size)
	if size > 0 {
		if _, err := notes.ReadAt(b, 0); err != nil {
			return Samples{}, fmt.Errorf("read samples: %w", err)
		}
	}
	s := Samples{Warmups: min(m.done, p.Warmups), Strays: m.strays}
	if size > 0 {
		all := unsafe.Slice((*note)(unsafe.Pointer(&b[0])), m.done)
		for _, n := range all[s.Warmups:] {
			s.add(n, p.Instructions)
		}
	}
	s.Clock, s.Floor = float64(m.clock), peak(m.text[:m.length])
	s.Stopped, s.Incomplete = p.why(m, status)
	return s, nil
}

func (s *Samples) add(n note, instructions bool) {
	s.Wall, s.User, s.System = append(s.Wall, float64(n.wall)), append(s.User, float64(n.user)), append(s.System, float64(n.system))
	s.Peak = append(s.Peak, float64(n.peak))
	s.Minor, s.Major = append(s.Minor, float64(n.minor)), append(s.Major, float64(n.major))
	s.Voluntary, s.Involuntary = append(s.Voluntary, float64(n.voluntary)), append(s.Involuntary, float64(n.involuntary))
	if instructions {
		s.Instructions = append(s.Instructions, float64(n.instructions))
		s.Shared = s.Shared || n.running < n.enabled
	}
}

// why says why the loop stopped, "" when it went to its end, and whether that is
// this process's own failure.
func (p Plan) why(m *machine, status unix.WaitStatus) (text string, incomplete bool) {
	what := fmt.Sprintf("repetition %d", m.done-p.Warmups+1)
	if m.done < p.Warmups {
		what = fmt.Sprintf("warm-up %d", m.done+1)
	}
	last := unix.WaitStatus(m.status)
	if lost := unix.WaitStatus(m.lost); lost.Signaled() {
		status = lost
	}
	switch {
	case m.exec != 0:
		return fmt.Sprintf("cannot start %s: %v", p.Argv[0], unix.Errno(m.exec)), false
	case m.failed == errLeft:
		return what + ": processes outlived it, and this kernel does not list them", true
	case m.failed != 0:
		return fmt.Sprintf("%s: %v", what, m.failed), true
	case !m.finished:
		return fmt.Sprintf("%s: the loop was killed by signal %d", what, status.Signal()), true
	case m.done == m.total:
		return "", false
	case last.Signaled():
		return fmt.Sprintf("%s was killed by signal %d (%s)", what, int(last.Signal()), last.Signal()), false
	}
	return fmt.Sprintf("%s ended with status %d", what, last.ExitStatus()), false
}

// peak reads the most memory of a process out of its status; what is not known
// counts as more than any program has.
func peak(status []byte) float64 {
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 53-10)
	if err != nil || kib < 0 {
		return 1 << 52
	}
	return float64(kib << 10)
}
