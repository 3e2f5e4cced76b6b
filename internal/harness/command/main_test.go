package command

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"writ/internal/canon"
	"writ/internal/order"
)

// The test binary is also a program to measure: helperMode says which.
const helperMode = "COMMAND_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperMode); mode != "" {
		help(mode, os.Args[1:])
		syscall.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// help does something that the kernel counts.
func help(mode string, args []string) {
	switch mode {
	case "memory": // as many MiB as the argument says, in every second run
		n, _ := strconv.Atoi(args[0])
		f, err := os.OpenFile("runs", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			syscall.Exit(1)
		}
		f.WriteString("x")
		if info, err := f.Stat(); err != nil || info.Size()%2 == 0 {
			n = 0
		}
		b, err := unix.Mmap(-1, 0, n<<20+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			syscall.Exit(1)
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	case "busy": // until it has had 50 ms of a processor
		var u unix.Rusage
		for u.Utime.Nano()+u.Stime.Nano() < 50e6 {
			unix.Getrusage(unix.RUSAGE_SELF, &u)
		}
	}
}

func times(n int) order.Precision { return order.Precision{Repetitions: order.Times(n)} }

func warm(p order.Precision, n int) order.Precision {
	p.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &n}
	return p
}

type object = map[string]any

// treeOrder is an order for command lines in a folder.
func treeOrder(dir string, parameters object) order.Order {
	return order.Order{
		Suites:     []order.Suite{{Adapter: Name, Suite: ".", Parameters: canon.MustFrom(parameters)}},
		Quantities: []string{"wall-time"}, Precision: times(3), Target: order.Target{Kind: order.WorkingTree, Path: dir},
	}
}

// script is a program below dir.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
