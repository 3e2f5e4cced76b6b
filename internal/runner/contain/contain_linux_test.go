package contain

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

const dialer = `package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	_, err := net.DialTimeout("tcp", os.Args[1], 2*time.Second)
	fmt.Println("reached:", err == nil)
	_, err = net.LookupHost("example.org")
	fmt.Println("resolved:", err == nil)
	for _, kv := range os.Environ() {
		if len(kv) > 6 && kv[:6] == "SECRET" {
			fmt.Println("leaked:", kv)
		}
	}
}
`

// TestBuildAndRunInside takes a commit that is only in the clone through worktree,
// offline build and run, next to the commit that it changes.
func TestBuildAndRunInside(t *testing.T) {
	s, p := setup(t)
	p.BuildCache = goEnv(t, "GOCACHE")
	e := environment(t, p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	head := s.Git(t, "rev-parse", "HEAD")
	base, err := e.Repo().ResolveCommit(t.Context(), head)
	if err != nil || base != head {
		t.Fatalf("%s %v", base, err)
	}
	tree, err := e.Repo().WriteTree(t.Context(), head, []gitcmd.File{{Path: "cmd/dial/main.go", Content: []byte(dialer)}})
	if err != nil {
		t.Fatal(err)
	}
	who := gitcmd.Person{Name: "a", Email: "a@example.org", When: time.Unix(0, 0).UTC()}
	changed, err := e.Repo().CommitTree(t.Context(), gitcmd.Commit{Tree: tree, Parents: []string{head}, Author: who, Committer: who, Message: "dial"})
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for _, commit := range []string{head, changed} {
		if dirs[commit], err = e.Worktree(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	if len(dirs[head]) != len(dirs[changed]) || dirs[head] == dirs[changed] {
		t.Errorf("worktrees at %s and %s", dirs[head], dirs[changed])
	}
	out, err := e.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	if text, r := run(t, e, e, dirs[changed], e.GoProgram(), "build", "-o", filepath.Join(out, "dial"), "./cmd/dial"); !r.OK() {
		t.Fatalf("build: %+v\n%s", r, text)
	}
	t.Setenv("SECRET_TOKEN", "s")
	if text, r := run(t, e, e, out, filepath.Join(out, "dial"), l.Addr().String()); !r.OK() || text != "reached: false\nresolved: false" {
		t.Errorf("%+v\n%s", r, text)
	}
	for _, commit := range []string{head, changed} {
		binary := filepath.Join(out, commit[:8]+".test")
		if text, r := run(t, e, e, dirs[commit], e.GoProgram(), "test", "-c", "-o", binary, "./pkg"); !r.OK() {
			t.Fatalf("build: %+v\n%s", r, text)
		}
	}
	a, errA := os.ReadFile(filepath.Join(out, head[:8]+".test"))
	b, errB := os.ReadFile(filepath.Join(out, changed[:8]+".test"))
	if errA != nil || errB != nil || !slices.Equal(a, b) {
		t.Errorf("equal sources in two worktrees give files of %d and %d bytes that differ (%v %v)", len(a), len(b), errA, errB)
	}
	if text, r := run(t, e, e, filepath.Join(dirs[head], "pkg"), filepath.Join(out, head[:8]+".test"), "-test.run=TestSum"); !r.OK() || !strings.Contains(text, "PASS") {
		t.Errorf("%+v\n%s", r, text)
	}
	if got := s.Git(t, "status", "--porcelain", "--untracked-files=all"); got != "" {
		t.Errorf("the user's checkout changed: %s", got)
	}
}

// TestModulesComeFromTheGivenCache builds a package that needs a module, with no
// network and an empty cache of its own.
func TestModulesComeFromTheGivenCache(t *testing.T) {
	s, p := setup(t)
	p.BuildCache, p.ModCache = goEnv(t, "GOCACHE"), goEnv(t, "GOMODCACHE")
	const module, version = "github.com/google/go-cmp", "v0.7.0"
	if _, err := os.Stat(filepath.Join(p.ModCache, "cache", "download", module, "@v", version+".zip")); err != nil {
		testkit.Skip(t, module+" in the module cache", "go mod download "+module+"@"+version)
	}
	sums, err := os.ReadFile("../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	var own string
	for line := range strings.Lines(string(sums)) {
		if strings.HasPrefix(line, module+" "+version) {
			own += line
		}
	}
	for name, text := range map[string]string{
		"go.mod":      "module example.org/sample\n\ngo 1.25\n\nrequire " + module + " " + version + "\n",
		"go.sum":      own,
		"cmd/main.go": "package main\n\nimport \"" + module + "/cmp\"\n\nfunc main() { println(cmp.Equal(1, 1)) }\n",
	} {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Git(t, "add", "-A")
	s.Git(t, "commit", "-q", "-m", "need a module")
	e := environment(t, p)
	dir, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	if text, r := run(t, e, e, dir, e.GoProgram(), "run", "./cmd"); !r.OK() || !strings.HasSuffix(text, "true") {
		t.Errorf("%+v\n%s", r, text)
	}
	if got := shell(t, e, e, dir, "git status --porcelain"); got != "" {
		t.Errorf("the build changed the worktree: %s", got)
	}
}

func TestProgramsInsideSeeAndChangeNothingElse(t *testing.T) {
	t.Parallel()
	s, p := setup(t)
	e, other := environment(t, p), environment(t, p)
	dir, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	can := func(script string) bool {
		_, r := run(t, e, e, dir, "/bin/sh", "-c", script)
		return r.OK()
	}
	for script, want := range map[string]bool{
		"echo x >new && echo x >pkg/work.go":          true,
		"echo x >$TMPDIR/t && echo x >/tmp/t":         true,
		"git log -1":                                  true,
		"git status":                                  true,
		"test -d " + other.dir:                        false,
		"test -e " + s.Dir:                            false,
		"ls -A " + home + " | grep -q .":              home == "/",
		"echo x >/etc/writ-test":                      false,
		"echo x >/writ-test":                          false,
		"echo x >/dev/null":                           true,
		"echo x >" + e.Repo().Dir + "/config":         false,
		"git config core.fsmonitor x":                 false,
		"git commit --allow-empty -m x":               false,
		"mount -o remount,rw /":                       false,
		"kill -0 " + "$PPID && test $PPID = 1":        true,
		"test $(ls /proc | grep -c '^[0-9]') -lt 10":  true,
		"test \"$(cat /proc/net/dev | wc -l)\" -le 3": true,
	} {
		if got := can(script); got != want {
			t.Errorf("%q: %t, want %t", script, got, want)
		}
	}
	if names := shell(t, e, e, dir, "env | cut -d= -f1 | grep -v '^PWD$\\|^_$\\|^SHLVL$\\|^OLDPWD$' | LC_ALL=C sort | tr '\\n' ' '"); names != strings.TrimSpace(wantNames(e)) {
		t.Errorf("environment inside: %s\nwant %s", names, wantNames(e))
	}
}

func wantNames(e *Environment) string {
	var b strings.Builder
	for _, kv := range e.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		b.WriteString(name + " ")
	}
	return b.String()
}

func TestObserversCannotChangeWorktrees(t *testing.T) {
	t.Parallel()
	s, p := setup(t)
	e := environment(t, p)
	dir, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Observer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Observer(t.Context()); err != nil || *again != *l {
		t.Errorf("a second observer: %v", err)
	}
	for script, want := range map[string]bool{"cat pkg/work.go": true, "echo x >new": false, "echo x >pkg/work.go": false, "rm go.mod": false, "echo x >$TMPDIR/t": true} {
		if _, r := run(t, l, e, dir, "/bin/sh", "-c", script); r.OK() != want {
			t.Errorf("%q: %t, want %t", script, r.OK(), want)
		}
	}
	later, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	if _, r := run(t, l, e, later, "/bin/sh", "-c", "test -e go.mod && ! echo x >new"); !r.OK() {
		t.Error("a worktree that is made later is not seen, or can be changed")
	}
}

// TestTheAreaIsNotTrusted lets a program inside prepare traps for the host.
func TestTheAreaIsNotTrusted(t *testing.T) {
	t.Parallel()
	s, p := setup(t)
	head := s.Git(t, "rev-parse", "HEAD")
	victim := t.TempDir()
	for name, script := range map[string]string{
		"a link in the way":      "ln -s " + victim + " ../w/001",
		"a folder in the way":    "mkdir ../w/001",
		"the parent is a link":   "rm -rf ../w && ln -s " + victim + " ../w",
		"the parent is not here": "rm -rf ../w",
	} {
		e := environment(t, p)
		if _, err := e.Worktree(t.Context(), head); err != nil {
			t.Fatal(err)
		}
		shell(t, e, e, e.area("tmp"), script)
		if dir, err := e.Worktree(t.Context(), head); fault.CodeOf(err) != fault.NotContained {
			t.Errorf("%s: got %s %v", name, dir, err)
		}
		if entries, err := os.ReadDir(victim); err != nil || len(entries) > 0 {
			t.Fatalf("%s: the host wrote outside of the area: %v %v", name, entries, err)
		}
		if _, remove, err := e.Scratch(); err != nil || remove() != nil {
			t.Errorf("%s: scratch: %v", name, err)
		}
		shell(t, e, e, e.area("tmp"), "rm -rf ../scratch && ln -s "+victim+" ../scratch")
		if dir, _, err := e.Scratch(); fault.CodeOf(err) != fault.NotContained {
			t.Errorf("%s: scratch at %s, %v", name, dir, err)
		}
		shell(t, e, e, e.area("tmp"), "mkdir -p d/e && touch d/e/f && chmod 000 d/e d; ln -s "+victim+" out")
		if err := os.WriteFile(filepath.Join(victim, "keep"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Destroy(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(filepath.Join(victim, "keep")); err != nil {
			t.Errorf("%s: destroying followed a link: %v", name, err)
		}
	}
}

func TestDestroy(t *testing.T) {
	t.Parallel()
	s, p := setup(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.Now = func() time.Time { return at }
	e := environment(t, p)
	if _, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Observer(t.Context()); err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Hour)
	got, err := e.Destroy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Confirmation{Schema: confirmationSchema, Kind: Kind, Environment: "writ-worktree:" + e.ID(),
		CreatedAt: "2026-01-02T03:04:05Z", DestroyedAt: "2026-01-02T04:04:05Z", Files: got.Files}
	if diff := cmp.Diff(want, got); diff != "" || got.Files < 10 || !strings.HasPrefix(got.Ref(), "sha256:") {
		t.Errorf("%d files (-want +got):\n%s", got.Files, diff)
	}
	if _, err := os.Lstat(e.dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	at = at.Add(time.Hour)
	if again, err := e.Destroy(t.Context()); err != nil || again != got {
		t.Errorf("second time: %+v %v", again, err)
	}
	if _, err := e.Run(t.Context(), proc.Command{Argv: []string{"/bin/true"}, Dir: "/"}); fault.CodeOf(err) != fault.State {
		t.Errorf("run: %v", err)
	}
	if _, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD")); fault.CodeOf(err) != fault.State {
		t.Errorf("worktree: %v", err)
	}
	if _, err := e.Observer(t.Context()); fault.CodeOf(err) != fault.State {
		t.Errorf("observer: %v", err)
	}
}

func TestCommitsThatNoBranchHas(t *testing.T) {
	t.Parallel()
	s, p := setup(t)
	loose := s.Git(t, "commit-tree", "-m", "loose", "-p", "HEAD", "HEAD^{tree}")
	p.Commits = []string{loose}
	e := environment(t, p)
	if _, err := e.Worktree(t.Context(), loose); err != nil {
		t.Error(err)
	}
	if _, err := e.Worktree(t.Context(), strings.Repeat("1", 40)); err == nil {
		t.Error("a commit that does not exist was checked out")
	}
	p.Commits = []string{strings.Repeat("1", 40)}
	if _, err := New(t.Context(), p); err == nil {
		t.Error("an environment without its commits")
	}
	if entries, err := os.ReadDir(p.Root); err != nil || len(entries) != 1 {
		t.Errorf("%d environments are left: %v", len(entries), err)
	}
}

func TestTheProofIsAProof(t *testing.T) {
	t.Parallel()
	plain, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	if err := checkReport(plain.Report, false); fault.CodeOf(err) != fault.NotContained {
		t.Errorf("a plain keeper's report: %v", err)
	}
	if err := checkUnreachable(t.Context(), plain); fault.CodeOf(err) != fault.NotContained {
		t.Errorf("a plain keeper's network: %v", err)
	}
	_, p := setup(t)
	good := environment(t, p).keeper.Report
	for name, spoil := range map[string]func(*proc.Report){
		"host network":   func(r *proc.Report) { r.Namespaces.Network = plain.Report.Namespaces.Network },
		"host users":     func(r *proc.Report) { r.Namespaces.User = plain.Report.Namespaces.User },
		"unknown mounts": func(r *proc.Report) { r.Namespaces.Mount = "" },
		"second card":    func(r *proc.Report) { r.Interfaces = append(slices.Clone(r.Interfaces), proc.Interface{Name: "eth0"}) },
		"no card":        func(r *proc.Report) { r.Interfaces = nil },
		"loopback up":    func(r *proc.Report) { r.Interfaces = []proc.Interface{{Name: "lo", Up: true, Loopback: true}} },
		"not a loopback": func(r *proc.Report) { r.Interfaces = []proc.Interface{{Name: "eth0"}} },
	} {
		r := good
		spoil(&r)
		if err := checkReport(r, false); fault.CodeOf(err) != fault.NotContained {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkReport(good, false); err != nil {
		t.Error(err)
	}
}

func TestPrivateLoopback(t *testing.T) {
	t.Parallel()
	_, p := setup(t)
	p.Loopback = true
	e := environment(t, p)
	if f := e.Facts()["containment.loopback"]; string(f.Value.Canonical()) != "true" {
		t.Errorf("facts: %+v", f)
	}
}
