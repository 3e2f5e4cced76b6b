package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/keyring"
)

type initOptions struct {
	repo, base, alias, trust         string
	harness, author, reviewer, chair string
	rounds, sample                   int
	force                            bool
}

func (a *app) initCommand() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "set up a workspace: repository, participants, keys and tokens",
		Long: `Set up the workspace of a server for one repository: a harness to ask, an author,
a reviewer and a person who decides and approves. Each gets a key in your key
folder and a token that only its file shows, beside the keys; commands that sign
with --key NAME use NAME's token. The trust file pins the keys, for writ docket
verify --trust.

Needs the admin's token. Running it again changes nothing that is as it should be.`,
		Example: "  writ init --repo . --base main --alias acme/sample\n  writ init --repo /srv/git/sample.git --alias acme/sample --author solver --reviewer critic --operator ann",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.init(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.repo, "repo", "", "path or URL of the git repository that changes land on")
	f.StringVar(&o.base, "base", "main", "branch that changes land on")
	f.StringVar(&o.alias, "alias", "", "OWNER/NAME of the repository in documents")
	f.StringVar(&o.trust, "trust", "writ-trust.json", "trust file to write")
	f.StringVar(&o.harness, "harness", "writ", "name of the harness that is asked")
	f.StringVar(&o.author, "author", "author", "key and name of the agent that proposes")
	f.StringVar(&o.reviewer, "reviewer", "reviewer", "key and name of the agent that reviews")
	f.StringVar(&o.chair, "operator", "operator", "key and name of the person who decides and approves")
	f.IntVar(&o.rounds, "rounds", 0, "rounds of a comparison (default: as shipped)")
	f.IntVar(&o.sample, "sample-ms", 0, "least time of one sample in milliseconds (default: 20)")
	f.BoolVar(&o.force, "force", false, "replace a trust file that pins other keys")
	for _, name := range []string{"repo", "alias"} {
		_ = c.MarkFlagRequired(name) // the flags were defined above
	}
	return c
}

// member is one participant that init cares for.
type member struct {
	name  string
	kind  keyring.Kind // of a key that has to be made
	roles []string
}

// setUp is what `writ init --json` answers. Tokens are files, never values.
type setUp struct {
	Server       string               `json:"server"`
	Workspace    string               `json:"workspace_id"`
	Repository   json.RawMessage      `json:"repository"`
	Participants []client.Participant `json:"participants"`
	Tokens       map[string]string    `json:"token_files"` // by participant name
	Trust        string               `json:"trust_file"`
}

func (a *app) init(ctx context.Context, o initOptions) error {
	owner, name, ok := strings.Cut(o.alias, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return fault.New(fault.Usage, "set up", "--alias is OWNER/NAME, not %q", o.alias)
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return a.remote(err)
	}
	out := setUp{Server: a.address(), Workspace: me.WorkspaceID, Tokens: map[string]string{}, Trust: o.trust}
	if out.Repository, err = o.repository(ctx, c, owner, name); err != nil {
		return a.remote(err)
	}
	people := []member{
		{o.author, keyring.Agent, []string{"implementer"}},
		{o.reviewer, keyring.Agent, []string{"reviewer"}},
		{o.chair, keyring.Person, []string{"chair", "operator"}},
	}
	w := workspace{app: a, Client: c, out: &out}
	if w.there, err = c.Participants(ctx); err != nil {
		return a.remote(err)
	}
	if err := w.harness(ctx, o.harness); err != nil { // first: the author belongs to it
		return a.remote(err)
	}
	for _, m := range people {
		if err := w.member(ctx, m); err != nil {
			return a.remote(err)
		}
	}
	host, err := c.Host(ctx)
	if err != nil {
		return a.remote(err)
	}
	if err := writeTrust(o.trust, w.pins(host.NodeID), o.force); err != nil {
		return err
	}
	return a.emit(out, func(w io.Writer) { out.show(w) })
}

// repository configures the repository; a path is made absolute here, because it
// is meant from where the user stands.
func (o initOptions) repository(ctx context.Context, c *client.Client, owner, name string) (json.RawMessage, error) {
	config := map[string]any{"alias": o.alias, "remote": o.repo, "base": o.base}
	if u, err := url.Parse(o.repo); (err != nil || u.Scheme == "") && !strings.Contains(o.repo, ":") {
		abs, err := filepath.Abs(o.repo)
		if err != nil {
			return nil, fault.Wrap(err, fault.Usage, "set up", "%s is no path", o.repo)
		}
		config["remote"] = abs
	}
	if o.rounds > 0 {
		config["rounds"] = o.rounds
	}
	if o.sample > 0 {
		config["sample_ms"] = o.sample
	}
	raw, err := canon.Marshal(config)
	if err != nil {
		return nil, err
	}
	return c.PutRepository(ctx, owner, name, raw)
}

