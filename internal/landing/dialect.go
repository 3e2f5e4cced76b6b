package landing

import (
	"regexp"
	"slices"
	"strings"

	"writ/internal/fault"
)

// Schema ids that both dialects hash.
const (
	commandSchema       = "kungfu.buildchain.native-command-contract/v1"
	leaseSchema         = "kungfu.buildchain.dev-delivery-qualification-lease/v1"
	warrantSchema       = "kungfu.buildchain.dev-delivery-landing-warrant/v1"
	qualificationSchema = "kungfu.buildchain.dev-delivery-native-qualification/v1"
	admissionSchema     = "kungfu.buildchain.dev-delivery-merge-group-admission/v1"
	reasonSchema        = "kungfu.buildchain.dev-delivery-scheduler-reason/v1"
	wakeSchema          = "kungfu.buildchain.dev-delivery-scheduler-wake/v1"
	receiptSchema       = "kungfu.buildchain.dev-delivery-authority-receipt/v1"
	observationSchema   = "kungfu.buildchain.dev-delivery-authority-observation/v1"
	authorityMode       = "bounded-qualification-landing"
	chainedSemantics    = "chained-attempt-v2"
)

// GitHubAttemptSchema and GitAttemptSchema are the kinds of provider attempt.
const (
	GitHubAttemptSchema = "kungfu.buildchain.github-landing-provider-attempt/v1"
	GitAttemptSchema    = "writ.git-landing-provider-attempt/v1"
)

// readbackIDs are the ids of the two documents that end an attempt. An empty
// Readback says that the dialect has none of that kind.
type readbackIDs struct {
	Evidence string
	Readback string
	Verifier string
	Neutral  bool // whether a job that concluded "neutral" may be sealed (W3)
}

// Dialect is everything in which the two documents differ. The machine has no
// other branch on the contract.
type Dialect struct {
	Name          string
	Contract      string
	SchemaVersion int64
	Attempts      []string // schema ids of the provider attempts that may be admitted

	baseRule func(string) string // what is wrong with a protected base, or ""
	gitHub   readbackIDs
	git      readbackIDs
	outside  string // schema id of a readback of a merge that the authority did not make (W7)
}

// V2 is the law: GitHub merge groups on branches named dev/vN/vN.M, byte for
// byte. Writ1 is our own contract with the same members, rules and roots, for
// any other remote or branch.
var (
	V2 = &Dialect{
		Name:          "v2",
		Contract:      "kungfu-buildchain-dev-delivery-authority",
		SchemaVersion: 2,
		Attempts:      []string{GitHubAttemptSchema},
		baseRule:      devBaseRule,
		gitHub: readbackIDs{
			Evidence: "kungfu.buildchain.github-landing-terminal-evidence/v1",
			Readback: "kungfu.buildchain.github-landing-terminal-readback/v2",
			Verifier: "buildchain-github-provider-live-readback",
		},
		outside: "writ.outside-merge-readback/v1",
	}
	Writ1 = &Dialect{
		Name:          "writ1",
		Contract:      "writ-delivery-authority",
		SchemaVersion: 1,
		Attempts:      []string{GitHubAttemptSchema, GitAttemptSchema},
		baseRule:      branchRule,
		gitHub: readbackIDs{
			Evidence: "writ.github-landing-terminal-evidence/v1",
			Readback: "writ.github-landing-terminal-readback/v1",
			Verifier: "writ-github-live-readback",
			Neutral:  true,
		},
		git: readbackIDs{
			Evidence: "writ.git-landing-terminal-evidence/v1",
			Readback: "writ.git-landing-terminal-readback/v1",
		},
		outside: "writ.outside-merge-readback/v1",
	}
)

// Dialects lists both.
func Dialects() []*Dialect { return []*Dialect{V2, Writ1} }

// DialectOf returns the dialect of a contract, or fault.UnknownKind.
func DialectOf(contract string) (*Dialect, error) {
	for _, d := range Dialects() {
		if d.Contract == contract {
			return d, nil
		}
	}
	return nil, fault.New(fault.UnknownKind, "read landing state", "no dialect with contract %q", contract).At("/contract")
}

// DialectFor picks the dialect of a remote: the law exactly where it applies,
// on GitHub with a branch that it knows; our own everywhere else.
func DialectFor(gitHub bool, base string) *Dialect {
	if gitHub && devBaseRule(BranchName(base)) == "" {
		return V2
	}
	return Writ1
}

// BranchName takes a leading refs/heads/ off, as every input may carry it.
func BranchName(base string) string { return strings.TrimPrefix(trim(base), "refs/heads/") }

// CheckBase says whether the dialect takes the protected base, already without
// refs/heads/.
func (d *Dialect) CheckBase(base string) error {
	if wrong := d.baseRule(base); wrong != "" {
		return fault.New(fault.Invalid, "check protected base", "%q %s", base, wrong).At("/protectedBase")
	}
	return nil
}

var devBaseForm = regexp.MustCompile(`^dev/v[0-9]+/v[0-9]+\.[0-9]+$`)

func devBaseRule(s string) string {
	return rule(devBaseForm.MatchString(s), "must have the form dev/vN/vN.M")
}

// branchRule is git's rule for the short name of a branch.
func branchRule(s string) string {
	switch {
	case s == "" || s == "@" || s == "HEAD":
		return "must name a branch"
	case len(s) > 255:
		return "must not be longer than 255 bytes"
	case strings.HasPrefix(s, "-") || strings.HasSuffix(s, "."):
		return "must not begin with - or end with a dot"
	case strings.Contains(s, "..") || strings.Contains(s, "@{"):
		return "must not hold .. or @{"
	case strings.ContainsFunc(s, badInRef):
		return `must not hold a space, a control character or one of ~ ^ : ? * [ \`
	case slices.ContainsFunc(strings.Split(s, "/"), badComponent):
		return "has a part that is empty, begins with a dot or ends with .lock"
	}
	return ""
}

func badInRef(r rune) bool {
	return r < 0x20 || r == 0x7F || isSpace(r) || strings.ContainsRune("~^:?*[\\", r)
}

func badComponent(p string) bool {
	return p == "" || strings.HasPrefix(p, ".") || strings.HasSuffix(p, ".lock")
}
