package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

// TestWhatAFailureSays is what a person reads about a document with several
// faults: all of them, the deepest first, in the same order each time.
func TestWhatAFailureSays(t *testing.T) {
	t.Parallel()
	order := apply(t, sampleOf(t, WorkOrder, "resolved"),
		edit{"/plan", nil}, edit{"/reqester", 1}, edit{"/timeouts/case_s", 0}, edit{"/timeouts/order_s", "x"},
		edit{"/target", "here"}, edit{"/labels", object{"a": ""}}, edit{"/precision/warmup", object{"mode": "none", "seconds": 1}},
		edit{"/environment_variables", object{"1X": "a"}}, edit{"/reason", strings.Repeat("long ", 40)}, edit{"/round", -1})
	want := []fault.Field{
		{Pointer: "/precision/warmup/seconds", Rule: "is not allowed here", Got: "1"},
		{Pointer: "/environment_variables/1X", Rule: "is not a legal name: it must match ^[A-Za-z_][A-Za-z0-9_]*$", Got: `"a"`},
		{Pointer: "/labels/a", Rule: "must not be empty", Got: `""`},
		{Pointer: "/timeouts/case_s", Rule: "must be more than 0", Got: "0"},
		{Pointer: "/timeouts/order_s", Rule: "must be a number", Got: `"x"`},
		{Pointer: "/plan", Rule: "is required"},
		{Pointer: "/reqester", Rule: `is not a known member; did you mean "requester"?`, Got: "1"},
		{Pointer: "/round", Rule: "must be at least 0", Got: "-1"},
		{Pointer: "/target", Rule: "must be an object", Got: `"here"`},
	}
	for range 20 {
		err := Validate(WorkOrder, order)
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, e.Fields); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if e.Pointer != want[0].Pointer || e.Public != "is not allowed here, and 8 more" {
			t.Errorf("%q at %q", e.Public, e.Pointer)
		}
		if got := err.Error(); got != "validate work-order.v0.1.0: /precision/warmup/seconds: is not allowed here, and 8 more" {
			t.Error(got)
		}
	}
}

func TestAnotherKindOfDocumentComesFirst(t *testing.T) {
	t.Parallel()
	v := apply(t, sampleOf(t, GatePolicy, "default"), edit{"/schema", "writ.gate-policy/v2"}, edit{"/quantities/wall-time/relative", -1})
	e, _ := fault.As(Validate(GatePolicy, v))
	if e == nil || len(e.Fields) != 2 || e.Pointer != "/schema" {
		t.Errorf("%+v", e)
	}
}

func TestTheClosestAlternative(t *testing.T) {
	t.Parallel()
	step := func(s object) canon.Value {
		return apply(t, sampleOf(t, TaskCandidate, "all-kinds"), edit{"/steps", []any{s}})
	}
	for name, c := range map[string]struct {
		id   ID
		v    canon.Value
		want []fault.Field
	}{
		"kind decides over the number of failures": {TaskCandidate,
			step(object{"step/id": "a", "kind": "patch", "profile/ref": "a:b", "arguments": []any{}}),
			[]fault.Field{{Pointer: "/steps/0/arguments", Rule: "is not a known member", Got: "array with 0 items"}, {Pointer: "/steps/0/patch~1ref", Rule: "is required"}}},
		"same kind, fewest failures": {TaskCandidate,
			step(object{"step/id": "a", "kind": "observe", "descriptor/ref": "a:b", "operation": "write"}),
			[]fault.Field{{Pointer: "/steps/0/operation", Rule: `must be one of "read", "subscribe"`, Got: `"write"`}}},
		"a kind that is none": {TaskCandidate,
			step(object{"step/id": "a", "kind": "fly", "profile/ref": "a:b", "arguments": []any{}}),
			[]fault.Field{{Pointer: "/steps/0/kind", Rule: `must be one of "observe", "process", "patch", "service-control", "actuate"`, Got: `"fly"`}}},
		"no object at all": {TaskCandidate,
			apply(t, sampleOf(t, TaskCandidate, "all-kinds"), edit{"/steps", []any{1}}),
			[]fault.Field{{Pointer: "/steps/0", Rule: "must be an object", Got: "1"}}},
		"null or object": {DeliveryAuthority,
			apply(t, sampleOf(t, DeliveryAuthority, "empty"), edit{"/landingWarrant", []any{1}}),
			[]fault.Field{{Pointer: "/landingWarrant", Rule: "must be null or an object", Got: "array with 1 item"}}},
		"number or levels": {WorkOrder,
			apply(t, sampleOf(t, WorkOrder, "resolved"), edit{"/precision/repetitions", object{"mode": "fixed", "levels": []any{}}}),
			[]fault.Field{{Pointer: "/precision/repetitions/levels", Rule: "must not be empty", Got: "array with 0 items"}}},
		"a code with a typing error": {Refusal,
			apply(t, sampleOf(t, Refusal, "denied"), edit{"/refusal~1code", "hil/denide"}, edit{"/retry-class", "terminal"}),
			[]fault.Field{{Pointer: "/refusal~1code", Rule: `must be one of "package/not-active", "package/conformance-missing", "package/profile-digest-mismatch", "operator/binding-lost", "local-binding/missing", "local-binding/incomplete", "local-binding/outside-package-ceiling", "local-binding/profile-changed", "local-binding/conflict", or 36 more; did you mean "hil/denied"?`, Got: `"hil/denide"`}}},
	} {
		e, _ := fault.As(Validate(c.id, c.v))
		if e == nil {
			t.Errorf("%s: accepted", name)
		} else if diff := cmp.Diff(c.want, e.Fields); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var rooms []any
	for i := range 3000 {
		rooms = append(rooms, fmt.Sprintf("spc_%d", i))
	}
	v := apply(t, sampleOf(t, RunRequested, "event"), edit{"/link_to", rooms}, edit{"/goal", strings.Repeat("é", 5000)})
	e, _ := fault.As(Validate(RunRequested, v))
	if e == nil || len(e.Fields) != most {
		t.Fatalf("%d fields", len(e.Fields))
	}
	for _, f := range e.Fields {
		if len(f.Got) > shown+len("…") {
			t.Errorf("%d bytes are shown", len(f.Got))
		}
	}
	if e := Validate("no-such.v1", canon.Null()); fault.CodeOf(e) != fault.UnknownKind {
		t.Error(e)
	}
}

func TestNearNames(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"plan", "plna"}: false, {"plan", "plans"}: true, {"run_key", "runkey"}: true, {"run_key", "Run_Kye"}: true,
		{"requester", "request"}: true, {"reason", "project"}: false, {"", "v"}: true, {"", "abc"}: false, {"suites", "suite"}: true,
	} {
		if got := near(pair[0], pair[1]); got != want {
			t.Errorf("%q and %q: %v", pair[0], pair[1], got)
		}
	}
}
