package contain

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/fault"
)

// NameOf returns the name that a ref of this kind holds, or "". A run that waits
// for a person outlives the process that holds its environment: it gets one of
// the same name, made anew from the same commits.
func NameOf(ref string) string {
	name, ok := strings.CutPrefix(ref, refPrefix)
	if !ok || !isName(name) {
		return ""
	}
	return name
}

// isName reports whether s is a name that newID makes: no path and no dot.
func isName(s string) bool {
	if len(s) != 13 || s[0] != 'e' {
		return false
	}
	for _, c := range s[1:] {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// DestroyNamed destroys an environment whose owner is gone, and confirms it; also
// when a sweep was there before. fault.Held says that its owner lives.
func DestroyNamed(ctx context.Context, root, name string, now func() time.Time) (Confirmation, error) {
	const op = "destroy environment"
	if !isName(name) {
		return Confirmation{}, fault.New(fault.Invalid, op, "%q is no environment", name)
	}
	dir := filepath.Join(root, name)
	if _, err := os.Lstat(dir); err == nil {
		lock, err := acquire(dir)
		if errors.Is(err, errOwned) {
			return Confirmation{}, fault.New(fault.Held, op, "%s belongs to a living process", name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Confirmation{}, fault.Wrap(err, fault.Internal, op, "cannot lock %s", name)
		}
		defer lock.Close()
	}
	c, err := remove(ctx, dir, now)
	c.Swept = true
	return c, err
}
