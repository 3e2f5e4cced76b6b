package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CPUs is a set of processors by number, in order.
type CPUs []int

const maxCPU = 1 << 14 // more than any kernel is built for

// ParseCPUs reads a list such as "0-3,8", the way the kernel spells it.
func ParseCPUs(list string) (CPUs, error) {
	var out CPUs
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		a, b := number(first), number(last)
		if a < 0 || b < a || b > maxCPU {
			return nil, fmt.Errorf("%q is no list of processors", list)
		}
		for n := a; n <= b; n++ {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// number reads plain digits; -1 is anything else.
func number(s string) int {
	if s == "" || len(s) > 6 || strings.Trim(s, "0123456789") != "" {
		return -1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// String spells the set the shortest way that the kernel would.
func (c CPUs) String() string {
	var parts []string
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		part := strconv.Itoa(c[i])
		if j > i {
			part += "-" + strconv.Itoa(c[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// SameCPUs reports whether two lists name the same processors. A list that cannot
// be read is the same as none.
func SameCPUs(a, b string) bool {
	x, err1 := ParseCPUs(a)
	y, err2 := ParseCPUs(b)
	return err1 == nil && err2 == nil && slices.Equal(x, y)
}
