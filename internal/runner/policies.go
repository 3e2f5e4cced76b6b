package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"writ/internal/fault"
	"writ/internal/policy"
)

// PolicyFolder is where a project keeps its environment policies, below any
// directory above its files.
const PolicyFolder = ".writ/policies"

const maxPolicy = 1 << 20 // bytes of a policy file

// LoadPolicies reads the policies that orders may name: those that come with the
// program, those in PolicyFolder of start and of every directory above it, and
// those in further directories, which must be there. Files are named *.json, and
// one that is no policy is an error: it may be the one that was meant.
func LoadPolicies(start string, dirs ...string) (policy.Set, error) {
	const op = "load policies"
	set, err := policy.Shipped()
	if err != nil {
		return set, err
	}
	start, err = filepath.Abs(start)
	if err != nil {
		return set, fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	for _, dir := range above(start) {
		if err := addFolder(&set, filepath.Join(dir, filepath.FromSlash(PolicyFolder))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return set, err
		}
	}
	for _, dir := range dirs {
		err := addFolder(&set, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return set, fault.Wrap(err, fault.NotFound, op, "no folder %s", dir)
		}
		if err != nil {
			return set, err
		}
	}
	return set, nil
}

// above returns a directory and every one above it, nearest first.
func above(dir string) []string {
	out := []string{dir}
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		dir = parent
		out = append(out, dir)
	}
	return out
}

func addFolder(set *policy.Set, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.json"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, path := range files {
		p, err := ReadPolicy(path)
		if err != nil {
			return err
		}
		if err := set.Add(p, path); err != nil {
			return err
		}
	}
	return nil
}

// escapeGlob makes a path a pattern that matches nothing else.
func escapeGlob(path string) string {
	var out []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// ReadPolicy reads one policy file. A file that is not there is fault.NotFound.
func ReadPolicy(path string) (policy.Policy, error) {
	const op = "read policy"
	f, err := os.Open(path)
	if err != nil {
		code := fault.Internal
		if errors.Is(err, fs.ErrNotExist) {
			code = fault.NotFound
		}
		return policy.Policy{}, fault.Wrap(err, code, op, "cannot read %s", path)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return policy.Policy{}, fault.Wrap(err, fault.Internal, op, "cannot read %s", path)
	}
	if len(raw) > maxPolicy {
		return policy.Policy{}, fault.New(fault.TooLarge, op, "%s is larger than %d bytes", path, maxPolicy)
	}
	p, err := policy.Parse(raw)
	if e, ok := fault.As(err); ok {
		e.Public = path + ": " + e.Public
	}
	return p, err
}
