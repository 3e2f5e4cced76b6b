package landing

import (
	"reflect"

	"writ/internal/canon"
	"writ/internal/fault"
)

const (
	contractSchema = "kungfu.buildchain.dev-delivery-bounded-qualification-contract/v1"
	receiptID      = "kungfu.buildchain.dev-delivery-bounded-qualification-receipt/v1"
	waitForWarrant = "Wait for the single exclusive Landing Warrant." // hashed into every qualification
)

// Contract is what a completed qualification promises: which proofs, for which
// candidate, under which lease.
type Contract struct {
	Repository                 string
	ProtectedBase              string
	Fence                      Fence
	SourceHead                 string
	SourceProofRoot            string
	NativeProofRoot            string
	NativeExecutionBindingRoot string
	NativeExecutionReceiptRoot string
	NativeCommandRoot          string
	PlanRoot                   string
	ClosureRoot                string
	DependencyRoot             string
	ToolchainRoot              string
	EnvironmentRoot            string // absent when the candidate has none
	QualificationDomains       []string
	ShardEvidenceRoots         []string
	Root                       string
}

func (k *Contract) shape(c *codec) {
	c.constant("schema", contractSchema)
	c.constant("authority", "qualification-only")
	c.flag("mergeGroupAdmission", false)
	c.repository("repository", &k.Repository)
	c.base("protectedBase", &k.ProtectedBase)
	c.root("candidateId", &k.Fence.CandidateID)
	c.root("qualificationLeaseToken", &k.Fence.Token)
	c.positive("qualificationLeaseGeneration", &k.Fence.Generation)
	c.sha("sourceHead", &k.SourceHead)
	c.root("sourceProofRoot", &k.SourceProofRoot)
	c.root("nativeProofRoot", &k.NativeProofRoot)
	c.root("nativeExecutionBindingRoot", &k.NativeExecutionBindingRoot)
	c.root("nativeExecutionReceiptRoot", &k.NativeExecutionReceiptRoot)
	c.root("nativeCommandRoot", &k.NativeCommandRoot)
	c.root("planRoot", &k.PlanRoot)
	c.root("closureRoot", &k.ClosureRoot)
	c.root("dependencyRoot", &k.DependencyRoot)
	c.root("toolchainRoot", &k.ToolchainRoot)
	c.optRoot("environmentRoot", &k.EnvironmentRoot)
	c.roots("qualificationDomains", &k.QualificationDomains)
	c.roots("shardEvidenceRoots", &k.ShardEvidenceRoots)
	c.self("contractRoot", &k.Root)
}

// BuildContract makes the contract of a candidate under a lease from its two
// proofs. The candidate must have a native command.
func BuildContract(c Candidate, f Fence, native NativeProof) (Contract, canon.Value, error) {
	if c.Command == nil {
		return Contract{}, canon.Value{}, fault.New(fault.State, "build qualification contract", "candidate has no native command")
	}
	k := Contract{
		Repository: c.Repository, ProtectedBase: c.ProtectedBase, Fence: f,
		SourceHead: c.SourceHead, SourceProofRoot: c.SourceProofRoot,
		NativeProofRoot:            native.Root,
		NativeExecutionBindingRoot: native.Receipt.BindingRoot,
		NativeExecutionReceiptRoot: native.Receipt.Root,
		NativeCommandRoot:          native.Receipt.Binding.NativeCommandRoot,
		PlanRoot:                   c.PlanRoot, ClosureRoot: c.ClosureRoot, DependencyRoot: c.DependencyRoot,
		ToolchainRoot: c.ToolchainRoot, EnvironmentRoot: c.EnvironmentRoot,
		QualificationDomains: emptyNotNil(c.QualificationDomains),
		ShardEvidenceRoots:   emptyNotNil(c.ShardEvidenceRoots),
	}
	v, err := write(nil, &k)
	return k, v, err
}

// ParseContract reads a qualification contract and recomputes its root.
func ParseContract(v canon.Value) (Contract, error) {
	var k Contract
	err := read(nil, v, &k)
	return k, err
}

// QualificationReceipt is what completion leaves behind; its root is kept on the
// candidate.
type QualificationReceipt struct {
	Contract             Contract // only the members that the receipt repeats
	QualifiedAt          Timestamp
	ExpectedOldStateRoot string
}

func (r *QualificationReceipt) shape(c *codec) {
	k := &r.Contract
	c.constant("schema", receiptID)
	c.constant("action", string(QualificationCompleted))
	c.constant("authority", "qualification-only")
	c.flag("mergeGroupAdmission", false)
	c.repository("repository", &k.Repository)
	c.base("protectedBase", &k.ProtectedBase)
	c.root("candidateId", &k.Fence.CandidateID)
	c.root("qualificationLeaseToken", &k.Fence.Token)
	c.positive("qualificationLeaseGeneration", &k.Fence.Generation)
	c.root("sourceProofRoot", &k.SourceProofRoot)
	c.root("nativeProofRoot", &k.NativeProofRoot)
	c.root("nativeExecutionBindingRoot", &k.NativeExecutionBindingRoot)
	c.root("nativeExecutionReceiptRoot", &k.NativeExecutionReceiptRoot)
	c.root("nativeCommandRoot", &k.NativeCommandRoot)
	c.root("qualificationContractRoot", &k.Root)
	c.stamp("qualifiedAt", &r.QualifiedAt)
	c.root("expectedOldStateRoot", &r.ExpectedOldStateRoot)
	c.constant("nextAction", waitForWarrant)
}

