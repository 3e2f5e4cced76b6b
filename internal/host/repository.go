package host

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// Repository is what a workspace lands on: one branch of one remote, and how its
// changes are measured. Everything that shapes a measurement is part of the
// profile that proposals name by digest.
type Repository struct {
	Alias    string              `json:"alias"`               // owner/name
	Remote   string              `json:"remote"`              // path or URL of the repository
	Base     string              `json:"base"`                // branch, such as main
	Rounds   int                 `json:"rounds,omitempty"`    // pairs of processes of a comparison; 0: as shipped
	SampleMS int                 `json:"sample_ms,omitempty"` // least time of one sample, milliseconds; 0: 20
	Domains  map[string][]string `json:"domains,omitempty"`   // group name to path prefixes that land independently
	Policy   *canon.Value        `json:"gate_policy,omitempty"`
}

const (
	defaultSampleMS = 20
	maxRounds       = 60
)

var (
	aliasRule  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	branchRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)
)

func (r Repository) check() error {
	bad := func(at, format string, args ...any) error {
		return fault.New(fault.Invalid, "configure repository", format, args...).At(at)
	}
	switch {
	case !aliasRule.MatchString(r.Alias):
		return bad("/alias", "%q is not owner/name", r.Alias)
	case r.Remote == "" || strings.HasPrefix(r.Remote, "-") || strings.Contains(r.Remote, "::"):
		return bad("/remote", "%q is neither a path nor a URL", r.Remote)
	case !branchRule.MatchString(r.Base) || strings.Contains(r.Base, "..") || strings.Contains(r.Base, "//") || strings.HasSuffix(r.Base, "/") || strings.HasSuffix(r.Base, ".lock"):
		return bad("/base", "%q is not a branch name", r.Base)
	case r.Rounds < 0 || r.Rounds > maxRounds:
		return bad("/rounds", "rounds is %d, not 0 to %d", r.Rounds, maxRounds)
	case r.SampleMS < 0 || r.SampleMS > 60_000:
		return bad("/sample_ms", "sample_ms is %d, not 0 to 60000", r.SampleMS)
	}
	for name, prefixes := range r.Domains {
		if name == "" || len(prefixes) == 0 {
			return bad("/domains", "a domain needs a name and at least one path prefix")
		}
	}
	_, err := r.policy()
	return below(err, "/gate_policy")
}

// below says of a refusal of one member where that member is.
func below(err error, at string) error {
	e, ok := fault.As(err)
	if !ok {
		return err
	}
	moved := *e
	moved.Pointer = at + e.Pointer
	moved.Fields = slices.Clone(e.Fields)
	for i := range moved.Fields {
		moved.Fields[i].Pointer = at + moved.Fields[i].Pointer
	}
	return &moved
}

// sample is the least time of one sample, in seconds.
func (r Repository) sample() float64 {
	if r.SampleMS == 0 {
		return defaultSampleMS / 1000.0
	}
	return float64(r.SampleMS) / 1000
}

// policy is the gate's policy: the repository's own or the shipped one.
func (r Repository) policy() (verdict.GatePolicy, error) {
	if r.Policy == nil {
		return verdict.DefaultPolicy(), nil
	}
	return verdict.ParsePolicy(r.Policy.Canonical())
}

// commands are the shipped command profiles with this repository's rounds.
func (r Repository) commands() []taskpack.CommandProfile {
	all := taskpack.Commands()
	for i := range all {
		if all[i].Rounds > 0 && r.Rounds > 0 {
			all[i].Rounds = r.Rounds
		}
	}
	return all
}

func (r Repository) profile() (taskpack.Profile, error) {
	return taskpack.GoChangeProfileWith(r.commands(), taskpack.ModuleSources())
}

// root is the name under which the binding knows the repository.
func (r Repository) root() string { return "repository:" + r.Alias }

