package taskpack

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

func write(path, content string) File {
	return File{Root: RootModule, Path: path, Op: OpWrite, Content: []byte(content)}
}

func TestParsePatch(t *testing.T) {
	t.Parallel()
	p := goPatch()
	again, err := ParsePatch(p.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
	if want := canon.ArtifactRef(canon.Sum(p.Value.Canonical())); p.Ref != want {
		t.Errorf("ref is %s, want %s", p.Ref, want)
	}
	for _, row := range []struct {
		name  string
		files []File
		code  fault.Code
	}{
		{"nothing", nil, fault.Invalid},
		{"up and out", []File{write("../x.go", "")}, fault.Invalid},
		{"out in the middle", []File{write("a/../../x.go", "")}, fault.Invalid},
		{"here", []File{write("./x.go", "")}, fault.Invalid},
		{"absolute", []File{write("/etc/passwd", "")}, fault.Invalid},
		{"empty segment", []File{write("a//x.go", "")}, fault.Invalid},
		{"folder", []File{write("a/", "")}, fault.Invalid},
		{"backslash", []File{write(`a\..\x.go`, "")}, fault.Invalid},
		{"line break", []File{write("a\nb.go", "")}, fault.Invalid},
		{"nul", []File{write("a\x00.go", "")}, fault.Invalid},
		{"no path", []File{write("", "")}, fault.Invalid},
		{"long path", []File{write(strings.Repeat("a", 510)+".go", "")}, fault.Invalid},
		{"one path twice", []File{write("a.go", "x"), write("a.go", "y")}, fault.Invalid},
		{"written and deleted", []File{write("a.go", "x"), {Root: RootModule, Path: "a.go", Op: OpDelete}}, fault.Invalid},
		{"only case differs", []File{write("a.go", "x"), write("A.go", "y")}, fault.Invalid},
		{"file and folder", []File{write("a.go", "x"), write("a.go/b.go", "y")}, fault.Invalid},
		{"unknown operation", []File{{Root: RootModule, Path: "a.go", Op: "chmod"}}, fault.Invalid},
		{"root that is a path", []File{{Root: "workspace-root:/etc", Path: "a.go", Op: OpDelete}}, fault.Invalid},
		{"too much in one file", []File{write("a.go", strings.Repeat("x", MaxPatchContent+1))}, fault.TooLarge},
		{"too much in two files", []File{write("a.go", strings.Repeat("x", MaxPatchContent)), write("b.go", "x")}, fault.TooLarge},
	} {
		if _, err := NewPatch(PolicyModuleSources, row.files...); fault.CodeOf(err) != row.code {
			t.Errorf("%s: got %v, want %s", row.name, err, row.code)
		}
	}
	full, err := NewPatch(PolicyModuleSources, write("a.go", strings.Repeat("x", MaxPatchContent)))
	if err != nil || len(full.Files[0].Content) != MaxPatchContent {
		t.Errorf("exactly one MiB: %v", err)
	}
	if _, err := NewPatch(PolicyModuleSources, write("a.go", "x"), File{Root: RootModule, Path: "a.go/b.go", Op: OpDelete}); err != nil {
		t.Errorf("a folder may become a file: %v", err)
	}
}

// TestPatchBase64 keeps one spelling per content.
func TestPatchBase64(t *testing.T) {
	t.Parallel()
	const form = `{"schema":"operator-task-patch.v1","schema/v":1,"patch-policy/ref":"patch-policy:module-sources","files":[{"root/ref":"workspace-root:module","path":"a.go","operation":"write","content/base64":%q}]}`
	for text, code := range map[string]fault.Code{
		"": "", "QQ==": "", "QUI=": "", "QUJD": "",
		"QR==": fault.Spelling, "QQ": fault.Spelling, "QQ=": fault.Spelling, "Q": fault.Spelling,
		"QQ==\n": fault.Invalid, "Q-_=": fault.Invalid,
	} {
		if _, err := ParsePatch(fmt.Appendf(nil, form, text)); fault.CodeOf(err) != code {
			t.Errorf("%q: got %v, want %q", text, err, code)
		}
	}
}

func TestPatchPolicy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		path      string
		sources   bool
		manifests bool
	}{
		{"main.go", true, true},
		{"internal/canon/encode_test.go", true, true},
		{"internal/x/asm_amd64.s", true, true},
		{"doc/readme.md", true, true},
		{"internal/x/testdata/golden.json", true, true},
		{"internal/x/testdata/fuzz/FuzzX/0123abcd", true, true},
		{"go.mod", false, true},
		{"sub/go.sum", false, true},
		{"GO.MOD", false, true},
		{"go.work", false, false},
		{"go.work.sum", false, false},
		{"vendor/modules.txt", false, false},
		{"vendor/x/x.go", false, false},
		{"Vendor/x/x.go", false, false},
		{"vendor/go.mod", false, false},
		{"internal/x/vendor/x.go", false, false},
		{".git/hooks/pre-commit", false, false},
		{".GIT/config", false, false},
		{".g\u200cit/x.go", false, false},
		{"a\u200b.go", false, false},
		{".github/workflows/ci.yml", false, false},
		{"sub/.hidden/x.go", false, false},
		{".x.go", false, false},
		{"testdata/.git/config", false, false},
		{"Makefile", false, false},
		{"run.sh", false, false},
		{"x.go ", false, false},
		{"x.", false, false},
		{"x.go:stream", false, false},
		{"a?.go", false, false},
		{"no-suffix", false, false},
	} {
		patch := Patch{Policy: PolicyModuleSources, Files: []File{write("ok.go", ""), {Root: RootModule, Path: row.path, Op: OpDelete}}}
		err := ModuleSources().Admit(patch)
		if (err == nil) != row.sources {
			t.Errorf("%q under sources: %v", row.path, err)
		}
		if err != nil {
			wantRefusal(t, err, PatchOutside)
			wantFault(t, err, fault.Plan, "/files/1/path")
		}
		patch.Policy = PolicyModuleManifests
		if err := ModuleManifests().Admit(patch); (err == nil) != row.manifests {
			t.Errorf("%q under manifests: %v", row.path, err)
		}
	}
	foreign := Patch{Policy: PolicyModuleSources, Files: []File{{Root: "workspace-root:home", Path: "a.go", Op: OpWrite}}}
	wantRefusal(t, ModuleSources().Admit(foreign), PatchOutside)
	if ModuleSources().Digest() == ModuleManifests().Digest() {
		t.Error("two policies have one digest")
	}
}

