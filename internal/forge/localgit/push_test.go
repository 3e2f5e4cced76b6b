package localgit_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/gitcmd"
)

func TestMergeLandsWithItsFence(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	other := f.outside("c.go")
	m := f.build(g)
	if m.BaseHead != other || m.SourceHead != f.change || m.Fence.Generation != 1 {
		t.Errorf("merge %+v", m)
	}
	head, tree, err := g.MergedTree(t.Context(), base, f.change)
	if err != nil || head != other || tree != m.Tree {
		t.Errorf("merged tree %s on %s, %v", tree, head, err)
	}
	if err := g.Push(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := f.ref(branch); got != m.Commit {
		t.Errorf("main is at %s", got)
	}
	fence, err := g.ReadFence(t.Context(), base)
	if err != nil || fence.Generation != 2 || fence.MergeHead != m.Commit || fence.Object != f.ref(localgit.FenceRef(base)) {
		t.Errorf("fence %+v, %v", fence, err)
	}
	raw, err := f.remote.ReadObject(t.Context(), fence.Object)
	want := `{"generation":2,"mergeHead":"` + m.Commit + `","protectedBase":"main","repository":"acme/widgets","schema":"writ.git-landing-fence/v1"}`
	if err != nil || string(raw.Raw) != want {
		t.Errorf("fence document %s, %v", raw.Raw, err)
	}
	for path, want := range map[string]string{"b.go": "package a\n\nvar b = 2\n", "c.go": "package a // c.go\n"} {
		if got, err := f.remote.ReadFile(t.Context(), m.Commit, path); err != nil || string(got) != want {
			t.Errorf("landed %s: %q, %v", path, got, err)
		}
	}
	// The answer may be lost: the same push again is the same landing, also after others went on.
	for range 2 {
		if err := g.Push(t.Context(), m); err != nil {
			t.Errorf("the same push again: %v", err)
		}
		f.outside("d" + short(f.ref(branch)) + ".go")
	}
}

func TestMergeIsTheSameForTheSameParameters(t *testing.T) {
	t.Parallel()
	f := newField(t)
	a, b := f.build(f.forge()), f.build(f.forge())
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two installations built different merges, -first +second\n%s", diff)
	}
	raw, err := gitcmd.Commit{
		Tree: a.Tree, Parents: []string{f.first, f.change},
		Author: gitcmd.Person{Name: "Writ", Email: "writ@example.org", When: noon}, Message: "Merge change 1",
	}.Bytes()
	if err != nil || gitcmd.HashObject("commit", raw) != a.Commit {
		t.Errorf("commit %s is not the one of its parts: %v", a.Commit, err)
	}
}

// Everything up to the push happens in the clone: dying there leaves the remote
// as it was, and the attempt can be taken up again by a new process.
func TestCrashBetweenBuildAndPush(t *testing.T) {
	t.Parallel()
	f := newField(t)
	dir := filepath.Join(t.TempDir(), "clone.git")
	open := func() *localgit.Forge {
		return must(localgit.Open(t.Context(), localgit.Params{Remote: f.remote.Dir, Repository: alias, Dir: dir}))(t)
	}
	g := open()
	if err := g.Import(t.Context(), f.author, f.change); err != nil {
		t.Fatal(err)
	}
	if _, err := g.EnsureFence(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	before := f.refs()
	m := f.build(g)
	f.unchanged(before)
	if _, err := f.remote.ReadObject(t.Context(), m.Commit); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the remote has the merge already: %v", err)
	}
	// A new process, with nothing but the name of the merge.
	again := open()
	recalled, err := again.Recall(t.Context(), base, m.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, recalled); diff != "" {
		t.Errorf("recalled another merge, -want +got\n%s", diff)
	}
	if err := again.Push(t.Context(), recalled); err != nil {
		t.Fatal(err)
	}
	if f.ref(branch) != m.Commit {
		t.Error("the merge that was taken up again did not land")
	}
	_, err = again.Recall(t.Context(), base, f.change)
	wantCode(t, err, fault.NotFound)
	_, err = again.Recall(t.Context(), "other", m.Commit)
	wantCode(t, err, fault.NotFound)
}

