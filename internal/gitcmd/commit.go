package gitcmd

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"writ/internal/fault"
)

// Person is who wrote or committed, and when. Seconds and the zone's offset are
// what a commit keeps.
type Person struct {
	Name  string
	Email string
	When  time.Time
}

// Commit is all that a commit consists of.
type Commit struct {
	Tree      string
	Parents   []string
	Author    Person
	Committer Person // the author when its name is empty
	Message   string // a line feed is added when it does not end in one
}

// Bytes returns the commit object, without its header. The same Commit always
// gives the same bytes, and HashObject("commit", bytes) its id, on any machine.
func (c Commit) Bytes() ([]byte, error) {
	if err := checkIDs("build commit", append([]string{c.Tree}, c.Parents...)...); err != nil {
		return nil, err
	}
	if c.Committer.Name == "" {
		c.Committer = c.Author
	}
	var b bytes.Buffer
	b.WriteString("tree " + c.Tree + "\n")
	for _, p := range c.Parents {
		b.WriteString("parent " + p + "\n")
	}
	for _, x := range []struct {
		role string
		who  Person
	}{{"author", c.Author}, {"committer", c.Committer}} {
		if err := x.who.check(x.role); err != nil {
			return nil, err
		}
		b.WriteString(x.role + " " + x.who.Name + " <" + x.who.Email + "> " + x.who.stamp() + "\n")
	}
	if strings.ContainsRune(c.Message, 0) || !utf8.ValidString(c.Message) {
		return nil, fault.New(fault.Invalid, "build commit", "message is not plain UTF-8 text")
	}
	b.WriteString("\n" + c.Message)
	if !strings.HasSuffix(c.Message, "\n") {
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

func (p Person) stamp() string { return itoa(int(p.When.Unix())) + " " + p.When.Format("-0700") }

func (p Person) check(role string) error {
	for _, s := range []string{p.Name, p.Email} {
		if s == "" || strings.ContainsAny(s, "<>\n\x00") || !utf8.ValidString(s) || strings.TrimSpace(s) != s {
			return fault.New(fault.Invalid, "build commit", "%s %.100q is no name or address for a commit", role, s)
		}
	}
	if p.When.Unix() < 0 {
		return fault.New(fault.Invalid, "build commit", "%s date %s is before 1970", role, p.When)
	}
	return nil
}

// CommitTree stores the commit and returns its id. The tree and the parents
// must be there. No branch moves.
func (r Repo) CommitTree(ctx context.Context, c Commit) (string, error) {
	raw, err := c.Bytes()
	if err != nil {
		return "", err
	}
	if err := r.needObjects(ctx, "tree", c.Tree); err != nil {
		return "", err
	}
	if err := r.needObjects(ctx, "commit", c.Parents...); err != nil {
		return "", err
	}
	return r.writeObject(ctx, "commit", raw)
}

// needObjects checks that all ids are there and of the kind.
func (r Repo) needObjects(ctx context.Context, kind string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	a, err := r.run(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}, stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return err
	}
	lines := strings.Split(a.line(), "\n")
	for i, id := range ids {
		if i >= len(lines) || lines[i] != id+" "+kind {
			return fault.New(fault.NotFound, "build commit", "no %s %s", kind, id)
		}
	}
	return nil
}
