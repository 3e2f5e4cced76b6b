package landing

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"writ/internal/canon"
)

// isHex reports whether s is n lower-case hex digits.
func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isRoot(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && isHex(hex, 64)
}

func isSHA(s string) bool { return isHex(s, 40) }

// isSpace is what ECMAScript calls white space or a line terminator: Unicode
// White_Space without U+0085, and the byte order mark.
func isSpace(r rune) bool { return r == 0xFEFF || r != 0x85 && unicode.IsSpace(r) }

func trim(s string) string    { return strings.TrimFunc(s, isSpace) }
func hasSpace(s string) bool  { return strings.ContainsFunc(s, isSpace) }
func lower(s string) string   { return strings.ToLower(trim(s)) }
func isTrimmed(s string) bool { return trim(s) == s }

// isRepository checks "owner/name": two parts, neither empty nor with a space.
func isRepository(s string) bool {
	owner, name, ok := strings.Cut(s, "/")
	return ok && owner != "" && name != "" && !strings.Contains(name, "/") && !hasSpace(s)
}

// sortedSet returns the distinct trimmed strings in order of their UTF-16 code
// units. Nil stays nil: an absent list is not an empty one.
func sortedSet(in []string) []string {
	if in == nil {
		return nil
	}
	out := make([]string, 0, len(in))
	for _, s := range in {
		out = append(out, trim(s))
	}
	slices.SortFunc(out, compareUTF16)
	return slices.Compact(out)
}

// isSortedSet reports whether the list is its own sortedSet.
func isSortedSet(in []string) bool {
	for i, s := range in {
		if !isTrimmed(s) || i > 0 && compareUTF16(in[i-1], s) >= 0 {
			return false
		}
	}
	return true
}

// compareUTF16 compares by UTF-16 code units: characters beyond the BMP sort
// before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	for i := range min(len(ra), len(rb)) {
		x, y := ra[i], rb[i]
		if x == y {
			continue
		}
		if x > 0xFFFF && y > 0xFFFF || x <= 0xFFFF && y <= 0xFFFF {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(leadUnit(x), leadUnit(y))
	}
	return cmp.Compare(len(ra), len(rb))
}

// leadUnit is the first UTF-16 code unit of r.
func leadUnit(r rune) rune {
	if r <= 0xFFFF {
		return r
	}
	return 0xD800 + (r-0x10000)>>10
}

// Timestamp is an instant of UTC as documents hold it, exactly
// "YYYY-MM-DDTHH:MM:SS.mmmZ". In this form the order of strings is the order of
// instants.
type Timestamp string

const stampForm = "2006-01-02T15:04:05.000Z"

// At spells t, cut to the millisecond.
func At(t time.Time) Timestamp { return Timestamp(t.UTC().Format(stampForm)) }

// Time returns the instant; the zero time when the spelling is not exact.
func (t Timestamp) Time() time.Time {
	x, err := time.Parse(stampForm, string(t))
	if err != nil {
		return time.Time{}
	}
	return x
}

func (t Timestamp) valid() bool {
	x, err := time.Parse(stampForm, string(t))
	return err == nil && At(x) == t
}

// plus returns the instant n seconds later.
func (t Timestamp) plus(n int64) Timestamp {
	return At(t.Time().Add(time.Duration(n) * time.Second))
}

// expired says whether a lease that ends at t is over at now: the instant of the
// end is outside the lease.
func (t Timestamp) expired(now Timestamp) bool { return t <= now }

// second is t cut to the second. Remotes report seconds while leases are issued
// in milliseconds, so freshness of a remote's times is compared by second (W4).
func (t Timestamp) second() Timestamp { return At(t.Time().Truncate(time.Second)) }

// object builds a JSON object from members that this package names itself.
func object(members ...canon.Member) canon.Value {
	v, err := canon.ObjectOf(members...)
	if err != nil {
		panic("landing: " + err.Error()) // a name twice in our own code
	}
	return v
}

func text(name, v string) canon.Member { return canon.Member{Name: name, Value: canon.StringOf(v)} }
func number(name string, v int64) canon.Member {
	return canon.Member{Name: name, Value: canon.IntOf(v)}
}
func value(name string, v canon.Value) canon.Member { return canon.Member{Name: name, Value: v} }

// textOrNull writes "" as null.
func textOrNull(name, v string) canon.Member {
	if v == "" {
		return value(name, canon.Null())
	}
	return text(name, v)
}

func textList(name string, list []string) canon.Member {
	out := make([]canon.Value, len(list))
	for i, s := range list {
		out[i] = canon.StringOf(s)
	}
	return value(name, canon.ArrayOf(out...))
}
