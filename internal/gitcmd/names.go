package gitcmd

import (
	"strconv"
	"strings"

	"writ/internal/fault"
)

func itoa(n int) string { return strconv.Itoa(n) }

// IsID reports whether s is a full object id: 40 or 64 lower-case hex digits.
func IsID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

func checkIDs(op string, ids ...string) error {
	for _, id := range ids {
		if !IsID(id) {
			return fault.New(fault.Invalid, op, "%.80q is not a full object id", id)
		}
	}
	return nil
}

// CheckRef refuses what is not a full ref name, refs/..., in the form that git
// itself takes.
func CheckRef(ref string) error {
	bad := func(why string) error {
		return fault.New(fault.Invalid, "check ref", "%.200q %s", ref, why)
	}
	if !strings.HasPrefix(ref, "refs/") || strings.Count(ref, "/") < 2 {
		return bad("is not a full ref name, refs/...")
	}
	if strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, ".") {
		return bad("has a form that git keeps for itself")
	}
	for _, c := range []byte(ref) {
		if c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return bad("has a character that no ref name may have")
		}
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad("has an empty or hidden part, or one that ends in .lock")
		}
	}
	return nil
}

// checkRemote refuses a remote that git would read as an option or hand to a
// helper program.
func checkRemote(remote string) error {
	if remote == "" || strings.HasPrefix(remote, "-") || strings.Contains(remote, "::") || strings.ContainsAny(remote, "\n\x00") {
		return fault.New(fault.Invalid, "check remote", "%.200q is not a path or URL of a remote", Scrub(remote))
	}
	return nil
}
