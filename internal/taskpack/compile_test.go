package taskpack

import (
	"bytes"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

// rich is a set of parameters in which every kind of step can be compiled.
func rich() CompileParams {
	c := compileParams()
	descriptor, service := Exact{"interface-descriptor:metrics", digestOf("metrics")}, Exact{"service-profile:daemon", digestOf("daemon")}
	reader := CommandProfile{Ref: "command-profile:read", Effect: Observation, Enforced: true, Argv: []string{"go", "version"}, Packages: []string{"./..."}}
	undeclared := CommandProfile{Ref: "command-profile:undeclared", Argv: []string{"true"}, Packages: []string{"."}}
	claimed := CommandProfile{Ref: "command-profile:claimed", Effect: Observation, Argv: []string{"true"}, Packages: []string{"."}}
	for _, row := range []CommandProfile{reader, undeclared, claimed} {
		c.Tables.Commands[row.Ref] = row
		c.Profile.Commands = append(c.Profile.Commands, Exact{row.Ref, row.Digest()})
	}
	c.Profile.Commands = append(c.Profile.Commands, service, Exact{"command-profile:nowhere", digestOf("nowhere")})
	c.Profile.Observations = []Exact{descriptor, {"interface-descriptor:unknown", digestOf("unknown")}}
	c.Profile.Capabilities = append(c.Profile.Capabilities, CapReadInterface, CapControlService)
	c.Tables.Interfaces = map[string]Interface{descriptor.Ref: {Digest: descriptor.Digest, Access: []string{"read"}, Granted: true}}
	c.Tables.Services = map[string]Service{service.Ref: {Digest: service.Digest, Actions: []string{"restart"}}}
	return c
}

// digestOf is a digest of some text, for rows of test tables.
func digestOf(s string) string { return digest(canon.StringOf(s)) }

func look() Step { return Step{ID: "look", Kind: StepObserve, Profile: "command-profile:read"} }

func TestCompileStamps(t *testing.T) {
	t.Parallel()
	patch := goPatch()
	for _, row := range []struct {
		step   Step
		effect string
		source string
		cap    string
		answer bool
	}{
		{Step{ID: "s", Kind: StepObserve, Profile: "command-profile:read"}, Observation, FromOwner, CapObserveCommand, false},
		{Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:metrics", Operation: "read"}, Observation, FromOwner, CapReadInterface, false},
		{Step{ID: "s", Kind: StepProcess, Profile: "command-profile:read"}, Observation, FromOwner, CapRunCommand, false},
		{Step{ID: "s", Kind: StepProcess, Profile: ProfileTests}, Mutation, FromOwner, CapRunCommand, true},
		{Step{ID: "s", Kind: StepProcess, Profile: "command-profile:undeclared"}, Mutation, FromDefault, CapRunCommand, true},
		{Step{ID: "s", Kind: StepProcess, Profile: "command-profile:claimed"}, Mutation, FromDefault, CapRunCommand, true},
		{Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: patch.Ref}, Mutation, FromOwner, CapApplyPatch, true},
		{Step{ID: "s", Kind: StepService, Profile: "service-profile:daemon", Action: "restart"}, Mutation, FromOwner, CapControlService, true},
	} {
		c := rich()
		c.Candidate = must(NewCandidate(look(), row.step))
		plan, err := Compile(c)
		if err != nil {
			t.Errorf("%+v: %v", row.step, err)
			continue
		}
		got := plan.Steps[1]
		if got.Effect != row.effect || got.Source != row.source || got.Capability != row.cap || got.Answer != row.answer {
			t.Errorf("%+v compiles to %+v", row.step, got)
		}
		c.Tables.HIL = EachStep
		for _, s := range must(Compile(c)).Steps {
			if !s.Answer {
				t.Errorf("under %s step %s asks nobody", EachStep, s.ID)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	patch := goPatch()
	outside := must(NewPatch(PolicyModuleSources, File{Root: RootModule, Path: "go.mod", Op: OpWrite, Content: []byte("module x\n")}))
	elsewhere := must(NewPatch("patch-policy:other", File{Root: RootModule, Path: "a.go", Op: OpDelete}))
	for _, row := range []struct {
		name    string
		step    Step // after a look; the zero step means none
		change  func(*CompileParams)
		code    Code
		pointer string
	}{
		{"command outside the profile", Step{ID: "s", Kind: StepProcess, Profile: "command-profile:other"}, nil, OutsideProfile, "/steps/1/profile~1ref"},
		{"command that the host lost", Step{ID: "s", Kind: StepProcess, Profile: "command-profile:nowhere"}, nil, ProfileMissing, "/steps/1/profile~1ref"},
		{"command that the host changed", Step{ID: "s", Kind: StepProcess, Profile: ProfileTests}, func(c *CompileParams) {
			row := c.Tables.Commands[ProfileTests]
			row.Argv = []string{"sh", "-c", "true"}
			c.Tables.Commands[ProfileTests] = row
		}, OutsideProfile, "/steps/1/profile~1ref"},
		{"command filed under another name", Step{ID: "s", Kind: StepProcess, Profile: ProfileTests}, func(c *CompileParams) {
			c.Tables.Commands[ProfileTests] = c.Tables.Commands["command-profile:read"]
		}, OutsideProfile, "/steps/1/profile~1ref"},
		{"service as a command", Step{ID: "s", Kind: StepProcess, Profile: "service-profile:daemon"}, nil, OutsideProfile, "/steps/1/profile~1ref"},
		{"observing what changes things", Step{ID: "s", Kind: StepObserve, Profile: ProfileTests}, nil, OutsideProfile, "/steps/1"},
		{"observing what nobody enforces", Step{ID: "s", Kind: StepObserve, Profile: "command-profile:claimed"}, nil, EffectModeMissing, "/steps/1"},
		{"observing what nobody declared", Step{ID: "s", Kind: StepObserve, Profile: "command-profile:undeclared"}, nil, EffectModeMissing, "/steps/1"},
		{"a flag as argument", Step{ID: "s", Kind: StepProcess, Profile: ProfileTests, Arguments: []string{"./a", "-exec=sh"}}, nil, OutsideProfile, "/steps/1/arguments/1"},
		{"patch under another policy", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleManifests, Patch: patch.Ref}, nil, OutsideProfile, "/steps/1/profile~1ref"},
		{"patch policy that the host changed", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: patch.Ref}, func(c *CompileParams) {
			p := ModuleManifests()
			p.Ref = PolicyModuleSources
			c.Tables.Policies[PolicyModuleSources] = p
		}, OutsideProfile, "/steps/1/profile~1ref"},
		{"patch that is not here", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: "artifact:nowhere"}, nil, OutsideProfile, "/steps/1/patch~1ref"},
		{"patch outside the policy", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: outside.Ref}, nil, PatchOutside, "/steps/1/patch~1ref"},
		{"patch made for another policy", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: elsewhere.Ref}, nil, PatchOutside, "/steps/1/patch~1ref"},
		{"profile without patches", Step{ID: "s", Kind: StepPatch, Profile: PolicyModuleSources, Patch: patch.Ref}, func(c *CompileParams) { c.Profile.Policy = Exact{} }, OutsideProfile, "/steps/1/profile~1ref"},
		{"acting on the outside", Step{ID: "s", Kind: StepActuate, Descriptor: "interface-descriptor:metrics", Operation: "invoke", Method: "push"}, nil, RecoveryClass, "/steps/1"},
		{"interface outside the profile", Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:other", Operation: "read"}, nil, OutsideProfile, "/steps/1/descriptor~1ref"},
		{"interface without a row", Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:unknown", Operation: "read"}, nil, UnknownAction, "/steps/1/descriptor~1ref"},
		{"interface without that access", Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:metrics", Operation: "subscribe"}, nil, GrantMissing, "/steps/1/descriptor~1ref"},
		{"interface without a grant", Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:metrics", Operation: "read"}, func(c *CompileParams) {
			c.Tables.Interfaces["interface-descriptor:metrics"] = Interface{Digest: digestOf("metrics"), Access: []string{"read"}}
		}, GrantMissing, "/steps/1/descriptor~1ref"},
		{"interface that the host changed", Step{ID: "s", Kind: StepObserve, Descriptor: "interface-descriptor:metrics", Operation: "read"}, func(c *CompileParams) {
			c.Tables.Interfaces["interface-descriptor:metrics"] = Interface{Digest: digestOf("other"), Access: []string{"read"}, Granted: true}
		}, OutsideProfile, "/steps/1/descriptor~1ref"},
		{"service outside the profile", Step{ID: "s", Kind: StepService, Profile: "service-profile:other", Action: "restart"}, nil, OutsideProfile, "/steps/1/profile~1ref"},
		{"service without a row", Step{ID: "s", Kind: StepService, Profile: ProfileTests, Action: "restart"}, nil, UnknownAction, "/steps/1/profile~1ref"},
		{"service action that nobody declared", Step{ID: "s", Kind: StepService, Profile: "service-profile:daemon", Action: "stop"}, nil, OutsideProfile, "/steps/1/action"},
		{"capability outside the profile", Step{ID: "s", Kind: StepService, Profile: "service-profile:daemon", Action: "restart"}, func(c *CompileParams) {
			c.Profile.Capabilities = []string{CapObserveCommand}
		}, OutsideProfile, "/steps/1"},
		{"mutation where nothing is contained", Step{ID: "s", Kind: StepProcess, Profile: ProfileTests}, func(c *CompileParams) { c.Tables.Environment.Network = NetworkIsolated }, RecoveryClass, "/steps/1"},
		{"mutation first", Step{}, func(c *CompileParams) {
			c.Candidate = must(NewCandidate(Step{ID: "s", Kind: StepProcess, Profile: ProfileTests}))
		}, FirstStep, "/steps/0"},
		{"paused binding", Step{}, func(c *CompileParams) {
			c.Binding = must(BindProfile(c.Profile, BindParams{Workspace: "w", Root: "workspace-root:r", Paused: true}))
		}, BindingPaused, ""},
		{"binding to another profile", Step{}, func(c *CompileParams) { c.Binding.Profile.Ref = "operator-task-profile:other" }, BindingMissing, ""},
		{"binding to other profile bytes", Step{}, func(c *CompileParams) { c.Binding.Profile.Digest = digestOf("x") }, ProfileDigestMismatch, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := rich()
			c.Tables.Patches[outside.Ref], c.Tables.Patches[elsewhere.Ref] = outside, elsewhere
			steps := []Step{look()}
			if row.step.ID != "" {
				steps = append(steps, row.step)
			}
			c.Candidate = must(NewCandidate(steps...))
			if row.change != nil {
				row.change(&c)
			}
			_, err := Compile(c)
			wantRefusal(t, err, row.code)
			wantFault(t, err, fault.Plan, row.pointer)
		})
	}
	c := compileParams()
	c.Generation = 0
	if _, err := Compile(c); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("generation 0: %v", err)
	}
}

