package landing

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// ProducerBody is the content behind a root that the authority takes as opaque,
// when Writ made it. Keeping the body lets anyone recompute the root.
type ProducerBody interface {
	shaped
	Schema() string
}

// The bodies. Schema ids are writ.<name>-root/v1.
type (
	// SourceIdentityBody is what a change is, through all its attempts.
	SourceIdentityBody struct {
		Repository    string
		ProtectedBase string
		ChangeNumber  int64
	}
	// SourcePatchBody is what a change does to the tree.
	SourcePatchBody struct {
		BaseTree   string
		SourceTree string
	}
	// PlanBody is what was measured: the plan, if there is one, and the orders.
	PlanBody struct {
		PlanRef string   // absent when there is none
		Orders  []string // "sha256:" + hex of each order's canonical bytes, sorted
	}
	// ClosureBody is everything that would be landed.
	ClosureBody struct {
		MergedTree string
	}
	// DependencyBody are the lock files in the source tree, sorted by path.
	DependencyBody struct {
		Files []LockFile
	}
	// ToolchainBody are the tools, sorted by name.
	ToolchainBody struct {
		Tools []Tool
	}
	// EnvironmentBody is where it was measured: the results' environment identity.
	EnvironmentBody struct {
		Identity string
	}
	// DomainBody is one configured group of paths, or the whole repository.
	DomainBody struct {
		Name string
	}
	// EvidenceBody is the result set that a change was judged by.
	EvidenceBody struct {
		ResultSet string // "sha256:" + hex of its canonical bytes
	}
	// DocketBinding ties a candidate to the docket it came from; its root is the
	// candidate's source root. Documents that do not exist are left out.
	DocketBinding struct {
		RunID      string
		Proposal   string
		Decision   string
		Execution  string
		ResultSet  string
		Comparison string
		BaseHead   string
		SourceHead string
		SourceTree string
	}
)

// WholeRepository is the domain of a repository without configured path groups.
const WholeRepository = "repository"

// LockFile is one lock file; SHA256 is 64 hex digits over its bytes.
type LockFile struct {
	Path   string
	SHA256 string
}

// Tool is one tool of the toolchain.
type Tool struct {
	Name    string
	Version string
}

func (f *LockFile) shape(c *codec) {
	c.text("path", &f.Path)
	c.str("sha256", &f.SHA256, false, func(s string) string { return rule(isHex(s, 64), "must be 64 hex digits") })
}

func (t *Tool) shape(c *codec) {
	c.text("name", &t.Name)
	c.text("version", &t.Version)
}

// Schema returns the schema id of the body.
func (*SourceIdentityBody) Schema() string { return "writ.source-identity-root/v1" }

// Schema returns the schema id of the body.
func (*SourcePatchBody) Schema() string { return "writ.source-patch-root/v1" }

// Schema returns the schema id of the body.
func (*PlanBody) Schema() string { return "writ.plan-root/v1" }

// Schema returns the schema id of the body.
func (*ClosureBody) Schema() string { return "writ.closure-root/v1" }

// Schema returns the schema id of the body.
func (*DependencyBody) Schema() string { return "writ.dependency-root/v1" }

// Schema returns the schema id of the body.
func (*ToolchainBody) Schema() string { return "writ.toolchain-root/v1" }

// Schema returns the schema id of the body.
func (*EnvironmentBody) Schema() string { return "writ.environment-root/v1" }

// Schema returns the schema id of the body.
func (*DomainBody) Schema() string { return "writ.qualification-domain-root/v1" }

// Schema returns the schema id of the body.
func (*EvidenceBody) Schema() string { return "writ.evidence-root/v1" }

// Schema returns the schema id of the body.
func (*DocketBinding) Schema() string { return "writ.docket-binding/v1" }

func (b *SourceIdentityBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.repository("repository", &b.Repository)
	c.base("protectedBase", &b.ProtectedBase)
	c.positive("changeNumber", &b.ChangeNumber)
}

func (b *SourcePatchBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.sha("baseTree", &b.BaseTree)
	c.sha("sourceTree", &b.SourceTree)
}

