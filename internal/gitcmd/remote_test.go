package gitcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/testkit"
)

const (
	mainRef  = "refs/heads/main"
	guardRef = "refs/writ/guard"
)

// pair is a bare remote with one commit on main, and a private clone of it.
func pair(t *testing.T) (remote, clone gitcmd.Repo, first string) {
	t.Helper()
	remote = bare(t)
	first = commit(t, remote, map[string]string{"f": "1\n"})
	setRef(t, remote, mainRef, "", first)
	clone, err := gitcmd.Clone(t.Context(), remote.Dir, filepath.Join(t.TempDir(), "clone.git"))
	if err != nil {
		t.Fatal(err)
	}
	return remote, clone, first
}

func refsOf(t *testing.T, r gitcmd.Repo) map[string]string {
	t.Helper()
	refs, err := r.ReadRefs(t.Context(), r.Dir, mainRef, guardRef)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func TestCloneIsPrivate(t *testing.T) {
	t.Parallel()
	remote, clone, first := pair(t)
	if id, err := clone.ResolveCommit(t.Context(), "refs/remotes/origin/main"); err != nil || id != first {
		t.Errorf("clone has %s, %v", id, err)
	}
	if _, err := os.Stat(filepath.Join(clone.Dir, "objects", "info", "alternates")); err == nil {
		t.Error("the clone borrows objects")
	}
	if err := os.RemoveAll(remote.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.ReadObject(t.Context(), first); err != nil {
		t.Errorf("without its remote: %v", err)
	}
}

func TestReadRefsAnswersForFullNamesOnly(t *testing.T) {
	t.Parallel()
	remote, _, first := pair(t)
	setRef(t, remote, "refs/heads/x/refs/heads/main", "", first)
	got, err := remote.ReadRefs(t.Context(), remote.Dir, mainRef, "refs/heads/none")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{mainRef: first}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPushMovesAllRefsOrNone(t *testing.T) {
	t.Parallel()
	remote, clone, first := pair(t)
	ctx := t.Context()
	second := commit(t, clone, map[string]string{"f": "2\n"}, first)
	g1, err := clone.WriteBlob(ctx, []byte("guard 1"))
	if err != nil {
		t.Fatal(err)
	}
	g2, err := clone.WriteBlob(ctx, []byte("guard 2"))
	if err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	writeHook(t, clone.Dir, "pre-push", ran)

	if err := clone.PushAtomic(ctx, remote.Dir, gitcmd.RefUpdate{Ref: guardRef, New: g1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{mainRef: first, guardRef: g1}, refsOf(t, remote)); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	for name, updates := range map[string][]gitcmd.RefUpdate{
		"guard moved":       {{Ref: mainRef, Old: first, New: second}, {Ref: guardRef, Old: second, New: g2}},
		"guard must be new": {{Ref: mainRef, Old: first, New: second}, {Ref: guardRef, New: g2}},
		"base moved":        {{Ref: mainRef, Old: second, New: second[:39] + "0"}, {Ref: guardRef, Old: g1, New: g2}},
		"guard deleted":     {{Ref: mainRef, Old: first, New: second}, {Ref: guardRef, Old: g2}},
	} {
		if name == "base moved" { // from a value that main does not have, to a real commit
			third := commit(t, clone, map[string]string{"f": "3\n"}, second)
			updates[0].New = third
		}
		err := clone.PushAtomic(ctx, remote.Dir, updates...)
		e := wantCode(t, err, fault.Conflict)
		if want := map[bool]string{true: mainRef, false: guardRef}[name == "base moved"]; e.Get("ref") != want {
			t.Errorf("%s: conflict about %s", name, e.Get("ref"))
		}
		if diff := cmp.Diff(map[string]string{mainRef: first, guardRef: g1}, refsOf(t, remote)); diff != "" {
			t.Fatalf("%s: something moved, -want +got\n%s", name, diff)
		}
	}
	good := []gitcmd.RefUpdate{{Ref: mainRef, Old: first, New: second}, {Ref: guardRef, Old: g1, New: g2}}
	for range 2 { // the second is the same push after a lost answer
		if err := clone.PushAtomic(ctx, remote.Dir, good...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{mainRef: second, guardRef: g2}, refsOf(t, remote)); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
	if err := clone.PushAtomic(ctx, remote.Dir, gitcmd.RefUpdate{Ref: guardRef, Old: g2}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{mainRef: second}, refsOf(t, remote)); diff != "" {
		t.Errorf("after the deletion, -want +got\n%s", diff)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}

// Many writers, each with its own commit and the same expectation: one wins,
// and the guard is the winner's.
func TestOneOfManyPushesWins(t *testing.T) {
	t.Parallel()
	remote, _, first := pair(t)
	const writers = 6
	var wg sync.WaitGroup
	won := make([]map[string]string, writers)
	errs := make([]error, writers)
	for i := range writers {
		clone, err := gitcmd.Clone(t.Context(), remote.Dir, filepath.Join(t.TempDir(), "c.git"))
		if err != nil {
			t.Fatal(err)
		}
		next := commit(t, clone, map[string]string{"f": strings.Repeat("x", i+1)}, first)
		guard, err := clone.WriteBlob(t.Context(), []byte(next))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			errs[i] = clone.PushAtomic(t.Context(), remote.Dir, gitcmd.RefUpdate{Ref: mainRef, Old: first, New: next}, gitcmd.RefUpdate{Ref: guardRef, New: guard})
			won[i] = map[string]string{mainRef: next, guardRef: guard}
		})
	}
	wg.Wait()
	held, winners := refsOf(t, remote), 0
	for i, err := range errs {
		if err == nil {
			winners++
			if diff := cmp.Diff(won[i], held); diff != "" {
				t.Errorf("the winner's refs, -want +got\n%s", diff)
			}
			continue
		}
		if code := fault.CodeOf(err); code != fault.Conflict && code != fault.Forge {
			t.Errorf("loser %d: %v", i, err)
		}
	}
	if winners != 1 {
		t.Errorf("%d pushes won: %v", winners, errs)
	}
}

func TestRemoteHookRefuses(t *testing.T) {
	t.Parallel()
	remote, clone, first := pair(t)
	next := commit(t, clone, map[string]string{"f": "2\n"}, first)
	dir := filepath.Join(remote.Dir, "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, filepath.Join(dir, "pre-receive"), []byte("#!/bin/sh\necho branch is frozen >&2\nexit 1\n"))
	err := clone.PushAtomic(t.Context(), remote.Dir, gitcmd.RefUpdate{Ref: mainRef, Old: first, New: next})
	e := wantCode(t, err, fault.Forge)
	if !strings.Contains(e.Public, "pre-receive hook declined") || !strings.Contains(err.Error(), "branch is frozen") {
		t.Errorf("the remote's reason is lost: %v", err)
	}
	if refsOf(t, remote)[mainRef] != first {
		t.Error("main moved")
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	remote, clone, first := pair(t)
	ctx := t.Context()
	next := commit(t, remote, map[string]string{"f": "2\n"}, first)
	setRef(t, remote, "refs/writ/source", "", next)
	if _, err := clone.ReadObject(ctx, next); err == nil {
		t.Fatal("the clone has the commit already")
	}
	if err := clone.Fetch(ctx, remote.Dir, "+refs/writ/source:refs/writ/in"); err != nil {
		t.Fatal(err)
	}
	if id, err := clone.Ref(ctx, "refs/writ/in"); err != nil || id != next {
		t.Errorf("fetched %s, %v", id, err)
	}
	wantCode(t, clone.Fetch(ctx, remote.Dir, "refs/heads/none:refs/heads/none"), fault.Forge)
	// The other direction of a conflict: a ref that is not a fast-forward and not forced.
	setRef(t, clone, "refs/heads/own", "", commit(t, clone, map[string]string{"z": "z"}))
	wantCode(t, clone.Fetch(ctx, remote.Dir, "refs/writ/source:refs/heads/own"), fault.Forge)
}
