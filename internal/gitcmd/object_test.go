package gitcmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/gitcmd"
)

func TestObjectsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	r := bare(t)
	var ids []string
	var want []gitcmd.Object
	for _, raw := range [][]byte{nil, []byte("hello\n"), []byte("a\r\nb\r\n"), []byte("\x00\n\xff\n\n"), bytes.Repeat([]byte("x\n"), 1<<20)} {
		id, err := r.WriteBlob(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := gitcmd.HashObject("blob", raw); got != id {
			t.Errorf("computed id %s, git says %s", got, id)
		}
		ids = append(ids, id)
		want = append(want, gitcmd.Object{ID: id, Kind: "blob", Raw: bytes.Clone(append([]byte{}, raw...))})
	}
	got, err := r.ReadObjects(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i].ID != want[i].ID || got[i].Kind != "blob" || !bytes.Equal(got[i].Raw, want[i].Raw) {
			t.Errorf("object %d of %d bytes came back with %d", i, len(want[i].Raw), len(got[i].Raw))
		}
	}
	if none, err := r.ReadObjects(t.Context()); err != nil || none != nil {
		t.Errorf("no ids: %v, %v", none, err)
	}
	missing := strings.Repeat("1", 40)
	_, err = r.ReadObject(t.Context(), missing)
	wantCode(t, err, fault.NotFound)
	_, err = r.ReadObjects(t.Context(), ids[0], missing, ids[1])
	wantCode(t, err, fault.NotFound)
}

