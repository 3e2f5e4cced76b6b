package gitcmd

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"writ/internal/fault"
)

// Modes of tree entries.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
)

// Entry is a file of a tree.
type Entry struct {
	Mode string
	Kind string // blob, or commit for a submodule
	ID   string
	Path string // relative, with slashes
}

// LsTree lists every file below a commit or tree, in git's order.
func (r Repo) LsTree(ctx context.Context, id string) ([]Entry, error) {
	if err := checkIDs("git ls-tree", id); err != nil {
		return nil, err
	}
	a, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for line := range bytes.SplitSeq(a.out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		head, name, _ := strings.Cut(string(line), "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return nil, fault.New(fault.Corrupt, "git ls-tree", "line %.80q cannot be read", line)
		}
		out = append(out, Entry{Mode: f[0], Kind: f[1], ID: f[2], Path: name})
	}
	return out, nil
}

// ReadFile returns the bytes of one file of a commit or tree; fault.NotFound
// when it has none by that path.
func (r Repo) ReadFile(ctx context.Context, id, name string) ([]byte, error) {
	if err := checkIDs("git ls-tree", id); err != nil {
		return nil, err
	}
	if err := checkPath(name); err != nil {
		return nil, err
	}
	a, err := r.git(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", id, "--", name)
	if err != nil {
		return nil, err
	}
	f := strings.Fields(string(a.out))
	if len(f) < 4 || f[1] != "blob" {
		return nil, fault.New(fault.NotFound, "read file", "no file %s in %s", name, id)
	}
	o, err := r.ReadObject(ctx, f[2])
	return o.Raw, err
}

// File is a change of one file of a tree.
type File struct {
	Path    string
	Mode    string // ModeFile when empty
	Content []byte
	Delete  bool
}

// WriteTree stores the tree that base becomes with the changes, and returns its
// id. Base is a commit or tree, or "" for the empty tree. No work tree and no
// index of the repository is touched, and no filter is applied.
func (r Repo) WriteTree(ctx context.Context, base string, files []File) (string, error) {
	scratch, err := os.MkdirTemp("", "writ-index-")
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "write tree", "no scratch folder")
	}
	defer os.RemoveAll(scratch)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}
	if base != "" {
		if err := checkIDs("git read-tree", base); err != nil {
			return "", err
		}
		if _, err := r.run(ctx, call{args: []string{"read-tree", base}, env: env}); err != nil {
			return "", err
		}
	}
	var list bytes.Buffer
	for _, f := range files {
		line, err := r.indexLine(ctx, f)
		if err != nil {
			return "", err
		}
		list.WriteString(line)
	}
	if _, err := r.run(ctx, call{args: []string{"update-index", "-z", "--index-info"}, stdin: list.Bytes(), env: env}); err != nil {
		return "", err
	}
	a, err := r.run(ctx, call{args: []string{"write-tree"}, env: env})
	return a.line(), err
}

// indexLine stores the content of a file and returns its line for the index;
// mode 0 takes the path out.
func (r Repo) indexLine(ctx context.Context, f File) (string, error) {
	if err := checkPath(f.Path); err != nil {
		return "", err
	}
	if f.Delete {
		return "0 " + strings.Repeat("0", 40) + "\t" + f.Path + "\x00", nil
	}
	switch f.Mode {
	case "":
		f.Mode = ModeFile
	case ModeFile, ModeExecutable, ModeLink:
	default:
		return "", fault.New(fault.Invalid, "write tree", "%q is no mode of a file", f.Mode)
	}
	id, err := r.WriteBlob(ctx, f.Content)
	return f.Mode + " " + id + "\t" + f.Path + "\x00", err
}

// checkPath takes relative paths inside the tree, with slashes, in their
// shortest form.
func checkPath(p string) error {
	if p == "" || p == "." || path.IsAbs(p) || path.Clean(p) != p || strings.HasPrefix(p, "../") || p == ".." || strings.ContainsAny(p, "\x00\n") {
		return fault.New(fault.OutsidePath, "check path", "%.200q is not a clean path inside the tree", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") {
			return fault.New(fault.OutsidePath, "check path", "%.200q reaches into git's own folder", p)
		}
	}
	return nil
}
