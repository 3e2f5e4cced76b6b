package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// under returns parameters for an order that has a policy with the given rules.
func under(t *testing.T, rules string, change func(*order.BuildParams), cases ...string) Params {
	t.Helper()
	o := build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Plan = plan(cases...)
		if change != nil {
			change(p)
		}
	}))
	return governed(t, o, rules)
}

func governed(t *testing.T, o order.Order, rules string) Params {
	t.Helper()
	ref := canon.MustFrom(order.PolicyRef{Name: "house", Version: "1"})
	o, err := order.Parse(o.Value().With("environment_policy", ref).Canonical())
	if err != nil {
		t.Fatal(err)
	}
	pol, err := policy.Parse([]byte(`{"name":"house","version":"1","rules":[` + rules + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := paramsFor(t, o)
	if err := p.Policies.Add(pol, "test"); err != nil {
		t.Fatal(err)
	}
	return p
}

// fakeHost is a machine made of files.
func fakeHost(t *testing.T, tree map[string]string) capture.Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return capture.Host{Root: root}
}

// firstCPU is a processor that this process may run on.
func firstCPU(t *testing.T) string {
	t.Helper()
	var list string
	affinity := capture.Host{}.System()["cpu.affinity"]
	list, _ = affinity.Value.String()
	cpus, err := policy.ParseCPUs(list)
	if err != nil {
		t.Fatal(err)
	}
	return cpus[:1].String()
}

func TestPolicySetsTheProcess(t *testing.T) {
	t.Parallel()
	cpu := firstCPU(t)
	limited := `test "$OMP_NUM_THREADS$GOMAXPROCS" = 11 && grep -q "^Cpus_allowed_list:[[:space:]]*` + cpu + `$" /proc/self/status && echo s`
	p := under(t, `{"check":"threads.max","tier":"enforce","parameters":{"n":1}},{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"`+cpu+`"}}`, nil, limited)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	r := rep.Results[0]
	if r.Measurement.Status != result.Success {
		t.Fatalf("the settings are not in effect: %+v %v", r.Measurement, r.Provenance.Info[result.InfoMessage])
	}
	enforced, _ := r.Coordinates.Environment.Identity.Get("enforced")
	if got, want := string(enforced.Canonical()), `{"cpu.affinity":"`+cpu+`","threads.max":1}`; got != want || r.Coordinates.Environment.Identity.Str("policy") != "house@1" {
		t.Errorf("identity %s", r.Coordinates.Environment.Identity.Canonical())
	}
	protocol, _ := r.Coordinates.ComparisonContext.Get("protocol")
	if omp, _ := protocol.At("/threads/OMP_NUM_THREADS"); string(omp.Canonical()) != `"1"` {
		t.Errorf("protocol %s", protocol.Canonical())
	}
	if at, _ := protocol.At("/affinity/cpus"); string(at.Canonical()) != `"`+cpu+`"` || r.Coordinates.ResourceSelection.Str("cpus") != cpu {
		t.Errorf("protocol %s, resources %s", protocol.Canonical(), r.Coordinates.ResourceSelection.Canonical())
	}
	if len(r.Coordinates.Workload.Parameters) > 0 {
		t.Errorf("what the policy sets became a coordinate of the workload: %v", r.Coordinates.Workload.Parameters)
	}
	i := slices.IndexFunc(r.Provenance.Artifacts, func(a result.Artifact) bool { return a.Kind == result.ArtifactPolicy })
	if i < 0 || r.Provenance.Artifacts[i].Schema != policy.Schema {
		t.Errorf("the policy is not kept: %+v", r.Provenance.Artifacts)
	}
	if seen, _ := r.ObservedContext.At("/cpu.affinity"); seen.Str("value") != cpu {
		t.Errorf("observed %s", r.ObservedContext.Canonical())
	}
	held, err := p.Policies.Find("house", "1")
	if hash, _ := r.Provenance.Info[result.InfoPolicyHash].String(); err != nil || hash != held.Hash().Hex() {
		t.Errorf("the policy's hash is %s", hash)
	}
}

// TestProcessorsThatAreNotThere: the kernel takes a part of a list without a word;
// reading back shows it.
func TestProcessorsThatAreNotThere(t *testing.T) {
	t.Parallel()
	p := under(t, `{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"0-4095"}}`, nil, "echo s; touch ran", "echo s")
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"echo s; touch ran wall-time": "error policy-unsatisfied-cpu.affinity", "echo s wall-time": "error policy-unsatisfied-cpu.affinity"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" || rep.Exit() != fault.ExitFinding {
		t.Errorf("exit %d (-want +got):\n%s", rep.Exit(), diff)
	}
	r := rep.Results[0]
	if enforced, _ := r.Coordinates.Environment.Identity.Get("enforced"); enforced.Len() > 0 {
		t.Errorf("what was not in effect counts as enforced: %s", enforced.Canonical())
	}
	if text, _ := r.Provenance.Info[result.InfoMessage].String(); !strings.HasPrefix(text, "the measured process may run on ") {
		t.Errorf("message %q", text)
	}
	if _, err := os.Stat(filepath.Join(p.Order.Target.Path, "ran")); err == nil {
		t.Error("a case ran all the same")
	}
}