// TestObservationsNeedNoContainment: an uncontained environment can still be
// looked at.
func TestObservationsNeedNoContainment(t *testing.T) {
	t.Parallel()
	c := rich()
	c.Candidate, c.Tables.Environment = must(NewCandidate(look())), Containment{}
	if _, err := Compile(c); err != nil {
		t.Error(err)
	}
}

// TestCompileIsDeterministic: equal inputs give equal bytes, however their maps
// were filled, and the plan reads back as itself.
func TestCompileIsDeterministic(t *testing.T) {
	t.Parallel()
	base := rich()
	pool := []Step{
		{Kind: StepObserve, Profile: "command-profile:read"}, {Kind: StepProcess, Profile: ProfileTests},
		{Kind: StepProcess, Profile: ProfileBenchmarkCompare}, {Kind: StepPatch, Profile: PolicyModuleSources, Patch: goPatch().Ref},
		{Kind: StepObserve, Descriptor: "interface-descriptor:metrics", Operation: "read"},
	}
	rapid.Check(t, func(t *rapid.T) {
		steps := []Step{look()}
		for i, s := range rapid.SliceOfN(rapid.SampledFrom(pool), 0, 10).Draw(t, "steps") {
			s.ID = "s" + string(rune('a'+i))
			steps = append(steps, s)
		}
		c := base
		c.Candidate = must(NewCandidate(steps...))
		c.Generation = rapid.Int64Range(1, canon.MaxSafe).Draw(t, "generation")
		one, err := Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Tables.Commands = maps.Clone(base.Tables.Commands)
		c.Candidate = must(ParseCandidate(append([]byte(" \n"), c.Candidate.Bytes...)))
		two, err := Compile(c)
		if err != nil || !bytes.Equal(one.Bytes, two.Bytes) || one.Ref != two.Ref {
			t.Fatalf("another plan: %v", err)
		}
		again, err := ParsePlan(one.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, again); diff != "" {
			t.Fatal(diff)
		}
		c.Generation = c.Generation%canon.MaxSafe + 1
		if next := must(Compile(c)); next.Ref == one.Ref {
			t.Fatal("another generation has the same plan ref")
		}
	})
}

