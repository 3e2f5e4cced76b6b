package ident_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"writ/internal/fault"
	"writ/internal/ident"
)

var prefixes = []ident.Prefix{
	ident.Event, ident.Workspace, ident.Space, ident.Run, ident.Harness, ident.Lane, ident.Agent, ident.Message,
	ident.Attachment, ident.Person, ident.Token, ident.Webhook, ident.Approval,
}

func TestNewIsOfItsPrefixOnly(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	for _, p := range prefixes {
		id := ident.New(p)
		if !form.MatchString(id) {
			t.Errorf("%s: form of %s", p, id)
		}
		for _, q := range prefixes {
			if ident.Is(q, id) != (p == q) {
				t.Errorf("Is(%s, %s)", q, id)
			}
		}
	}
}

func TestNewNeverRepeatsAcrossGoroutines(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 2000
	got := make([][]string, workers)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for range each {
				got[i] = append(got[i], ident.New(ident.Event))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(got...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != workers*each {
		t.Errorf("%d distinct ids of %d", n, workers*each)
	}
}

func TestIsRefusesEveryOtherForm(t *testing.T) {
	t.Parallel()
	const good = "run_01J2Z3Y4X5W6V7T8S9R0QPNMKH"
	if !ident.Is(ident.Run, good) || ident.Check(ident.Run, good) != nil {
		t.Fatal("a good id is refused")
	}
	for name, s := range map[string]string{
		"empty":          "",
		"prefix only":    "run_",
		"other prefix":   "evt_01J2Z3Y4X5W6V7T8S9R0QPNMKH",
		"no prefix":      good[4:],
		"upper prefix":   "RUN_" + good[4:],
		"lower case":     "run_" + strings.ToLower(good[4:]),
		"one lower":      good[:29] + "h",
		"short":          good[:29],
		"long":           good + "0",
		"overflow":       "run_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"letter I":       good[:29] + "I",
		"letter L":       good[:29] + "L",
		"letter O":       good[:29] + "O",
		"letter U":       good[:29] + "U",
		"hyphen":         good[:10] + "-" + good[11:],
		"line feed":      good[:29] + "\n",
		"trailing space": good + " ",
		"not ascii":      good[:28] + "é",
	} {
		if ident.Is(ident.Run, s) {
			t.Errorf("%s: accepted %q", name, s)
		}
		if err := ident.Check(ident.Run, s); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !ident.Is(ident.Run, "run_7ZZZZZZZZZZZZZZZZZZZZZZZZZ") {
		t.Error("the largest id is refused")
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		ident.New(ident.Event)
	}
}
