package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"writ/internal/canon"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	if all, err := choose(""); err != nil || len(all) != len(parts) {
		t.Errorf("all: %d, %v", len(all), err)
	}
	some, err := choose("journal, serve")
	if err != nil || len(some) != 2 || some[0].name != "serve" {
		t.Errorf("two: %v, %v", some, err)
	}
	if _, err := choose("serve,nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a part that is not there: %v", err)
	}
}

// TestAppends runs the comparison of the journal small, without a server of its
// own: what is measured has to work, and to be an event of 1 KB.
func TestAppends(t *testing.T) {
	s := setup{dir: t.TempDir(), span: windows * 20 * time.Millisecond}
	body := eventBody(3, 7)
	if v, err := canon.Parse(body); err != nil || len(body) < 990 || len(body) > 1060 || v.Str("idempotency_key") == "" {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	const writers = 2
	ours, err := newInProcess(t.Context(), s, writers)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	peer, err := newSyncing(s, writers)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.close()
	r, err := compete(t.Context(), writers, s.span, contestant{"ours", ours.append}, contestant{"peer", peer.append})
	if err != nil {
		t.Fatal(err)
	}
	f := appends("x", r[0], r[1])
	if f.Numbers["ours_per_second"] <= 0 || f.Numbers["peer_per_second"] <= 0 || f.Ratio.Centre <= 0 || f.Ratio.Interval == nil {
		t.Errorf("%+v", f)
	}
}

func TestVerdictAlone(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := run(t.Context(), &b, setup{dir: t.TempDir()}, "verdict", false, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" cores ", "fsync p50", "of 30 rounds", "per pair"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &b)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 1234: "1.23µs", 123456: "123µs", 2345678: "2.35ms", 1500 * time.Millisecond: "1.5s",
	} {
		if got := show(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
