package proposal

import (
	"time"

	"writ/internal/fault"
)

// Instant spells a time the way we sign it: UTC with exactly three decimals.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ParseInstant reads RFC 3339 strictly: upper-case T and Z, two-digit fields, a
// full stop before decimals. Text is signed as it stands, so callers compare
// the instants and never the strings.
func ParseInstant(s string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return time.Time{}, fault.New(fault.Invalid, "time", "%q is not an RFC 3339 time", s)
	}
	return t, nil
}

// Narrow returns the earliest of the asked expiry and its bounds. A zero time
// bounds nothing. A link may ask for less than the links it answers, never for
// more.
func Narrow(asked time.Time, bounds ...time.Time) time.Time {
	for _, b := range bounds {
		if b.IsZero() {
			continue
		}
		if asked.IsZero() || b.Before(asked) {
			asked = b
		}
	}
	return asked
}
