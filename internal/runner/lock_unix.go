//go:build unix

package runner

import (
	"os"
	"syscall"

	"writ/internal/fault"
)

// LockFolder takes a folder for this process, until the file is closed or the
// process has died.
func LockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "lock run", "cannot open %s", dir)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fault.Wrap(err, fault.Held, "lock run", "another process is measuring into %s", dir)
	}
	return f, nil
}
