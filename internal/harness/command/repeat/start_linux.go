package repeat

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// init turns this process into one that repeats when it was started as one. It is
// here, and not a call in main, for the reason that the keeper's is: every program
// that can plan repetitions can also do them, and nothing else of it runs then.
func init() {
	if len(os.Args) < 3 || len(os.Args) > 4 || os.Args[1] != Name {
		return
	}
	runtime.LockOSThread() // the loop dies with the thread that started it: it must be one that stays
	// Programs that tell their process group to end mean themselves, and when a limit
	// ends the group they get their time to tidy up. What is executed has the default.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	answer, err := work(os.Args[2:])
	if err == nil {
		err = write(os.Args[len(os.Args)-1], answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, Name+":", err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// work is the content of the answer's file.
func work(files []string) ([]byte, error) {
	if len(files) == 1 {
		return lookForCounters().Encode(), nil
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	var p Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, err
	}
	s, err := p.run()
	return s.Encode(), err
}

func write(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// run does the repetitions in a process of their own and collects what it noted.
func (p Plan) run() (Samples, error) {
	m, notes, err := p.prepare()
	if err != nil {
		return Samples{}, err
	}
	defer notes.Close()
	return p.carryOut(m, notes)
}

func (p Plan) carryOut(m *machine, notes *os.File) (Samples, error) {
	pid, errno := m.start()
	if errno != 0 {
		return Samples{}, fmt.Errorf("fork: %w", errno)
	}
	var status unix.WaitStatus
	_, waited := unix.Wait4(pid, &status, 0, nil)
	for waited == unix.EINTR {
		_, waited = unix.Wait4(pid, &status, 0, nil)
	}
	if waited != nil {
		return Samples{}, fmt.Errorf("wait: %w", waited)
	}
	return p.collect(m, notes, status)
}

// prepare sets the machine up, with everything that it needs open.
func (p Plan) prepare() (*machine, *os.File, error) {
	m, err := newMachine(p.Program, p.Argv, os.Environ())
	if err != nil {
		return nil, nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	m.out, m.in = null, -1
	if p.Keep {
		m.out = -1
	}
	if p.Input != "" {
		if m.in, err = unix.Open(p.Input, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return nil, nil, fmt.Errorf("open %s: %w", p.Input, err)
		}
	}
	if m.notes, err = unix.MemfdCreate("samples", unix.MFD_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("no memory for samples: %w", err)
	}
	if m.counting = p.Instructions; m.counting {
		m.attr = instructions.attributes(true)
	}
	for _, status := range p.Expected {
		if status >= 0 && status < len(m.expected) {
			m.expected[status] = true
		}
	}
	m.total, m.parent = p.Warmups+p.Repetitions, uintptr(os.Getpid())
	restoreLimits()
	return m, os.NewFile(uintptr(m.notes), "samples"), nil
}

// restoreLimits undoes what package os did at the start: it raised the limit of
// open files, and only package syscall knows what that was. It puts the limit back
// before it executes something, even when there is nothing to execute.
func restoreLimits() {
	_ = syscall.Exec("", []string{""}, nil) // no file has an empty name
}
