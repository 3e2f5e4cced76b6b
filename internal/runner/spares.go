package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"writ/internal/fault"
)

// spares are empty files that are made before the first case and get their names
// when they are needed. A file system can take longer to make a file than a short
// program runs (ext4 does, for minutes after many files were deleted): that time
// is spent where nothing waits for it. A nil supply, or one that is used up, makes
// each file when it is asked for.
type spares struct {
	dir  string
	left []string // paths
}

const (
	sparePrefix = ".spare-"
	maxSpares   = 3 * 4096
)

// makeSpares makes up to n files in dir.
func makeSpares(dir string, n int) (*spares, error) {
	s := &spares{dir: dir}
	for i := range min(n, maxSpares) {
		path := filepath.Join(dir, sparePrefix+strconv.Itoa(i))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return nil, errors.Join(fault.Wrap(err, fault.Internal, "run order", "cannot make %s", path), s.clear())
		}
		s.left = append(s.left, path)
	}
	return s, nil
}

// take is the path of a spare file, "" when there is none.
func (s *spares) take() string {
	if s == nil || len(s.left) == 0 {
		return ""
	}
	last := s.left[len(s.left)-1]
	s.left = s.left[:len(s.left)-1]
	return last
}

// create opens a new, empty file for appending and reading.
func (s *spares) create(path string) (*os.File, error) {
	spare := s.take()
	if spare == "" {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	}
	fd, err := syscall.Open(spare, syscall.O_RDWR|syscall.O_APPEND|syscall.O_CLOEXEC, 0) // os would see first whether it can be polled
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if err := syscall.Rename(spare, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// write is writeFile with a spare file.
func (s *spares) write(path string, data []byte) error {
	spare := s.take()
	if spare == "" {
		return writeFile(path, data)
	}
	fd, err := syscall.Open(spare, syscall.O_WRONLY|syscall.O_CLOEXEC, 0) // it is empty; truncating it would have ext4 write it out at once
	if err == nil {
		f := os.NewFile(uintptr(fd), path)
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = syscall.Rename(spare, path)
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, "write file", "cannot write %s", path)
	}
	return nil
}

// clear removes what was not needed.
func (s *spares) clear() error {
	var errs []error
	for path := s.take(); path != ""; path = s.take() {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// clearSpares removes the spare files that a dead process left in dir.
func clearSpares(dir string) error {
	left, err := filepath.Glob(filepath.Join(escapeGlob(dir), sparePrefix+"*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