func TestPolicyBeforeTheFirstCase(t *testing.T) {
	t.Parallel()
	const dirty = "echo s; touch ran"
	for onFail, want := range map[string]string{policy.Refuse: "error policy-unsatisfied-tree.clean", policy.Warn: "success"} {
		p := under(t, `{"check":"tree.clean","tier":"verify","on_fail":"`+onFail+`"},{"check":"hardware.present","tier":"verify","on_fail":"warn","parameters":{"min_ram_bytes":1}}`, nil, dirty, "echo s")
		if err := os.WriteFile(filepath.Join(p.Order.Target.Path, "new"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		onDisk(t, p.Dir, rep)
		if got := outcomes(rep.Results); got[dirty+" wall-time"] != want || got["echo s wall-time"] != want {
			t.Errorf("%s: %v", onFail, got)
		}
		_, ran := os.Stat(filepath.Join(p.Order.Target.Path, "ran"))
		warned := rep.Results[1].Quality != nil && slices.Equal(rep.Results[1].Quality.Warnings, []string{"policy-unsatisfied-tree.clean"})
		if (ran == nil) != (onFail == policy.Warn) || warned != (onFail == policy.Warn) {
			t.Errorf("%s: ran %v, quality %+v", onFail, ran == nil, rep.Results[1].Quality)
		}
		state, _ := rep.Results[1].ObservedContext.At("/tree.state")
		if state.Str("value") != result.Dirty || state.Str("status") != result.SeenOK {
			t.Errorf("%s: observed %s", onFail, rep.Results[1].ObservedContext.Canonical())
		}
	}
}

// TestPolicyAfterEachCase: somebody changes the governor while a case runs. That
// case and all that follow are not under the policy.
func TestPolicyAfterEachCase(t *testing.T) {
	t.Parallel()
	const governor, throttle = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
	host := fakeHost(t, map[string]string{governor: "performance\n", throttle: "1\n"})
	change := "echo powersave >" + filepath.Join(host.Root, governor) + "; echo s"
	heat := "echo 3 >" + filepath.Join(host.Root, throttle) + "; echo s"
	p := under(t, `{"check":"cpu.governor","tier":"verify","on_fail":"refuse","parameters":{"governor":"performance"}},`+
		`{"check":"thermal.throttle","tier":"verify","on_fail":"warn"}`, nil, "echo s", heat, change, "echo s; true")
	p.Host = host
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"echo s wall-time": "success", heat + " wall-time": "success",
		change + " wall-time": "error policy-unsatisfied-cpu.governor", "echo s; true wall-time": "error policy-unsatisfied-cpu.governor"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, r := range rep.Results {
		warned := r.Quality != nil && slices.Contains(r.Quality.Warnings, "policy-unsatisfied-thermal.throttle")
		if warned != (i == 1) {
			t.Errorf("case %d: quality %+v", i, r.Quality)
		}
	}
	after, _ := rep.Results[2].ObservedContext.At("/cpu.governor.after")
	if after.Str("value") != "powersave" || after.Str("when") != result.After {
		t.Errorf("observed %s", rep.Results[2].ObservedContext.Canonical())
	}
	if kinds := len(rep.Results[2].Provenance.Artifacts); kinds < 6 {
		t.Errorf("what the refused case wrote is not kept: %d artifacts", kinds)
	}
}

func TestAMachineMayBecomeQuiet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		quiet bool
		want  string
	}{"it does": {true, "success"}, "it does not": {false, "error policy-unsatisfied-load.quiescent"}} {
		host := fakeHost(t, map[string]string{"proc/loadavg": "9.50 1 1 1/100 1\n"})
		p := under(t, `{"check":"load.quiescent","tier":"verify","on_fail":"refuse","parameters":{"max_1m_load":1,"window_s":0.05}}`, nil, "echo s")
		p.Host = host
		if tc.quiet { // as soon as it was found busy
			p.Now = func() time.Time {
				if err := os.WriteFile(filepath.Join(host.Root, "proc/loadavg"), []byte("0.50 1 1 1/100 1\n"), 0o644); err != nil {
					t.Error(err)
				}
				return time.Now()
			}
		}
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcomes(rep.Results)["echo s wall-time"]; got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTemperatureIsSampled(t *testing.T) {
	t.Parallel()
	const zone = "sys/class/thermal/thermal_zone0/temp"
	host := fakeHost(t, map[string]string{zone: "40000\n"})
	heat := "echo 50000 >" + filepath.Join(host.Root, zone) + "; echo s"
	p := under(t, `{"check":"thermal.temperature","tier":"record","parameters":{"sample_interval_s":0.1}}`, nil, heat)
	p.Host = host
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := rep.Results[0].ObservedContext.At("/thermal.temperature")
	value, _ := v.Get("value")
	highest, _ := value.Get("max")
	lowest, _ := value.Get("min")
	n, _ := value.Get("n")
	if count, _ := n.Int(); v.Str("when") != result.Sampled || string(highest.Canonical()) != "50" || string(lowest.Canonical()) != "40" || count < 2 {
		t.Errorf("observed %s", rep.Results[0].ObservedContext.Canonical())
	}
	p = under(t, `{"check":"thermal.temperature","tier":"record","parameters":{"sensors":["none"]}},{"check":"cpu.smt","tier":"record"}`, nil, "echo s")
	p.Host = host
	if rep, err = Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/thermal.temperature/status", "/cpu.smt/status"} {
		if v, _ := rep.Results[0].ObservedContext.At(name); string(v.Canonical()) != `"unavailable"` {
			t.Errorf("%s: what cannot be read is dropped: %s", name, rep.Results[0].ObservedContext.Canonical())
		}
	}
}

// bare is a place whose programs find nothing.
type bare struct{ Local }

func (bare) Environ() []string { return []string{"PATH=/nowhere"} }

// fixed is a harness whose workers take no variables from outside.
type fixed struct{ scripts }

func (fixed) Capabilities() order.Capabilities {
	c := scripts{}.Capabilities()
	c.Variables = false
	return c
}

func TestPoliciesThatCannotBeKept(t *testing.T) {
	t.Parallel()
	local, err := Here(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	const threads = `{"check":"threads.max","tier":"enforce","parameters":{"n":1}}`
	for name, tc := range map[string]struct {
		rules  string
		change func(*order.BuildParams)
		params func(*Params)
		at     string
		says   string
	}{
		"unknown policy": {threads, nil, func(p *Params) { p.Policies = policy.Set{} }, "/environment_policy/name", `no policy "house"`},
		"no handler": {`{"check":"tree.clean","tier":"record"},{"check":"x-arrow.pool","tier":"record"}`, nil, nil,
			"/environment_policy", "cannot look after x-arrow.pool, which rule 1 of house@1 asks for"},
		"device said twice": {`{"check":"gpu.device","tier":"enforce","parameters":{"index":0}}`, func(p *order.BuildParams) { p.EnvironmentVariables = map[string]string{"CUDA_VISIBLE_DEVICES": "1"} }, nil, "/environment_variables/CUDA_VISIBLE_DEVICES", "gpu.device of house@1 sets it too"},
		"said twice":        {threads, func(p *order.BuildParams) { p.EnvironmentVariables = map[string]string{"OMP_NUM_THREADS": "1"} }, nil, "/environment_variables/OMP_NUM_THREADS", "sets it too"},
		"no taskset":        {`{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"0"}}`, nil, func(p *Params) { p.Place = bare{local} }, "/environment_policy", "taskset"},
		"no way in":         {threads, nil, func(p *Params) { p.Harnesses = harness.Set{fixed{}} }, "/environment_policy", "cannot guarantee that threads.max"},
	} {
		p := under(t, tc.rules, tc.change, "echo s")
		if tc.params != nil {
			tc.params(&p)
		}
		_, err := Run(t.Context(), p)
		e, _ := fault.As(err)
		if fault.CodeOf(err) != fault.Refused || e.Pointer != tc.at || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(p.Dir); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestProcessorsOfAHarness: a harness that is told how many processors to use is
// told what the policy allows.
func TestProcessorsOfAHarness(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	p := governed(t, build(t, goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) { p.Suites[0].Parameters = canon.Value{} })), `{"check":"threads.max","tier":"enforce","parameters":{"n":1}}`)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := rep.Results[0].Coordinates.ComparisonContext.At("/protocol/threads/GOMAXPROCS"); string(v.Canonical()) != `"1"` || rep.Results[0].Measurement.Status != result.Success {
		t.Errorf("protocol %s", rep.Results[0].Coordinates.ComparisonContext.Canonical())
	}
	p = governed(t, build(t, goOrder(s, "^BenchmarkSum$", nil)), `{"check":"threads.max","tier":"enforce","parameters":{"n":1}}`)
	if _, err := Run(t.Context(), p); fault.CodeOf(err) != fault.Refused {
		t.Errorf("two processors under a policy of one: %v", err)
	}
}

// twoDevices is a machine with two accelerators that say who they are, and one that
// shows its clock rate.
func twoDevices(t *testing.T, clock string) capture.Host {
	return fakeHost(t, map[string]string{
		"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t x\nGPU UUID: \t GPU-11\n",
		"proc/driver/nvidia/gpus/0000:02:00.0/information": "Model: \t\t x\nGPU UUID: \t GPU-22\n",
		"sys/class/drm/card1/device/pp_dpm_sclk":           clock,
	})
}

func TestTheDeviceOfAPolicy(t *testing.T) {
	t.Parallel()
	const print = `echo s; echo "$CUDA_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES $CUDA_DEVICE_ORDER" >&2`
	for name, tc := range map[string]struct{ parameters, sees, enforced, missing string }{
		"index":         {`{"index":1}`, "1 1 PCI_BUS_ID\n", `{"gpu.device":1}`, ""},
		"id":            {`{"uuid":"GPU-22"}`, "GPU-22 GPU-22 PCI_BUS_ID\n", `{"gpu.device":"GPU-22"}`, ""},
		"another index": {`{"index":2}`, "", "", "no accelerator 2"},
		"another id":    {`{"uuid":"GPU-33"}`, "", "", "no accelerator GPU-33"},
	} {
		p := under(t, `{"check":"gpu.device","tier":"enforce","parameters":`+tc.parameters+`}`, nil, print)
		p.Host = twoDevices(t, "0: 500Mhz *\n")
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		r := rep.Results[0]
		if tc.missing != "" {
			if m, _ := r.Provenance.Info[result.InfoMessage].String(); r.Measurement.Reason != "policy-unsatisfied-gpu.device" || !strings.Contains(m, tc.missing) {
				t.Errorf("%s: %+v, %q", name, r.Measurement, m)
			}
			continue
		}
		enforced, _ := r.Coordinates.Environment.Identity.Get("enforced")
		if string(enforced.Canonical()) != tc.enforced || r.Coordinates.ResourceSelection.Str("gpu") != strings.Fields(tc.sees)[0] {
			t.Errorf("%s: enforced %s, selected %s", name, enforced.Canonical(), r.Coordinates.ResourceSelection.Canonical())
		}
		errors, err := filepath.Glob(filepath.Join(p.Dir, "artifacts", "*", "0000.stderr"))
		if err != nil || len(errors) != 1 {
			t.Fatalf("%v %v", errors, err)
		}
		if b, err := os.ReadFile(errors[0]); err != nil || string(b) != tc.sees {
			t.Errorf("%s: the program saw %q, %v", name, b, err)
		}
	}
	p := under(t, `{"check":"gpu.device","tier":"enforce","parameters":{"index":0}}`, nil, "echo s")
	p.Host = fakeHost(t, nil)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if m := rep.Results[0].Measurement; m.Reason != "policy-unsatisfied-gpu.device" {
		t.Errorf("a machine without a driver: %+v", m)
	}
}

func TestHowToWaitForDevices(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"events": "0 0\n", "device-sync": "1 1\n"} {
		p := under(t, `{"check":"accel.sync","tier":"enforce","parameters":{"mode":"`+mode+`"}}`, nil, `echo s; echo "$CUDA_LAUNCH_BLOCKING $HIP_LAUNCH_BLOCKING" >&2`)
		p.Host = twoDevices(t, "0: 500Mhz *\n")
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if enforced, _ := rep.Results[0].Coordinates.Environment.Identity.Get("enforced"); enforced.Str("accel.sync") != mode {
			t.Errorf("%s: enforced %s", mode, enforced.Canonical())
		}
		errors, err := filepath.Glob(filepath.Join(p.Dir, "artifacts", "*", "0000.stderr"))
		if err != nil || len(errors) != 1 {
			t.Fatalf("%v %v", errors, err)
		}
		if b, err := os.ReadFile(errors[0]); err != nil || string(b) != want {
			t.Errorf("%s: the program saw %q, %v", mode, b, err)
		}
	}
	p := under(t, `{"check":"accel.sync","tier":"enforce","parameters":{"mode":"events"}}`, nil, "echo s")
	p.Host = fakeHost(t, nil)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if m := rep.Results[0].Measurement; m.Reason != "policy-unsatisfied-accel.sync" {
		t.Errorf("a machine without accelerators: %+v", m)
	}
}

func TestLockedClocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		clock, mhz string
		holds      bool
	}{
		"as wanted": {"0: 500Mhz\n1: 1800Mhz *\n", "1800", true},
		"another":   {"0: 500Mhz *\n1: 1800Mhz\n", "1800", false},
		"none":      {"0: 500Mhz\n", "500", false},
	} {
		p := under(t, `{"check":"gpu.clocks-locked","tier":"verify","parameters":{"mhz":`+tc.mhz+`},"on_fail":"refuse"}`, nil, "echo s")
		p.Host = twoDevices(t, tc.clock)
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if m := rep.Results[0].Measurement; (m.Status == result.Success) != tc.holds || !tc.holds && m.Reason != "policy-unsatisfied-gpu.clocks-locked" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	p := under(t, `{"check":"gpu.clocks-locked","tier":"record"}`, nil, "echo s")
	p.Host = twoDevices(t, "1: 1800Mhz *\n")
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"", ".after"} {
		if v, _ := rep.Results[0].ObservedContext.At("/gpu.clock_mhz" + when + "/value"); string(v.Canonical()) != "1800" {
			t.Errorf("observed%s %s", when, rep.Results[0].ObservedContext.Canonical())
		}
	}
}
