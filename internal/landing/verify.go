package landing

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// QualificationDocuments are the four documents behind the qualification record
// of a candidate.
type QualificationDocuments struct {
	SourceProof canon.Value
	NativeProof canon.Value
	Contract    canon.Value
	Receipt     canon.Value
}

// VerifyQualification recomputes every root of the four documents and checks
// that they are about this candidate and that its record is theirs.
func VerifyQualification(c Candidate, d QualificationDocuments) error {
	q := c.Qualification
	if q == nil {
		return fault.New(fault.State, "verify qualification", "candidate has no qualification")
	}
	given, err := ParseContract(d.Contract)
	if err != nil {
		return err
	}
	contract, err := verifyEvidence(&c, given.Fence, CompleteQualificationParams{
		Fence: given.Fence, SourceProof: d.SourceProof, NativeProof: d.NativeProof, Contract: d.Contract,
	})
	if err != nil {
		return err
	}
	receipt, root, err := ParseQualificationReceipt(d.Receipt)
	if err != nil {
		return err
	}
	want := contract.receipt(receipt.ExpectedOldStateRoot, receipt.QualifiedAt)
	expected, err := write(nil, &want)
	if err != nil {
		return err
	}
	if !canon.Equal(expected, d.Receipt) {
		return fault.New(fault.Evidence, "verify qualification", "receipt is not the one of this contract").At("/receipt")
	}
	record := *contract.qualification(root, receipt.QualifiedAt)
	record.EvidenceRoot = q.EvidenceRoot
	if record != *q {
		return fault.New(fault.Evidence, "verify qualification", "candidate's record is not of these documents").At("/qualification")
	}
	return nil
}

// VerifyLanding checks that an admission and a readback are about this ended
// candidate and about each other.
func VerifyLanding(c Candidate, admission, readback canon.Value) error {
	const op = "verify landing"
	if c.Terminal == nil {
		return fault.New(fault.State, op, "candidate has not ended")
	}
	a, root, err := ParseAdmission(admission)
	if err != nil {
		return err
	}
	r, err := RecomputeReadback(readback)
	if err != nil {
		return err
	}
	t := c.Terminal
	switch {
	case a.CandidateID != c.CandidateID || a.SourceHead != c.SourceHead || a.PullRequestNumber != c.PullRequestNumber ||
		a.Repository != c.Repository || a.ProtectedBase != c.ProtectedBase:
		return fault.New(fault.Evidence, op, "admission is of another candidate").At("/admission")
	case a.Attempt.coordinates().mergeGroupHead != a.MergeGroupHead:
		return fault.New(fault.Evidence, op, "attempt is of another head").At("/admission/providerAttempt")
	case r.AdmissionRoot != root || r.Fence != a.Fence() || !r.Attempt.Equal(a.Attempt):
		return fault.New(fault.Evidence, op, "readback is of another admission").At("/readback")
	case r.SourceHead != c.SourceHead || r.Repository != c.Repository || r.ProtectedBase != c.ProtectedBase:
		return fault.New(fault.Evidence, op, "readback is of another candidate").At("/readback")
	case r.Root != t.ReadbackRoot || r.EvidenceRoot != t.EvidenceRoot || r.Outcome != t.Outcome || r.Reason != t.Reason:
		return fault.New(fault.Evidence, op, "terminal record is not of this readback").At("/terminal")
	case t.Attempt == nil || !t.Attempt.Equal(a.Attempt):
		return fault.New(fault.Evidence, op, "terminal record has another attempt").At("/terminal/providerAttempt")
	}
	return nil
}
