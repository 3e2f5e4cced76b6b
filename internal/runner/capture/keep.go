package capture

import (
	"errors"
	"io"
	"os"
	"strings"
)

// kept is what a host remembers about its files between readings.
type kept struct {
	open   map[string]*os.File
	lists  map[string][]string // by pattern
	groups map[string]place    // by controller
	buf    []byte

	// virtualMHz is the clock rate that a virtual machine without frequency control
	// shows: the one that its kernel found at the start, the same for ever. Its file
	// describes every processor at length, and is the dearest of all to read.
	virtualMHz float64
}

// place is the answer of group.
type place struct {
	group   group
	unified bool
	err     error
}

// Keep returns the same machine for many readings in a row. Its files stay open
// and are read anew each time; which files there are, and in which control group
// this process is, is looked up once. Every reading between two measured programs
// costs a tenth of what it costs otherwise. The kept host is not safe for
// concurrent use; release closes its files, and it must not be used afterwards.
func (h Host) Keep() (_ Host, release func() error) {
	k := &kept{open: map[string]*os.File{}, lists: map[string][]string{}, groups: map[string]place{}, buf: make([]byte, 8<<10)}
	h.kept = k
	return h, k.close
}

func (k *kept) close() error {
	var errs []error
	for _, f := range k.open {
		errs = append(errs, f.Close())
	}
	clear(k.open)
	return errors.Join(errs...)
}

// text reads a file from its beginning, without surrounding white space.
func (k *kept) text(path string) (string, error) {
	f := k.open[path]
	if f == nil {
		var err error
		if f, err = os.Open(path); err != nil {
			return "", err
		}
		k.open[path] = f
	}
	for n := 0; ; {
		m, err := f.ReadAt(k.buf[n:], int64(n))
		n += m
		switch {
		case err == io.EOF || err == nil && n >= maxFact:
			return strings.TrimSpace(string(k.buf[:min(n, maxFact)])), nil
		case err != nil:
			return "", err
		}
		k.buf = append(k.buf, make([]byte, len(k.buf))...)
	}
}