// TestReplay: the plan ref does not cover the host's tables, so that a changed
// table shows as a changed replay and not as a new plan.
func TestReplay(t *testing.T) {
	t.Parallel()
	c := compileParams()
	before := must(Compile(c))
	c.Tables.HIL = EachStep
	after := must(Compile(c))
	if before.Ref != after.Ref {
		t.Fatal("the ref depends on more than its inputs")
	}
	wantRefusal(t, Replay(before, after), ChangedReplay)
	wantFault(t, Replay(before, after), fault.ChangedReplay, "")
	if err := Replay(before, before); err != nil {
		t.Error(err)
	}
}

func TestParsePlanRefuses(t *testing.T) {
	t.Parallel()
	plan := must(Compile(compileParams()))
	moved := plan.Value.With("activation/generation", canon.IntOf(2))
	_, err := ParsePlan(moved.Canonical())
	wantFault(t, err, fault.RefMismatch, "/plan~1ref")

	steps, _ := plan.Value.Get("steps")
	twice := plan.Value.With("steps", canon.ArrayOf(append(steps.Elems(), steps.Elems()[0])...))
	_, err = ParsePlan(twice.Canonical())
	wantFault(t, err, fault.Invalid, "/steps/4/step~1id")

	quiet := steps.Elems()[2].With("hil/required", canon.BoolOf(false))
	silent := plan.Value.With("steps", canon.ArrayOf(steps.Elems()[0], quiet))
	if _, err := ParsePlan(silent.Canonical()); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a mutation that asks nobody: %v", err)
	}
}

