package taskpack

import (
	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Binding is what one host chose within a profile.
type Binding struct {
	Ref        string
	Revision   int64 // 0 in old documents without one
	Paused     bool
	Profile    Exact
	Root       string // ref of the workspace root
	Image      string // ref of the image variant, "" when none is picked
	HIL        string
	Network    string
	Concurrent int64 // runs at the same time
	Limits     Limits
	Value      canon.Value
	Bytes      []byte // canonical
}

// Digest is the digest of the canonical bytes, revision included.
func (b Binding) Digest() string { return proposal.DigestText(canon.Sum(b.Bytes)) }

// ParseBinding reads a binding. Errors: TooLarge, Malformed, Invalid.
func ParseBinding(raw []byte) (Binding, error) {
	v, err := read(schema.TaskBinding, raw, maxOther)
	if err != nil {
		return Binding{}, err
	}
	safety := member(v, "safety")
	return Binding{
		Ref: v.Str("binding/ref"), Revision: integer(v, "binding/revision"), Paused: v.Str("binding/state") == "paused",
		Profile: Exact{v.Str("task-profile/ref"), v.Str("task-profile/digest")},
		Root:    member(v, "workspace").Str("root/ref"), Image: v.Str("image-variant/ref"),
		HIL: safety.Str("hil/mode"), Network: safety.Str("runtime-network"), Concurrent: integer(safety, "max/concurrent-runs"),
		Limits: limitsOf(member(member(v, "deliberation"), "limits")),
		Value:  v, Bytes: v.Canonical(),
	}, nil
}

// BindingRef names the shipped binding of a workspace.
func BindingRef(workspace string) string { return "operator-task-local-binding:" + workspace }

// LocalBinding is the shipped binding of a workspace to GoChangeProfile: no
// network, a human answer for each mutation, one run at a time, nothing
// published. root is the ref of the repository that candidates change.
func LocalBinding(workspace, root string) (Binding, error) {
	return BindProfile(GoChangeProfile(), BindParams{Workspace: workspace, Root: root})
}

// BindParams is what a host chooses.
type BindParams struct {
	Workspace, Root string
	Revision        int64 // 0 means 1; +1 for each effective change
	Paused          bool
	Concurrent      int64 // 0 means 1
}

// BindProfile binds a workspace to a profile.
func BindProfile(p Profile, b BindParams) (Binding, error) {
	state := "enabled"
	if b.Paused {
		state = "paused"
	}
	v, err := build(schema.TaskBinding, map[string]any{
		"schema": "operator-task-local-binding.v1", "schema/v": 1,
		"binding/ref": BindingRef(b.Workspace), "binding/state": state, "binding/revision": max(b.Revision, 1),
		"package/ref":      "operator-task-package:writ",
		"task-profile/ref": p.Ref, "task-profile/digest": p.Digest(),
		"workspace":         map[string]string{"root/ref": b.Root, "backend/ref": "workspace-backend:git"},
		"publication":       map[string]any{"enabled": false},
		"safety":            map[string]any{"hil/mode": EachMutation, "runtime-network": NetworkNone, "max/concurrent-runs": max(b.Concurrent, 1)},
		"image-variant/ref": imageWorktree,
	})
	if err != nil {
		return Binding{}, err
	}
	return ParseBinding(v.Canonical())
}
