package contain

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/runner/proc"
)

// toolchain is the Go of the host, which is used offline.
type toolchain struct {
	program string // absolute path of the go command
	root    string // GOROOT
	cache   string // GOCACHE of the host
	modules string // GOMODCACHE of the host
	version string // go1.26.8
}

// findGo asks the host's go command where its things are.
func findGo(ctx context.Context) (toolchain, error) {
	program, err := exec.LookPath("go")
	if err != nil {
		return toolchain{}, fault.New(fault.Target, "find toolchain", "there is no go command on PATH").Help("install Go, and start again")
	}
	if program, err = filepath.Abs(program); err != nil {
		return toolchain{}, fault.Wrap(err, fault.Target, "find toolchain", "the go command has no absolute path")
	}
	out, err := exec.CommandContext(ctx, program, "env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE", "GOVERSION").Output()
	if err != nil {
		return toolchain{}, fault.Wrap(err, fault.Target, "find toolchain", "go env failed")
	}
	var env struct{ GOROOT, GOCACHE, GOMODCACHE, GOVERSION string }
	if err := json.Unmarshal(out, &env); err != nil {
		return toolchain{}, fault.Wrap(err, fault.Target, "find toolchain", "go env cannot be read")
	}
	return toolchain{program, env.GOROOT, env.GOCACHE, env.GOMODCACHE, env.GOVERSION}, nil
}

// Tools are the tools inside, with their versions.
func (e *Environment) Tools() map[string]string { return map[string]string{"go": e.gotool.version} }

// Env is the whole environment of programs inside: nothing is inherited, the
// toolchain is offline, and results do not depend on where the folder is.
func (e *Environment) Env(more ...string) []string {
	env := []string{
		"PATH=" + strings.Join([]string{e.path("bin"), filepath.Join(e.gotool.root, "bin"), filepath.Dir(e.gotool.program), "/usr/local/bin", "/usr/bin", "/bin"}, ":"),
		"HOME=" + e.path("home"), "TMPDIR=" + e.path("tmp"), "LANG=C.UTF-8", "LC_ALL=C", "TZ=UTC",
		"GOROOT=" + e.gotool.root, "GOCACHE=" + e.path("cache"), "GOMODCACHE=" + e.path("mod"), "GOPATH=" + e.path("home"),
		"GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=-trimpath -buildvcs=false", "GOTELEMETRY=off",
		"CGO_ENABLED=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
	}
	return append(env, more...)
}

// Command is a program to run inside.
type Command struct {
	Argv    []string // a bare name is looked up on the PATH inside
	Dir     string   // absolute, inside the environment
	Env     []string // on top of Environment.Env
	Timeout time.Duration
}

// Outcome is how a program ended and what it wrote, both streams together.
type Outcome struct {
	proc.Result
	Output []byte // at most the last 64 KiB
}

const keepOutput = 64 << 10

// Run runs one program inside and waits for it. A program that fails is an
// Outcome; an error means that it did not run.
func (e *Environment) Run(ctx context.Context, c Command) (Outcome, error) {
	out, err := os.CreateTemp(e.path("out"), "run-")
	if err != nil {
		return Outcome{}, fault.Wrap(err, fault.Unavailable, "run program", "no output file")
	}
	defer out.Close()
	argv := append([]string(nil), c.Argv...)
	if !filepath.IsAbs(argv[0]) {
		if argv[0], err = e.lookup(argv[0]); err != nil {
			return Outcome{}, err
		}
	}
	r, err := e.keeper.Run(ctx, proc.Command{Argv: argv, Dir: c.Dir, Env: e.Env(c.Env...), Stdout: out, Stderr: out, Timeout: c.Timeout})
	if err != nil {
		return Outcome{}, err
	}
	tail, err := tailOf(out.Name())
	return Outcome{Result: r, Output: tail}, err
}

// lookup finds a program on the PATH inside.
func (e *Environment) lookup(name string) (string, error) {
	for _, v := range e.Env() {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for dir := range strings.SplitSeq(list, ":") {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", fault.New(fault.Target, "find program", "there is no program %s inside", name)
}

func tailOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "read output", "the output is gone")
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > keepOutput {
		if _, err := f.Seek(-keepOutput, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(f)
}

// Place copies a file of the host into the environment's bin folder, as a
// program that can be run inside.
func (e *Environment) Place(name, from string) (string, error) {
	to := filepath.Join(e.path("bin"), name)
	in, err := os.Open(from)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "place program", "%s cannot be read", name)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "place program", "%s cannot be written", name)
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return to, err
}
