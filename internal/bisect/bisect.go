// Package bisect searches a line of commits, of which the first is good and the last
// is bad, for the one that made the difference.
//
// Invariants: what is found follows from the trials alone; a commit that does not
// build, or that the judge cannot tell, is neither good nor bad and stays inside the
// range; a commit is tried once; the search always ends.
//
// The package tries nothing itself, reads no repository and no file, and never takes
// not having seen a difference for there being none.
package bisect

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/verdict"
)

// Schema is the version of the document that a search is kept in.
const Schema = "writ.bisect/v1"

// Mark is what a trial says about a commit, compared with the good one.
type Mark string

// The marks.
const (
	Good    Mark = "good"    // shown: not slower beyond the threshold
	Bad     Mark = "bad"     // shown: slower beyond the threshold
	Unclear Mark = "unclear" // the judge cannot tell
	Broken  Mark = "broken"  // it does not build, or cannot be measured
)

func (m Mark) known() bool { return m == Good || m == Bad || m == Unclear || m == Broken }

// Of is the mark that a verdict leads to.
func Of(w verdict.Word) Mark {
	switch w {
	case verdict.Slower:
		return Bad
	case verdict.NoDifference, verdict.Faster, verdict.Identical:
		return Good
	}
	return Unclear
}

// Trial is what came of one commit.
type Trial struct {
	Commit string       `json:"commit"`
	Mark   Mark         `json:"mark"`
	Reason string       `json:"reason,omitempty"`  // for people: why it is not good or bad
	RunKey string       `json:"run_key,omitempty"` // of the comparison with the good commit
	Row    *verdict.Row `json:"row,omitempty"`
}

// Search is everything about a search: it goes on from here after whatever stopped
// it.
type Search struct {
	Schema   string      `json:"schema"`
	Settings canon.Value `json:"settings"` // everything that answers depend on; a search never changes it
	Commits  []string    `json:"commits"`  // good first, bad last, each the first parent of the next
	Seed     int64       `json:"seed"`
	Case     *Case       `json:"case,omitempty"`    // what is looked at; settled by the first trial
	Attempts int         `json:"attempts"`          // begun, also those that nothing came of
	Scratch  string      `json:"scratch,omitempty"` // folder of worktrees while the search runs
	Trials   []Trial     `json:"trials"`
}

// Case is the row that a search is about.
type Case struct {
	Workload   string                 `json:"workload"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity"`
}

// Has reports whether a row is about the case.
func (c Case) Has(r verdict.Row) bool {
	return c.Workload == r.Workload && c.Quantity == r.Quantity &&
		(len(c.Parameters) == 0 && len(r.Parameters) == 0 || canon.Equal(canon.MustFrom(c.Parameters), canon.MustFrom(r.Parameters)))
}

// New begins a search.
func New(settings canon.Value, commits []string, seed int64) (Search, error) {
	s := Search{Schema: Schema, Settings: settings, Commits: commits, Seed: seed, Trials: []Trial{}}
	return s, s.check()
}

// Parse reads a search. Anything that is none is fault.Malformed, fault.UnknownKind
// or fault.Invalid.
func Parse(raw []byte) (Search, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return Search{}, err
	}
	if s := v.Str("schema"); s != Schema {
		return Search{}, fault.New(fault.UnknownKind, "parse search", "schema is %q", s).At("/schema").Help("this build reads %s", Schema)
	}
	var s Search
	if err := v.Decode(&s); err != nil {
		return Search{}, err
	}
	return s, s.check()
}

// Raw returns the canonical bytes of the search.
func (s Search) Raw() []byte { return canon.MustFrom(s).Canonical() }

func (s Search) check() error {
	invalid := func(at, format string, args ...any) error {
		return fault.New(fault.Invalid, "check search", format, args...).At(at)
	}
	if len(s.Commits) < 2 {
		return invalid("/commits", "there is nothing between a good and a bad commit")
	}
	at := map[string]int{}
	for i, c := range s.Commits {
		if _, twice := at[c]; twice || c == "" {
			return invalid(canon.PointerToIndex("/commits", i), "every commit comes once")
		}
		at[c] = i
	}
	if s.Attempts < 0 || s.Attempts < s.measured() {
		return invalid("/attempts", "there are more trials than attempts")
	}
	tried := map[string]bool{}
	for i, t := range s.Trials {
		where := canon.PointerToIndex("/trials", i)
		place, known := at[t.Commit]
		switch {
		case !known || place == 0 || tried[t.Commit]:
			return invalid(where+"/commit", "every commit after the good one is tried once")
		case !t.Mark.known():
			return invalid(where+"/mark", "there is no mark %q", t.Mark)
		case i == 0 && place != len(s.Commits)-1:
			return invalid(where+"/commit", "the bad commit is tried first")
		}
		tried[t.Commit] = true
	}
	return nil
}

// measured counts the trials that a comparison was made for.
func (s Search) measured() (n int) {
	for _, t := range s.Trials {
		if t.RunKey != "" {
			n++
		}
	}
	return n
}