func TestMovedBaseRefusesThePush(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	head := f.outside("c.go")
	before := f.refs()
	e := wantCode(t, g.Push(t.Context(), m), fault.BaseMoved)
	if e.Get("baseHead") != head {
		t.Errorf("facts %v", e.Data)
	}
	f.unchanged(before)
	// Built again on the new head, it lands under the same fence.
	next := f.build(g)
	if next.Fence != m.Fence || next.BaseHead != head {
		t.Errorf("second merge %+v", next)
	}
	if err := g.Push(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	before = f.refs()
	wantCode(t, g.Push(t.Context(), m), fault.Fenced)
	f.unchanged(before)
}

// The holder sleeps; somebody advances the fence and settles; the base is still
// where the holder saw it. Its push must move neither ref.
func TestStalledHolderNeverPushes(t *testing.T) {
	t.Parallel()
	f := newField(t)
	holder, settler := f.forge(), f.forge()
	m := f.build(holder)
	stands, err := settler.AdvanceFence(t.Context(), base, m.Fence)
	if err != nil || stands.Generation != 2 || stands.MergeHead != "" {
		t.Fatalf("fence %+v, %v", stands, err)
	}
	before := f.refs()
	if before[0] != f.first {
		t.Fatalf("main is at %s", before[0])
	}
	for range 2 {
		e := wantCode(t, holder.Push(t.Context(), m), fault.Fenced)
		if e.Get("found") != stands.Object {
			t.Errorf("facts %v", e.Data)
		}
		f.unchanged(before)
	}
	// Nor after more attempts came and went.
	for range 3 {
		if stands, err = settler.AdvanceFence(t.Context(), base, stands); err != nil {
			t.Fatal(err)
		}
	}
	if stands.Generation != 5 {
		t.Errorf("generation %d", stands.Generation)
	}
	before = f.refs()
	wantCode(t, holder.Push(t.Context(), m), fault.Fenced)
	f.unchanged(before)
	// A fresh attempt of the same holder lands: same parents, same tree, same commit.
	again := f.build(holder)
	if again.Commit != m.Commit || again.Fence != stands {
		t.Errorf("fresh attempt %+v", again)
	}
	wantCode(t, holder.Push(t.Context(), m), fault.Fenced)
	if err := holder.Push(t.Context(), again); err != nil {
		t.Fatal(err)
	}
}

func TestAdvanceFenceIsIdempotent(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g, h := f.forge(), f.forge()
	first, err := g.EnsureFence(t.Context(), base)
	if err != nil || first.Generation != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := h.EnsureFence(t.Context(), base); err != nil || again != first {
		t.Errorf("second ensure: %+v, %v", again, err)
	}
	var got []localgit.Fence
	for _, x := range []*localgit.Forge{g, h, g} {
		got = append(got, must(x.AdvanceFence(t.Context(), base, first))(t))
	}
	for _, x := range got {
		if x != got[0] || x.Generation != 2 {
			t.Errorf("fences %+v", got)
		}
	}
	if none, err := g.ReadFence(t.Context(), "other"); err != nil || none != (localgit.Fence{}) {
		t.Errorf("a branch without fence: %+v, %v", none, err)
	}
}

// Holder and settler run into each other: whoever is first, the two refs tell
// one story, and the loser's call changed nothing.
func TestPushAndAdvanceRace(t *testing.T) {
	t.Parallel()
	for range 4 {
		f := newField(t)
		holder, settler := f.forge(), f.forge()
		m := f.build(holder)
		var pushErr, advanceErr error
		var stands localgit.Fence
		var wg sync.WaitGroup
		wg.Go(func() { pushErr = holder.Push(t.Context(), m) })
		wg.Go(func() { stands, advanceErr = settler.AdvanceFence(t.Context(), base, m.Fence) })
		wg.Wait()
		if advanceErr != nil && fault.CodeOf(advanceErr) != fault.Forge { // both held the remote's lock
			t.Fatal(advanceErr)
		}
		now := must(settler.ReadFence(t.Context(), base))(t)
		landed := f.ref(branch) == m.Commit
		switch {
		case landed != (now.MergeHead == m.Commit):
			t.Fatalf("base landed %v beside fence %+v", landed, now)
		case landed && pushErr != nil, !landed && pushErr == nil:
			t.Fatalf("landed %v, but the push said %v", landed, pushErr)
		case advanceErr == nil && stands.Generation != 2:
			t.Fatalf("fence %+v", stands)
		}
	}
}

func TestConflictNamesThePaths(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	head := f.outside("b.go")
	before := f.refs()
	_, _, err := g.MergedTree(t.Context(), base, f.change)
	e := wantCode(t, err, fault.BaseMoved)
	if e.Get("conflict") != "b.go" || e.Get("baseHead") != head {
		t.Errorf("facts %v of %v", e.Data, e)
	}
	f.unchanged(before)
	_, err = g.BuildMerge(t.Context(), f.params())
	wantCode(t, err, fault.BaseMoved)
	if f.ref(branch) != head {
		t.Error("main moved")
	}
}

func TestChangeThatIsThereAlready(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	if err := g.Push(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	_, err := g.BuildMerge(t.Context(), f.params())
	wantCode(t, err, fault.State)
}

func TestFencesOfOthersAreRespected(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"other repository": `{"generation":1,"protectedBase":"main","repository":"acme/gadgets","schema":"writ.git-landing-fence/v1"}`,
		"other branch":     `{"generation":1,"protectedBase":"dev","repository":"acme/widgets","schema":"writ.git-landing-fence/v1"}`,
		"other schema":     `{"generation":1,"protectedBase":"main","repository":"acme/widgets","schema":"writ.git-landing-fence/v2"}`,
		"not canonical":    `{"schema":"writ.git-landing-fence/v1","generation":1,"protectedBase":"main","repository":"acme/widgets"}`,
		"generation zero":  `{"generation":0,"protectedBase":"main","repository":"acme/widgets","schema":"writ.git-landing-fence/v1"}`,
		"more members":     `{"generation":1,"protectedBase":"main","repository":"acme/widgets","schema":"writ.git-landing-fence/v1","x":1}`,
		"no json":          `hello`,
	} {
		f := newField(t)
		g := f.forge()
		id, err := f.remote.WriteBlob(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f.move(localgit.FenceRef(base), "", id)
		before := f.refs()
		_, err = g.ReadFence(t.Context(), base)
		if fault.CodeOf(err) != fault.Fenced {
			t.Errorf("%s: %v", name, err)
		}
		_, err = g.BuildMerge(t.Context(), f.params())
		if fault.CodeOf(err) != fault.Fenced {
			t.Errorf("%s: %v", name, err)
		}
		f.unchanged(before)
	}
	f := newField(t)
	f.move(localgit.FenceRef(base), "", f.first)
	_, err := f.forge().ReadFence(t.Context(), base)
	wantCode(t, err, fault.Fenced)
}

func TestOpenAndObserve(t *testing.T) {
	t.Parallel()
	f := newField(t)
	ctx := t.Context()
	g := f.forge()
	if head, err := g.Observe(ctx, base); err != nil || head != f.first {
		t.Errorf("head %s, %v", head, err)
	}
	next := f.outside("c.go")
	if head, err := g.Observe(ctx, base); err != nil || head != next {
		t.Errorf("head %s, %v", head, err)
	}
	if _, err := g.Clone().ReadObject(ctx, next); err != nil {
		t.Errorf("the observed commit is not in the clone: %v", err)
	}
	_, err := g.Observe(ctx, "none")
	wantCode(t, err, fault.NotFound)
	_, err = g.Observe(ctx, "../x")
	wantCode(t, err, fault.Invalid)
	wantCode(t, g.Import(ctx, f.author, "main"), fault.Invalid)
	wantCode(t, g.Push(ctx, localgit.Merge{Base: base, BaseHead: f.first, Commit: f.change}), fault.Fenced)

	_, err = localgit.Open(ctx, localgit.Params{Remote: f.remote.Dir, Repository: "widgets", Dir: filepath.Join(t.TempDir(), "x")})
	wantCode(t, err, fault.Invalid)
	dir := filepath.Join(t.TempDir(), "x")
	_, err = localgit.Open(ctx, localgit.Params{Remote: filepath.Join(t.TempDir(), "none"), Repository: alias, Dir: dir})
	wantCode(t, err, fault.Forge)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a clone is left: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}
