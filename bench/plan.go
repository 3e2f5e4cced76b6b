package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"writ/internal/order"
)

const (
	planEntries = 10_000
	planLimit   = 100 * time.Millisecond
)

// benchPlan resolves a draft whose harness lists many cases: plan, schema, rules
// and digest, and reading the resolved order back.
func benchPlan(context.Context, setup) ([]figure, error) {
	draft, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Project: "bench", Requester: order.Requester{Kind: order.Person, Name: "bench"},
		Suites:     []order.Suite{{Adapter: "google-benchmark", Suite: "suite", Filter: "."}},
		Quantities: []string{"wall-time"},
		Target:     order.Target{Kind: order.BuildTree, Path: "/build", Source: order.Source{URI: "https://example.org/suite.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(1)},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 1e6},
	})
	if err != nil {
		return nil, err
	}
	listing := make([]order.Case, planEntries)
	for i := range listing {
		listing[i] = order.Case{Name: "BM_case/" + strconv.Itoa(i) + "/size:" + strconv.Itoa(64<<(i%10)), From: "."}
	}
	var resolve, read times
	for range maxRounds {
		t := time.Now()
		o, err := order.Resolve(draft, listing)
		if err != nil {
			return nil, err
		}
		resolve = append(resolve, time.Since(t))
		t = time.Now()
		again, err := order.Parse(o.Raw())
		if err != nil {
			return nil, err
		}
		read = append(read, time.Since(t))
		if again.Digest() != o.Digest() || len(again.Plan) != planEntries {
			return nil, fmt.Errorf("%d entries came back", len(again.Plan))
		}
	}
	a, b := resolve.sorted().at(0.5), read.sorted().at(0.5)
	return []figure{
		limited(figure{
			What: fmt.Sprintf("plan: resolve %d entries", planEntries), Value: show(a), Beside: "limit " + planLimit.String(),
			Numbers: map[string]float64{"resolve_ms": millis(a), "limit_ms": millis(planLimit)},
		}, a.Seconds(), planLimit.Seconds()),
		{What: fmt.Sprintf("plan: read an order of %d entries", planEntries), Value: show(b), Numbers: map[string]float64{"read_ms": millis(b)}},
	}, nil
}
