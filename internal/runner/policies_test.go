package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/policy"
)

// put writes files below dir and returns dir.
func put(t *testing.T, dir string, tree map[string]string) string {
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

func policyText(name, version, n string) string {
	return `{"name":"` + name + `","version":"` + version + `","rules":[{"check":"threads.max","tier":"enforce","parameters":{"n":` + n + `}}]}`
}

func TestLoadPolicies(t *testing.T) {
	t.Parallel()
	dir := put(t, t.TempDir(), map[string]string{
		".writ/policies/a.json": policyText("a", "1", "1"), ".writ/policies/read.me": "not a policy",
		"deep[1]/.writ/policies/b.json": policyText("b", "1", "1"), "deep[1]/er/.writ/policies/a.json": policyText("a", "1", "1"),
		"more/c.json": policyText("c", "1", "1"), "other/a.json": policyText("a", "1", "2"), "broken/x.json": `{"name":"x"}`,
	})
	set, err := LoadPolicies(filepath.Join(dir, "deep[1]", "er", "est"), filepath.Join(dir, "more"))
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, h := range set.All() {
		refs = append(refs, h.Ref())
	}
	if diff := cmp.Diff([]string{"a@1", "b@1", "c@1", "ci@1", "laptop@1"}, refs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for folder, want := range map[string]fault.Code{"other": fault.Conflict, "broken": fault.Invalid, "none": fault.NotFound} {
		_, err := LoadPolicies(dir, filepath.Join(dir, folder))
		if fault.CodeOf(err) != want || want == fault.Invalid && !strings.Contains(err.Error(), filepath.Join(dir, "broken/x.json")) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	for name, want := range map[string]fault.Code{"more/c.json": "", "more/none.json": fault.NotFound, "more": fault.Internal} {
		if _, err := ReadPolicy(filepath.Join(dir, name)); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutlook(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	cpu := firstCPU(t)
	pol, err := policy.Parse([]byte(`{"name":"p","version":"1","rules":[
		{"check":"threads.max","tier":"enforce","parameters":{"n":2}},
		{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"` + cpu + `"}},
		{"check":"cpu.governor","tier":"verify","on_fail":"refuse","parameters":{"governor":"performance"}},
		{"check":"cpu.boost","tier":"verify","on_fail":"warn","parameters":{"boost":true}},
		{"check":"thermal.throttle","tier":"verify","on_fail":"warn"},
		{"check":"tree.clean","tier":"verify","on_fail":"warn"},
		{"check":"thermal.temperature","tier":"record"},
		{"check":"load.quiescent","tier":"record"},
		{"check":"x-a.b","tier":"record"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := Params{Host: fakeHost(t, map[string]string{
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n", "sys/devices/system/cpu/cpufreq/boost": "1\n", "sys/class/thermal/thermal_zone0/temp": "41000\n",
	})}
	for tree, subject := range map[string]string{"": WouldWait, s.Dir: WouldHold} {
		got, err := Outlook(t.Context(), p, pol, tree)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{WouldSet, WouldSet, WouldFail, WouldHold, WouldWait, subject, WouldNote, WouldNote, WouldBlock}
		var states []string
		for _, x := range got {
			states = append(states, x.State)
		}
		if !slices.Equal(states, want) {
			t.Errorf("got %q, want %q", states, want)
		}
		if got[2].Says != `cpu.governor is "powersave", not "performance"` || got[6].Says != "thermal.temperature is 41" || got[7].Says != "load.avg_1m cannot be read here" {
			t.Errorf("got %q, %q, %q", got[2].Says, got[6].Says, got[7].Says)
		}
	}
	if _, err := Outlook(t.Context(), p, pol, t.TempDir()); fault.CodeOf(err) != fault.Target {
		t.Errorf("a tree that is no checkout: %v", err)
	}
}