func TestDamagedObjectIsNotReturned(t *testing.T) {
	t.Parallel()
	r := bare(t)
	a, err := r.WriteBlob(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.WriteBlob(t.Context(), []byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	path := func(id string) string { return filepath.Join(r.Dir, "objects", id[:2], id[2:]) }
	raw, err := os.ReadFile(path(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path(a)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path(a), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := r.ReadObject(t.Context(), a); err == nil {
		t.Errorf("returned %q for %s", o.Raw, a)
	}
}

func TestCommitIsTheSameOnEveryMachine(t *testing.T) {
	t.Parallel()
	r := bare(t)
	empty, err := r.WriteTree(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if empty != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("empty tree %s", empty)
	}
	zone := time.FixedZone("", -3*3600-30*60)
	c := gitcmd.Commit{
		Tree:      empty,
		Author:    gitcmd.Person{Name: "Ann B. Jr.", Email: "ann@example.org", When: noon.Add(999 * time.Millisecond).In(zone)},
		Committer: gitcmd.Person{Name: "Änn", Email: "writ@example.org", When: noon},
		Message:   "subject\n\n# not a comment  \n\nbody",
	}
	want := "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"author Ann B. Jr. <ann@example.org> 1786536000 -0330\ncommitter Änn <writ@example.org> 1786536000 +0000\n" +
		"\nsubject\n\n# not a comment  \n\nbody\n"
	raw, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	id, err := r.CommitTree(t.Context(), c)
	if err != nil || id != gitcmd.HashObject("commit", raw) {
		t.Fatalf("id %s, %v", id, err)
	}
	o, err := r.ReadObject(t.Context(), id)
	if err != nil || o.Kind != "commit" || string(o.Raw) != want {
		t.Errorf("stored %q, %v", o.Raw, err)
	}
	if tree, err := r.TreeOf(t.Context(), id); err != nil || tree != empty {
		t.Errorf("tree of the commit %s, %v", tree, err)
	}
	c.Parents = []string{id, id}
	second, err := r.CommitTree(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.ResolveCommit(t.Context(), second+"^2"); err != nil || got != id {
		t.Errorf("second parent %s, %v", got, err)
	}
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	r := bare(t)
	tree, err := r.WriteTree(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	good := gitcmd.Commit{Tree: tree, Author: gitcmd.Person{Name: "Ann", Email: "a@b", When: noon}, Message: "m"}
	for name, c := range map[string]struct {
		change func(*gitcmd.Commit)
		want   fault.Code
	}{
		"no tree":        {func(c *gitcmd.Commit) { c.Tree = "" }, fault.Invalid},
		"missing tree":   {func(c *gitcmd.Commit) { c.Tree = strings.Repeat("1", 40) }, fault.NotFound},
		"missing parent": {func(c *gitcmd.Commit) { c.Parents = []string{strings.Repeat("1", 40)} }, fault.NotFound},
		"tree as parent": {func(c *gitcmd.Commit) { c.Parents = []string{tree} }, fault.NotFound},
		"branch parent":  {func(c *gitcmd.Commit) { c.Parents = []string{"main"} }, fault.Invalid},
		"no name":        {func(c *gitcmd.Commit) { c.Author.Name = "" }, fault.Invalid},
		"name of space":  {func(c *gitcmd.Commit) { c.Author.Name = " " }, fault.Invalid},
		"forged header":  {func(c *gitcmd.Commit) { c.Author.Name = "x\nparent y" }, fault.Invalid},
		"bracket":        {func(c *gitcmd.Commit) { c.Author.Email = "a@b>" }, fault.Invalid},
		"bad committer":  {func(c *gitcmd.Commit) { c.Committer = gitcmd.Person{Name: "x", Email: "<"} }, fault.Invalid},
		"before 1970":    {func(c *gitcmd.Commit) { c.Author.When = time.Unix(-1, 0) }, fault.Invalid},
		"nul in message": {func(c *gitcmd.Commit) { c.Message = "a\x00b" }, fault.Invalid},
		"not utf-8":      {func(c *gitcmd.Commit) { c.Message = "\xff" }, fault.Invalid},
	} {
		x := good
		c.change(&x)
		if _, err := r.CommitTree(t.Context(), x); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTreesAreWrittenWithoutAWorkTree(t *testing.T) {
	t.Parallel()
	r := bare(t)
	ctx := t.Context()
	first, err := r.WriteTree(ctx, "", []gitcmd.File{
		{Path: "a.txt", Content: []byte("hello\n")},
		{Path: "sub/b.py", Content: []byte("x=1\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	// A tree id that others computed for this one file.
	if id, err := r.WriteTree(ctx, "", []gitcmd.File{{Path: "bench.cpp", Content: []byte("// work = 100\n")}}); err != nil || id != "045f481beca8a3dc3cebbfae17a4e49d6366560a" {
		t.Errorf("tree %s, %v", id, err)
	}
	second, err := r.WriteTree(ctx, first, []gitcmd.File{
		{Path: "a.txt", Delete: true},
		{Path: "run.sh", Mode: gitcmd.ModeExecutable, Content: []byte("#!/bin/sh\n")},
		{Path: "ünï/q\"uote\tname", Content: []byte("crlf\r\n")},
		{Path: ".gitattributes", Content: []byte("* text=auto\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := r.LsTree(ctx, second)
	if err != nil {
		t.Fatal(err)
	}
	blob := func(s string) string { return gitcmd.HashObject("blob", []byte(s)) }
	want := []gitcmd.Entry{
		{Mode: "100644", Kind: "blob", ID: blob("* text=auto\n"), Path: ".gitattributes"},
		{Mode: "100755", Kind: "blob", ID: blob("#!/bin/sh\n"), Path: "run.sh"},
		{Mode: "100644", Kind: "blob", ID: blob("x=1\n"), Path: "sub/b.py"},
		{Mode: "100644", Kind: "blob", ID: blob("crlf\r\n"), Path: "ünï/q\"uote\tname"},
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if raw, err := r.ReadFile(ctx, second, "ünï/q\"uote\tname"); err != nil || string(raw) != "crlf\r\n" {
		t.Errorf("file %q, %v", raw, err)
	}
	for _, path := range []string{"a.txt", "sub", "SUB/b.py", "*", "sub/*"} {
		_, err := r.ReadFile(ctx, second, path)
		wantCode(t, err, fault.NotFound)
	}
	for _, path := range []string{"", ".", "..", "../x", "/x", "a/../b", "a//b", "./a", "a/", ".git/config", "x/.GIT/y", "a\x00b", "a\nb"} {
		_, err := r.WriteTree(ctx, first, []gitcmd.File{{Path: path}})
		wantCode(t, err, fault.OutsidePath)
		_, err = r.ReadFile(ctx, first, path)
		wantCode(t, err, fault.OutsidePath)
	}
	_, err = r.WriteTree(ctx, first, []gitcmd.File{{Path: "m", Mode: gitcmd.ModeSubmodule}})
	wantCode(t, err, fault.Invalid)
}

func TestWriteTreeLeavesNoScratch(t *testing.T) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	r := bare(t)
	if _, err := r.WriteTree(t.Context(), "", []gitcmd.File{{Path: "a", Content: []byte("a")}}); err != nil {
		t.Fatal(err)
	}
	_, err := r.WriteTree(t.Context(), strings.Repeat("1", 40), nil)
	wantCode(t, err, fault.Forge)
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
