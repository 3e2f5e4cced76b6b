package runner

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
	"writ/internal/runner/proc"
)

// regime is the environment policy of an order, ready to be put into effect. The
// zero value sets nothing and demands nothing.
type regime struct {
	policy   policy.Policy
	named    bool // the order has a policy
	settings policy.Settings
	launcher []string // goes before the command line of every program of the order
}

// barred is why the cases of an order cannot be measured; no reason means that
// they can.
type barred struct{ reason, message string }

// govern finds the order's policy and checks that everything in it can be done
// here. What the order itself sets may not be set by the policy too: one of them
// would not be honoured.
func govern(p Params, adapters []order.Capabilities) (regime, error) {
	const op, at = "apply policy", "/environment_policy"
	ref := p.Order.EnvironmentPolicy
	if ref == nil {
		return regime{}, nil
	}
	pol, err := p.Policies.Find(ref.Name, ref.Version)
	if err != nil {
		return regime{}, err
	}
	refuse := func(pointer, format string, args ...any) *fault.Error {
		return fault.New(fault.Refused, op, format, args...).At(pointer).With("policy", pol.Ref())
	}
	if i := pol.Unhandled(); i >= 0 {
		return regime{}, refuse(at, "this runner cannot look after %s, which rule %d of %s asks for", pol.Rules[i].Check, i, pol.Ref())
	}
	r := regime{policy: pol, named: true, settings: pol.Settings()}
	for _, name := range slices.Sorted(maps.Keys(r.settings.Variables())) {
		if _, both := p.Order.EnvironmentVariables[name]; both {
			return regime{}, refuse(canon.PointerTo("/environment_variables", name), "%s of %s sets it too", policy.SetBy(name), pol.Ref()).
				Help("leave it out of the order, or choose a policy without %s", policy.SetBy(name))
		}
	}
	for _, c := range adapters {
		if names := slices.Sorted(maps.Keys(r.settings.Variables())); len(names) > 0 && !c.Variables {
			return regime{}, refuse(at, "%s cannot guarantee that %s reaches the measured process", c.Adapter, policy.SetBy(names[len(names)-1]))
		}
	}
	if r.settings.CPUs != "" {
		taskset, ok := lookPath("taskset", p.Place.Environ(), "/")
		if !ok {
			return regime{}, refuse(at, "the taskset program is missing, which sets %s", policy.CPUAffinity).Help("install util-linux")
		}
		r.launcher = []string{taskset, "-c", r.settings.CPUs}
	}
	return r, nil
}

// launched puts the settings of the regime before a command line.
func (r regime) launched(argv []string) []string { return slices.Concat(r.launcher, argv) }

// protocol adds the settings of the regime to those of the harness, which win where
// they say the same thing.
func (r regime) protocol(of canon.Value) canon.Value {
	threads := canon.MustFrom(r.settings.ThreadSettings())
	if own, ok := of.Get("threads"); ok {
		for _, m := range own.Members() {
			threads = threads.With(m.Name, m.Value)
		}
	}
	if threads.Len() > 0 {
		of = of.With("threads", threads)
	}
	if r.settings.CPUs != "" {
		of = of.With("affinity", canon.MustFrom(map[string]string{"cpus": r.settings.CPUs}))
	}
	return of
}

// uphold judges the machine before the first case, and proves that the settings
// are in effect. It waits for the load to settle as long as the policy allows.
func (r *run) uphold(ctx context.Context) error {
	g := r.regime
	if !g.named {
		return nil
	}
	if why := r.proveAffinity(ctx); why != "" {
		r.bar(policy.Failure{Check: policy.CPUAffinity, Refuse: true, Why: why})
		g.settings.CPUs = "" // it is not in effect
	}
	if check, why := r.missesDevice(); why != "" {
		r.bar(policy.Failure{Check: check, Refuse: true, Why: why})
		g.settings.Device, g.settings.Sync = "", ""
	}
	system := r.environment.System
	r.environment = r.Host.Governed(g.policy.Ref(), g.settings.Enforced())
	r.environment.System = system
	failures, err := r.settle(ctx)
	if err != nil {
		return err
	}
	for _, f := range failures {
		if !f.Refuse {
			r.warnings = append(r.warnings, f.Token())
		}
	}
	if f, refused := policy.Refused(failures); refused {
		r.bar(f)
	}
	return nil
}

// missesDevice says why the accelerator that the policy chooses, or any when it says
// how to wait for them, is not there; "" when it is or the policy is about none.
func (r *run) missesDevice() (check, why string) {
	s := r.regime.settings
	check, want := policy.GPUDevice, s.Device
	if want == "" {
		check, want = policy.AccelSync, "0"
	}
	if s.Device+s.Sync == "" {
		return "", ""
	}
	switch there, err := r.Host.HasDevice(want); {
	case err != nil:
		return check, "the accelerators of this machine cannot be listed: " + err.Error()
	case !there:
		return check, "this machine has no accelerator " + want
	}
	return "", ""
}

// policyFile is where the policy is kept beside the output of the cases.
func (r *run) policyFile() string { return filepath.Join(r.artifacts, "policy.json") }

// bar keeps the cases from being measured, unless something else does already.
func (r *run) bar(f policy.Failure) {
	if r.barred.reason == "" {
		r.barred = barred{f.Token(), f.Why}
	}
}

