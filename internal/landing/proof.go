package landing

import (
	"slices"
	"strings"

	"writ/internal/canon"
)

const (
	sourceProof1 = "kungfu.buildchain.source-qualification-proof/v1"
	sourceProof2 = "kungfu.buildchain.source-qualification-proof/v2"
	bindingID    = "kungfu.buildchain.native-execution-binding/v2"
	runReceiptID = "kungfu.buildchain.native-heartbeat-run-receipt/v3"
	nativeProof4 = "kungfu.buildchain.native-qualification-proof/v4"
)

// SourceProof says which source was qualified. The time of qualification is not
// part of its root. Exact is set for version 2.
type SourceProof struct {
	Repository         string
	ProtectedBase      string
	SourceIdentityRoot string
	SourceHead         string
	SourcePatchRoot    string
	PlanRoot           string
	ClosureRoot        string
	DependencyRoot     string
	ToolchainRoot      string
	AffectedPaths      []string
	ShardEvidenceRoots []string // not empty
	QualifiedAt        Timestamp
	Exact              *ExactSource
	ObservationRoot    string
	Root               string
}

// ExactSource are the members that version 2 adds.
type ExactSource struct {
	QualifiedBase         string
	SourceTree            string
	PolicyRoot            string
	RequiredContextRoot   string
	ControllerReceiptRoot string
	SourceWorkflowRunID   canon.Value // a number where the provider has numbers, text elsewhere
}

func (p *SourceProof) shape(c *codec) {
	if c.reading && c.in.Str("schema") == sourceProof2 {
		p.Exact = new(ExactSource)
	}
	schema := sourceProof1
	if p.Exact != nil {
		schema = sourceProof2
	}
	c.constant("schema", schema)
	c.constant("rootSemantics", "qualification-identity-v1")
	if x := p.Exact; x != nil {
		c.constant("authority", "exact-source-qualification")
		c.sha("qualifiedBase", &x.QualifiedBase)
		c.sha("sourceTree", &x.SourceTree)
		c.root("policyRoot", &x.PolicyRoot)
		c.root("requiredContextRoot", &x.RequiredContextRoot)
		c.root("controllerReceiptRoot", &x.ControllerReceiptRoot)
		c.tree("sourceWorkflowRunId", &x.SourceWorkflowRunID, false)
		n, _ := x.SourceWorkflowRunID.Int()
		if s, _ := x.SourceWorkflowRunID.String(); c.err == nil && n < 1 && textRule(s) != "" {
			c.fail("sourceWorkflowRunId", "must be a positive integer or a text")
		}
	}
	c.repository("repository", &p.Repository)
	c.base("protectedBase", &p.ProtectedBase)
	c.root("sourceIdentityRoot", &p.SourceIdentityRoot)
	c.sha("sourceHead", &p.SourceHead)
	c.root("sourcePatchRoot", &p.SourcePatchRoot)
	c.root("planRoot", &p.PlanRoot)
	c.root("closureRoot", &p.ClosureRoot)
	c.root("dependencyRoot", &p.DependencyRoot)
	c.root("toolchainRoot", &p.ToolchainRoot)
	c.texts("affectedPaths", &p.AffectedPaths)
	c.roots("shardEvidenceRoots", &p.ShardEvidenceRoots)
	if c.err == nil && len(p.ShardEvidenceRoots) == 0 {
		c.fail("shardEvidenceRoots", "must not be empty")
	}
	timedRoot(c, &p.QualifiedAt, &p.ObservationRoot, &p.Root)
}

// timedRoot is the end of both proofs: the time, its own root, and the root of
// everything else.
func timedRoot(c *codec, at *Timestamp, observation, proof *string) {
	c.stamp("qualifiedAt", at)
	c.derived("observationRoot", observation, func() string {
		return canon.Root(object(text("qualifiedAt", string(*at))))
	})
	c.self("proofRoot", proof, "qualifiedAt", "observationRoot")
}

// BuildSourceProof fills the roots and returns the document.
func BuildSourceProof(p SourceProof) (SourceProof, canon.Value, error) {
	p.AffectedPaths = emptyNotNil(sortedSet(p.AffectedPaths))
	p.ShardEvidenceRoots = sortedSet(p.ShardEvidenceRoots)
	p.ObservationRoot, p.Root = "", ""
	v, err := write(nil, &p)
	return p, v, err
}

// ParseSourceProof reads a source proof of either version and recomputes its
// roots.
func ParseSourceProof(v canon.Value) (SourceProof, error) {
	var p SourceProof
	err := read(nil, v, &p)
	return p, err
}

