package landing

import (
	"slices"
)

// Qualification is the record of a completed native qualification.
type Qualification struct {
	EvidenceRoot               string // optional, of older documents
	ReceiptRoot                string
	SourceProofRoot            string
	NativeProofRoot            string
	NativeExecutionBindingRoot string
	NativeExecutionReceiptRoot string
	NativeCommandRoot          string
	ContractRoot               string
	QualifiedAt                Timestamp
}

func (q *Qualification) shape(c *codec) {
	c.constant("schema", qualificationSchema)
	c.constant("authority", "verified-native-qualification")
	c.flag("nativeProofAuthority", true)
	c.optRoot("evidenceRoot", &q.EvidenceRoot)
	c.root("qualificationReceiptRoot", &q.ReceiptRoot)
	c.root("sourceProofRoot", &q.SourceProofRoot)
	c.root("nativeProofRoot", &q.NativeProofRoot)
	c.root("nativeExecutionBindingRoot", &q.NativeExecutionBindingRoot)
	c.root("nativeExecutionReceiptRoot", &q.NativeExecutionReceiptRoot)
	c.root("nativeCommandRoot", &q.NativeCommandRoot)
	c.root("qualificationContractRoot", &q.ContractRoot)
	c.stamp("qualifiedAt", &q.QualifiedAt)
}

// FailureBinding ties a terminal failure to the transfer and the two jobs that
// proved it.
type FailureBinding struct {
	TransferRoot          string
	FinalizerBoundaryRoot string
	NativeJobID           int64
	SealJobID             int64
}

// Terminal says how a candidate ended.
type Terminal struct {
	Outcome      Status
	EvidenceRoot string
	Reason       string // may be empty
	SettledAt    Timestamp
	Failure      *FailureBinding
	Attempt      *Attempt // the attempt that landed or failed
	ReadbackRoot string   // root of the readback that settled it
}

func (t *Terminal) shape(c *codec) {
	oneOf(c, "outcome", &t.Outcome, outcomes...)
	c.root("evidenceRoot", &t.EvidenceRoot)
	c.mayEmpty("reason", &t.Reason)
	c.stamp("settledAt", &t.SettledAt)
	if c.reading && slices.ContainsFunc([]string{"transferRoot", "finalizerBoundaryRoot", "nativeJobId", "sealJobId"}, c.in.Has) {
		t.Failure = new(FailureBinding)
	}
	if t.Failure != nil {
		t.Failure.shape(c)
	}
	optNested(c, "providerAttempt", &t.Attempt)
	c.optRoot("providerTerminalReadbackRoot", &t.ReadbackRoot)
}

// shape is the four members of a failure binding, all or none.
func (b *FailureBinding) shape(c *codec) {
	c.root("transferRoot", &b.TransferRoot)
	c.root("finalizerBoundaryRoot", &b.FinalizerBoundaryRoot)
	c.positive("nativeJobId", &b.NativeJobID)
	c.positive("sealJobId", &b.SealJobID)
	if c.err == nil && b.NativeJobID == b.SealJobID {
		c.fail("sealJobId", "must differ from nativeJobId")
	}
}