func (b *PlanBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.optText("planRef", &b.PlanRef)
	c.roots("orders", &b.Orders)
}

func (b *ClosureBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.sha("mergedTree", &b.MergedTree)
}

func (b *DependencyBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	list(c, "files", &b.Files)
	inOrderBy(c, "files", b.Files, func(f LockFile) string { return f.Path })
}

func (b *ToolchainBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	list(c, "tools", &b.Tools)
	inOrderBy(c, "tools", b.Tools, func(t Tool) string { return t.Name })
}

func (b *EnvironmentBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.text("identity", &b.Identity)
}

func (b *DomainBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.text("name", &b.Name)
}

func (b *EvidenceBody) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.root("resultSet", &b.ResultSet)
}

func (b *DocketBinding) shape(c *codec) {
	c.constant("schema", b.Schema())
	c.optText("runId", &b.RunID)
	c.optText("proposal", &b.Proposal)
	c.optText("decision", &b.Decision)
	c.optText("execution", &b.Execution)
	c.optText("resultSet", &b.ResultSet)
	c.optText("comparison", &b.Comparison)
	c.sha("baseHead", &b.BaseHead)
	c.sha("sourceHead", &b.SourceHead)
	c.sha("sourceTree", &b.SourceTree)
}

// inOrderBy checks that a list is sorted by key and has no key twice.
func inOrderBy[T any](c *codec, name string, l []T, key func(T) string) {
	for i := 1; i < len(l); i++ {
		if compareUTF16(key(l[i-1]), key(l[i])) >= 0 {
			c.fail(name, "must be sorted and without repeats")
			return
		}
	}
}

// BuildProducer returns the document of a body and its root. Lists are sorted
// first; a path or tool that comes twice is refused.
func BuildProducer(b ProducerBody) (canon.Value, string, error) {
	switch x := b.(type) {
	case *PlanBody:
		b = &PlanBody{PlanRef: x.PlanRef, Orders: emptyNotNil(sortedSet(x.Orders))}
	case *DependencyBody:
		b = &DependencyBody{Files: slices.SortedFunc(slices.Values(x.Files), func(a, b LockFile) int { return compareUTF16(a.Path, b.Path) })}
	case *ToolchainBody:
		b = &ToolchainBody{Tools: slices.SortedFunc(slices.Values(x.Tools), func(a, b Tool) int { return compareUTF16(a.Name, b.Name) })}
	}
	v, err := write(nil, b)
	if err == nil {
		err = shapeOf(v)
	}
	if err != nil {
		return canon.Value{}, "", err
	}
	return v, canon.Root(v), nil
}

// shapeOf holds a docket binding against its published schema, which knows how
// the refs of the signed chain are spelled.
func shapeOf(v canon.Value) error {
	if v.Str("schema") != (*DocketBinding)(nil).Schema() {
		return nil
	}
	return schema.Validate(schema.DocketBinding, v)
}

// ParseProducer reads the kept document of a body, of whatever kind its schema
// names, and returns its root.
func ParseProducer(v canon.Value) (ProducerBody, string, error) {
	kind := v.Str("schema")
	for _, b := range []ProducerBody{
		&SourceIdentityBody{}, &SourcePatchBody{}, &PlanBody{}, &ClosureBody{}, &DependencyBody{},
		&ToolchainBody{}, &EnvironmentBody{}, &DomainBody{}, &EvidenceBody{}, &DocketBinding{},
	} {
		if b.Schema() != kind {
			continue
		}
		err := read(nil, v, b)
		if err == nil {
			err = shapeOf(v)
		}
		if err != nil {
			return nil, "", err
		}
		return b, canon.Root(v), nil
	}
	return nil, "", fault.New(fault.UnknownKind, "read producer root", "%q is no producer root", kind).At("/schema")
}

// ClosureRoot returns the closure root of a merged tree.
func ClosureRoot(mergedTree string) (string, error) {
	_, root, err := BuildProducer(&ClosureBody{MergedTree: mergedTree})
	return root, err
}
