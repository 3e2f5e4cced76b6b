package history

import "testing"

// BenchmarkRead reads a result and works out what it adds to history.
func BenchmarkRead(b *testing.B) {
	r := build(b, nil)
	raw := r.Raw()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r, d := Read(raw)
		if d.Answer != "" || len(Values(&r)) != 1 {
			b.Fatal(d)
		}
	}
}
