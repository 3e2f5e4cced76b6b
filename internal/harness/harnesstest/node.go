package harnesstest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"writ/internal/testkit"
)

// NodeTree gives the test a project with files, in which the JavaScript harnesses are
// installed.
func NodeTree(t testing.TB, files string) string {
	t.Helper()
	modules, err := filepath.Abs("../../../.cache/js/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	_, node := exec.LookPath("node")
	if _, err := os.Stat(filepath.Join(modules, "tinybench")); errors.Join(err, node) != nil {
		testkit.Skip(t, "Node.js with the packages of internal/harness/javascript/testdata/npm", "sh .ci/deps")
	}
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(files)), os.Symlink(modules, filepath.Join(dir, "node_modules"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Untouched fails when a tree holds other files than it was made of.
func Untouched(t testing.TB, dir, files string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(files, rel)); err != nil {
			t.Errorf("%s was written into the tree", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
