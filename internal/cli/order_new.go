package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/runner"
	"writ/internal/runner/provide"
)

// newOptions are the flags of `writ order new`.
type newOptions struct {
	orderOptions
	workloadOptions
	target, path, kind, sourceDir, sourceURI, artifact, revision string
	build                                                        bool

	round                              int
	labels                             []string
	policy, runKey, id, reason, forWho string
	resolve                            bool
}

func (a *app) orderNew() *cobra.Command {
	var o newOptions
	var asking bool
	c := &cobra.Command{
		Use:   "new",
		Short: "write a work order from flags, or by asking",
		Long: `Write a work order from flags; --ask asks for what they leave open, with the
answers on standard input. What is measured is a --target that the project
describes, a --path with programs or a work tree, or an --artifact. Precision comes
from the flags, then from .writ/config.json of this folder or above, then from the
adapter; what results is in the order, so that its hash covers what applied.

Exit status: 0 written; 2 the flags do not make an order; 4 the file is there
already; 6 nothing is there to be measured; 12 no case is selected.`,
		Example: "  writ order new --path bin --source-dir . --suite sum.test > draft.json\n" +
			"  writ order new --target @release --adapter google-benchmark --suite bench --min-time 0.1 --resolve --out order.json\n" +
			"  writ order new --path . --kind working_tree --adapter pyperf --suite bench.py --level process=7 --env OMP_NUM_THREADS=1\n" +
			"  writ order new --ask",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asking {
				if err := a.askOrder(c, &o); err != nil {
					return err
				}
			}
			return a.newOrder(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.target, "target", "", "target that is described: a build directory, @CONFIG or @CONFIG=SOURCE_REF; see writ target")
	f.BoolVar(&o.build, "prepare", false, "have the project prepare the target first, instead of describing it")
	f.StringVar(&o.path, "path", "", "directory of the programs, or the work tree")
	f.StringVar(&o.kind, "kind", order.BuildTree, "what --path is: build or working_tree")
	f.StringVar(&o.sourceDir, "source-dir", "", "checkout that was built, when it is not what --path says itself")
	f.StringVar(&o.sourceURI, "source-uri", "", "name of the repository (default: the checkout's origin, or where it is)")
	f.StringVar(&o.artifact, "artifact", "", "one program file, identified by its digest; needs --revision")
	f.StringVar(&o.revision, "revision", "", "revision that the artifact is of, taken on trust")
	o.workloadFlags(c)
	f.StringVar(&o.policy, "policy", "", "environment policy, as NAME@VERSION")
	f.StringVar(&o.runKey, "run-key", "", "what ties the orders of a comparison together (default: new-TIME)")
	f.IntVar(&o.round, "round", -1, "round of the comparison, from 0")
	f.StringArrayVar(&o.labels, "label", nil, "NAME=VALUE: label of every result; may be repeated")
	f.StringVar(&o.id, "id", "", "work order id, a URI or UUID (default: a fresh one)")
	f.StringVar(&o.forWho, "requester", "", "KIND:NAME, the kind being person, ci, workbench or scheduler (default: the person at work)")
	f.StringVar(&o.reason, "reason", "", "why this is measured")
	f.BoolVar(&o.resolve, "resolve", false, "fix the plan too, see writ order resolve")
	f.StringVarP(&o.out, "out", "o", "", "file for the order; it must not be there (default: standard output)")
	f.BoolVar(&asking, "ask", false, "ask for what the other flags leave open")
	o.flags(c)
	c.MarkFlagsMutuallyExclusive("target", "path", "artifact")
	return c
}

func (a *app) newOrder(ctx context.Context, o newOptions) error {
	ord, err := a.compose(ctx, o)
	if err != nil {
		return err
	}
	if !o.resolve {
		return a.writeOrder(ord, o.out)
	}
	p := runner.Params{Order: ord, Harnesses: harnesses(), AllowCollectors: o.collectors, Now: time.Now}
	if ord.EnvironmentPolicy != nil {
		if p.Policies, err = policies(o.policies); err != nil {
			return err
		}
	}
	return a.resolveOrder(ctx, p, o.out)
}

// compose makes the order, a draft.
func (a *app) compose(ctx context.Context, o newOptions) (order.Order, error) {
	now := time.Now().UTC()
	out := order.Order{
		ID: o.id, Project: o.project, RunKey: o.runKey, Reason: o.reason, Quantities: o.quantities,
		Timeouts: order.Timeouts{CaseS: o.caseLimit, OrderS: o.orderLimit},
	}
	if out.ID == "" {
		out.ID = "urn:uuid:" + uuid()
	}
	if out.RunKey == "" {
		out.RunKey = "new-" + now.Format("20060102T150405Z")
	}
	if o.round >= 0 {
		out.Round = &o.round
	}
	var err error
	if out.Requester, err = a.requester(o.forWho); err != nil {
		return out, err
	}
	if out.Labels, err = pairs("label", o.labels); err != nil {
		return out, err
	}
	if out.EnvironmentVariables, err = pairs("env", o.variables); err != nil {
		return out, err
	}
	if out.WorkloadParameters, err = values("parameter", o.parameters); err != nil {
		return out, err
	}
	if out.EnvironmentPolicy, err = policyRef("policy", o.policy); err != nil {
		return out, err
	}
	if err := a.aim(ctx, o, &out); err != nil {
		return out, err
	}
	if out.Suites, err = o.chosen(o.artifact); err != nil {
		return out, err
	}
	if out.Precision, err = o.precision(); err != nil {
		return out, err
	}
	return order.New(out)
}

// aim settles target, declared build and labels.
func (a *app) aim(ctx context.Context, o newOptions, out *order.Order) error {
	const op = "write order"
	switch {
	case o.target != "":
		operation := provide.Reporting
		if o.build {
			operation = provide.Preparing
		}
		d, ok, err := a.describe(ctx, o.target, operation, 0)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.NotFound, op, "%s has no description", o.target).Help("name it with --path, or write %s beside the build", provide.Sidecar)
		}
		out.Target, out.Build = d.Target, d.Build
		for name, value := range d.Labels {
			if out.Labels == nil {
				out.Labels = map[string]string{}
			}
			if _, given := out.Labels[name]; !given {
				out.Labels[name] = value
			}
		}
		return nil
	case o.artifact != "":
		return o.aimArtifact(out)
	case o.path == "":
		return fault.New(fault.Usage, op, "nothing says what is measured").Help("pass --path DIR, --target or --artifact")
	case o.kind != order.BuildTree && o.kind != order.WorkingTree:
		return fault.New(fault.Usage, op, "--kind %q is neither build nor working_tree", o.kind)
	}
	path, err := filepath.Abs(o.path)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	t := order.Target{Kind: o.kind, Path: path, Source: order.Source{URI: o.sourceURI}}
	if o.sourceDir != "" {
		if t.SourceDir, err = filepath.Abs(o.sourceDir); err != nil {
			return fault.Wrap(err, fault.Internal, op, "no working directory")
		}
	}
	if t.Source.URI == "" {
		dir := t.SourceDir
		if dir == "" {
			dir = path
		}
		t.Source = sourceOf(ctx, dir)
	}
	out.Target = t
	return nil
}

