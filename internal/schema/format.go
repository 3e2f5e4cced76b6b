package schema

import (
	"errors"
	"net/url"
	"strings"
)

var (
	errTime = errors.New("not a time")
	errURI  = errors.New("not an absolute URI")
)

// dateTime checks the date-time of RFC 3339: the calendar, the clock, and a
// leap second only where one can be. Upper and lower case T and Z both pass, as
// the RFC has it. Values that are no strings are none of its business.
func dateTime(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if !isDateTime(s) {
		return errTime
	}
	return nil
}

func isDateTime(s string) bool {
	// 0123456789012345678
	// 2006-01-02T15:04:05
	if len(s) < 20 || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) {
		return false
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	s = s[19:]
	if s[0] == '.' {
		n := 1
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		s = s[n:]
	}
	offset, ok := zone(s)
	if !ok {
		return false
	}
	if second == 60 { // only the last second of a UTC day can be a leap second
		return ((hour*60+minute-offset)%1440+1440)%1440 == 23*60+59
	}
	return true
}

// zone reads Z or ±hh:mm and returns the minutes east of UTC.
func zone(s string) (minutes int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[3] != ':' || (s[0] != '+' && s[0] != '-') {
		return 0, false
	}
	h, ok1 := digits(s[1:3])
	m, ok2 := digits(s[4:6])
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -(h*60 + m), true
	}
	return h*60 + m, true
}

// digits reads a short unsigned decimal without any sign or space.
func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// absoluteURI checks the URI of RFC 3986: a scheme, and none of the characters
// that a URI must escape.
func absoluteURI(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ', c >= 0x7f, strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			return errURI
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return errURI
		}
	}
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() {
		return errURI
	}
	return nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
