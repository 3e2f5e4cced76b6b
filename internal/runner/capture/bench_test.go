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
