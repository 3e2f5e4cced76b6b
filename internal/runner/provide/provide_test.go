package provide

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/runner/proc"
)

func TestSidecar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build, moved := filepath.Join(dir, "b"), filepath.Join(dir, "moved")
	if err := os.Mkdir(build, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Of(build); ok || err != nil {
		t.Errorf("no sidecar: %v %v", ok, err)
	}
	put(t, build, Sidecar, describing(build, `,"how_built":"make"`), 0o644)
	d, ok, err := Of(build)
	if how, _ := d.Target.HowBuilt.String(); err != nil || !ok || how != "make" {
		t.Errorf("%v %v %+v", ok, err, d)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(build, link); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Of(link); !ok || err != nil {
		t.Errorf("by another name: %v", err)
	}
	if err := os.Rename(build, moved); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ says, text string }{
		{"describes " + build, describing(build, "")},
		{"is no target description", `{"schema_version":"benchx/target-description/0.1.0"}`},
		{"describes a target of kind working_tree", strings.Replace(describing(moved, ""), `"build"`, `"working_tree"`, 1)},
		{"is no target description", "x"},
	} {
		put(t, moved, Sidecar, tc.text, 0o644)
		if _, _, err := Of(moved); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.says, err)
		}
	}
}

func TestFindingAProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(deep); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("none: %v", err)
	}
	put(t, dir, ProviderFile, `{"command":["./provide","x"]}`, 0o644)
	if p, err := Find(deep); err != nil || p.Dir != dir || len(p.Command) != 2 {
		t.Errorf("%+v %v", p, err)
	}
	nearer := filepath.Join(dir, "a")
	for text, want := range map[string]fault.Code{
		`{"command":[]}`: fault.Invalid, `{"command":"x"}`: fault.Invalid, `{"command":["x"],"shell":true}`: fault.Invalid, `[]`: fault.Invalid, `{"command":[" "]}`: fault.Invalid,
	} {
		put(t, nearer, ProviderFile, text, 0o644)
		if _, err := Find(deep); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	put(t, nearer, ProviderFile, `{"command":["x"]}`, 0o666)
	if _, err := Find(deep); fault.CodeOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "everybody can write") {
		t.Errorf("a file that anybody could have written: %v", err)
	}
	if os.Getuid() == 0 {
		path := put(t, nearer, ProviderFile, `{"command":["x"]}`, 0o644)
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(deep); fault.CodeOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "user 12345") {
			t.Errorf("somebody else's file: %v", err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]Name{
		"@plain": {Configuration: "plain", SourceRef: "WORKSPACE"}, "@plain=v1=x": {Configuration: "plain", SourceRef: "v1=x"}, "build/@x": {Build: "build/@x"},
	} {
		if got, err := ParseName(word); err != nil || got != want {
			t.Errorf("%s: %+v %v", word, got, err)
		}
	}
	for _, word := range []string{"", "@", "@=x", "@plain="} {
		if _, err := ParseName(word); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%q: %v", word, err)
		}
	}
}

const provider = `#!/bin/sh
read -r request
case $request in
*'"configuration":"broken"'*) echo no luck >&2; exit 7;;
*'"configuration":"silent"'*) sleep 3600;;
*'"configuration":"words"'*) echo hello;;
*'"configuration":"stray"'*) sleep 3600 & ;;
esac
echo "working on $1" >&2
printf '%s' "$request" >request.seen
cat answer.json
`

func TestAsking(t *testing.T) {
	t.Parallel()
	k, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	dir := t.TempDir()
	put(t, dir, "provide", provider, 0o755)
	put(t, dir, ProviderFile, `{"command":["./provide","it"]}`, 0o644)
	put(t, dir, "answer.json", describing("/b", `,"activation":"touch marker","labels":{"build":"plain"}`), 0o644)
	if err := os.Mkdir(filepath.Join(dir, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	a := Asker{Launcher: k, Operation: Preparing, Environ: []string{"PATH=" + os.Getenv("PATH")}, Progress: &shown}
	d, ok, err := Describe(t.Context(), "@stray=abc", a, filepath.Join(dir, "deep"))
	if err != nil || !ok || d.Labels["build"] != "plain" || *d.Target.Activation != "touch marker" {
		t.Fatalf("%+v %v", d, err)
	}
	if shown.String() != "working on it\n" {
		t.Errorf("shown %q", shown.String())
	}
	seen, err := os.ReadFile(filepath.Join(dir, "request.seen"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Parse(seen)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"configuration":"stray","operation":"prepare","schema_version":"benchx/target-provider-request/0.1.0","source_ref":"abc"}`
	if diff := cmp.Diff(want, string(v.Canonical())); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "marker")); err == nil {
		t.Error("a text of the description was run")
	}
	quiet := a
	quiet.Progress, quiet.Limit = nil, 300*time.Millisecond
	for word, says := range map[string]string{
		"@broken": "failed to prepare @broken: it ended with exit 7: no luck",
		"@silent": "failed to prepare @silent: it stopped at its time limit",
		"@words":  "the provider's answer for @words is no target description",
	} {
		if _, _, err := Describe(t.Context(), word, quiet, dir); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", word, err)
		}
	}
	put(t, dir, ProviderFile, `{"command":["./none"]}`, 0o644)
	if _, _, err := Describe(t.Context(), "@plain", a, dir); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), "no program ./none") {
		t.Errorf("no program: %v", err)
	}
	if _, _, err := Describe(t.Context(), "@plain", a, t.TempDir()); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("no provider: %v", err)
	}
	put(t, dir, ProviderFile, `{"command":["sleep","3600"]}`, 0o644)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Describe(ctx, "@plain", a, dir); err == nil {
		t.Error("a request that was called off was answered")
	}
}
