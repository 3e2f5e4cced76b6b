package history

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/result"
)

// set replaces the value at a pointer, or removes it for a null.
func set(v canon.Value, pointer string, x canon.Value) canon.Value {
	name, rest, deep := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if deep {
		inner, _ := v.Get(name)
		x = set(inner, rest, x)
	}
	return v.With(name, x)
}

// TestChangedResults: the same result with one thing changed, after the original
// was stored. Every mutation but the last has an ingest key of its own.
func TestChangedResults(t *testing.T) {
	t.Parallel()
	first := build(t, nil)
	payload, attempt := first.Digest(), result.AttemptPrint(&first)
	original := value(t, string(first.Raw()))
	for name, c := range map[string]struct {
		pointer, value string
		sameKey        bool
		want           Decision
	}{
		"unit":              {"/coordinates/quantity/unit", `"ms"`, false, Decision{Rejected, UnitConflict, `"ms"`, "/coordinates/quantity/unit"}},
		"workload name":     {"/coordinates/workload/name", `"BM/2048"`, false, Decision{Rejected, AttemptConflict, "41d3b2be28538f65:0", "/attempt_key"}},
		"revision":          {"/revision/key", `"def"`, false, Decision{Rejected, AttemptConflict, "", "/attempt_key"}},
		"component source":  {"/coordinates/subject/components", `[{"role":"primary","source":"https://example.org/other.git"}]`, false, Decision{Rejected, IdentityViolation, result.RuleSource, "/coordinates/subject/components/0/source"}},
		"series of a store": {"/provenance/info", `{"series_id":"7"}`, false, Decision{Rejected, IdentityViolation, "", "/provenance/info/series_id"}},
		"fingerprint":       {"/observed_context", `{"comparison_fingerprint":"7"}`, false, Decision{Rejected, IdentityViolation, "", "/observed_context/comparison_fingerprint"}},
		"observation":       {"/measurement/observations", `[1]`, true, Decision{Rejected, IdempotencyConflict, payload.Hex(), "/ingest_key"}},
		"no result":         {"/measurement", `{"status":"maybe"}`, false, Decision{Rejected, Malformed, "", "/measurement/status"}},
		"another quantity":  {"/coordinates/quantity/name", `"cpu-time"`, false, Decision{Answer: Accepted}},
		"nothing":           {"/revision/key", `"abc"`, true, Decision{Answer: Duplicate}},
	} {
		v := set(original, c.pointer, value(t, c.value))
		if !c.sameKey {
			v = set(v, "/ingest_key", canon.StringOf("another"))
		}
		r, got := Read(v.Canonical())
		if got.Answer == "" {
			k := Known{Attempt: &attempt}
			if c.sameKey {
				k.Payload = &payload
			}
			if r.Coordinates.Quantity.Name == "wall-time" {
				k.Unit = "s"
			}
			got = Decide(&r, k)
		}
		if got.Answer != c.want.Answer || got.Code != c.want.Code || !strings.Contains(got.Message, c.want.Message) || got.Pointer != c.want.Pointer {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got.Answer == Rejected && got.Message == "" {
			t.Errorf("%s: rejected without a reason", name)
		}
	}
}

func TestTextsThatAreNoResults(t *testing.T) {
	t.Parallel()
	r := build(t, nil)
	text := string(r.Raw())
	for name, c := range map[string]struct{ raw, message string }{
		"NaN":         {strings.Replace(text, "[0.001,0.003,0.002]", "[NaN]", 1), "byte"},
		"duplicate":   {`{"schema_version":5,` + text[1:], "comes twice"},
		"truncated":   {text[:len(text)/2], "byte"},
		"trailing":    {text + "{}", "byte"},
		"empty":       {"", ""},
		"no object":   {"[" + text + "]", "object"},
		"other thing": {`{"state":"finished"}`, ""},
	} {
		if c.raw == text {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, d := Read([]byte(c.raw)); d.Answer != Rejected || d.Code != Malformed || !strings.Contains(d.Message, c.message) || d.Message == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestThin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*result.Document)
		thin    bool
		project string
	}{
		"tracked":      {nil, false, "demo"},
		"no project":   {func(d *result.Document) { d.Project = "" }, true, "local/h"},
		"no benchmark": {func(d *result.Document) { d.Benchmark = nil }, true, "demo"},
		"host only": {func(d *result.Document) {
			d.Project, d.Coordinates.Environment.Identity = "", value(t, `{"hostname":"n"}`)
		}, true, "local/n"},
		"nowhere": {func(d *result.Document) {
			d.Project, d.Coordinates.Environment.Identity = "", value(t, `{"os":"x"}`)
		}, true, "local/unknown"},
	} {
		r := build(t, c.change)
		if Thin(&r) != c.thin || Project(&r) != c.project {
			t.Errorf("%s: thin %v in %s", name, Thin(&r), Project(&r))
		}
	}
}

// shelf is a store in memory, made from the decisions alone.
type shelf struct {
	payloads, attempts map[string]canon.Digest
	units              map[string]string
}

func (s *shelf) put(r *result.Result) Decision {
	if s.payloads == nil {
		s.payloads, s.attempts, s.units = map[string]canon.Digest{}, map[string]canon.Digest{}, map[string]string{}
	}
	key, unit := r.Producer.Name+"\x00"+r.IngestKey, Project(r)+"\x00"+r.Coordinates.Quantity.Name
	k := Known{Unit: s.units[unit]}
	if d, ok := s.payloads[key]; ok {
		k.Payload = &d
	}
	if d, ok := s.attempts[r.AttemptKey]; ok {
		k.Attempt = &d
	}
	d := Decide(r, k)
	if d.Answer == Accepted {
		s.payloads[key], s.attempts[r.AttemptKey], s.units[unit] = r.Digest(), result.AttemptPrint(r), r.Coordinates.Quantity.Unit
	}
	return d
}

// TestWhatAStoreHolds: whatever is brought in whatever order, a key has one payload,
// an attempt one execution, a quantity one unit; and what was taken once is a
// duplicate from then on.
func TestWhatAStoreHolds(t *testing.T) {
	t.Parallel()
	type kind struct{ key, attempt, workload, unit, project, value int }
	made := map[kind]result.Result{}
	rapid.Check(t, func(rt *rapid.T) {
		small := rapid.IntRange(0, 1)
		kinds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) kind {
			return kind{small.Draw(t, "key"), small.Draw(t, "attempt"), small.Draw(t, "workload"), small.Draw(t, "unit"), small.Draw(t, "project"), small.Draw(t, "value")}
		}), 1, 12).Draw(rt, "kinds")
		var s shelf
		var kept []result.Result
		for _, k := range kinds {
			r, ok := made[k]
			if !ok {
				r = build(t, func(d *result.Document) {
					d.IngestKey, d.AttemptKey = string(rune('a'+k.key)), string(rune('a'+k.attempt))
					d.Coordinates.Workload.Name = string(rune('a' + k.workload))
					d.Coordinates.Quantity.Unit = []string{"s", "ms"}[k.unit]
					d.Project, d.Measurement.Observations = string(rune('a'+k.project)), result.Values(float64(1+k.value))
				})
				made[k] = r
			}
			if s.put(&r).Answer == Accepted {
				kept = append(kept, r)
			}
		}
		for i, a := range kept {
			for _, b := range kept[:i] {
				switch {
				case a.IngestKey == b.IngestKey:
					rt.Fatalf("two results of %s were kept", a.IngestKey)
				case a.AttemptKey == b.AttemptKey && !result.SameAttempt(&a, &b):
					rt.Fatal("two executions of one attempt were kept")
				case a.Project == b.Project && a.Coordinates.Quantity.Unit != b.Coordinates.Quantity.Unit:
					rt.Fatal("two units of one quantity were kept")
				}
			}
			if d := s.put(&a); d.Answer != Duplicate {
				rt.Fatalf("brought again: %+v", d)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	r, err := result.New(document(f, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.Raw())
	f.Add([]byte(`{"schema_version":5,"measurement":{}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, d := Read(raw)
		switch d.Answer {
		case "":
			if d := Decide(&r, Known{}); d.Answer != Accepted {
				t.Errorf("an empty store answers %+v", d)
			}
			Values(&r)
		case Rejected:
			if d.Code == "" || d.Message == "" {
				t.Errorf("rejected without a reason: %+v", d)
			}
		default:
			t.Errorf("read as %s", d.Answer)
		}
	})
}
