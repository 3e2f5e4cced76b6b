//go:build !unix

package runner

import (
	"os"

	"writ/internal/fault"
)

// LockFolder only opens the folder: nothing is measured on such systems.
func LockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "lock run", "cannot open %s", dir)
	}
	return f, nil
}
