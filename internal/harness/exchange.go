package harness

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"writ/internal/fault"
)

// Exchange stands in Argv and Variables of an invocation for a fresh, empty
// directory: the program finds Inputs in it and leaves Outputs. Harnesses write
// their results to a file there, because what a benchmark prints by itself gets
// into everything else. The directory is gone when the outputs have been read.
//
// No argument of a program holds a NUL byte, so this cannot be mistaken for one,
// and an invocation whose directory was forgotten does not start.
const Exchange = "\x00exchange\x00"

// MaxFile is how much of one output file is read, in bytes: harnesses write up to
// a million samples per case.
const MaxFile = 256 << 20

// File is one file of an exchange directory.
type File struct {
	Name      string // one part of a path: letters, digits and "-", "_", "."
	Kind      string // of the artifact that is kept, see package result
	MediaType string
	Bytes     []byte // of an input

	// Below is for an output whose place the harness chooses: where it is in the
	// exchange directory, as a pattern of whole path parts that its path ends with,
	// such as "new/sample.json" or "results/*/*-existing-*.json". Two such files are
	// one too many, and reported in Unread. "" for a file Name in the directory itself.
	Below string
}

// InExchange is the path of a file in the exchange directory.
func InExchange(name string) string { return Exchange + "/" + name }

// Exchanges reports whether the invocation needs an exchange directory.
func (i Invocation) Exchanges() bool { return len(i.Inputs)+len(i.Outputs) > 0 }

// In writes the inputs into dir, which must be empty, and returns the invocation
// with dir in the places of Exchange.
func (i Invocation) In(dir string) (Invocation, error) {
	const op = "lay out exchange"
	root, err := os.OpenRoot(dir)
	if err != nil {
		return i, fault.Wrap(err, fault.Internal, op, "no directory")
	}
	defer root.Close()
	for _, f := range i.Inputs {
		if !plainName(f.Name) {
			return i, fault.New(fault.Internal, op, "%q is no plain name", f.Name)
		}
		if err := create(root, f); err != nil {
			return i, fault.Wrap(err, fault.Internal, op, "cannot write %s", f.Name)
		}
	}
	i.Argv = slices.Clone(i.Argv)
	for n := range i.Argv {
		i.Argv[n] = strings.ReplaceAll(i.Argv[n], Exchange, dir)
	}
	i.Variables = maps.Clone(i.Variables)
	for name, value := range i.Variables {
		i.Variables[name] = strings.ReplaceAll(value, Exchange, dir)
	}
	return i, nil
}

func create(root *os.Root, f File) error {
	w, err := root.OpenFile(f.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Bytes)
	return errors.Join(err, w.Close())
}

// Collect reads the outputs from dir. The program may have put anything there:
// links out of the directory are not followed, and what is no ordinary file of at
// most MaxFile bytes is reported in Unread.
func (i Invocation) Collect(dir string, out *Output) error {
	const op = "read exchange"
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "the directory is gone")
	}
	defer root.Close()
	out.Files, out.Unread = map[string][]byte{}, map[string]string{}
	for _, f := range i.Outputs {
		if !plainName(f.Name) {
			return fault.New(fault.Internal, op, "%q is no plain name", f.Name)
		}
		b, err := f.read(root)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			out.Unread[f.Name] = err.Error()
		default:
			out.Files[f.Name] = b
		}
	}
	return nil
}

// maxEntries is how many files and folders of an exchange directory are looked
// through for an output.
const maxEntries = 10_000

// find returns the path of an output below root. Folders that are links are not
// entered.
func (f File) find(root *os.Root) (string, error) {
	if f.Below == "" {
		return f.Name, nil
	}
	found, seen := "", 0
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxEntries {
			return cmp.Or(err, errTooMany)
		}
		switch {
		case d.IsDir() || !endsWith(name, f.Below):
		case found != "":
			return errSeveral
		default:
			found = name
		}
		return nil
	})
	if err == nil && found == "" {
		err = fs.ErrNotExist
	}
	return found, err
}

// endsWith reports whether the last parts of a path match a pattern of parts.
func endsWith(name, pattern string) bool {
	parts, want := strings.Split(name, "/"), strings.Split(pattern, "/")
	if len(parts) < len(want) {
		return false
	}
	for i, part := range parts[len(parts)-len(want):] {
		if ok, err := path.Match(want[i], part); !ok || err != nil {
			return false
		}
	}
	return true
}

// What is not read of an exchange directory.
var (
	errSeveral  = errors.New("not the only file of its kind")
	errTooMany  = errors.New("among too many files to look through")
	errNoFile   = errors.New("no ordinary file")
	errTooLarge = errors.New("larger than what is read of a file")
)

func (f File) read(root *os.Root) ([]byte, error) {
	name, err := f.find(root)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile // opening a pipe would wait for its other end
	}
	r, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if info, err = r.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	if info.Size() > MaxFile {
		return nil, errTooLarge
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(r, b)
	return b, err
}

func plainName(s string) bool {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return s != "" && s[0] != '.' && strings.Trim(s, plain) == ""
}
