package harness_test

import (
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"writ/internal/harness"
	"writ/internal/runner/proc"
)

func TestLastWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ stdout, stderr, want string }{
		{"", "", ""}, {"a\nb\n", "", "b"}, {"a\n", "x\r\ny\r\n\n", "y"}, {"a", " \n\t", "a"}, {"", "one", "one"}, {"", "bad \xff", "bad \uFFFD"},
	} {
		if got := (harness.Output{Stdout: []byte(tc.stdout), Stderr: []byte(tc.stderr)}).LastWords(); got != tc.want {
			t.Errorf("%q %q: got %q, want %q", tc.stdout, tc.stderr, got, tc.want)
		}
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]proc.Result{
		"ended with status 3":                  {Cause: proc.Exited, Exit: 3},
		"killed by signal 6 (aborted)":         {Cause: proc.Exited, Exit: -1, Signal: syscall.SIGABRT},
		"stopped at its time limit":            {Cause: proc.TimedOut, Exit: -1, Signal: syscall.SIGTERM},
		"stopped because it wrote without end": {Cause: proc.OutputLimit},
		"stopped from outside":                 {Cause: proc.Cancelled},
	} {
		if got := (harness.Output{Result: r}).End(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	long := harness.Clip(strings.Repeat("é", 400))
	if !utf8.ValidString(long) || len(long) > 510 || !strings.HasSuffix(long, "é…") {
		t.Errorf("%d bytes, %q", len(long), long[len(long)-8:])
	}
	if got := harness.FirstOf("", "", "a", "b") + harness.FirstOf(); got != "a" {
		t.Errorf("got %q", got)
	}
}
