package taskpack

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"writ/internal/canon"
)

// The shipped patch policies.
const (
	PolicyModuleSources   = "patch-policy:module-sources"
	PolicyModuleManifests = "patch-policy:module-sources-and-manifests"
)

// PatchPolicy is a host-owned rule about which files a patch may touch. A file
// must be allowed by suffix, by folder or by name, and no segment of its path
// may be denied; a name that is allowed outright beats a denied name, but never
// a denied folder.
type PatchPolicy struct {
	Ref      string
	Roots    []string // refs of the roots that may be written
	Suffixes []string // of file names, such as ".go"
	Folders  []string // names of folders below which every file is allowed
	Names    []string // file names that are allowed outright
	Denied   []string // names of files and folders that are denied anywhere
}

// ModuleSources is the policy for source files of one Go module: Go, assembly
// and cgo sources, embedded documentation, and test data. It keeps out module
// and workspace files, vendored code, and everything hidden, so no patch
// reaches .git, hooks or CI configuration.
func ModuleSources() PatchPolicy {
	return PatchPolicy{
		Ref:      PolicyModuleSources,
		Roots:    []string{RootModule},
		Suffixes: []string{".go", ".s", ".c", ".h", ".md", ".tmpl", ".sql"},
		Folders:  []string{"testdata"},
		Denied:   []string{"go.mod", "go.sum", "go.work", "go.work.sum", "vendor"},
	}
}

// ModuleManifests is ModuleSources that also allows go.mod and go.sum.
func ModuleManifests() PatchPolicy {
	p := ModuleSources()
	p.Ref = PolicyModuleManifests
	p.Names = []string{"go.mod", "go.sum"}
	return p
}

// Value is the policy as a document.
func (p PatchPolicy) Value() canon.Value {
	return canon.MustFrom(map[string]any{
		"schema": "writ.patch-policy/v1", "policy/ref": p.Ref, "roots": p.Roots, "suffixes": p.Suffixes,
		"folders": p.Folders, "names": p.Names, "denied": p.Denied, "hidden": "denied",
	})
}

// Digest pins the policy.
func (p PatchPolicy) Digest() string { return digest(p.Value()) }

// Admit checks every file of a patch. It refuses with
// workbench/patch-outside-policy and the pointer of the first file that is out.
func (p PatchPolicy) Admit(patch Patch) error {
	if patch.Policy != p.Ref {
		return refuse(PatchOutside, "the patch is for %s, the policy is %s", patch.Policy, p.Ref).
			At(canon.PointerTo("", "patch-policy/ref"))
	}
	for i, f := range patch.Files {
		if why := p.outside(f); why != "" {
			return refuse(PatchOutside, "%s: %s", f.Path, why).
				At(canon.PointerTo(canon.PointerToIndex("/files", i), "path")).With("path", f.Path)
		}
	}
	return nil
}

// outside says why a file is out, or "". Names are compared in lower case, so
// that a file system that folds case is no way around the policy.
func (p PatchPolicy) outside(f File) string {
	if !slices.Contains(p.Roots, f.Root) {
		return "root " + f.Root + " is not writable"
	}
	segments := strings.Split(strings.ToLower(f.Path), "/")
	folders, name := segments[:len(segments)-1], segments[len(segments)-1]
	for _, s := range segments {
		if strings.HasPrefix(s, ".") {
			return "hidden files are out"
		}
		if strings.HasSuffix(s, ".") || strings.HasSuffix(s, " ") || strings.IndexFunc(s, odd) >= 0 {
			return "the name has characters that not every file system keeps"
		}
	}
	for _, s := range folders {
		if slices.Contains(p.Denied, s) {
			return s + " is out"
		}
	}
	if slices.Contains(p.Names, name) {
		return ""
	}
	if slices.Contains(p.Denied, name) {
		return name + " is out"
	}
	if slices.Contains(p.Suffixes, path.Ext(name)) || slices.ContainsFunc(folders, func(s string) bool { return slices.Contains(p.Folders, s) }) {
		return ""
	}
	return "not a source file"
}

// odd reports characters that a file name should not have: anything but
// letters, digits and a few marks. Invisible characters, which some file
// systems drop, are among the odd ones.
func odd(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.+=@,~()#[] ", r)
}
