// Package testkit holds what tests of every package need: skips that a strict
// run turns into failures, and programs that can be started at once. It is
// imported by tests only and never by the program.
package testkit

import (
	"os"
	"syscall"
	"testing"
)

// Strict reports whether WRIT_TEST_STRICT=1 is set: then nothing may be left
// untested because the machine lacks something.
func Strict() bool { return os.Getenv("WRIT_TEST_STRICT") == "1" }

// Skip skips the test and says what is missing and the line that installs it.
// Under a strict run it fails instead.
func Skip(t testing.TB, missing, install string) {
	t.Helper()
	if Strict() {
		t.Fatalf("missing: %s (install: %s); a strict run tests everything", missing, install)
	}
	t.Skipf("missing: %s (install: %s)", missing, install)
}

// Absent skips a comparison with something that is not part of the repository
// and that no machine can install, also under a strict run: a clone is whole
// without it. What the repository itself promises is never skipped like this.
func Absent(t testing.TB, what string) {
	t.Helper()
	t.Skipf("not here: %s", what)
}

// Program writes an executable file. Nothing is started while it is open for
// writing: a process that inherits it, of a test that runs meanwhile, would keep
// the kernel from starting it ("text file busy").
func Program(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
