package capture

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode"

	"writ/internal/fault"
)

// skipped are directories that say nothing about the content.
var skipped = map[string]bool{".git": true, ".benchx": true, "__pycache__": true}

// Directory identifies files that are not under version control: every regular
// file by name and content, in order of their path components. Links and other
// special files do not count. Without history the state is always Dirty.
func Directory(ctx context.Context, dir string) (Identity, error) {
	const op = "identify directory"
	sum := sha1.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.IsDir() {
			if name != dir && skipped[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return addFile(sum, name, filepath.ToSlash(rel))
	})
	if stop := stoppedOnly(ctx, op); stop != nil {
		return Identity{}, stop
	}
	if err != nil {
		return Identity{}, fault.Wrap(err, fault.Target, op, "cannot read %s", dir)
	}
	tree := hex.EncodeToString(sum.Sum(nil))
	return Identity{Top: dir, Revision: "directory-" + tree, Dirty: Dirty, Tree: tree, VCS: "directory"}, nil
}

// addFile adds "<bytes of name>:<name>:<bytes of content>:" and the content. A
// file that grows or shrinks while it is read is an error.
func addFile(sum io.Writer, name, rel string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%d:%s:%d:", len(rel), rel, info.Size())
	n, err := io.Copy(sum, f)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s changed while it was read", rel)
	}
	return err
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }
