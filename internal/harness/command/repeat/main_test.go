package repeat

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample is a text with two repetitions.
func sample() Samples {
	return Samples{
		Wall: []float64{1000, 2000}, User: []float64{10, 20}, System: []float64{30, 40}, Peak: []float64{4096, 8192},
		Minor: []float64{1, 2}, Major: []float64{0, 0}, Voluntary: []float64{1, 1}, Involuntary: []float64{0, 3}, Instructions: []float64{},
		Clock: 50, Floor: 2048, Warmups: 1,
	}
}