// FuzzParsePatch: what is accepted stays inside its roots, is within the limits
// and reads back as itself.
func FuzzParsePatch(f *testing.F) {
	f.Add(goPatch().Bytes)
	f.Add([]byte(`{"schema":"operator-task-patch.v1","schema/v":1,"patch-policy/ref":"patch-policy:x","files":[{"root/ref":"r:x","path":"..a/...","operation":"write","content/base64":"QQ=="}]}`))
	f.Add([]byte(`{"files":[{"path":"../x"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParsePatch(raw)
		if err != nil {
			if code := fault.CodeOf(err); !code.Known() || code == fault.Internal {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		total := 0
		for _, file := range p.Files {
			total += len(file.Content)
			if strings.HasPrefix(file.Path, "/") || strings.Contains("/"+file.Path+"/", "/../") || strings.ContainsAny(file.Path, "\\\x00\n") {
				t.Fatalf("path %q", file.Path)
			}
			if file.Op == OpDelete && file.Content != nil {
				t.Fatal("a deletion with content")
			}
		}
		if total > MaxPatchContent {
			t.Fatalf("%d bytes", total)
		}
		again, err := ParsePatch(p.Bytes)
		if err != nil || again.Ref != p.Ref {
			t.Fatalf("not stable: %v", err)
		}
		rebuilt, err := NewPatch(p.Policy, p.Files...)
		if err != nil || rebuilt.Ref != p.Ref {
			t.Fatalf("built again it is %s, was %s: %v", rebuilt.Ref, p.Ref, err)
		}
		_ = ModuleSources().Admit(p)
	})
}

// FuzzParseCandidate: what is accepted has one digest in every spelling and is
// built again from its steps.
func FuzzParseCandidate(f *testing.F) {
	f.Add(compileParams().Candidate.Bytes)
	f.Add([]byte(`{"schema":"operator-task-experiment-candidate.v1","schema/v":1,"steps":[{"step/id":"a","kind":"actuate","descriptor/ref":"d:x","operation":"invoke","method/name":"go"}]}`))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte("x"))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ParseCandidate(raw)
		if err != nil {
			if code := fault.CodeOf(err); !code.Known() || code == fault.Internal {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		again, err := NewCandidate(c.Steps...)
		if err != nil || again.Digest() != c.Digest() {
			t.Fatalf("built again it is %s, was %s: %v", again.Digest(), c.Digest(), err)
		}
	})
}
