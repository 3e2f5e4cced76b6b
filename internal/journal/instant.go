package journal

import (
	"time"
)

// stampLayout has a fixed width, so that stamps sort as text.
const stampLayout = "2006-01-02T15:04:05.000Z"

// Stamp writes an instant as events carry it: UTC, milliseconds, fixed width.
func Stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// ParseInstant reads a date-time of the event format: RFC 3339 with seconds,
// upper-case T and Z, any number of fraction digits and any offset, but no leap
// second. Digits beyond nanoseconds are dropped.
func ParseInstant(s string) (time.Time, bool) {
	if !isInstant(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// isInstant reports whether s is a date-time as the schema's pattern has it.
func isInstant(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[10] != 'T' {
		return false
	}
	year, ok := digits(s[:4], 9999)
	if !ok {
		return false
	}
	month, ok := digits(s[5:7], 12)
	if !ok || month == 0 {
		return false
	}
	day, ok := digits(s[8:10], daysOf(year, month))
	if !ok || day == 0 || !isClock(s[11:16]) || s[16] != ':' {
		return false
	}
	if _, ok = digits(s[17:19], 59); !ok {
		return false
	}
	rest := s[19:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	return rest == "Z" || len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && isClock(rest[1:])
}

// isClock reports whether s is hh:mm.
func isClock(s string) bool {
	_, h := digits(s[:2], 23)
	_, m := digits(s[3:5], 59)
	return h && m && s[2] == ':'
}

// digits reads an ASCII decimal number of at most max.
func digits(s string, max int) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= max
}

func daysOf(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
