package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
)

// nativeLimit is how long the native command may take.
const nativeLimit = 30 * time.Minute

// movedError says that the base has moved so that the merge gives another tree
// than the candidate was submitted with.
type movedError struct{ base, tree string }

func (m *movedError) Error() string {
	return "the base moved to " + m.base + ": the merged tree is " + m.tree
}

// nativeRun is what came of a native command: its receipt when it succeeded, and
// what was measured for it in any case.
type nativeRun struct {
	receipt landing.RunReceipt
	docs    []ledger.NewDocument
}

// native runs the native command on the merged tree, in an environment of its
// own, while it keeps the lease alive.
func (j *job) native(ctx context.Context, c landing.Candidate, f landing.Fence) (n nativeRun, err error) {
	base, commit, tree, err := j.mergeCommit(ctx)
	if err != nil {
		return n, err
	}
	if root, err := landing.ClosureRoot(tree); err != nil || root != c.ClosureRoot {
		return n, errors.Join(err, &movedError{base, tree})
	}
	r := landing.RunReceipt{Binding: landing.ExecutionBinding{
		Repository: j.repo.Alias, ProtectedBase: j.repo.Base, SourceHead: c.SourceHead, QualifiedBase: base,
		NativeCommandRoot: c.Command.Root, ToolchainRoot: c.ToolchainRoot, EnvironmentRoot: c.EnvironmentRoot,
	}}
	r.HeartbeatCount, err = j.underLease(ctx, f, func(ctx context.Context) error {
		return j.merged(ctx, &n, &r, c.Command.Command, base, commit, tree)
	})
	if err != nil {
		return n, err
	}
	receipt, doc, err := landing.BuildRunReceipt(r)
	if err != nil {
		return n, err
	}
	n.receipt, n.docs = receipt, append(n.docs, document(ledger.KindRunReceipt, j.task.Run, doc))
	return n, nil
}

// merged runs the command on the merge commit and notes when it began and ended.
func (j *job) merged(ctx context.Context, n *nativeRun, r *landing.RunReceipt, command, base, commit, tree string) (err error) {
	env, err := j.openEnvironment(ctx, "", commit)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := env.close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
	}()
	var variables []string
	if n.docs, variables, err = j.gateInput(ctx, env, base, commit, tree); err != nil {
		return err
	}
	dir, err := j.tree(ctx, env, commit)
	if err != nil {
		return err
	}
	if err := loginPath(ctx, env, dir); err != nil {
		return err
	}
	j.progress(ctx, "landing", "qualifying the merged tree", -1)
	r.StartedAt = landing.At(j.Now())
	got, err := env.execute(ctx, []string{"bash", "-lc", command}, dir, nativeLimit, variables...)
	if err != nil {
		return err
	}
	r.CompletedAt = landing.At(j.Now())
	if !got.OK() {
		return nativeFailure(got)
	}
	return nil
}

// loginPath gives login shells inside the search path that other programs have:
// the host's profile would put its own in place.
func loginPath(ctx context.Context, env *environment, dir string) error {
	got, err := env.execute(ctx, []string{"bash", "-c", `printf 'export PATH=%q\n' "$PATH" > "$HOME/.bash_profile"`}, dir, time.Minute)
	if err == nil && !got.OK() {
		err = fault.New(fault.Harness, "prepare shell", "the profile cannot be written (%s)\n%s", endOf(got), got.output)
	}
	return err
}

// nativeFailure is the fault of a native command that did not succeed.
func nativeFailure(got outcome) error {
	code := fault.Harness
	switch got.Exit {
	case fault.ExitBlocked:
		code = fault.Blocked
	case fault.ExitHeld:
		code = fault.OnHold
	}
	return fault.New(code, "qualify", "the native command did not pass (%s)\n%s", endOf(got), lastLines(got.output, 20))
}

// mergeCommit makes the merge of the change into the base as the remote has it
// now, for trying out: what is landed later is made again.
func (j *job) mergeCommit(ctx context.Context) (base, commit, tree string, err error) {
	f, err := j.remote(ctx)
	if err != nil {
		return "", "", "", err
	}
	if base, tree, err = f.MergedTree(ctx, j.repo.Base, j.task.SourceHead); err != nil {
		return "", "", "", err
	}
	commit, err = f.Clone().CommitTree(ctx, gitcmd.Commit{
		Tree: tree, Parents: []string{base, j.task.SourceHead}, Message: "merge to qualify\n",
		Author: gitcmd.Person{Name: mergeName, Email: mergeEmail, When: j.proposal.From().UTC()},
	})
	return base, commit, tree, err
}

// underLease does work under a qualification lease: it renews the lease before
// the work, every so often during it and after it, and says how often. When the
// lease is lost the work is stopped.
func (j *job) underLease(ctx context.Context, f landing.Fence, work func(context.Context) error) (count int64, err error) {
	renew := func() error {
		_, err := j.transition(ctx, func(s landing.State) (landing.Transition, error) {
			return landing.HeartbeatQualification(s, landing.HeartbeatQualificationParams{Fence: f}, j.Now())
		}, nil)
		if err == nil {
			count++
		}
		return err
	}
	if err := renew(); err != nil {
		return count, err
	}
	inside, stop := context.WithCancel(ctx)
	defer stop()
	lost := make(chan error, 1)
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-inside.Done():
				lost <- nil
				return
			case <-tick.C:
				if err := renew(); err != nil {
					stop()
					lost <- err
					return
				}
			}
		}
	}()
	err = work(inside)
	stop()
	if lerr := <-lost; lerr != nil {
		return count, lerr
	}
	if err != nil {
		return count, err
	}
	return count, renew()
}

