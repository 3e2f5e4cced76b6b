package order

import (
	"maps"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
)

// BuildParams describe one order of a comparison: one side in one round. Fields
// of the order that are not named here stay absent.
type BuildParams struct {
	ID        string // work order id; "" derives one from run key, side and round
	RunKey    string // shared by all orders of the comparison, see RunKey
	Run       string // run id, or "" outside a lane
	Proposal  string // ref of the proposal, or ""
	Step      string // step of the task pack, or ""
	Side      string // "baseline", "contender", or another word that tells the sides apart
	Round     int    // from 0
	Seed      int64  // of the random slot order, the same for all orders of the comparison
	Schedule  string // Random when empty; the seed is recorded with Random only
	Requester Requester
	Reason    string
	Labels    map[string]string // further labels; run, proposal and step win

	Project              string
	Suites               []Suite
	Quantities           []string
	Target               Target
	Build                *BuildFacts // declared, or nil
	Precision            Precision
	Timeouts             Timeouts
	EnvironmentPolicy    *PolicyRef // nil for none
	EnvironmentVariables map[string]string
	WorkloadParameters   map[string]canon.Value
	Plan                 []Entry // empty gives a draft
}

// RunKey groups the orders of the n-th comparison that a step of a run makes;
// n counts from 1.
func RunKey(run, step string, n int) string { return run + "." + step + "." + strconv.Itoa(n) }

// Build makes one order of a comparison. Without a requester, the requester is
// the scheduler acting for the proposal. The order is checked as Parse checks it.
func Build(p BuildParams) (Order, error) {
	if p.ID == "" {
		if p.Side == "" {
			return Order{}, fault.New(fault.Usage, "build order", "neither an id nor a side to derive it from")
		}
		p.ID = "urn:writ:order:" + p.RunKey + ":" + Token(p.Side) + ":" + strconv.Itoa(p.Round)
	}
	if p.Requester == (Requester{}) {
		p.Requester = Requester{Scheduler, p.Proposal}
	}
	o := Order{
		SchemaVersion: SchemaVersion, ID: p.ID, State: Draft, Project: p.Project,
		Suites: p.Suites, Quantities: p.Quantities, Target: p.Target, Precision: p.Precision,
		Build: p.Build, Schedule: p.schedule(), Timeouts: p.Timeouts, EnvironmentPolicy: p.EnvironmentPolicy,
		EnvironmentVariables: p.EnvironmentVariables, WorkloadParameters: p.WorkloadParameters,
		RunKey: p.RunKey, Round: &p.Round, Labels: p.labels(), Requester: p.Requester, Reason: p.Reason,
		Plan: p.Plan,
	}
	if len(p.Plan) > 0 {
		o.State = Resolved
	}
	v, err := canon.From(o)
	if err != nil {
		return Order{}, err
	}
	return seal(v)
}

func (p BuildParams) schedule() *Schedule {
	if p.Schedule == "" || p.Schedule == Random {
		return &Schedule{Kind: Random, Seed: &p.Seed}
	}
	return &Schedule{Kind: p.Schedule}
}

func (p BuildParams) labels() map[string]string {
	out := maps.Clone(p.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for name, value := range map[string]string{"run": p.Run, "proposal": p.Proposal, "step": p.Step} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}
