package landing

import (
	"reflect"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

const (
	proposalRef  = "corpus-experiment:sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	decisionRef  = "corpus-experiment-chair-decision:sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	executionRef = "corpus-task-pack-execution:sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	runID        = "run_01J9ZK3M5N7P9R1T3V5X7Z9B1D"
)

// Every body is written as designed, read back as the same body, and rooted
// over exactly those members.
func TestProducerRoots(t *testing.T) {
	t.Parallel()
	sum := root("b")[7:]
	for _, c := range []struct {
		body ProducerBody
		want string
	}{
		{&SourceIdentityBody{"a/b", "main", 7}, `{"changeNumber":7,"protectedBase":"main","repository":"a/b","schema":"writ.source-identity-root/v1"}`},
		{&SourcePatchBody{hex40("1"), hex40("2")}, `{"baseTree":"` + hex40("1") + `","schema":"writ.source-patch-root/v1","sourceTree":"` + hex40("2") + `"}`},
		{&PlanBody{"", []string{root("2"), root("1"), root("2")}}, `{"orders":["` + root("1") + `","` + root("2") + `"],"schema":"writ.plan-root/v1"}`},
		{&PlanBody{"plan:1", nil}, `{"orders":[],"planRef":"plan:1","schema":"writ.plan-root/v1"}`},
		{&ClosureBody{hex40("3")}, `{"mergedTree":"` + hex40("3") + `","schema":"writ.closure-root/v1"}`},
		{&DependencyBody{[]LockFile{{"go.sum", sum}, {"a.lock", sum}}}, `{"files":[{"path":"a.lock","sha256":"` + sum + `"},{"path":"go.sum","sha256":"` + sum + `"}],"schema":"writ.dependency-root/v1"}`},
		{&ToolchainBody{[]Tool{{"go", "1.26"}}}, `{"schema":"writ.toolchain-root/v1","tools":[{"name":"go","version":"1.26"}]}`},
		{&EnvironmentBody{"env-1"}, `{"identity":"env-1","schema":"writ.environment-root/v1"}`},
		{&DomainBody{WholeRepository}, `{"name":"repository","schema":"writ.qualification-domain-root/v1"}`},
		{&EvidenceBody{root("4")}, `{"resultSet":"` + root("4") + `","schema":"writ.evidence-root/v1"}`},
		{&DocketBinding{BaseHead: hex40("1"), SourceHead: hex40("2"), SourceTree: hex40("3"), RunID: runID},
			`{"baseHead":"` + hex40("1") + `","runId":"` + runID + `","schema":"writ.docket-binding/v1","sourceHead":"` + hex40("2") + `","sourceTree":"` + hex40("3") + `"}`},
	} {
		v, got, err := BuildProducer(c.body)
		if err != nil {
			t.Errorf("%s: %v", c.body.Schema(), err)
			continue
		}
		wantText(t, c.body.Schema(), string(v.Canonical()), c.want)
		wantText(t, c.body.Schema(), got, ByteRoot([]byte(c.want+"\n")))
		back, again, err := ParseProducer(v)
		if err != nil || again != got || reflect.TypeOf(back) != reflect.TypeOf(c.body) {
			t.Errorf("%s: read back %T %s: %v", c.body.Schema(), back, again, err)
		}
		if _, _, err := ParseProducer(v.With("more", canon.Null())); err == nil {
			t.Errorf("%s: unknown member accepted", c.body.Schema())
		}
	}
}

func TestProducerBodiesAreChecked(t *testing.T) {
	t.Parallel()
	full := DocketBinding{runID, proposalRef, decisionRef, executionRef, root("1"), root("2"), hex40("1"), hex40("2"), hex40("3")}
	v, _, err := BuildProducer(&full)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(schema.DocketBinding, v); err != nil {
		t.Fatal(err)
	}
	_, _, err = ParseProducer(v.With("proposal", canon.Null()))
	refuses(t, fault.Invalid, err)
	bad := full
	bad.Proposal = "corpus-experiment:sha256:short"
	_, _, err = BuildProducer(&bad)
	refuses(t, fault.Invalid, err)
	for name, b := range map[string]ProducerBody{
		"path twice":   &DependencyBody{[]LockFile{{"a", root("1")[7:]}, {"a", root("2")[7:]}}},
		"tool twice":   &ToolchainBody{[]Tool{{"go", "1"}, {"go", "2"}}},
		"no tree":      &ClosureBody{},
		"bad digest":   &DependencyBody{[]LockFile{{"a", root("1")}}},
		"empty name":   &DomainBody{},
		"no change":    &SourceIdentityBody{"a/b", "main", 0},
		"no result":    &EvidenceBody{},
		"bad order":    &PlanBody{"", []string{"1"}},
		"space around": &EnvironmentBody{" x"},
	} {
		if _, _, err := BuildProducer(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	_, _, err = ParseProducer(object(text("schema", "writ.other-root/v1")))
	refuses(t, fault.UnknownKind, err)
}

// Roots of the cross-job documents are over everything but themselves.
func TestTransferAndBoundaryRoots(t *testing.T) {
	t.Parallel()
	for schema, rootOf := range map[string]func(canon.Value) (string, error){transferSchema: TransferRoot, boundarySchema: BoundaryRoot} {
		v := object(text("schema", schema), text("outcome", "failed"))
		got := must(rootOf(v))(t)
		wantText(t, schema, got, canon.Root(v))
		member := map[string]string{transferSchema: "transferRoot", boundarySchema: "boundaryRoot"}[schema]
		wantText(t, schema, must(rootOf(v.With(member, canon.StringOf(got))))(t), got)
		_, err := rootOf(v.With(member, canon.StringOf(got)).With("outcome", canon.StringOf("succeeded")))
		refuses(t, fault.RootDrift, err)
		_, err = rootOf(object(text("schema", "other/v1")))
		refuses(t, fault.UnknownKind, err)
	}
}

func TestFailureDocuments(t *testing.T) {
	t.Parallel()
	v := at(t, vectors(t), "/nativeFailure")
	f := must(ParseNativeFailure(v))(t)
	if f.PullRequestNumber != 123 || !f.WorkerTerminationProven {
		t.Fatalf("%+v", f)
	}
	_, err := ParseNativeFailure(v.With("reason", canon.StringOf("other")))
	refuses(t, fault.RootDrift, err)
	s := FailureSettlement{EvidenceRoot: f.EvidenceRoot, Reason: f.Reason, WarrantStateRoot: root("1"), Fence: Fence{root("2"), root("3"), 4},
		PullRequestNumber: 123, SourceHead: f.ExpectedHead, Binding: FailureBinding{root("5"), root("6"), 501, 502}}
	doc := must(write(nil, &s))(t)
	if back := must(ParseFailureSettlement(doc))(t); back != s {
		t.Fatalf("%+v", back)
	}
	_, err = ParseFailureSettlement(doc.With("sealJobId", canon.IntOf(501)))
	refuses(t, fault.Invalid, err)
	_, err = ParseFailureSettlement(doc.Without("transferRoot"))
	refuses(t, fault.Invalid, err)
}
