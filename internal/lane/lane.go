// Package lane decides what happens to runs and lanes: who may ask whom for
// work, how deep that may go and for how long, whose word counts while a run is
// worked on, and which ending is the one that stands.
//
// Invariants: a run has one terminal event, the first; a write of an attempt
// that is no longer current is refused; autonomy never rises on the way down;
// the trail, on_behalf_of and requested_by are built here from stored facts;
// budgets are counted for the whole tree below one request and never refilled;
// what belongs together is one commit.
//
// Decisions are pure: facts and a draft go in, events and cell writes come out.
// Desk is the thin service around them: it loads the facts, commits, and decides
// again when another commit was faster. The package imports no database, no
// network and no clock, and never runs or sends anything.
package lane

import (
	"time"

	"writ/internal/ident"
	"writ/internal/ledger"
)

// Limits of routing and of waiting. Zero fields mean the default.
type Limits struct {
	Depth     int64         // lanes inside each other; deeper work becomes a step; default 3
	Runs      int64         // runs below one root request, ended ones included; default 64
	OpenLanes int64         // open lanes below one root request; default 16
	FanOut    int64         // runs that one run may ask for; default 8
	Attempts  int64         // times that a run is offered before it fails; default 3
	Pending   int           // questions that a run may have open; default 16
	Lease     time.Duration // how long an acceptance holds without a sign of life; default 60 s
	Grace     time.Duration // between asking a run to stop at its deadline and ending it; default 30 s
	Silence   time.Duration // that a run on lease may keep, lease renewals aside; default 2 h
	Queue     time.Duration // that a run may wait for a harness or an answer; default 7 days
	Pace      time.Duration // between progress reports within one step; default 1 s
}

func (l Limits) orDefault() Limits {
	def(&l.Depth, 3)
	def(&l.Runs, 64)
	def(&l.OpenLanes, 16)
	def(&l.FanOut, 8)
	def(&l.Attempts, 3)
	def(&l.Pending, 16)
	def(&l.Lease, time.Minute)
	def(&l.Grace, 30*time.Second)
	def(&l.Silence, 2*time.Hour)
	def(&l.Queue, 7*24*time.Hour)
	def(&l.Pace, time.Second)
	return l
}

func def[T ~int | ~int64](x *T, v T) {
	if *x == 0 {
		*x = v
	}
}

// DefaultAutonomy is the level of a root request that names none: act on what
// can be undone, ask for the rest.
const DefaultAutonomy = 1

// Minter makes fresh ids; ident.New is one.
type Minter func(ident.Prefix) string

// Decision is what one commit has to write, in order.
type Decision struct {
	Events  []ledger.NewEvent
	Cells   []ledger.CellWrite
	Primary int      // index of the event that answers the draft
	Run     RunState // the run decided on, as it will be; zero for a decision about a lane only
}

// RunCell is a run with the version that a decision is made on.
type RunCell struct {
	RunState
	Version int64 // 0: not stored yet
}

// LaneCell is a lane with the version that a decision is made on.
type LaneCell struct {
	LaneState
	Version int64
}

// Branch is an open lane below another, with its runs that have not ended.
type Branch struct {
	Lane LaneCell
	Runs []RunCell
}

// RunFacts is what a decision about a run needs to know.
type RunFacts struct {
	Workspace string
	Run       RunCell
	Lane      LaneCell
	Root      RunCell  // the first run of the tree; equal to Run when Run is that one
	Requested []byte   // stored body of the run's request; for a new attempt, a hand-off or a child
	Below     []Branch // open lanes below Lane; needed when the decision may close it
	NewID     Minter
	Limits    Limits
}
