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

// TestKeptClockRate: only a virtual machine without frequency control has one rate
// for ever.
func TestKeptClockRate(t *testing.T) {
	t.Parallel()
	info := func(mhz, flags string) string {
		return "processor\t: 0\ncpu MHz\t\t: " + mhz + "\nflags\t\t: fpu " + flags + "\n"
	}
	const frequency = "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"
	for name, tc := range map[string]struct {
		first, second map[string]string
		want          float64
	}{
		"virtual":           {map[string]string{"proc/cpuinfo": info("2000", "hypervisor")}, map[string]string{"proc/cpuinfo": info("3000", "hypervisor")}, 2000},
		"bare":              {map[string]string{"proc/cpuinfo": info("2000", "vme")}, map[string]string{"proc/cpuinfo": info("3000", "vme")}, 3000},
		"virtual, governed": {map[string]string{"proc/cpuinfo": info("2000", "hypervisor"), frequency: "1000000"}, map[string]string{frequency: "1500000"}, 1500},
	} {
		root := files(t, t.TempDir(), tc.first)
		h, release := Host{Root: root}.Keep()
		defer release()
		if _, _, err := h.clockRate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files(t, root, tc.second)
		if got, _, err := h.clockRate(); err != nil || got != tc.want {
			t.Errorf("%s: %v MHz, %v; want %v", name, got, err, tc.want)
		}
	}
}
