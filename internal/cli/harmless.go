package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// harmless makes control and direction characters of others' text visible, so
// that what is read is what is there.
func harmless(line string) string {
	if strings.IndexFunc(line, obeyed) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if obeyed(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// obeyed reports whether a terminal does something else than draw r.
func obeyed(r rune) bool {
	return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}
