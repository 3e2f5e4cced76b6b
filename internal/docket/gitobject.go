package docket

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	"writ/internal/fault"
	"writ/internal/gitcmd"
)

// idBytes is the length of an object id in a tree.
const idBytes = 20

// GitObject is one object of a Git object store, without its header.
type GitObject struct {
	ID   string `json:"id"`     // 40 hex
	Type string `json:"type"`   // commit or tree
	Body []byte `json:"base64"` // standard base64 in JSON
}

// objects is a set of Git objects whose ids were checked.
type objects map[string]GitObject

// add puts an object into the set, when it is what its id says.
func (o objects) add(x GitObject) error {
	if got := gitcmd.HashObject(x.Type, x.Body); got != x.ID {
		return fault.New(fault.Unverified, "read git object", "object %s has the bytes of %s", x.ID, got)
	}
	if _, twice := o[x.ID]; twice {
		return fault.New(fault.Unverified, "read git object", "object %s is in the docket twice", x.ID)
	}
	o[x.ID] = x
	return nil
}

func (o objects) get(kind, id string) ([]byte, error) {
	obj, ok := o[id]
	if !ok {
		return nil, fault.New(fault.Unverified, "read git object", "%s %s is not in the docket", kind, id)
	}
	if obj.Type != kind {
		return nil, fault.New(fault.Unverified, "read git object", "%s is a %s, not a %s", id, obj.Type, kind)
	}
	return obj.Body, nil
}

// commitObject is what a commit says.
type commitObject struct {
	Tree      string
	Parents   []string
	Author    string // "name <mail> seconds zone"
	Committer string // likewise
	Message   string
}

func parseCommit(body []byte) (commitObject, error) {
	var c commitObject
	head, message, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		return c, fault.New(fault.Unverified, "read commit", "the commit has no message")
	}
	c.Message = string(message)
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = value
		case "committer":
			c.Committer = value
		}
	}
	return c, nil
}

// treeEntry is one row of a tree.
type treeEntry struct {
	mode, name string
	id         string // 40 hex
}

func (e treeEntry) isTree() bool { return e.mode == "40000" }

func parseTree(body []byte) ([]treeEntry, error) {
	var out []treeEntry
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, split := strings.Cut(string(head), " ")
		if !ok || !split || len(rest) < idBytes {
			return nil, fault.New(fault.Unverified, "read tree", "the tree object is cut short")
		}
		out = append(out, treeEntry{mode, name, hex.EncodeToString(rest[:idBytes])})
		body = rest[idBytes:]
	}
	return out, nil
}

func encodeTree(entries []treeEntry) ([]byte, error) {
	// Git sorts a folder as if its name ended in a slash.
	sort.Slice(entries, func(i, j int) bool { return sortName(entries[i]) < sortName(entries[j]) })
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.id)
		if err != nil {
			return nil, fmt.Errorf("encode tree: %w", err)
		}
		fmt.Fprintf(&b, "%s %s\x00", e.mode, e.name)
		b.Write(id)
	}
	return b.Bytes(), nil
}

func sortName(e treeEntry) string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

// Change is a whole file that a patch writes or deletes.
type Change struct {
	Path    string
	Delete  bool
	Content []byte
}

// rewrite returns the id of the tree that comes of applying changes to the tree
// root. Every tree on the way to a changed path has to be among the objects; a
// file that is rewritten keeps its mode, a new one is a plain file. The trees
// that were needed are noted in used.
func (o objects) rewrite(root string, changes []Change, used map[string]bool) (string, error) {
	var entries []treeEntry
	if root != "" {
		body, err := o.get("tree", root)
		if err != nil {
			return "", err
		}
		if entries, err = parseTree(body); err != nil {
			return "", err
		}
		used[root] = true
	}
	below := map[string][]Change{}
	for _, c := range changes {
		dir, rest, nested := strings.Cut(c.Path, "/")
		if nested {
			below[dir] = append(below[dir], Change{rest, c.Delete, c.Content})
			continue
		}
		entries = setFile(entries, c)
	}
	dirs := make([]string, 0, len(below))
	for dir := range below {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		i := find(entries, dir)
		old := ""
		if i >= 0 && entries[i].isTree() {
			old = entries[i].id
		}
		id, err := o.rewrite(old, below[dir], used)
		if err != nil {
			return "", err
		}
		entries = set(entries, i, treeEntry{"40000", dir, id}, id == emptyTree)
	}
	body, err := encodeTree(entries)
	if err != nil {
		return "", err
	}
	return gitcmd.HashObject("tree", body), nil
}

// emptyTree is the id of a tree without entries, which Git never stores inside another.
var emptyTree = gitcmd.HashObject("tree", nil)

func setFile(entries []treeEntry, c Change) []treeEntry {
	i := find(entries, c.Path)
	mode := "100644"
	if i >= 0 && !entries[i].isTree() {
		mode = entries[i].mode
	}
	return set(entries, i, treeEntry{mode, c.Path, gitcmd.HashObject("blob", c.Content)}, c.Delete)
}

func set(entries []treeEntry, i int, e treeEntry, remove bool) []treeEntry {
	switch {
	case remove && i < 0:
		return entries
	case remove:
		return append(entries[:i:i], entries[i+1:]...)
	case i < 0:
		return append(entries, e)
	default:
		entries[i] = e
		return entries
	}
}

func find(entries []treeEntry, name string) int {
	for i, e := range entries {
		if e.name == name {
			return i
		}
	}
	return -1
}