// PutRepository configures the workspace's repository: the remote has to answer
// and to have the branch. A workspace lands on one repository; another one is
// another workspace.
func (h *Host) PutRepository(ctx context.Context, workspace, alias string, raw []byte) ([]byte, error) {
	const op = "configure repository"
	v, err := canon.Parse(raw)
	if err != nil {
		return nil, err
	}
	var r Repository
	if err := v.Decode(&r); err != nil {
		return nil, err
	}
	if r.Alias != "" && r.Alias != alias {
		return nil, fault.New(fault.Invalid, op, "the body names %s, the path %s", r.Alias, alias).At("/alias")
	}
	r.Alias = alias
	if err := r.check(); err != nil {
		return nil, err
	}
	if !strings.Contains(r.Remote, ":") {
		if r.Remote, err = filepath.Abs(r.Remote); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, op, "the path cannot be resolved").At("/remote")
		}
	}
	stored, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellRepository})
	if err != nil {
		return nil, err
	}
	var version int64
	for _, c := range stored {
		if c.Key != alias {
			return nil, fault.New(fault.Conflict, op, "the workspace lands on %s already", c.Key).Help("make another workspace for %s", alias)
		}
		version = c.Version
		if err := h.mayMove(ctx, workspace, c, r); err != nil {
			return nil, err
		}
	}
	if _, err := h.clone(ctx, workspace, r); err != nil {
		return nil, err
	}
	body, err := canon.Marshal(r)
	if err != nil {
		return nil, err
	}
	_, err = h.Store.Commit(ctx, ledger.Commit{Workspace: workspace, Now: h.Now(), Cells: []ledger.CellWrite{
		{Kind: ledger.CellRepository, Key: alias, Expect: version, State: "active", Value: body},
	}})
	if err == nil {
		h.Wake() // for some run it may be the end
	}
	return body, err
}

// mayMove refuses another remote or branch while runs are under way that are to
// land on this one. What else is configured holds for runs that are admitted from
// now on; a run whose plan it would change goes no further.
func (h *Host) mayMove(ctx context.Context, workspace string, stored ledger.Cell, r Repository) error {
	was, err := readRepository(stored)
	if err != nil || was.Remote == r.Remote && was.Base == r.Base {
		return err
	}
	for _, state := range []string{"due", "waiting"} {
		open, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellTask, State: state})
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return fault.New(fault.State, "configure repository", "run %s is to land on %s of %s", open[0].Key, was.Base, was.Remote).
				Help("wait until it has ended, or ask it to stop")
		}
	}
	return nil
}

// ListRepositories returns the stored configurations.
func (h *Host) ListRepositories(ctx context.Context, workspace string) ([][]byte, error) {
	cells, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellRepository})
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(cells))
	for i, c := range cells {
		out[i] = c.Value
	}
	return out, nil
}

// repository is the one that the workspace lands on.
func (h *Host) repository(ctx context.Context, workspace string) (Repository, error) {
	cells, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellRepository})
	if err != nil {
		return Repository{}, err
	}
	if len(cells) == 0 {
		return Repository{}, fault.New(fault.NotFound, "find repository", "the workspace has no repository").
			Help("an admin configures one with PUT /v1/repositories/OWNER/NAME")
	}
	return readRepository(cells[0])
}

func readRepository(c ledger.Cell) (Repository, error) {
	var r Repository
	v, err := canon.Parse(c.Value)
	if err == nil {
		err = v.Decode(&r)
	}
	if err != nil {
		return r, fault.Wrap(err, fault.Corrupt, "find repository", "the stored configuration of %s is damaged", c.Key)
	}
	return r, nil
}

// Target is what a proposal for this host has to name; empty strings while the
// workspace has no repository.
func (h *Host) Target(ctx context.Context, workspace string) (profileRef, profileDigest, bindingRef string) {
	repo, err := h.repository(ctx, workspace)
	if err != nil {
		return "", "", ""
	}
	p, err := repo.profile()
	if err != nil {
		return "", "", ""
	}
	return p.Ref, p.Digest(), taskpack.BindingRef(workspace)
}