// lookAgain is the time between two looks at a machine that has to settle.
const lookAgain = time.Second

// settle judges the machine until the rules hold, or until its time to become
// quiet is over.
func (r *run) settle(ctx context.Context) ([]policy.Failure, error) {
	deadline := r.Now().Add(r.regime.policy.Patience())
	for {
		r.tuned = r.Host.Tuning(result.Before)
		failures := r.regime.policy.Judge(policy.Start, r.facts(r.Host.Condition(result.Before).Block))
		restless := slices.ContainsFunc(failures, func(f policy.Failure) bool { return f.Check == policy.LoadQuiescent })
		left := deadline.Sub(r.Now())
		if !restless || left <= 0 {
			return failures, nil
		}
		select {
		case <-ctx.Done():
			return nil, fault.Wrap(ctx.Err(), fault.Cancelled, "apply policy", "stopped while the machine became quiet")
		case <-time.After(min(left, lookAgain)):
		}
	}
}

// facts are everything that rules may look at: what the machine is, what it is
// doing, and what the subject is.
func (r *run) facts(blocks ...capture.Block) policy.Facts {
	out := policy.Facts{}
	for _, b := range append([]capture.Block{r.system, r.tuned}, blocks...) {
		maps.Copy(out, b)
	}
	out[policy.FactTree] = result.Missed(result.Unavailable, result.Before, "git")
	if state := r.identity.Dirty; state != "" {
		out[policy.FactTree] = result.Saw(canon.StringOf(state), "", result.Before, "git")
	}
	if r.seen != "" {
		out[policy.FactAffinity] = result.Saw(canon.StringOf(r.seen), "", result.Before, "/proc/self/status of a program of the order")
	}
	for _, name := range policy.ThreadVariables {
		fact := policy.VariableFact(name)
		out[fact] = result.Missed(result.Unavailable, result.Before, "environment")
		if v, set := variable(r.environ, name); set {
			out[fact] = result.Saw(canon.StringOf(v), "", result.Before, "environment")
		}
	}
	return out
}

func variable(environ []string, name string) (string, bool) {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// watch samples what the policy wants sampled while a case runs, until the
// returned function is called.
func (r *run) watch(a *attempt) (stop func()) {
	s, ok := r.regime.policy.Sampling()
	if !ok {
		return func() {}
	}
	end := sample(r.Host, s)
	return func() { a.noted = note(a.noted, policy.FactTemperature, end()) }
}

// review judges the machine after a case, and adds what the policy is about to
// what the results of the case record.
func (r *run) review(c planned, a *attempt) {
	if !r.regime.named {
		return
	}
	tuning := r.Host.Tuning(result.After)
	failures := r.regime.policy.Judge(policy.Case, r.facts(a.condition, tuning))
	for _, f := range failures {
		if !f.Refuse {
			a.warnings = append(a.warnings, f.Token())
		}
	}
	for name, o := range tuning {
		a.noted = note(a.noted, name+".after", o)
	}
	if f, refused := policy.Refused(failures); refused {
		a.reading = harness.All(c.quantities(), result.Failed, f.Token(), f.Why)
	}
}

// noticed are the facts that the rules of the policy are about, as records: what
// was known when the case began, and what was noted during and after it.
func (r *run) noticed(a attempt) map[string]canon.Value {
	if !r.regime.named {
		return nil
	}
	out := map[string]canon.Value{}
	facts := r.facts(a.condition)
	maps.Copy(facts, a.noted)
	for _, name := range r.regime.policy.Looks() {
		for _, moment := range []string{name, name + ".after"} {
			if o, ok := facts[moment]; ok {
				out[moment] = canon.MustFrom(o)
			}
		}
	}
	return out
}

func note(b capture.Block, name string, o result.Observed) capture.Block {
	if b == nil {
		b = capture.Block{}
	}
	b[name] = o
	return b
}

// statusScript prints the kernel's status of the process that runs it, with
// nothing but what every shell has.
const statusScript = `while IFS= read -r line; do printf '%s\n' "$line"; done </proc/self/status`

// proveAffinity starts a program the way that the cases are started, has it say
// on which processors it may run, and compares. It returns what is wrong.
func (r *run) proveAffinity(ctx context.Context) string {
	want := r.regime.settings.CPUs
	if want == "" {
		return ""
	}
	status, err := r.ownStatus(ctx)
	if err != nil {
		return "the processors of the measured process cannot be set: " + err.Error()
	}
	for line := range strings.Lines(status) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			list = strings.TrimSpace(list)
			r.seen = list
			if !policy.SameCPUs(list, want) {
				return "the measured process may run on " + list + ", not on " + want
			}
			return ""
		}
	}
	return "the kernel does not say where the measured process may run"
}

// ownStatus is what the kernel says about a program of this order.
func (r *run) ownStatus(ctx context.Context) (_ string, err error) {
	dir, err := os.MkdirTemp("", "writ-status-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out, err := r.start(ctx, harness.Invocation{Argv: []string{"/bin/sh", "-c", statusScript}, Dir: "/"}, filepath.Join(dir, "status"), time.Minute)
	if err != nil {
		return "", err
	}
	if out.Result.Cause != proc.Exited || out.Result.Exit != 0 {
		return "", errors.New("the launcher " + out.End() + " " + out.LastWords())
	}
	return string(out.Stdout), nil
}