// gateInput puts what the gate reads into the environment: the results of the
// compare step when the merged tree is the one they were measured on, else those
// of a new comparison of the base with the merge.
func (j *job) gateInput(ctx context.Context, env *environment, base, commit, tree string) (docs []ledger.NewDocument, variables []string, err error) {
	dir, err := env.BuildDir()
	if err != nil {
		return nil, nil, err
	}
	var parts []ledger.Document
	if tree == j.task.SourceTree {
		if parts, err = j.measuredParts(ctx, "compare"); err != nil {
			return nil, nil, err
		}
	} else {
		j.progress(ctx, "landing", "the base has moved: measuring the merged tree", -1)
		m, err := j.measure(ctx, env, "landing", base, commit)
		if err != nil {
			return nil, nil, err
		}
		docs = m.docs
		for _, d := range docs {
			parts = append(parts, ledger.Document{Kind: d.Kind, Ref: d.Ref, Body: d.Body, SHA256: canon.Sum(d.Body)})
		}
	}
	results := filepath.Join(dir, "results")
	if err := writeResults(results, parts); err != nil {
		return nil, nil, err
	}
	policy, err := j.repo.policy()
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{"policy.json": policy.Raw()}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			return nil, nil, fault.Wrap(err, fault.Unavailable, "prepare gate", "%s cannot be written", name)
		}
	}
	self := filepath.Join(dir, "writ")
	if err := copyProgram(j.Self, self); err != nil {
		return nil, nil, err
	}
	return docs, []string{"WRIT=" + self, "WRIT_RESULTS=" + results, "WRIT_POLICY=" + filepath.Join(dir, "policy.json")}, nil
}

// measuredParts are the orders and results of a step.
func (j *job) measuredParts(ctx context.Context, step string) ([]ledger.Document, error) {
	docs, err := j.Store.Documents(ctx, j.workspace, ledger.DocumentFilter{
		RunID: j.task.Run, Kinds: []string{ledger.KindOrder, ledger.KindResult},
	})
	if err != nil {
		return nil, err
	}
	prefix := j.task.Run + "." + step + "."
	var out []ledger.Document
	for _, d := range docs {
		v, err := canon.Parse(d.Body)
		if err != nil {
			return nil, err
		}
		provenance, _ := v.Get("provenance")
		if key := v.Str("run_key") + provenance.Str("run_key"); strings.HasPrefix(key, prefix) {
			out = append(out, d)
		}
	}
	return out, nil
}

// writeResults writes the files that the gate command reads.
func writeResults(dir string, parts []ledger.Document) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(err, fault.Unavailable, "write results", "the folder cannot be made")
	}
	for _, d := range parts {
		name := ""
		switch d.Kind {
		case ledger.KindOrder:
			o, err := order.Parse(d.Body)
			if err != nil {
				return err
			}
			name = "workorder-" + strings.TrimPrefix(o.Ref(), "sha256:") + ".json"
		case ledger.KindResult:
			r, err := result.Parse(d.Body)
			if err != nil {
				return err
			}
			name = r.FileName()
		default:
			continue // the gate makes its own and needs none
		}
		if err := os.WriteFile(filepath.Join(dir, name), d.Body, 0o644); err != nil {
			return fault.Wrap(err, fault.Unavailable, "write results", "%s cannot be written", name)
		}
	}
	return nil
}

func copyProgram(from, to string) error {
	body, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, body, 0o755)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "prepare gate", "this program cannot be copied into the environment")
	}
	return nil
}

// sourceProofOf reads the source proof that a candidate names.
func (j *job) sourceProofOf(ctx context.Context, c landing.Candidate) (canon.Value, error) {
	docs, err := j.Store.Documents(ctx, j.workspace, ledger.DocumentFilter{RunID: j.task.Run, Kinds: []string{ledger.KindSourceProof}})
	if err != nil {
		return canon.Value{}, err
	}
	for _, d := range docs {
		v, err := canon.Parse(d.Body)
		if err != nil {
			return v, err
		}
		if v.Str("proofRoot") == c.SourceProofRoot {
			return v, nil
		}
	}
	return canon.Value{}, fault.New(fault.NotFound, "read source proof", "the proof %s is not stored", c.SourceProofRoot)
}

// tools are the tools whose versions the candidate names.
func (j *job) tools(ctx context.Context) []landing.Tool {
	tools := []landing.Tool{{Name: "writ", Version: j.Version}}
	if v, err := gitcmd.Version(ctx); err == nil {
		tools = append(tools, landing.Tool{Name: "git", Version: v})
	}
	if v, err := goVersion(ctx); err == nil {
		tools = append(tools, landing.Tool{Name: "go", Version: v})
	}
	return tools
}
