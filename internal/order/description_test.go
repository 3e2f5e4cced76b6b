package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

const described = `{"schema_version":"benchx/target-description/0.1.0","target":{"kind":"build","path":"/b","source":{"uri":"https://example.org/d.git"}EXTRA},` +
	`"labels":{"build":"plain"},"build":{"type":"Release"}MORE}`

func description(extra, more string) string {
	return strings.NewReplacer("EXTRA", extra, "MORE", more).Replace(described)
}

func TestDescription(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ extra, more, want string }{
		"nothing declared":  {"", "", `{}`},
		"empty spellings":   {`,"how_built":"","activation":null`, `,"shell":""`, `{}`},
		"white space":       {`,"activation":" \n"`, `,"how_built":"\t"`, `{}`},
		"in the target":     {`,"how_built":"make","shell":"bash"`, "", `{"how_built":"make","shell":"bash"}`},
		"beside the target": {"", `,"how_built":"make","activation":"source x","provider":{"name":"p"}`, `{"activation":"source x","how_built":"make","target_provider":{"name":"p"}}`},
		"in both places":    {`,"how_built":"old","shell":"sh"`, `,"how_built":"new"`, `{"how_built":"new","shell":"sh"}`},
		"facts":             {"", `,"how_built":{"type":"Release"}`, `{"how_built":{"type":"Release"}}`},
	} {
		d, err := ParseDescription([]byte(description(tc.extra, tc.more)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(canon.MustFrom(d.Target.Declared()).Canonical()); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if d.Labels["build"] != "plain" || d.Build.Type != "Release" || d.Target.Path != "/b" || d.Value().IsNull() {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for name, text := range map[string]string{
		"relative path":   strings.Replace(description("", ""), `"/b"`, `"b"`, 1),
		"relative source": description(`,"source_dir":"src"`, ""),
		"not a shell":     description("", `,"shell":"not a shell"`),
		"unknown member":  description("", `,"run_key":"x"`),
		"other version":   strings.Replace(description("", ""), "0.1.0", "0.2.0", 1),
		"long text":       description("", `,"how_built":"`+strings.Repeat("x", 8193)+`"`),
	} {
		if _, err := ParseDescription([]byte(text)); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseDescription([]byte("x")); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("no JSON: %v", err)
	}
}

// TestNewIsTheSameForAllSpellingsOfNothing: texts that say nothing do not change
// the order.
func TestNewIsTheSameForAllSpellingsOfNothing(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	base := parse(t, vector)
	var refs []string
	for _, change := range []func(*Target){
		func(*Target) {},
		func(t *Target) { t.HowBuilt, t.Activation, t.Shell = canon.StringOf(""), text(" "), text("") },
		func(t *Target) { t.HowBuilt = canon.StringOf(" \n") },
	} {
		o := base
		change(&o.Target)
		made, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, made.Ref())
	}
	if diff := cmp.Diff([]string{base.Ref(), base.Ref(), base.Ref()}, refs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	base.Plan = nil
	if o, err := New(base); err != nil || o.State != Draft {
		t.Errorf("without a plan: %s %v", o.State, err)
	}
	base.RunKey = "a b"
	if _, err := New(base); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a broken order: %v", err)
	}
}

func FuzzParseDescription(f *testing.F) {
	f.Add([]byte(description("", "")))
	f.Add([]byte(description(`,"how_built":{"a":1}`, `,"shell":"/bin/sh","activation":null`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := ParseDescription(raw)
		if err != nil {
			return
		}
		again, err := ParseDescription(d.Value().Canonical())
		if err != nil || !cmp.Equal(again.Target.Declared(), d.Target.Declared(), cmp.Comparer(canon.Equal)) {
			t.Errorf("the canonical form describes something else: %v", err)
		}
	})
}
