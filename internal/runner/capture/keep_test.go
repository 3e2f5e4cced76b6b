package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/result"
)

func TestKeptHostReadsTheSame(t *testing.T) {
	t.Parallel()
	root := files(t, t.TempDir(), laptop)
	h := Host{Root: root}
	k, release := h.Keep()
	for range 2 {
		if diff := cmp.Diff(values(h.Condition(result.Before).Block), values(k.Condition(result.Before).Block)); diff != "" {
			t.Errorf("condition (-host +kept):\n%s", diff)
		}
		if diff := cmp.Diff(values(h.System()), values(k.System())); diff != "" {
			t.Errorf("system (-host +kept):\n%s", diff)
		}
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if left := len(k.kept.open); left > 0 {
		t.Errorf("%d files are open after the release", left)
	}
}

// TestKeptHostSeesChanges: a file that stays open is read anew, whatever its size
// does, and one that comes later is found.
func TestKeptHostSeesChanges(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h, release := Host{Root: root}.Keep()
	defer release()
	path := filepath.Join(root, "fact")
	if _, err := h.text("/fact"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	for _, n := range []int{3, 100_000, 1, 8 << 10, 1 << 20, 2 << 20, 0} {
		want := strings.Repeat("x", n)
		if err := os.WriteFile(path, []byte(want+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := h.text("/fact")
		if err != nil || got != want[:min(n, maxFact)] {
			t.Errorf("%d bytes: %d bytes, %v", n, len(got), err)
		}
	}
}
