// Package provide gets target descriptions from where a project keeps them: a file
// beside a build, or a command of the project that describes or prepares one.
//
// Invariants: a description that lies beside a build is about that very build; a
// command is found only in files of this user or of root, is run in its own
// project's directory, is bounded in time, and leaves no process behind; what it
// answers is a whole target description or nothing.
//
// The package never looks into a description's texts, never runs them, and never
// changes an order: it only fetches what may fill one.
package provide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
)

// Names of files.
const (
	Sidecar      = ".writ-target.json"   // in a build directory
	ProviderFile = ".writ/provider.json" // in a project, or above
)

const maxDocument = 1 << 20 // bytes of a description or of a provider file

// Of returns the description beside a build, and whether there is one. One that is
// about another directory is fault.Target: a build that was copied or moved must
// not borrow a description.
func Of(build string) (order.Description, bool, error) {
	const op = "read sidecar"
	path := filepath.Join(build, Sidecar)
	raw, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return order.Description{}, false, nil
	}
	if err != nil {
		return order.Description{}, false, fault.Wrap(err, fault.Target, op, "cannot read %s", path)
	}
	d, err := order.ParseDescription(raw)
	if err != nil {
		return order.Description{}, false, notDescription(err, path)
	}
	here, err := real(build)
	if err != nil {
		return order.Description{}, false, fault.Wrap(err, fault.Target, op, "cannot find %s", build)
	}
	if there, err := real(d.Target.Path); err != nil || d.Target.Kind != order.BuildTree || there != here {
		what := d.Target.Path
		if d.Target.Kind != order.BuildTree {
			what = "a target of kind " + d.Target.Kind
		}
		return order.Description{}, false, fault.New(fault.Target, op, "%s describes %s, not %s", path, what, here).
			Help("write it anew where the build is now")
	}
	return d, true, nil
}

// real is the one absolute name of a directory.
func real(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

func notDescription(err error, where string) error {
	if e, ok := fault.As(err); ok {
		out := fault.Wrap(err, fault.Target, "read target description", "%s is no target description: %s", where, e.Public).At(e.Pointer)
		out.Fields = e.Fields
		return out
	}
	return err
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(raw) > maxDocument {
		err = fmt.Errorf("larger than %d bytes", maxDocument)
	}
	return raw, err
}

// Provider is a project's command.
type Provider struct {
	Command []string // an argv; no shell
	Dir     string   // the project: where the command runs
}

// Find looks for ProviderFile in a directory and above it. None is fault.NotFound.
func Find(start string) (Provider, error) {
	const op = "find provider"
	start, err := filepath.Abs(start)
	if err != nil {
		return Provider{}, fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, filepath.FromSlash(ProviderFile))
		raw, err := readOwn(path)
		switch {
		case err == nil:
			command, err := parseProvider(raw)
			if err != nil {
				return Provider{}, fault.Wrap(err, fault.Invalid, op, `%s must be {"command": ["program", "argument", …]}`, path)
			}
			return Provider{command, dir}, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return Provider{}, fault.Wrap(err, fault.Forbidden, op, "%s is not used", path)
		case dir == filepath.Dir(dir):
			return Provider{}, fault.New(fault.NotFound, op, "no %s in %s or above", ProviderFile, start).
				Help(`write one: {"command": ["./provide"]}`)
		}
	}
}

// readOwn reads a file that names a command, if nobody else could have put it
// there: somebody may work below a directory that all can write to.
func readOwn(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Uid != 0 && int(sys.Uid) != os.Getuid() {
		return nil, fmt.Errorf("it belongs to user %d", sys.Uid)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, errors.New("everybody can write to it")
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxDocument))
	return raw, err
}

func parseProvider(raw []byte) ([]string, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return nil, err
	}
	type form struct {
		Command []string `json:"command"`
	}
	var f form
	if err := v.Decode(&f); err != nil {
		return nil, err
	}
	if len(f.Command) == 0 || strings.TrimSpace(f.Command[0]) == "" {
		return nil, errors.New("no command")
	}
	return f.Command, nil
}

// Name is a target as the command line spells it.
type Name struct {
	Configuration string // "" for a build directory
	SourceRef     string
	Build         string // directory
}

// workspace is what a provider is asked about when nothing else is said.
const workspace = "WORKSPACE"

// ParseName reads "@CONFIG", "@CONFIG=SOURCE_REF", or a build directory.
func ParseName(word string) (Name, error) {
	rest, asks := strings.CutPrefix(word, "@")
	if !asks {
		if word == "" {
			return Name{}, fault.New(fault.Usage, "read target", "no target")
		}
		return Name{Build: word}, nil
	}
	configuration, ref, given := strings.Cut(rest, "=")
	if configuration == "" || given && ref == "" {
		return Name{}, fault.New(fault.Usage, "read target", "%q names no configuration", word).Help("write @CONFIG or @CONFIG=SOURCE_REF")
	}
	if !given {
		ref = workspace
	}
	return Name{Configuration: configuration, SourceRef: ref}, nil
}

// Describe returns the description of a target: a build's own, or what the
// project's command says. ok is false when a build has none.
func Describe(ctx context.Context, word string, a Asker, start string) (d order.Description, ok bool, err error) {
	name, err := ParseName(word)
	if err != nil {
		return d, false, err
	}
	if name.Build != "" {
		return Of(name.Build)
	}
	p, err := Find(start)
	if err != nil {
		return d, false, err
	}
	d, err = a.Ask(ctx, p, name)
	return d, err == nil, err
}