func (o newOptions) aimArtifact(out *order.Order) error {
	const op = "write order"
	if o.revision == "" || o.sourceURI == "" {
		return fault.New(fault.Usage, op, "an artifact does not say what it is of").Help("pass --revision and --source-uri")
	}
	file, err := filepath.Abs(o.artifact)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fault.Wrap(err, fault.NotFound, op, "cannot read %s", file)
	}
	out.Target = order.Target{
		Kind: order.Artifact, URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), SHA256: canon.Sum(raw).Hex(),
		Source: order.Source{URI: o.sourceURI}, Revision: o.revision,
	}
	return nil
}

// sourceOf names the repository of a directory: its origin, or where it is.
func sourceOf(ctx context.Context, dir string) order.Source {
	id, err := identify(ctx, dir)
	switch {
	case err == nil && strings.Contains(id.Origin, "://"):
		return order.Source{URI: id.Origin, Type: "git"}
	case err == nil && strings.Contains(id.Origin, ":") && !strings.HasPrefix(id.Origin, "/"): // host:path, as for ssh
		host, path, _ := strings.Cut(id.Origin, ":")
		return order.Source{URI: "ssh://" + host + "/" + strings.TrimPrefix(path, "/"), Type: "git"}
	case err == nil:
		return order.Source{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(id.Top)}).String(), Type: "git"}
	}
	return order.Source{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()}
}

// requester reads KIND:NAME.
func (a *app) requester(word string) (order.Requester, error) {
	if word == "" {
		name := a.getenv("USER")
		if name == "" {
			name = "somebody"
		}
		return order.Requester{Kind: order.Person, Name: name}, nil
	}
	kind, name, ok := strings.Cut(word, ":")
	if !ok || name == "" {
		return order.Requester{}, fault.New(fault.Usage, "write order", "--requester %q is no KIND:NAME", word)
	}
	return order.Requester{Kind: kind, Name: name}, nil
}

// uuid makes a random identifier in the usual spelling.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
