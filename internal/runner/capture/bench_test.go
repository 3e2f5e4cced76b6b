package capture

import (
	"testing"

	"writ/internal/result"
)

func BenchmarkSystem(b *testing.B) {
	for b.Loop() {
		Host{}.System()
	}
}

func BenchmarkCondition(b *testing.B) {
	for b.Loop() {
		Host{}.Condition(result.Before)
	}
}

func BenchmarkKeptCondition(b *testing.B) {
	h, release := Host{}.Keep()
	defer release()
	for b.Loop() {
		h.Condition(result.Before)
	}
}