func TestCandidate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, raw string
		code      fault.Code
	}{
		{"one id twice", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"observe","profile/ref":"command-profile:x","arguments":[]},{"step/id":"a","kind":"observe","profile/ref":"command-profile:x","arguments":[]}]}`, fault.Invalid},
		{"a digest of its own", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"observe","profile/ref":"command-profile:x","profile/digest":"sha256:x","arguments":[]}]}`, fault.Invalid},
		{"an effect class of its own", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"process","profile/ref":"command-profile:x","effect/class":"observation","arguments":[]}]}`, fault.Invalid},
		{"an answer of its own", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"process","profile/ref":"command-profile:x","hil/required":false,"arguments":[]}]}`, fault.Invalid},
		{"a path for a profile", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"process","profile/ref":"command-profile:/bin/sh","arguments":[]}]}`, fault.Invalid},
		{"an unknown kind", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"shell","profile/ref":"command-profile:x","arguments":[]}]}`, fault.Invalid},
		{"nothing to do", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[]}`, fault.Invalid},
		{"a member twice", `{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"schema/v":1,"steps":[]}`, fault.Malformed},
	} {
		if _, err := ParseCandidate([]byte(row.raw)); fault.CodeOf(err) != row.code {
			t.Errorf("%s: got %v, want %s", row.name, err, row.code)
		}
	}
	c := compileParams().Candidate
	again := must(ParseCandidate(append([]byte("\t"), c.Bytes...)))
	if again.Digest() != c.Digest() || c.Named("candidate/x").Digest != c.Digest() {
		t.Error("the digest is of the canonical bytes, whatever spelling came in")
	}
}
