// Command gendocs writes the parts of docs that follow from the program: the
// commands, the HTTP operations, the error codes, the event types, the kinds of
// the chain and the size limits. Run it with go generate ./internal/cli.
//
// A page is written by hand; a part of it between "begin" and "end" marks is
// replaced. A test fails when a part no longer follows from the program. The
// command invents no text: what it writes is what the program says of itself.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// part is one generated part of a page.
type part struct {
	page string // below docs
	name string // in the marks
	make func(root string) (string, error)
}

var parts = []part{
	{"reference/cli.md", "commands", commands},
	{"reference/api.md", "operations", operations},
	{"reference/errors.md", "codes", codes},
	{"reference/errors.md", "refusals", refusals},
	{"reference/journal.md", "events", events},
	{"reference/documents.md", "chain", chain},
	{"limits.md", "absent", absent},
	{"limits.md", "sizes", sizes},
}

func main() {
	root := filepath.Join("..", "..") // go generate runs in internal/cli
	if err := write(root); err != nil {
		panic(err) // a tool for us: a trace is fine
	}
}

// write brings every page up to date.
func write(root string) error {
	for _, p := range parts {
		path := filepath.Join(root, "docs", filepath.FromSlash(p.page))
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := p.put(root, old)
		if err != nil {
			return err
		}
		if bytes.Equal(page, old) {
			continue
		}
		if err := os.WriteFile(path, page, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// put returns the page with the part made anew.
func (p part) put(root string, page []byte) ([]byte, error) {
	begin, end := fmt.Appendf(nil, "<!-- begin %s: made by go generate -->\n", p.name), fmt.Appendf(nil, "<!-- end %s -->\n", p.name)
	head, rest, ok := bytes.Cut(page, begin)
	_, tail, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		return nil, fmt.Errorf("docs/%s has no part %q", p.page, p.name)
	}
	text, err := p.make(root)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", p.name, err)
	}
	return bytes.Join([][]byte{head, begin, []byte("\n" + text + "\n"), end, tail}, nil), nil
}