func emptyNotNil(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// ExecutionBinding says what a native run was bound to.
type ExecutionBinding struct {
	Repository        string
	ProtectedBase     string
	SourceHead        string
	QualifiedBase     string
	NativeCommandRoot string
	ToolchainRoot     string
	EnvironmentRoot   string
}

func (b *ExecutionBinding) shape(c *codec) {
	c.constant("schema", bindingID)
	c.repository("repository", &b.Repository)
	c.base("protectedBase", &b.ProtectedBase)
	c.sha("sourceHead", &b.SourceHead)
	c.sha("qualifiedBase", &b.QualifiedBase)
	c.root("nativeCommandRoot", &b.NativeCommandRoot)
	c.root("toolchainRoot", &b.ToolchainRoot)
	c.root("environmentRoot", &b.EnvironmentRoot)
}

// Root returns the root of the binding; "" when it is not in order.
func (b ExecutionBinding) Root() string {
	v, err := write(nil, &b)
	if err != nil {
		return ""
	}
	return canon.Root(v)
}

// RunReceipt says that the bound command ran to success under a heartbeat.
type RunReceipt struct {
	Binding        ExecutionBinding
	BindingRoot    string
	StartedAt      Timestamp
	CompletedAt    Timestamp
	HeartbeatCount int64
	Root           string
}

func (r *RunReceipt) shape(c *codec) {
	c.constant("schema", runReceiptID)
	c.constant("outcome", "succeeded")
	command := r.Binding.NativeCommandRoot
	c.root("commandRoot", &command)
	nested(c, "executionBinding", &r.Binding)
	if c.err == nil && command != r.Binding.NativeCommandRoot {
		c.fail("commandRoot", "is not the command that the execution was bound to")
	}
	c.derived("executionBindingRoot", &r.BindingRoot, r.Binding.Root)
	c.stamp("startedAt", &r.StartedAt)
	c.stamp("completedAt", &r.CompletedAt)
	if c.err == nil && r.CompletedAt < r.StartedAt {
		c.fail("completedAt", "is before the start")
	}
	c.positive("heartbeatCount", &r.HeartbeatCount)
	c.self("receiptRoot", &r.Root)
}

// BuildRunReceipt fills the roots and returns the document.
func BuildRunReceipt(r RunReceipt) (RunReceipt, canon.Value, error) {
	r.BindingRoot, r.Root = "", ""
	v, err := write(nil, &r)
	return r, v, err
}

// ParseRunReceipt reads a run receipt and recomputes its roots.
func ParseRunReceipt(v canon.Value) (RunReceipt, error) {
	var r RunReceipt
	err := read(nil, v, &r)
	return r, err
}

// NativeProof says that a change was qualified by a native run. Command,
// toolchain, environment, head and base are those of the receipt's binding.
type NativeProof struct {
	SourceIdentityRoot string
	SourcePatchRoot    string
	PlanRoot           string
	ClosureRoot        string
	DependencyRoot     string
	Receipt            RunReceipt
	AffectedPaths      []string
	ShardEvidenceRoots []string // includes the receipt's root
	QualifiedAt        Timestamp
	ObservationRoot    string
	Root               string
}

// bound is a member of the proof that repeats one of the receipt.
func (c *codec) bound(name, want string) {
	got := want
	c.str(name, &got, false, func(s string) string { return rule(s == want, "is not what the receipt says") })
}

func (p *NativeProof) shape(c *codec) {
	c.constant("schema", nativeProof4)
	c.constant("rootSemantics", "semantic-native-identity-v1")
	nested(c, "nativeExecutionReceipt", &p.Receipt)
	if c.err != nil {
		return
	}
	b := &p.Receipt.Binding
	c.bound("repository", b.Repository)
	c.bound("protectedBase", b.ProtectedBase)
	c.root("sourceIdentityRoot", &p.SourceIdentityRoot)
	c.root("sourcePatchRoot", &p.SourcePatchRoot)
	c.root("planRoot", &p.PlanRoot)
	c.root("closureRoot", &p.ClosureRoot)
	c.root("dependencyRoot", &p.DependencyRoot)
	c.bound("toolchainRoot", b.ToolchainRoot)
	c.bound("environmentRoot", b.EnvironmentRoot)
	c.bound("sourceHead", b.SourceHead)
	c.bound("qualifiedBase", b.QualifiedBase)
	c.bound("nativeCommandRoot", b.NativeCommandRoot)
	c.bound("nativeExecutionBindingRoot", p.Receipt.BindingRoot)
	c.bound("nativeExecutionReceiptRoot", p.Receipt.Root)
	c.set("affectedPaths", &p.AffectedPaths, false, barePathRule)
	c.roots("shardEvidenceRoots", &p.ShardEvidenceRoots)
	if c.err == nil && !slices.Contains(p.ShardEvidenceRoots, p.Receipt.Root) {
		c.fail("shardEvidenceRoots", "must hold the receipt's root")
	}
	timedRoot(c, &p.QualifiedAt, &p.ObservationRoot, &p.Root)
	if c.err == nil && p.QualifiedAt < p.Receipt.CompletedAt {
		c.fail("qualifiedAt", "is before the run was complete")
	}
}

func barePath(s string) string {
	return strings.TrimRight(strings.TrimPrefix(trim(s), "./"), "/")
}

func barePathRule(s string) string {
	return rule(s != "" && barePath(s) == s, "must be a path without ./ before or / behind it")
}

// BuildNativeProof fills the roots, adds the receipt to the evidence and returns
// the document.
func BuildNativeProof(p NativeProof) (NativeProof, canon.Value, error) {
	receipt, _, err := BuildRunReceipt(p.Receipt)
	if err != nil {
		return NativeProof{}, canon.Value{}, err
	}
	p.Receipt = receipt
	paths := make([]string, len(p.AffectedPaths))
	for i, s := range p.AffectedPaths {
		paths[i] = barePath(s)
	}
	p.AffectedPaths = sortedSet(paths)
	p.ShardEvidenceRoots = sortedSet(append([]string{receipt.Root}, p.ShardEvidenceRoots...))
	p.ObservationRoot, p.Root = "", ""
	v, err := write(nil, &p)
	return p, v, err
}

// ParseNativeProof reads a native proof and recomputes every root in it.
func ParseNativeProof(v canon.Value) (NativeProof, error) {
	var p NativeProof
	err := read(nil, v, &p)
	return p, err
}
