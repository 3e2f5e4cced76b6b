package verdict

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"writ/internal/result"
)

// many returns the results of a comparison of many pairs, made from one parsed
// template per side and round: what Judge gets after parsing.
func many(b *testing.B, pairs, rounds int) Params {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]result.Result, 0, 2*pairs*rounds)
	for round := range rounds {
		for _, s := range []side{baseline, contender} {
			template, err := result.New(document(b, s, round, "W", "wall-time", 1))
			if err != nil {
				b.Fatal(err)
			}
			for i := range pairs {
				r := template
				r.Coordinates.Workload.Name = fmt.Sprintf("BenchmarkCase%05d", i)
				r.IngestKey = result.IngestKey(testRun, r.Coordinates.Workload, "wall-time", r.Procedure.Slot)
				r.AttemptKey = fmt.Sprintf("urn:benchx:attempt:%s%d:%d", s, round, i)
				r.Measurement.Observations = result.Values(1e-3 * exp(.02*rng.NormFloat64()))
				out = append(out, r)
			}
		}
	}
	return Params{Results: out, Policy: DefaultPolicy(), RunKey: testRun, Baseline: baseTree}
}

// BenchmarkJudge is the whole judgement of 10 000 pairs of 10 rounds, documents
// included.
func BenchmarkJudge(b *testing.B) {
	p := many(b, 10000, 10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Judge(p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/pair")
}

// BenchmarkStatistics is the arithmetic of one pair: estimate, three intervals
// and two shifted tests.
func BenchmarkStatistics(b *testing.B) {
	for _, n := range []int{10, 20, 30} {
		b.Run(fmt.Sprintf("rounds=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(2, uint64(n)))
			base, cont := make([]float64, n), make([]float64, n)
			for i := range base {
				base[i], cont[i] = 1e-3*exp(.02*rng.NormFloat64()), 1e-3*exp(.02*rng.NormFloat64())
			}
			sc := &scale{tables: newTables(), alpha: .05}
			b.ReportAllocs()
			for b.Loop() {
				sc.measure(base, cont, Ratio, "lower-is-better", Threshold{Relative: .02, Absolute: 5e-9})
			}
		})
	}
}

// BenchmarkGate answers a verdict of 10 000 rows.
func BenchmarkGate(b *testing.B) {
	o, err := Judge(many(b, 10000, 10))
	if err != nil {
		b.Fatal(err)
	}
	raw, p := o.Verdict.Canonical(), DefaultPolicy()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Gate(p, raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBenchstatTable tells 10 000 rows of 10 values a side, with and without
// ties.
func BenchmarkBenchstatTable(b *testing.B) {
	for _, ties := range []bool{false, true} {
		b.Run(fmt.Sprintf("ties=%v", ties), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(3, 3))
			table := BenchstatTable{Unit: "sec/op", Files: [2]string{"old", "new"}}
			for i := range 10000 {
				s := Samples{Name: fmt.Sprintf("Case%05d", i)}
				for range 10 {
					x, y := 1e-3*exp(.02*rng.NormFloat64()), 1e-3*exp(.02*rng.NormFloat64())
					if ties {
						x, y = digits(x, 2), digits(y, 2)
					}
					s.Base, s.New = append(s.Base, x), append(s.New, y)
				}
				table.Rows = append(table.Rows, s)
			}
			b.ReportAllocs()
			for b.Loop() {
				table.CSV()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/row")
		})
	}
}
