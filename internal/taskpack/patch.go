package taskpack

import (
	"encoding/base64"
	"io/fs"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// MaxPatchContent is the most that the files of one patch may hold together
// once decoded, in bytes.
const MaxPatchContent = 1 << 20

// The operations on a file.
const (
	OpWrite  = "write"
	OpDelete = "delete"
)

// RootModule is the only root of the shipped policies: the folder of go.mod.
const RootModule = "workspace-root:module"

// File is one whole resulting file, or a deletion. There are no diffs.
type File struct {
	Root    string // ref
	Path    string // relative, with forward slashes
	Op      string // OpWrite or OpDelete
	Content []byte // nil for a deletion
}

// Patch is a set of files.
type Patch struct {
	Ref    string // artifact:sha256:…
	Policy string // ref
	Files  []File
	Value  canon.Value
	Bytes  []byte // canonical; what is stored
}

// ParsePatch reads a patch. Errors: TooLarge (the text, or MaxPatchContent),
// Malformed, Invalid, Spelling (base64), OutsidePath.
func ParsePatch(raw []byte) (Patch, error) {
	v, err := read(schema.TaskPatch, raw, MaxPatch)
	if err != nil {
		return Patch{}, err
	}
	p := Patch{Policy: v.Str("patch-policy/ref"), Value: v, Bytes: v.Canonical()}
	p.Ref = canon.ArtifactRef(canon.Sum(p.Bytes))
	total := 0
	for i, e := range member(v, "files").Elems() {
		at := canon.PointerToIndex("/files", i)
		f, err := fileOf(e, at)
		if err != nil {
			return Patch{}, err
		}
		if total += len(f.Content); total > MaxPatchContent {
			return Patch{}, fault.New(fault.TooLarge, "patch", "files hold more than %d bytes", MaxPatchContent).At(at)
		}
		if other, ok := p.collides(f); ok {
			return Patch{}, invalid("patch", canon.PointerTo(at, "path"), "%q and %q cannot both be", f.Path, other)
		}
		p.Files = append(p.Files, f)
	}
	return p, nil
}

func fileOf(v canon.Value, at string) (File, error) {
	f := File{Root: v.Str("root/ref"), Path: v.Str("path"), Op: v.Str("operation")}
	if !fs.ValidPath(f.Path) || f.Path == "." {
		return File{}, fault.New(fault.OutsidePath, "patch", "%q is not a plain relative path", f.Path).At(canon.PointerTo(at, "path"))
	}
	if f.Op != OpWrite {
		return f, nil
	}
	text := v.Str("content/base64")
	content, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(content) != text {
		return File{}, fault.New(fault.Spelling, "patch", "content is not canonical base64").At(canon.PointerTo(at, "content/base64"))
	}
	f.Content = content
	return f, nil
}

// collides returns a path of p that cannot be there together with f: the same
// one, also when only upper and lower case differ, or a file where the other
// needs a folder.
func (p Patch) collides(f File) (string, bool) {
	for _, o := range p.Files {
		if o.Root != f.Root {
			continue
		}
		a, b := strings.ToLower(o.Path), strings.ToLower(f.Path)
		if a == b || o.Op == OpWrite && f.Op == OpWrite && (strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")) {
			return o.Path, true
		}
	}
	return "", false
}

// NewPatch builds a patch out of whole files.
func NewPatch(policy string, files ...File) (Patch, error) {
	list := make([]map[string]any, 0, len(files))
	for _, f := range files {
		t := map[string]any{"root/ref": f.Root, "path": f.Path, "operation": f.Op}
		if f.Op == OpWrite {
			t["content/base64"] = base64.StdEncoding.EncodeToString(f.Content)
		}
		list = append(list, t)
	}
	raw, err := canon.Marshal(map[string]any{
		"schema": "operator-task-patch.v1", "schema/v": 1, "patch-policy/ref": policy, "files": list,
	})
	if err != nil {
		return Patch{}, err
	}
	return ParsePatch(raw)
}

// targets lists what a patch would do, for a person: names, digests and sizes.
func (p Patch) targets() []map[string]any {
	list := make([]map[string]any, 0, len(p.Files))
	for _, f := range p.Files {
		t := map[string]any{"root/ref": f.Root, "path": f.Path, "operation": f.Op}
		if f.Op == OpWrite {
			t["content/digest"] = proposal.DigestText(canon.Sum(f.Content))
			t["content/bytes"] = len(f.Content)
		}
		list = append(list, t)
	}
	return list
}
