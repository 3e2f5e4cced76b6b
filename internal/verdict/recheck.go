package verdict

import (
	"bytes"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
)

// Claimed holds the documents of a comparison as somebody kept them. Gate may be
// nil.
type Claimed struct {
	Comparison, ResultSet, Verdict, Gate []byte
}

// Recheck judges the results again and compares every claimed document byte for
// byte. The parameters come from the documents themselves, so that a change of
// any of them, or of any result, shows: fault.Evidence names the document that
// does not follow from the results.
func Recheck(c Claimed, results []result.Result, p GatePolicy) error {
	params, err := claimedParams(c, results, p)
	if err != nil {
		return err
	}
	o, err := Judge(params)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		name          string
		claimed, made []byte
	}{
		{"result set", c.ResultSet, o.ResultSet.Canonical()},
		{"comparison", c.Comparison, o.Comparison.Canonical()},
		{"verdict", c.Verdict, o.Verdict.Canonical()},
	} {
		if !bytes.Equal(d.claimed, d.made) {
			return differs(d.name)
		}
	}
	if c.Gate == nil {
		return nil
	}
	answer, err := Gate(p, c.Verdict)
	if err != nil {
		return err
	}
	if !bytes.Equal(c.Gate, answer.Raw()) {
		return differs("gate answer")
	}
	return nil
}

func differs(name string) error {
	return fault.New(fault.Evidence, "recheck verdict", "the %s does not follow from the results", name)
}

// claimedParams reads the parameters of a judgement off its documents.
func claimedParams(c Claimed, results []result.Result, p GatePolicy) (Params, error) {
	compared, err := canon.Parse(c.Comparison)
	if err != nil {
		return Params{}, err
	}
	d, _, err := ParseVerdict(c.Verdict)
	if err != nil {
		return Params{}, err
	}
	sigma := map[pairKey]float64{}
	planned := make([]Pair, len(d.Rows))
	for i, r := range d.Rows {
		planned[i] = Pair{r.Workload, r.Parameters, r.Quantity}
		if r.Sigma != nil {
			sigma[planned[i].key()] = *r.Sigma
		}
	}
	return Params{
		Results: results, Policy: p, RunKey: d.RunKey, Profile: Profile(compared.Str("profile")),
		Varying: compared.Str("varying"), Baseline: compared.Str("baseline"), Contender: compared.Str("contender"),
		Planned: planned, Rounds: d.Rounds, Unpaired: d.Method.Name == TwoSampleName,
		Sigma: func(pair Pair) (float64, bool) { sd, ok := sigma[pair.key()]; return sd, ok },
	}, nil
}
