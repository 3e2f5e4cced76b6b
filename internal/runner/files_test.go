package runner

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(filepath.Join(dir, ".writing-run.json"), []byte("half of an earlier"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first, long text", "second"} { // over what a dead process left, and over the first
		if err := writeFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := writeFile(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("written into a folder that is not there")
	}
}
