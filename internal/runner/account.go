package runner

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// account is the bookkeeping of one order, in run.json beside its artifacts: what
// was planned and what has become of it. After a crash the gap between the two is
// what was lost.
type account struct {
	Schema    string                `json:"schema"`
	State     string                `json:"state"`
	Order     string                `json:"workorder_ref"`
	RunKey    string                `json:"run_key"`
	Slot      *int                  `json:"slot,omitempty"`
	Round     *int                  `json:"round,omitempty"`
	Sample    float64               `json:"calibrated_seconds,omitempty"`
	StartedAt string                `json:"started_at"`
	EndedAt   string                `json:"ended_at,omitempty"`
	Gaps      []gap                 `json:"gaps,omitempty"` // in which nothing ran
	Same      same                  `json:"same"`
	Planned   int                   `json:"planned"`
	Counts    map[result.Status]int `json:"counts"`
	Entries   []accountEntry        `json:"entries"` // those that have a result, in order

	path  string
	now   func() time.Time
	saved time.Time
	every int // results between two savings, at least
	dirty int // results since the last saving
}

const accountSchema = "writ.run-account/v1"

// States of a run. One that is running and locked by nobody has died.
const (
	stateRunning     = "running"
	stateFinished    = "finished"
	stateInterrupted = "interrupted"
)

// same is what must not change while a run is measured, and so when it is resumed.
type same struct {
	Boot        string   `json:"boot_id"`
	Environment string   `json:"environment_sha256"` // identity and system facts
	Subject     string   `json:"subject_sha256"`     // revision and content of subject and benchmarks
	Targets     []string `json:"targets"`            // digests of the programs
}

func newSame(r *run) same {
	boot, _ := r.Host.Condition(result.Before).Block[result.BootID].Value.String()
	e := r.environment
	out := same{
		Boot:        boot,
		Environment: canon.Plain(canon.MustFrom([]canon.Value{canon.StringOf(e.Schema), e.Identity, e.System})).Hex(),
	}
	subject := []any{r.identity.Revision, r.identity.Dirty, r.identity.Tree}
	for i, t := range r.targets {
		out.Targets = append(out.Targets, t.sha256)
		o := r.origins[i]
		subject = append(subject, o.benchmark, o.dirty, o.tree)
	}
	out.Subject = canon.Plain(canon.MustFrom(subject)).Hex()
	return out
}

// differs says what of an earlier run is not the same any more, "" for nothing.
func (s same) differs(earlier same) string {
	switch {
	case s.Boot == "" || s.Boot != earlier.Boot:
		return "the machine was started again"
	case s.Subject != earlier.Subject:
		return "the subject or its benchmarks have changed"
	case !slices.Equal(s.Targets, earlier.Targets):
		return "the programs were built anew"
	case s.Environment != earlier.Environment:
		return "the machine has other settings, or collectors say other things"
	}
	return ""
}

// saveEvery is how old the account on disk may be while short cases run: writing
// it anew for each would take longer than they do. Their results are on disk at
// once.
const saveEvery = time.Second

type accountEntry struct {
	ID       string        `json:"id"`
	Case     string        `json:"case"`
	Quantity string        `json:"quantity"`
	Status   result.Status `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	File     string        `json:"file"`
	SHA256   string        `json:"sha256"`
}

func newAccount(r *run) account {
	return account{
		Schema: accountSchema, State: stateRunning, Same: newSame(r), Order: r.order.Ref(), RunKey: r.order.RunKey,
		Slot: r.Slot, Round: r.order.Round, Sample: r.sample, StartedAt: stamp(r.Now()), Planned: len(r.order.Plan),
		Counts: map[result.Status]int{}, Entries: []accountEntry{},
		path:  filepath.Join(r.artifacts, "run.json"),
		now:   r.Now,
		every: 1 + len(r.order.Plan)/50, // the whole file is written anew each time
	}
}

func (a *account) add(e order.Entry, x result.Result, file string) {
	m := x.Measurement
	a.Entries = append(a.Entries, accountEntry{e.ID, e.Case, e.Quantity, m.Status, m.Reason, file, x.Digest().Hex()})
	a.Counts[m.Status]++
	a.dirty++
}

// save writes the account when enough has changed, or when it must.
func (a *account) save(must bool) error {
	now := a.now()
	if !must && (a.dirty < a.every || now.Sub(a.saved) < saveEvery) {
		return nil
	}
	a.dirty, a.saved = 0, now
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "write account", "it is no JSON")
	}
	return writeFile(a.path, append(b, '\n'))
}
