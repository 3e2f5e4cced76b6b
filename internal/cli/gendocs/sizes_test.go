package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"7":                             "7 bytes",
		"1 << 20":                       "1 MiB",
		"int64(64 << 10)":               "64 KiB",
		"3*(1<<10) + 1":                 "3073 bytes",
		"1<<(63-44) - 1":                "524287 bytes",
		"1 << 31":                       "2 GiB",
		"2 * time.Second / time.Second": "2 bytes",
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := evaluate(token.NewFileSet(), e)
		if got := inBytes(n); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "1.5", "1 << 80", `"a"`} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := evaluate(token.NewFileSet(), e); err == nil {
			t.Errorf("%s is taken for %d", text, n)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"7 * 24 * time.Hour": "7 d", "90 * time.Minute": "90 min", "3 * time.Hour": "3 h", "1500 * time.Millisecond": "1.5s",
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := evaluate(token.NewFileSet(), e)
		if got := span(n); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
}
