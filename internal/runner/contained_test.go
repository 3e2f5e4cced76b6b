package runner

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/contain"
	"writ/internal/testkit"
)

var (
	_ Place = Local{}
	_ Place = (*contain.Environment)(nil)
	_ Place = (*contain.Observer)(nil)
)

// TestRunInContainment measures in an environment in which the program can
// neither change its checkout nor reach anything.
func TestRunInContainment(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	e, err := contain.New(t.Context(), contain.Params{Root: t.TempDir(), Remote: s.Dir})
	if fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Destroy(context.Background()) })
	tree, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	built, err := e.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(filepath.Join(s.Build, s.Binary))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, filepath.Join(built, s.Binary), binary)
	place, err := e.Observer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inside := harnesstest.Sample{Dir: tree, Build: built, Binary: s.Binary}
	p := paramsFor(t, build(t, goOrder(inside, "Sum|Input", func(p *order.BuildParams) { p.Quantities = []string{"wall-time"} })))
	p.Place = place
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	if len(rep.Results) != 2 || rep.Exit() != fault.ExitOK {
		t.Fatalf("%v", outcomes(rep.Results))
	}
	r := rep.Results[0]
	if r.Provenance.SubjectTree != s.Git(t, "rev-parse", "HEAD^{tree}") || r.Provenance.SubjectDirty != result.Clean {
		t.Errorf("tree %s is %s", r.Provenance.SubjectTree, r.Provenance.SubjectDirty)
	}
	kind, _ := r.Coordinates.Environment.System.At("/containment.kind/value")
	if text, _ := kind.String(); text != contain.Kind {
		t.Errorf("system: %s", r.Coordinates.Environment.System.Canonical())
	}
}
