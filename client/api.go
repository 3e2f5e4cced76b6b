package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Me is who the server takes the caller for.
type Me struct {
	Kind        string   `json:"kind"`
	ID          string   `json:"id"`
	WorkspaceID string   `json:"workspace_id"`
	TokenID     string   `json:"token_id"`
	Scopes      []string `json:"scopes"`
}

// Host names the host and what a proposal for it has to target.
type Host struct {
	NodeID        string `json:"node_id"`
	Version       string `json:"version"`
	ProfileRef    string `json:"profile_ref"`
	ProfileDigest string `json:"profile_digest"`
	BindingRef    string `json:"binding_ref"`
}

// Participant is a person, a harness or an agent of the workspace.
type Participant struct {
	ID        string   `json:"participant_id,omitempty"`
	Kind      string   `json:"kind"` // person, harness or agent
	Name      string   `json:"name"`
	NodeID    string   `json:"node_id,omitempty"`
	HarnessID string   `json:"harness_id,omitempty"`
	Roles     []string `json:"roles,omitempty"` // of implementer, reviewer, chair, operator
}

// Token is a new token; its text is shown this once.
type Token struct {
	ID        string `json:"token_id"`
	Text      string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// DocRef names a stored document.
type DocRef struct {
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	SHA256   string `json:"sha256"`
	Seq      int64  `json:"seq,omitempty"`
	Replayed bool   `json:"replayed,omitempty"`
	EventID  string `json:"event_id,omitempty"`
	StoredAt string `json:"stored_at,omitempty"`
}

// Why says why something waits.
type Why struct {
	What    string `json:"what"`
	Since   string `json:"since"`
	Release string `json:"release"`
	Ref     string `json:"ref,omitempty"`
}

// Run is a run and where it stands.
type Run struct {
	RunID       string          `json:"run_id"`
	LaneID      string          `json:"lane_id"`
	SpaceID     string          `json:"space_id,omitempty"`
	Status      string          `json:"status"`
	Attempt     int64           `json:"attempt"`
	Goal        string          `json:"goal"`
	RequestedBy string          `json:"requested_by"`
	OnBehalfOf  string          `json:"on_behalf_of"`
	Step        string          `json:"step,omitempty"`
	Waiting     []Why           `json:"waiting_for"`
	Position    json.RawMessage `json:"position"` // null before a decision
	Ended       json.RawMessage `json:"ended"`    // null while the run goes on
	Documents   []DocRef        `json:"documents"`
}

// Over reports whether the run has ended.
func (r Run) Over() bool { return len(r.Ended) > 0 && string(r.Ended) != "null" }

// Request is a question that waits for a human.
type Request struct {
	Ref      string          `json:"request_ref"`
	RunID    string          `json:"run_id"`
	Document json.RawMessage `json:"document"`
}

// Me asks who the caller is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	var out Me
	err := c.get(ctx, "/v1/me", nil, &out)
	return out, err
}

// Host asks for the host.
func (c *Client) Host(ctx context.Context) (Host, error) {
	var out Host
	err := c.get(ctx, "/v1/host", nil, &out)
	return out, err
}

// Healthy returns nil when the server answers.
func (c *Client) Healthy(ctx context.Context) error { return c.get(ctx, "/healthz", nil, nil) }

// CreateParticipant adds a participant and returns it with its id.
func (c *Client) CreateParticipant(ctx context.Context, p Participant) (Participant, error) {
	var out Participant
	err := c.create(ctx, "/v1/participants", p, &out)
	return out, err
}

// Participants lists them.
func (c *Client) Participants(ctx context.Context) ([]Participant, error) {
	var out struct {
		Participants []Participant `json:"participants"`
	}
	err := c.get(ctx, "/v1/participants", nil, &out)
	return out.Participants, err
}

// CreateToken makes a token for a participant. ttlSeconds 0 lives until it is revoked.
func (c *Client) CreateToken(ctx context.Context, participantID string, scopes []string, ttlSeconds int64) (Token, error) {
	in := map[string]any{"participant_id": participantID, "scopes": scopes}
	if ttlSeconds > 0 {
		in["ttl_seconds"] = ttlSeconds
	}
	var out Token
	err := c.create(ctx, "/v1/tokens", in, &out)
	return out, err
}

// RevokeToken ends a token at once.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.json(ctx, call{method: http.MethodDelete, path: "/v1/tokens/" + url.PathEscape(id)}, nil)
}

// PutRepository configures the repository that the workspace lands on. config is
// the JSON configuration; the stored one comes back.
func (c *Client) PutRepository(ctx context.Context, owner, name string, config json.RawMessage) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.json(ctx, call{method: http.MethodPut, path: "/v1/repositories/" + url.PathEscape(owner) + "/" + url.PathEscape(name), body: of(config)}, &out)
	return out, err
}

