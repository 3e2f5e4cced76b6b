package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"writ/internal/gitcmd"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata")
}

// TestServerScripts run a server as a process of its own, and what it contains.
func TestServerScripts(t *testing.T) {
	t.Parallel()
	k, err := proc.Start(t.Context(), proc.Isolation{User: true, Network: true, Processes: true, IPC: true, Files: true, Writable: t.TempDir()})
	if err != nil {
		testkit.Skip(t, "unprivileged user namespaces: "+err.Error(), "sysctl kernel.unprivileged_userns_clone=1")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	scripts(t, filepath.Join("testdata", "server"))
}

func scripts(t *testing.T, dir string) {
	for _, program := range []string{"git", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			testkit.Skip(t, program, "apt-get install "+program)
		}
	}
	caches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	goCache, modCache, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("WRIT_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("WRIT_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("WRIT_SERVER", "http://127.0.0.1:1")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			e.Setenv("GOCACHE", goCache)
			e.Setenv("GOMODCACHE", modCache)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "mode": mode, "await": await, "pick": pick, "answerdoc": answerDocument, "results": makeResults, "replace": replace,
			"appears": appears, "gone": gone, "secret": secret, "treeof": treeOf, "until": until, "order": makeOrder, "past": makePast, "docketof": makeDocket,
		},
	})
}

// status runs writ and wants an exit status: status 2 order validate x.json
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N ARGS…")
	}
	err := ts.Exec("writ", args[1:]...)
	got := "0"
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// mode wants the permissions of a file: mode 0600 home/keys/ann.key
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); neg || got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// await polls until a file holds one whole JSON object, within a deadline:
// await serve.json
func await(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		raw, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && json.Valid(raw) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come: %v %s", args[0], err, raw)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// appears polls until a file is there, within a deadline: appears begun
func appears(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come", args[0])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// gone polls until no process runs a program of that name below the work folder,
// within a deadline: gone wait.test
func gone(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(time.Minute)
	for {
		left := ""
		links, err := filepath.Glob("/proc/[0-9]*/exe")
		ts.Check(err)
		for _, l := range links {
			if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, ts.Getenv("WORK")) && filepath.Base(exe) == args[0] {
				left = l
			}
		}
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s still runs %s", left, args[0])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// until runs writ again and again until its standard output matches, within a
// deadline: until REGEXP ARGS…
func until(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := ts.Exec("writ", args[1:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("writ %v never said %q: %v", args[1:], args[0], err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// pick sets an environment variable to a member of a JSON file, by path:
// pick TOKEN serve.json first token. With -f it writes a file instead.
func pick(ts *testscript.TestScript, _ bool, args []string) {
	toFile := args[0] == "-f"
	if toFile {
		args = args[1:]
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &v))
	for _, name := range args[2:] {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := int(name[0] - '0')
			if i >= len(x) {
				ts.Fatalf("%s has no element %s in %v", args[1], name, args[2:])
			}
			v = x[i]
		default:
			ts.Fatalf("%s has no %v", args[1], args[2:])
		}
	}
	text, ok := v.(string)
	if !ok || text == "" {
		ts.Fatalf("%v of %s is %v", args[2:], args[1], v)
	}
	if toFile {
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
		return
	}
	ts.Setenv(args[0], text)
}

// treeOf sets an environment variable to the tree of a repository's HEAD:
// treeof TREE repo
func treeOf(ts *testscript.TestScript, _ bool, args []string) {
	repo, err := gitcmd.Open(context.Background(), ts.MkAbs(args[1]))
	ts.Check(err)
	tree, err := repo.TreeOf(context.Background(), "HEAD")
	ts.Check(err)
	ts.Setenv(args[0], tree)
}

// secret sets an environment variable to a well-formed token that no server
// knows: secret WRIT_TOKEN
func secret(ts *testscript.TestScript, _ bool, args []string) {
	_, text := ident.NewSecret()
	ts.Setenv(args[0], text)
}

// replace changes the first occurrence of a text in a file: replace FILE OLD NEW
func replace(ts *testscript.TestScript, _ bool, args []string) {
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, args[1], args[2], 1)
	if before == after {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(after), 0o644))
}

// answerDocument writes a signed human answer: answerdoc FILE [expired]
func answerDocument(ts *testscript.TestScript, _ bool, args []string) {
	at := time.Now().Add(-time.Minute)
	if len(args) > 1 {
		at = at.Add(-24 * time.Hour)
	}
	a, err := proposal.SignAnswer(proposal.AnswerParams{
		Request:  "operator-task-hil-request:sha256:" + strings.Repeat("A", 43),
		Operator: proposal.OperatorBinding("wsp", "ann"), Decision: proposal.AnswerApprove, At: at, Until: at.Add(time.Hour),
	}, ident.FromSeed([32]byte{1}))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), a.Raw, 0o644))
}
