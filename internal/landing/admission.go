package landing

import (
	"strconv"
	"strings"

	"writ/internal/canon"
)

// Admission says which attempt received the landing authority, under which
// fence and on top of which state. Its root is kept on the warrant.
type Admission struct {
	Repository           string
	ProtectedBase        string
	CandidateID          string
	PullRequestNumber    int64
	SourceHead           string
	MergeGroupHead       string
	Token                string
	Generation           int64
	ExpectedOldStateRoot string
	AdmittedAt           Timestamp
	Attempt              Attempt
}

func (a *Admission) shape(c *codec) {
	c.constant("schema", admissionSchema)
	c.flag("admitted", true)
	c.constant("authority", "exclusive-landing-warrant")
	c.repository("repository", &a.Repository)
	c.base("protectedBase", &a.ProtectedBase)
	c.root("candidateId", &a.CandidateID)
	c.positive("pullRequestNumber", &a.PullRequestNumber)
	c.sha("sourceHead", &a.SourceHead)
	c.sha("mergeGroupHead", &a.MergeGroupHead)
	c.root("landingWarrantToken", &a.Token)
	c.positive("landingWarrantGeneration", &a.Generation)
	c.root("expectedOldStateRoot", &a.ExpectedOldStateRoot)
	c.stamp("admittedAt", &a.AdmittedAt)
	nested(c, "providerAttempt", &a.Attempt)
}

// Fence returns the fence that the admission is bound to.
func (a Admission) Fence() Fence { return Fence{a.CandidateID, a.Token, a.Generation} }

// ParseAdmission reads an admission document and returns its root beside it.
func ParseAdmission(v canon.Value) (Admission, string, error) {
	var a Admission
	if err := read(nil, v, &a); err != nil {
		return Admission{}, "", err
	}
	return a, canon.Root(v), nil
}

// groupBelongs reports whether a branch is a merge group that GitHub's queue made
// for this pull request on this base.
func groupBelongs(branch, base string, pull int64) bool {
	return strings.HasPrefix(branch, "gh-readonly-queue/"+base+"/pr-"+strconv.FormatInt(pull, 10)+"-")
}