func (s setUp) show(w io.Writer) {
	table(w, [][]string{{"server", s.Server}, {"workspace", s.Workspace}, {"trust file", s.Trust}})
	fmt.Fprintln(w)
	rows := [][]string{{"NAME", "KIND", "ROLES", "TOKEN FILE", "ID"}}
	for _, p := range s.Participants {
		rows = append(rows, []string{p.Name, p.Kind, strings.Join(p.Roles, ","), s.Tokens[p.Name], p.ID})
	}
	table(w, rows)
	fmt.Fprintln(w, "\nnext: writ ask \"what you want\"")
}

// workspace is the set-up of a workspace under way.
type workspace struct {
	*app
	*client.Client
	there []client.Participant
	out   *setUp
}

func (w *workspace) harness(ctx context.Context, name string) error {
	for _, p := range w.there {
		if p.Name == name && p.Kind == "harness" {
			w.out.Participants = append(w.out.Participants, p)
			return nil
		}
	}
	p, err := w.CreateParticipant(ctx, client.Participant{Kind: "harness", Name: name})
	w.out.Participants = append(w.out.Participants, p)
	return err
}

// member finds or makes a key, its participant and its token.
func (w *workspace) member(ctx context.Context, m member) error {
	key, _, err := w.ring().Load(m.name)
	if fault.CodeOf(err) == fault.NotFound {
		key, err = w.ring().New(m.name, m.kind)
	}
	if err != nil {
		return err
	}
	p, err := w.participant(ctx, m, key)
	if err != nil {
		return err
	}
	w.out.Participants = append(w.out.Participants, p)
	w.out.Tokens[m.name] = w.tokenPath(m.name)
	return w.token(ctx, m, p)
}

func (w *workspace) participant(ctx context.Context, m member, key keyring.Entry) (client.Participant, error) {
	for _, p := range w.there {
		if p.NodeID != key.NodeID && (p.Name != m.name || p.Kind == "harness") {
			continue
		}
		if p.NodeID != key.NodeID {
			return p, fault.New(fault.Conflict, "set up", "%s signs with another key on this server than yours of that name", m.name).
				With("node_id", p.NodeID).Help("choose another name, or copy the key file")
		}
		for _, role := range m.roles {
			if !slices.Contains(p.Roles, role) {
				return p, fault.New(fault.Conflict, "set up", "%s is there without the role %s", m.name, role).Help("choose another name")
			}
		}
		return p, nil
	}
	p := client.Participant{Kind: string(key.Kind), Name: m.name, NodeID: key.NodeID, Roles: m.roles}
	if key.Kind == keyring.Agent && slices.Contains(m.roles, "implementer") {
		p.HarnessID = w.out.Participants[0].ID // runs of the harness are the author's
	}
	return w.CreateParticipant(ctx, p)
}

// token makes sure that the participant has a token that works.
func (w *workspace) token(ctx context.Context, m member, p client.Participant) error {
	path := w.tokenPath(m.name)
	if text, err := readTokenFile(path); err == nil {
		own := client.New(w.address(), text)
		defer own.Close()
		if me, err := own.Me(ctx); err == nil && me.ID == p.ID {
			return nil
		} else if code := client.Code(err); err != nil && code == "" {
			return err
		}
	}
	scopes := []string{"events:read", "events:write", "chain:write", "docket:read"}
	if p.Kind == "person" {
		scopes = append(scopes, "lanes:route", "approve", "landing:write")
	} else {
		scopes = append(scopes, "runs:work")
	}
	t, err := w.CreateToken(ctx, p.ID, scopes, 0)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fault.Wrap(err, fault.Usage, "keep token", "%s cannot be made", filepath.Dir(path))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.Usage, "keep token", "%s cannot be replaced", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, t.Text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fault.Wrap(err, fault.Usage, "keep token", "%s cannot be written", path)
	}
	return nil
}

// pins are the keys that the set-up makes trusted.
func (w *workspace) pins(host string) docket.Trust {
	t := docket.Trust{Schema: docket.TrustSchema, Hosts: []string{host}}
	for _, p := range w.out.Participants {
		for _, role := range p.Roles {
			switch role {
			case "implementer":
				t.Authors = append(t.Authors, p.NodeID)
			case "reviewer":
				t.Reviewers = append(t.Reviewers, p.NodeID)
			case "chair":
				t.Chairs = append(t.Chairs, p.NodeID)
			case "operator":
				t.Operators = append(t.Operators, p.NodeID)
			}
		}
	}
	return t
}

// writeTrust writes the pins. Pins that are there are not replaced unasked: they
// are what somebody else's verification rests on.
func writeTrust(path string, t docket.Trust, force bool) error {
	const op = "write trust file"
	v, err := canon.From(t)
	if err != nil {
		return err
	}
	if raw, err := os.ReadFile(path); err == nil {
		old, perr := canon.Parse(raw)
		switch {
		case perr == nil && canon.Equal(old, v):
			return nil
		case !force:
			return fault.New(fault.Conflict, op, "%s pins other keys", path).Help("pass another --trust, or --force to replace it")
		}
	}
	body, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(body, '\n'), 0o644); err != nil {
		return fault.Wrap(err, fault.Usage, op, "%s cannot be written", path)
	}
	return nil
}
