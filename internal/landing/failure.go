package landing

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// NativeFailure is the evidence that the native command of an attempt failed.
type NativeFailure struct {
	PullRequestNumber       int64
	ExpectedHead            string
	FencingToken            string
	LeaseGeneration         int64
	NativeAttempts          int64
	Reason                  string
	WorkerTerminationProven bool
	EvidenceRoot            string
}

func (f *NativeFailure) shape(c *codec) {
	c.constant("schema", "kungfu.buildchain.two-phase-delivery-failure/v1")
	c.positive("pullRequestNumber", &f.PullRequestNumber)
	c.sha("expectedHead", &f.ExpectedHead)
	c.root("fencingToken", &f.FencingToken)
	c.positive("leaseGeneration", &f.LeaseGeneration)
	c.count("nativeAttempts", &f.NativeAttempts)
	c.text("reason", &f.Reason)
	c.boolean("workerTerminationProven", &f.WorkerTerminationProven)
	c.self("evidenceRoot", &f.EvidenceRoot)
}

// BuildNativeFailure fills the root and returns the document.
func BuildNativeFailure(f NativeFailure) (NativeFailure, canon.Value, error) {
	f.EvidenceRoot = ""
	v, err := write(nil, &f)
	return f, v, err
}

// ParseNativeFailure reads the document and recomputes its root.
func ParseNativeFailure(v canon.Value) (NativeFailure, error) {
	var f NativeFailure
	err := read(nil, v, &f)
	return f, err
}

// FailureSettlement is what the finalizer of a failed native job hands in: the
// failure, bound to its transfer, to both jobs and to the state of the warrant.
type FailureSettlement struct {
	EvidenceRoot      string
	Reason            string
	WarrantStateRoot  string
	Fence             Fence
	PullRequestNumber int64
	SourceHead        string
	Binding           FailureBinding
}

func (f *FailureSettlement) shape(c *codec) {
	c.constant("schema", "kungfu.buildchain.provider-failure-settlement/v1")
	c.constant("outcome", string(TerminalFailure))
	c.root("evidenceRoot", &f.EvidenceRoot)
	c.text("reason", &f.Reason)
	c.root("warrantStateRoot", &f.WarrantStateRoot)
	c.root("candidateId", &f.Fence.CandidateID)
	c.root("fencingToken", &f.Fence.Token)
	c.positive("leaseGeneration", &f.Fence.Generation)
	c.positive("pullRequestNumber", &f.PullRequestNumber)
	c.sha("sourceHead", &f.SourceHead)
	f.Binding.shape(c)
	c.constant("nativeJobConclusion", "failure")
}

// ParseFailureSettlement reads the document. Whether its four coordinates are
// true is for whoever reads the provider.
func ParseFailureSettlement(v canon.Value) (FailureSettlement, error) {
	var f FailureSettlement
	err := read(nil, v, &f)
	return f, err
}

const (
	transferSchema = "kungfu.buildchain.native-execution-job-transfer/v2"
	boundarySchema = "kungfu.buildchain.provider-finalizer-boundary/v1"
)

// ByteRoot is the root of raw file bytes: no canonical form, no added line feed.
func ByteRoot(raw []byte) string { return canon.Sum(raw).String() }

// TransferRoot returns the root of a job transfer; a root that the document
// carries must be right.
func TransferRoot(v canon.Value) (string, error) { return selfRoot(v, transferSchema, "transferRoot") }

// BoundaryRoot returns the root of a finalizer boundary; a root that the
// document carries must be right.
func BoundaryRoot(v canon.Value) (string, error) { return selfRoot(v, boundarySchema, "boundaryRoot") }

func selfRoot(v canon.Value, schema, member string) (string, error) {
	if got := v.Str("schema"); got != schema {
		return "", fault.New(fault.UnknownKind, "check root", "%q is not %s", got, schema).At("/schema")
	}
	root := canon.Root(v.Without(member))
	if own, ok := v.Get(member); ok {
		if stored, _ := own.String(); stored != root {
			return "", drift("/"+member, stored, root)
		}
	}
	return root, nil
}
