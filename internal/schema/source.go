package schema

import (
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// read keeps the parsed files that messages were made from; they are never
// written to.
var read sync.Map // address of a file -> its document

// source finds the text of a compiled schema again: the part of an embedded
// file that its location names. It is for messages, and nil when there is none.
func source(location string) any {
	address, fragment, _ := strings.Cut(location, "#")
	doc, ok := read.Load(address)
	if !ok {
		var err error
		if doc, err = (loader{files}).Load(address); err != nil {
			return nil
		}
		read.Store(address, doc)
	}
	return follow(doc, fragment)
}

// follow returns the part of a document that the fragment of a location names.
func follow(doc any, fragment string) any {
	for _, token := range strings.Split(fragment, "/")[1:] {
		name, err := url.PathUnescape(token)
		if err != nil {
			return nil
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch x := doc.(type) {
		case map[string]any:
			doc = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			doc = x[i]
		default:
			return nil
		}
	}
	return doc
}

// nearest returns the one of names that name may have been meant to be, or "".
func nearest(name string, names []string) string {
	for _, n := range names {
		if near(name, n) {
			return n
		}
	}
	return ""
}

// near reports whether two names differ by one or two slips of the finger: two
// edits, or one in a short name.
func near(a, b string) bool {
	limit := 2
	if min(len(a), len(b)) < 6 {
		limit = 1
	}
	return distance(strings.ToLower(a), strings.ToLower(b), limit) <= limit
}

// distance counts the edits between two texts; beyond limit it stops counting.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before := make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			edit := before[j]
			if a[i] != b[j] {
				edit++
			}
			row[j+1] = min(edit, before[j+1]+1, row[j]+1)
		}
		before = row
	}
	return before[len(b)]
}
