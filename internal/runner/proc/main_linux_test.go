package proc

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the program under test: helperMode selects a part.
const helperMode = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperMode); mode != "" {
		helper(mode, os.Args[1:])
		syscall.Exit(0) // at once: the race detector lets a program linger
	}
	goleak.VerifyTestMain(m)
}

func helper(mode string, args []string) {
	switch mode {
	case "sleep":
		fmt.Println("pid", os.Getpid())
		select {}
	case "stubborn": // does not die of SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		time.Sleep(time.Hour)
	case "tree": // a grandchild in the group, one in its own session, one whose parent is gone
		spawn("sleep", nil)
		spawn("sleep", &syscall.SysProcAttr{Setsid: true})
		spawn("orphan", &syscall.SysProcAttr{Setsid: true})
		fmt.Println("pid", os.Getpid())
		if len(args) > 0 && args[0] == "leave" {
			waitForLines(os.Stdout.Name(), 5)
			return
		}
		time.Sleep(time.Hour)
	case "orphan":
		spawn("sleep", &syscall.SysProcAttr{Setsid: true})
		fmt.Println("pid", os.Getpid())
	case "flood":
		line := []byte(strings.Repeat("x", 4095) + "\n")
		for {
			os.Stdout.Write(line)
		}
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
		wd, _ := os.Getwd()
		n, err := bufio.NewReader(os.Stdin).ReadByte()
		fmt.Println("wd", wd, "stdin", n, err)
		_, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
		fmt.Println("tty", err != nil)
	case "memory":
		b := make([]byte, 64<<20)
		for i := range b {
			b[i] = byte(i)
		}
		fmt.Println(b[len(b)/2])
	case "isolated":
		isolatedHelper(args)
	case "runner": // a caller that is going to be killed
		k, err := Start(context.Background(), Isolation{})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		out, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			os.Exit(1)
		}
		fmt.Fprintln(out, "pid", k.proc.Pid)
		k.Run(context.Background(), self("tree", out))
	default:
		fmt.Println("unknown helper", mode)
		os.Exit(99)
	}
}

// isolatedHelper says what a contained program can do.
func isolatedHelper(args []string) {
	inside, outside, address := args[0], args[1], args[2]
	report := func(name string, err error) { fmt.Printf("%s=%t\n", name, err == nil) }
	report("write-inside", os.WriteFile(filepath.Join(inside, "made-inside"), []byte("x"), 0o644))
	report("write-outside", os.WriteFile(filepath.Join(outside, "made-outside"), []byte("x"), 0o644))
	_, err := os.ReadFile(filepath.Join(outside, "secret"))
	report("read-hidden", err)
	_, err = net.DialTimeout("tcp", address, time.Second)
	report("dial", err)
	report("remount", syscall.Mount("", "/", "", syscall.MS_REMOUNT|syscall.MS_BIND, ""))
	report("tmp", os.WriteFile(filepath.Join(os.TempDir(), "scratch"), nil, 0o644))
	report("system-tmp", os.WriteFile("/tmp/writ-isolation-test", nil, 0o644))
	report("system-shm", os.WriteFile("/dev/shm/writ-isolation-test", nil, 0o644))
	report("write-kept", os.WriteFile(filepath.Join(inside, "kept", "x"), nil, 0o644))
	report("setuid", syscall.Setuid(12345))
	report("loopback", talkToSelf())
	fmt.Printf("parent=%d\n", os.Getppid())
	processes, _ := filepath.Glob("/proc/[0-9]*")
	fmt.Printf("processes=%d\n", len(processes))
	b, _ := os.ReadFile(filepath.Join(inside, "layer", "below"))
	fmt.Printf("layer=%s\n", b)
	report("write-layer", os.WriteFile(filepath.Join(inside, "layer", "below"), []byte("changed"), 0o644))
}

// talkToSelf connects to a listener of its own.
func talkToSelf() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = net.DialTimeout("tcp", l.Addr().String(), time.Second)
	return err
}

func spawn(mode string, attr *syscall.SysProcAttr) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{helperMode + "=" + mode}
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		fmt.Println("error", err)
	}
}

// waitForLines waits until the standard output file has n lines.
func waitForLines(string, int) {
	for {
		b, err := os.ReadFile("/proc/self/fd/1")
		if err == nil && strings.Count(string(b), "\n") >= 5 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// self is this test binary as a program in the given mode.
func self(mode string, out *os.File, args ...string) Command {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Command{
		Argv:   append([]string{exe}, args...),
		Dir:    "/",
		Env:    []string{helperMode + "=" + mode},
		Stdout: out,
		Stderr: out,
	}
}

func output(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func start(t *testing.T, iso Isolation) *Keeper {
	t.Helper()
	k, err := Start(t.Context(), iso)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// until polls a real condition, with a deadline.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("gave up waiting: %s", what)
}

// pids returns the process ids that helpers printed.
func pids(text string) []int {
	var out []int
	for line := range strings.Lines(text) {
		var pid int
		if _, err := fmt.Sscanf(line, "pid %d", &pid); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// alive reports whether a process is there and not just waiting to be reaped.
func alive(pid int) bool {
	_, _, dead := stat(pid)
	return !dead
}
