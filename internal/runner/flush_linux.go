package runner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"writ/internal/fault"
)

// flush makes everything that was written to the file system of dir survive the
// loss of power.
func flush(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "write results", "cannot open %s", dir)
	}
	if err := errors.Join(unix.Syncfs(int(d.Fd())), d.Close()); err != nil {
		return fault.Wrap(err, fault.Internal, "write results", "cannot flush %s", dir)
	}
	return nil
}
