package capture

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/result"
	"writ/internal/schema"
)

const installed = "0123456789abcdef0123456789abcdef"

func TestGoverned(t *testing.T) {
	t.Parallel()
	enforced := map[string]canon.Value{"threads.max": canon.IntOf(1)}
	root := files(t, t.TempDir(), laptop)
	files(t, root, map[string]string{"etc/machine-id": installed + "\n"})
	env := Host{Root: root}.Governed("laptop@1", enforced)
	id := env.Identity.Str("machine_id")
	if env.Schema != IdentitySchema || !strings.HasPrefix(id, "sha256:") || strings.Contains(id, installed) {
		t.Errorf("schema %s, machine %s", env.Schema, id)
	}
	want := `{"cpu":{"logical_cores":4,"model":"Intel(R) Core(TM) i7"},"enforced":{"threads.max":1},"machine_id":"` + id +
		`","memory_bytes":16694710272,"os":{"family":"linux"},"policy":"laptop@1","virtualization":"bare-metal"}`
	if diff := cmp.Diff(want, string(env.Identity.Canonical())); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	whole := canon.MustFrom(map[string]canon.Value{"schema": canon.StringOf(env.Schema), "identity": env.Identity, "metadata": env.Metadata})
	if err := schema.Validate(schema.EnvironmentIdentity, whole); err != nil {
		t.Error(err)
	}
	if env.Metadata.Str("hostname") != "laptop" {
		t.Errorf("metadata %s", env.Metadata.Canonical())
	}
	again := Host{Root: root}.Governed("laptop@1", enforced)
	files(t, root, map[string]string{"etc/machine-id": strings.Repeat("f", 32)})
	if other := (Host{Root: root}).Governed("laptop@1", enforced); !canon.Equal(env.Identity, again.Identity) || canon.Equal(env.Identity, other.Identity) {
		t.Error("the name of a machine is not its own, or changes")
	}
}

// TestGovernedWithoutFacts: where a fact is missing, nothing stands in for it.
func TestGovernedWithoutFacts(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"etc/machine-id", "proc/cpuinfo", "proc/meminfo", "sys/devices/system/cpu/online"} {
		tree := maps.Clone(laptop)
		tree["etc/machine-id"] = installed
		delete(tree, without)
		env := Host{Root: files(t, t.TempDir(), tree)}.Governed("ci@2", nil)
		if env.Schema != MachineSchema || env.Identity.Str("policy") != "ci@2" || env.Identity.Str("runner") != "laptop" {
			t.Errorf("without %s: %s %s", without, env.Schema, env.Identity.Canonical())
		}
		if enforced, ok := env.Identity.Get("enforced"); !ok || enforced.Kind() != canon.Object {
			t.Errorf("without %s nothing says what was enforced: %s", without, env.Identity.Canonical())
		}
	}
}

func TestTemperature(t *testing.T) {
	t.Parallel()
	root := files(t, t.TempDir(), laptop)
	files(t, root, map[string]string{
		"sys/class/thermal/thermal_zone0/type": "acpitz\n", "sys/class/thermal/thermal_zone1/type": "x86_pkg_temp\n",
		"sys/class/hwmon/hwmon0/name": "nvme\n", "sys/class/hwmon/hwmon0/temp1_input": "70000\n", "sys/class/hwmon/hwmon0/temp2_input": "off\n",
	})
	h := Host{Root: root}
	for name, tc := range map[string]struct {
		patterns []string
		want     float64
		missing  bool
	}{
		"all":     {nil, 70, false},
		"package": {[]string{"x86*"}, 61.5, false},
		"two":     {[]string{"acpitz", "nv?e"}, 70, false},
		"none":    {[]string{"gpu"}, 0, true},
	} {
		got, source, err := h.Temperature(tc.patterns)
		if got != tc.want || (err != nil) != tc.missing || source == "" {
			t.Errorf("%s: %v %s %v", name, got, source, err)
		}
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	tree := maps.Clone(laptop)
	maps.Copy(tree, map[string]string{
		"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: x\n",
		"sys/class/kfd/kfd/topology/nodes/0/gpu_id":        "0\n", "sys/class/kfd/kfd/topology/nodes/1/gpu_id": "4660\n",
	})
	if o := (Host{Root: files(t, t.TempDir(), tree)}).System()["gpu.count"]; string(o.Value.Canonical()) != "2" {
		t.Errorf("got %+v", o)
	}
	tree["sys/class/kfd/kfd/topology/nodes/1/gpu_id"] = "x\n"
	if o := (Host{Root: files(t, t.TempDir(), tree)}).System()["gpu.count"]; o.Status != result.SeenError {
		t.Errorf("a file that is not understood: %+v", o)
	}
}

func TestTuning(t *testing.T) {
	t.Parallel()
	h := Host{Root: files(t, t.TempDir(), laptop)}
	system := h.System()
	for name, o := range h.Tuning(result.After) {
		if name == "gpu.clock_mhz" { // it changes by itself
			continue
		}
		if o.When != result.After || !canon.Equal(o.Value, system[name].Value) {
			t.Errorf("%s: %+v, not %+v", name, o, system[name])
		}
	}
}
