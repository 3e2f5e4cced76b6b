package capture

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Host reads the machine through its procfs and sysfs. The zero value is the
// machine that we run on; tests give another root.
type Host struct {
	Root string // "" means "/"

	kept *kept // nil: every file is opened for each reading
}

const (
	maxFact = 1 << 20 // bytes read of one kernel file
	maxCPU  = 1 << 20 // largest processor number that is believed
)

// text reads one file, without surrounding white space.
func (h Host) text(path string) (string, error) {
	if h.kept != nil {
		return h.kept.text(h.path(path))
	}
	f, err := os.Open(h.path(path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFact))
	return strings.TrimSpace(string(b)), err
}

func (h Host) path(path string) string {
	if h.Root == "" {
		return path
	}
	return filepath.Join(h.Root, path)
}

// glob lists files, as paths below the root, in natural order of their numbers.
func (h Host) glob(pattern string) []string {
	if h.kept == nil {
		return h.list(pattern)
	}
	found, known := h.kept.lists[pattern]
	if !known {
		found = h.list(pattern)
		h.kept.lists[pattern] = found
	}
	return found
}

func (h Host) list(pattern string) []string {
	found, err := filepath.Glob(h.path(pattern))
	if err != nil {
		return nil
	}
	for i, f := range found {
		found[i] = "/" + strings.TrimPrefix(strings.TrimPrefix(f, h.Root), "/")
	}
	slices.SortFunc(found, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // cpu9 before cpu10
		}
		return strings.Compare(a, b)
	})
	return found
}

// number reads a file that holds one integer.
func (h Host) number(path string) (int64, error) {
	s, err := h.text(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(s, 10, 64)
}

// flag reads a file that holds 0 or 1.
func (h Host) flag(path string) (bool, error) {
	s, err := h.text(path)
	if err != nil {
		return false, err
	}
	return strconv.ParseBool(s)
}

// field returns the value of the first "name : value" line.
func field(text, name string) (string, error) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", errAbsent
}

// kibibytes reads "NAME: 123 kB" and returns bytes.
func kibibytes(text, name string) (int64, error) {
	v, err := field(text, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>10 {
		return 0, fmt.Errorf("%s %q", name, v)
	}
	return n << 10, nil
}

// chosen returns the word in brackets of "always [madvise] never".
func chosen(text string) (string, error) {
	_, rest, ok := strings.Cut(text, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return "", fmt.Errorf("no choice in %q", text)
	}
	return word, nil
}

// cpuCount counts a list such as "0-3,8".
func cpuCount(list string) (int, error) {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return 0, fmt.Errorf("processor list %q: %w", list, err)
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil {
				return 0, fmt.Errorf("processor list %q: %w", list, err)
			}
		}
		if a < 0 || b < a || b > maxCPU {
			return 0, fmt.Errorf("processor list %q", list)
		}
		n += b - a + 1
	}
	return n, nil
}
