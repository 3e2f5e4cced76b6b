package capture

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files writes a tree of files below dir.
func files(t testing.TB, dir string, tree map[string]string) string {
	t.Helper()
	for name, text := range tree {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// gitProgram finds git.
func gitProgram(t testing.TB) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, "git")); err == nil && info.Mode()&0o111 != 0 {
			return filepath.Join(dir, "git")
		}
	}
	testkit.Skip(t, "git", "apt-get install git")
	return ""
}

// through is a Git with a keeper and an environment of its own.
func through(t testing.TB) Git {
	t.Helper()
	program := gitProgram(t)
	k, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	home := t.TempDir()
	files(t, home, map[string]string{".gitconfig": "[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n"})
	return Through(k, program, t.TempDir(), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_DIR=/nowhere"})
}

// repository makes a repository with one commit that holds the given files.
func repository(t testing.TB, git Git, tree map[string]string) string {
	t.Helper()
	dir := files(t, t.TempDir(), tree)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		if _, err := git(t.Context(), dir, nil, args...); err != nil {
			t.Fatal(args, err)
		}
	}
	return dir
}
