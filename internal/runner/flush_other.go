//go:build !linux

package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"writ/internal/fault"
)

// flush makes everything that was written below dir survive the loss of power.
func flush(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	if err != nil {
		return fault.Wrap(err, fault.Internal, "write results", "cannot flush %s", dir)
	}
	return nil
}
