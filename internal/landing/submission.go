package landing

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// Command is the native command that qualifies and lands a change, run as
// bash -lc.
type Command struct {
	Command string
	Root    string
}

// NewCommand builds the contract of a command; spaces around it do not count.
func NewCommand(command string) (Command, error) {
	c := Command{Command: trim(command)}
	_, err := write(nil, &c)
	return c, err
}

// Value returns the contract document.
func (c Command) Value() (canon.Value, error) { return write(nil, &c) }

func (c *Command) shape(k *codec) {
	k.constant("schema", commandSchema)
	k.constant("runner", "bash-lc")
	k.text("command", &c.Command)
	k.self("commandRoot", &c.Root)
}

// Submission is what a producer says about a change. The roots are opaque here:
// their form is checked and they are compared, never recomputed. Optional
// members are absent when "" or nil.
type Submission struct {
	PullRequestNumber    int64 // or the change number, on plain git
	SourceHead           string
	SourceRoot           string
	SourceIdentityRoot   string
	SourcePatchRoot      string
	SourceProofRoot      string
	PlanRoot             string
	ClosureRoot          string
	DependencyRoot       string
	ToolchainRoot        string
	EnvironmentRoot      string // optional
	DeliveryClass        DeliveryClass
	Command              *Command // optional
	AffectedPaths        []string // optional
	ShardEvidenceRoots   []string // optional
	QualificationDomains []string // empty: unknown, overlaps everything
}

func (s *Submission) shape(c *codec) {
	c.positive("pullRequestNumber", &s.PullRequestNumber)
	c.root("sourceRoot", &s.SourceRoot)
	c.root("sourceIdentityRoot", &s.SourceIdentityRoot)
	oneOf(c, "deliveryClass", &s.DeliveryClass, NonNativeFast, NativeProofRequired, CrossPlatform, Release)
	c.sha("sourceHead", &s.SourceHead)
	c.root("sourcePatchRoot", &s.SourcePatchRoot)
	c.root("sourceProofRoot", &s.SourceProofRoot)
	c.root("planRoot", &s.PlanRoot)
	c.root("closureRoot", &s.ClosureRoot)
	c.root("dependencyRoot", &s.DependencyRoot)
	c.root("toolchainRoot", &s.ToolchainRoot)
	c.optRoot("environmentRoot", &s.EnvironmentRoot)
	optNested(c, "nativeCommandContract", &s.Command)
	c.optTexts("affectedPaths", &s.AffectedPaths)
	c.optRoots("shardEvidenceRoots", &s.ShardEvidenceRoots)
	c.optRoots("qualificationDomains", &s.QualificationDomains)
}

// normal brings a producer's input into the form that documents hold.
func (s Submission) normal() Submission {
	for _, p := range []*string{
		&s.SourceHead, &s.SourceRoot, &s.SourceIdentityRoot, &s.SourcePatchRoot, &s.SourceProofRoot,
		&s.PlanRoot, &s.ClosureRoot, &s.DependencyRoot, &s.ToolchainRoot, &s.EnvironmentRoot,
	} {
		*p = lower(*p)
	}
	s.AffectedPaths = sortedSet(s.AffectedPaths)
	s.ShardEvidenceRoots = sortedSet(s.ShardEvidenceRoots)
	s.QualificationDomains = sortedSet(s.QualificationDomains)
	if s.QualificationDomains == nil {
		s.QualificationDomains = []string{}
	}
	if s.Command != nil {
		s.Command = &Command{Command: trim(s.Command.Command), Root: s.Command.Root}
	}
	return s
}

// check applies what the class asks for.
func (s Submission) check() error {
	if s.DeliveryClass == NonNativeFast {
		return nil
	}
	if s.EnvironmentRoot == "" {
		return fault.New(fault.Invalid, "submit candidate", "class %s needs an environment root", s.DeliveryClass).At("/environmentRoot")
	}
	if s.Command == nil {
		return fault.New(fault.Invalid, "submit candidate", "class %s needs a native command", s.DeliveryClass).At("/nativeCommandContract")
	}
	return nil
}
