package localgit

import (
	"bytes"
	"context"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
)

// FenceSchema is the schema id of a fence.
const FenceSchema = "writ.git-landing-fence/v1"

// Fence is the fence of a protected branch as it was read. The zero Fence says
// that the branch has none.
type Fence struct {
	Generation int64  `json:"generation"` // grows by one with each attempt that ends, never back
	Object     string `json:"object"`     // id of the blob that the fence ref names
	MergeHead  string `json:"merge_head,omitempty"`
}

// fenceDocument is the content of the blob, in canonical form. MergeHead is
// there when a landing wrote the fence, and absent when a settlement did. It
// keeps the two apart: git takes a ref that holds its new value already as done,
// so a holder whose next fence others could have written would pass them by.
type fenceDocument struct {
	Schema        string `json:"schema"`
	Repository    string `json:"repository"`
	ProtectedBase string `json:"protectedBase"`
	Generation    int64  `json:"generation"`
	MergeHead     string `json:"mergeHead,omitempty"`
}

// FenceBytes returns the content of a fence. The id of the blob follows from it.
func FenceBytes(repository, base string, generation int64, mergeHead string) ([]byte, error) {
	return canon.Marshal(fenceDocument{FenceSchema, repository, base, generation, mergeHead})
}

// ReadFence reads the fence of a branch from the remote.
func (f *Forge) ReadFence(ctx context.Context, base string) (Fence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readFence(ctx, base)
}

func (f *Forge) readFence(ctx context.Context, base string) (Fence, error) {
	id, err := f.bring(ctx, FenceRef(base))
	if err != nil || id == "" {
		return Fence{}, err
	}
	o, err := f.clone.ReadObject(ctx, id)
	if err != nil {
		return Fence{}, err
	}
	return f.parseFence(base, o)
}

func (f *Forge) parseFence(base string, o gitcmd.Object) (Fence, error) {
	foreign := func(why string) error {
		return fault.New(fault.Fenced, "read fence", "%s %s", FenceRef(base), why).With("object", o.ID)
	}
	if o.Kind != "blob" {
		return Fence{}, foreign("names a " + o.Kind + ", not a fence")
	}
	var d fenceDocument
	v, err := canon.Parse(o.Raw)
	if err != nil || v.Decode(&d) != nil || d.Schema != FenceSchema || d.Generation < 1 || !bytes.Equal(v.Canonical(), o.Raw) {
		return Fence{}, foreign("holds something that is no fence")
	}
	if d.Repository != f.repository || d.ProtectedBase != base {
		return Fence{}, foreign("is the fence of " + d.Repository + " " + d.ProtectedBase + ": two installations call this remote by different names")
	}
	return Fence{Generation: d.Generation, Object: o.ID, MergeHead: d.MergeHead}, nil
}

// EnsureFence reads the fence of a branch and puts up the first one where there
// is none.
func (f *Forge) EnsureFence(ctx context.Context, base string) (Fence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ensureFence(ctx, base)
}

func (f *Forge) ensureFence(ctx context.Context, base string) (Fence, error) {
	at, err := f.readFence(ctx, base)
	if err != nil || at.Generation > 0 {
		return at, err
	}
	return f.advance(ctx, base, Fence{})
}

// AdvanceFence moves the fence on from the one given, so that whoever holds that
// one can never push again. A fence that was moved on already, by anybody, is
// left as it is. It returns the fence that stands.
func (f *Forge) AdvanceFence(ctx context.Context, base string, from Fence) (Fence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.advance(ctx, base, from)
}

func (f *Forge) advance(ctx context.Context, base string, from Fence) (Fence, error) {
	next, err := f.writeFence(ctx, base, from.Generation+1, "")
	if err != nil {
		return Fence{}, err
	}
	err = f.clone.PushAtomic(ctx, f.remote, gitcmd.RefUpdate{Ref: FenceRef(base), Old: from.Object, New: next.Object})
	if err == nil {
		return next, nil
	}
	if code := fault.CodeOf(err); code != fault.Conflict && code != fault.Forge {
		return Fence{}, err
	}
	stands, readErr := f.readFence(ctx, base)
	if readErr != nil {
		return Fence{}, readErr
	}
	if stands.Generation > from.Generation {
		return stands, nil
	}
	return Fence{}, err
}

// writeFence stores the blob of a fence in the clone.
func (f *Forge) writeFence(ctx context.Context, base string, generation int64, mergeHead string) (Fence, error) {
	raw, err := FenceBytes(f.repository, base, generation, mergeHead)
	if err != nil {
		return Fence{}, err
	}
	id, err := f.clone.WriteBlob(ctx, raw)
	return Fence{Generation: generation, Object: id, MergeHead: mergeHead}, err
}
