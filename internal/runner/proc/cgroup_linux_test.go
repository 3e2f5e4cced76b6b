package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"writ/internal/testkit"
)

// grouped starts a keeper with a control group, whose directory it returns.
func grouped(t *testing.T) (*Keeper, string) {
	t.Helper()
	k := start(t, Isolation{})
	if !k.Report.Cgroup {
		testkit.Absent(t, "a control group of version 2 that can be written")
	}
	return k, filepath.Join(ownCgroup(), cgroupPrefix+strconv.Itoa(k.Report.PID))
}

// TestAControlGroupEndsWhatMultiplies: a program that starts processes for ever, each
// in a session of its own, leaves none.
func TestAControlGroupEndsWhatMultiplies(t *testing.T) {
	t.Parallel()
	k, dir := grouped(t)
	out := output(t)
	r, err := k.Run(t.Context(), Command{
		Argv: []string{"/bin/sh", "-c", "cat /proc/self/cgroup; while :; do setsid sleep 1000 & done"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Stdout: out, Timeout: 300 * time.Millisecond, Grace: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cause != TimedOut || r.Survivors != 0 || len(r.Strays) == 0 {
		t.Errorf("%s, %d survivors, %d strays", r.Cause, r.Survivors, len(r.Strays))
	}
	if !strings.Contains(read(t, out), "/"+filepath.Base(dir)+"\n") {
		t.Errorf("the program was not in the group: %s", read(t, out))
	}
	if b, err := os.ReadFile(filepath.Join(dir, "cgroup.events")); err != nil || !strings.Contains(string(b), "populated 0\n") {
		t.Errorf("%s %v", b, err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}

// TestProgramsAfterOneThatWasKilled: what was killed with its group does not take the
// next program along.
func TestProgramsAfterOneThatWasKilled(t *testing.T) {
	t.Parallel()
	k, _ := grouped(t)
	for _, script := range []string{"sleep 1000 & wait", "exit 7", "sleep 1000 & wait", "sleep 1000 & exit 7", "exit 7"} {
		r, err := k.Run(t.Context(), Command{
			Argv: []string{"/bin/sh", "-c", script}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 200 * time.Millisecond, Grace: 10 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		if ends := strings.HasSuffix(script, "exit 7"); ends != (r.Cause == Exited && r.Exit == 7) || !ends && r.Cause != TimedOut {
			t.Errorf("%s: %+v", script, r)
		}
	}
}

// TestGroupsOfDeadKeepers are removed by the next one.
func TestGroupsOfDeadKeepers(t *testing.T) {
	t.Parallel()
	_, dir := grouped(t)
	dead := filepath.Join(filepath.Dir(dir), cgroupPrefix+"999999999")
	if err := os.Mkdir(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	start(t, Isolation{})
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestWhereControlGroupsAre(t *testing.T) {
	t.Parallel()
	for mounts, want := range map[string][2]string{
		"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n":                                                           {"/", "/sys/fs/cgroup"},
		"22 1 8:1 / / rw - ext4 /dev/x rw\n41 30 0:33 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n":                                           {"/docker/abc", "/sys/fs/cgroup"},
		"31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n32 23 0:28 / /sys/fs/cgroup/unified rw shared:9 master:1 - cgroup2 cgroup2 rw\n": {"/", "/sys/fs/cgroup/unified"},
		"31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n":                                                                                {"", ""},
		"nonsense - cgroup2\n": {"", ""},
		"":                     {"", ""},
	} {
		if root, at := cgroupMount(mounts); root != want[0] || at != want[1] {
			t.Errorf("%q: %q at %q", mounts, root, at)
		}
	}
}