// ParseQualificationReceipt reads a qualification receipt and returns its root.
func ParseQualificationReceipt(v canon.Value) (QualificationReceipt, string, error) {
	var r QualificationReceipt
	if err := read(nil, v, &r); err != nil {
		return QualificationReceipt{}, "", err
	}
	return r, canon.Root(v), nil
}

func (k Contract) receipt(oldStateRoot string, now Timestamp) QualificationReceipt {
	return QualificationReceipt{Contract: k, QualifiedAt: now, ExpectedOldStateRoot: oldStateRoot}
}

func (k Contract) qualification(receiptRoot string, now Timestamp) *Qualification {
	return &Qualification{
		ReceiptRoot: receiptRoot, SourceProofRoot: k.SourceProofRoot, NativeProofRoot: k.NativeProofRoot,
		NativeExecutionBindingRoot: k.NativeExecutionBindingRoot,
		NativeExecutionReceiptRoot: k.NativeExecutionReceiptRoot,
		NativeCommandRoot:          k.NativeCommandRoot, ContractRoot: k.Root, QualifiedAt: now,
	}
}

// pair is two values that must agree.
type pair struct{ what, got, want string }

func agree(at string, pairs ...pair) error {
	for _, p := range pairs {
		if p.got != p.want {
			return fault.New(fault.Evidence, "verify qualification", "%s is %s, candidate has %s", p.what, p.got, p.want).
				At(canon.PointerTo(at, p.what))
		}
	}
	return nil
}

// verifyEvidence checks the three documents of a completion, the source proof
// first, and returns the contract. What the candidate leaves out is not compared.
func verifyEvidence(c *Candidate, f Fence, p CompleteQualificationParams) (Contract, error) {
	var source SourceProof
	if err := readAt(nil, p.SourceProof, &source, "/sourceProof"); err != nil {
		return Contract{}, err
	}
	if err := agree("/sourceProof", sourcePairs(c, &source)...); err != nil {
		return Contract{}, err
	}
	var native NativeProof
	if err := readAt(nil, p.NativeProof, &native, "/nativeProof"); err != nil {
		return Contract{}, err
	}
	if err := agree("/nativeProof", nativePairs(c, &native)...); err != nil {
		return Contract{}, err
	}
	want := sortedSet(append([]string{native.Receipt.Root}, c.ShardEvidenceRoots...))
	if !reflect.DeepEqual(want, native.ShardEvidenceRoots) {
		return Contract{}, fault.New(fault.Evidence, "verify qualification", "evidence is not the candidate's and the receipt").
			At("/nativeProof/shardEvidenceRoots")
	}
	var given Contract
	if err := readAt(nil, p.Contract, &given, "/qualificationContract"); err != nil {
		return Contract{}, err
	}
	expected, document, err := BuildContract(*c, f, native)
	if err != nil {
		return Contract{}, err
	}
	if !canon.Equal(document, p.Contract) {
		return Contract{}, fault.New(fault.Evidence, "verify qualification", "contract is not the one of this candidate, lease and proofs").
			At("/qualificationContract").With("expected", expected.Root).With("got", given.Root)
	}
	return expected, nil
}

func sourcePairs(c *Candidate, p *SourceProof) []pair {
	return []pair{
		{"repository", p.Repository, c.Repository},
		{"protectedBase", p.ProtectedBase, c.ProtectedBase},
		{"sourceHead", p.SourceHead, c.SourceHead},
		{"sourceIdentityRoot", p.SourceIdentityRoot, c.SourceIdentityRoot},
		{"sourcePatchRoot", p.SourcePatchRoot, c.SourcePatchRoot},
		{"planRoot", p.PlanRoot, c.PlanRoot},
		{"closureRoot", p.ClosureRoot, c.ClosureRoot},
		{"dependencyRoot", p.DependencyRoot, c.DependencyRoot},
		{"toolchainRoot", p.ToolchainRoot, c.ToolchainRoot},
		{"proofRoot", p.Root, c.SourceProofRoot},
	}
}

func nativePairs(c *Candidate, p *NativeProof) []pair {
	b := p.Receipt.Binding
	pairs := []pair{
		{"repository", b.Repository, c.Repository},
		{"protectedBase", b.ProtectedBase, c.ProtectedBase},
		{"sourceHead", b.SourceHead, c.SourceHead},
		{"sourceIdentityRoot", p.SourceIdentityRoot, c.SourceIdentityRoot},
		{"sourcePatchRoot", p.SourcePatchRoot, c.SourcePatchRoot},
		{"planRoot", p.PlanRoot, c.PlanRoot},
		{"closureRoot", p.ClosureRoot, c.ClosureRoot},
		{"dependencyRoot", p.DependencyRoot, c.DependencyRoot},
		{"toolchainRoot", b.ToolchainRoot, c.ToolchainRoot},
	}
	if c.EnvironmentRoot != "" {
		pairs = append(pairs, pair{"environmentRoot", b.EnvironmentRoot, c.EnvironmentRoot})
	}
	if c.Command != nil {
		pairs = append(pairs, pair{"nativeCommandRoot", b.NativeCommandRoot, c.Command.Root})
	}
	return pairs
}
