package cli

import (
	"context"
	"slices"

	"writ/internal/canon"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/store/results"
	"writ/internal/verdict"
)

// earlier is what a store knows of the cases of a comparison from other runs.
type earlier struct {
	cases map[string]earlierCase // by nameOf
	order []string
}

// earlierCase is the series that a case belongs to.
type earlierCase struct {
	Workload   string                 `json:"workload"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity"`
	Series     string                 `json:"series"`
	Recent     []float64              `json:"recent"` // newest steps, in the order of measurement
	Noise      *noiseView             `json:"noise,omitempty"`
}

// looking returns what finds earlier runs of cases; nil without a store.
func (a *app) looking(ctx context.Context, store string) func([]result.Result) (earlier, error) {
	if store == "" {
		return nil
	}
	return func(found []result.Result) (e earlier, err error) {
		err = a.withStore(ctx, store, false, func(s *results.Store) error {
			e, err = lookUp(ctx, s, found)
			return err
		})
		return e, err
	}
}

// lookUp asks for the series of every case, and leaves out the runs that are judged.
func lookUp(ctx context.Context, s *results.Store, found []result.Result) (earlier, error) {
	e := earlier{cases: map[string]earlierCase{}}
	runs := map[string]bool{}
	for i := range found {
		runs[found[i].Provenance.RunKey] = true
	}
	var keys []string
	for k := range runs {
		keys = append(keys, k)
	}
	for i := range found {
		r := &found[i]
		w, quantity := r.Coordinates.Workload, r.Coordinates.Quantity.Name
		name := nameOf(verdict.Pair{Workload: w.Name, Parameters: w.Parameters, Quantity: quantity})
		if _, ok := e.cases[name]; ok {
			continue
		}
		print := result.SeriesPrint(history.Comparison(r), result.EstimatorPrint(history.MedianEstimator))
		points, err := s.Points(ctx, print)
		if err != nil {
			return e, err
		}
		c := earlierCase{Workload: w.Name, Parameters: w.Parameters, Quantity: quantity, Series: print.Hex(), Recent: []float64{}}
		for _, step := range history.Steps(slices.DeleteFunc(slices.Clone(points), func(p history.Point) bool { return runs[p.RunKey] })) {
			c.Recent = append(c.Recent, step.Value)
		}
		c.Recent = c.Recent[max(0, len(c.Recent)-sparkWidth):]
		if n, ok := history.NoiseOf(points, quantity, keys...); ok {
			c.Noise = &noiseView{n.SD, n.Rounds, n.Runs}
		}
		e.cases[name] = c
		e.order = append(e.order, name)
	}
	return e, nil
}

// sigma adds the noise of earlier runs to what is known already, which wins.
func (e earlier) sigma(known func(verdict.Pair) (float64, bool)) func(verdict.Pair) (float64, bool) {
	return func(p verdict.Pair) (float64, bool) {
		if known != nil {
			if sd, ok := known(p); ok {
				return sd, true
			}
		}
		c := e.cases[nameOf(p)]
		if c.Noise == nil {
			return 0, false
		}
		return c.Noise.SD, true
	}
}

// annotate draws earlier values beside the rows of a report.
func (e earlier) annotate(r verdict.Report) verdict.Report {
	if len(e.cases) == 0 {
		return r
	}
	r.Rows = slices.Clone(r.Rows)
	for i, row := range r.Rows {
		c := e.cases[nameOf(verdict.Pair{Workload: row.Workload, Parameters: row.Parameters, Quantity: row.Quantity})]
		r.Rows[i].History = history.Sparkline(c.Recent, sparkWidth)
	}
	return r
}

// view lists the cases for JSON.
func (e earlier) view() []earlierCase {
	var out []earlierCase
	for _, name := range e.order {
		out = append(out, e.cases[name])
	}
	return out
}