// Repositories lists the stored configurations.
func (c *Client) Repositories(ctx context.Context) ([]json.RawMessage, error) {
	var out struct {
		Repositories []json.RawMessage `json:"repositories"`
	}
	err := c.get(ctx, "/v1/repositories", nil, &out)
	return out.Repositories, err
}

// Docket opens the docket of a run as one file. The caller closes the reader.
func (c *Client) Docket(ctx context.Context, run string) (io.ReadCloser, error) {
	return c.open(ctx, "/v1/runs/"+url.PathEscape(run)+"/docket")
}

// Run shows a run.
func (c *Client) Run(ctx context.Context, run string) (Run, error) {
	var out Run
	err := c.get(ctx, "/v1/runs/"+url.PathEscape(run), nil, &out)
	return out, err
}

// Runs lists runs, of one status when that is not "".
func (c *Client) Runs(ctx context.Context, status string) ([]Run, error) {
	q := url.Values{}
	if status != "" {
		q.Set("state", status)
	}
	var out struct {
		Runs []Run `json:"runs"`
	}
	err := c.get(ctx, "/v1/runs", q, &out)
	return out.Runs, err
}

// Lane shows a lane with its trail.
func (c *Client) Lane(ctx context.Context, lane string) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.get(ctx, "/v1/lanes/"+url.PathEscape(lane), nil, &out)
	return out, err
}

// Lanes lists lanes, open or closed ones when state says so.
func (c *Client) Lanes(ctx context.Context, state string) ([]json.RawMessage, error) {
	q := url.Values{}
	if state != "" {
		q.Set("state", state)
	}
	var out struct {
		Lanes []json.RawMessage `json:"lanes"`
	}
	err := c.get(ctx, "/v1/lanes", q, &out)
	return out.Lanes, err
}

// Documents lists the documents of a run, of the given kinds or all.
func (c *Client) Documents(ctx context.Context, run string, kinds ...string) ([]DocRef, error) {
	var out struct {
		Documents []DocRef `json:"documents"`
	}
	err := c.get(ctx, "/v1/runs/"+url.PathEscape(run)+"/documents", url.Values{"kind": kinds}, &out)
	return out.Documents, err
}

// Turn has the host build the turn document of a message.
func (c *Client) Turn(ctx context.Context, run, eventID string) (DocRef, error) {
	var out DocRef
	err := c.send(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/turns", map[string]string{"event_id": eventID}, &out)
	return out, err
}

// Manifest has the host fix the evidence for a review of a proposal.
func (c *Client) Manifest(ctx context.Context, run, proposalRef string) (DocRef, error) {
	var out DocRef
	err := c.send(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/manifests", map[string]string{"proposal_ref": proposalRef}, &out)
	return out, err
}

// Propose hands in a signed proposal, byte for byte.
func (c *Client) Propose(ctx context.Context, run string, signed []byte) (DocRef, error) {
	return c.handIn(ctx, run, "proposals", signed)
}

// Review hands in a signed review.
func (c *Client) Review(ctx context.Context, run string, signed []byte) (DocRef, error) {
	return c.handIn(ctx, run, "reviews", signed)
}

// Decide hands in a signed decision.
func (c *Client) Decide(ctx context.Context, run string, signed []byte) (DocRef, error) {
	return c.handIn(ctx, run, "decisions", signed)
}

// Answer hands in a signed human answer.
func (c *Client) Answer(ctx context.Context, run string, signed []byte) (DocRef, error) {
	return c.handIn(ctx, run, "answers", signed)
}

func (c *Client) handIn(ctx context.Context, run, what string, signed []byte) (DocRef, error) {
	var out DocRef
	err := c.json(ctx, call{method: http.MethodPost, path: "/v1/runs/" + url.PathEscape(run) + "/" + what, body: of(signed)}, &out)
	return out, err
}

// Inbox lists the questions that wait for a human.
func (c *Client) Inbox(ctx context.Context) ([]Request, error) {
	var out struct {
		Requests []Request `json:"requests"`
	}
	err := c.get(ctx, "/v1/inbox", nil, &out)
	return out.Requests, err
}

// Landing reads the rooted state of a branch with its observation.
func (c *Client) Landing(ctx context.Context, repository, base string) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.get(ctx, "/v1/landing", url.Values{"repository": {repository}, "base": {base}}, &out)
	return out, err
}

// CancelLanding settles a candidate that is not landing yet as cancelled.
func (c *Client) CancelLanding(ctx context.Context, repository, base, candidateID, reason string) error {
	return c.send(ctx, http.MethodPost, "/v1/landing/cancel", map[string]string{"repository": repository, "base": base, "candidate_id": candidateID, "reason": reason}, nil)
}

func format(n int64) string { return strconv.FormatInt(n, 10) }
