package verdict

import (
	"maps"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
)

// Profile says what the two sides of a comparison have in common.
type Profile string

// Profiles of a comparison.
const (
	Revisions    Profile = "revisions"     // two states of one source, in one environment
	Environments Profile = "environments"  // one state of a source, prepared in two ways
	Variants     Profile = "variants"      // two cases of one source, told apart by their parameter role
	CrossMachine Profile = "cross-machine" // one state of a source on two machines, tied by an anchor result
)

// Paths that tell sides apart.
const (
	VaryingTree    = "provenance.subject_tree"
	VaryingRole    = "coordinates.workload.parameters.role"
	VaryingMachine = "coordinates.environment.identity"
	labelPath      = "provenance.labels."
)

// role is the parameter that names the variant of a case.
const role = "role"

// VaryingLabel tells sides apart by the value of a label.
func VaryingLabel(name string) string { return labelPath + name }

// varying is the path that a profile is told apart by, "" when it has to be
// named.
func (p Profile) varying() string {
	return map[Profile]string{Revisions: VaryingTree, Variants: VaryingRole, CrossMachine: VaryingMachine}[p]
}

// check reports whether profile and path go together.
func (p Profile) check(varying string) error {
	switch p {
	case Revisions:
		if varying == VaryingTree || label(varying) {
			return nil
		}
	case Environments:
		if label(varying) {
			return nil
		}
		return fault.New(fault.Usage, "judge", "two environments of one tree are told apart by a label")
	case Variants, CrossMachine:
		if varying == p.varying() {
			return nil
		}
	default:
		return fault.New(fault.Usage, "judge", "profile %q is not supported", p)
	}
	return fault.New(fault.Usage, "judge", "sides of %s are not told apart by %q", p, varying)
}

func label(varying string) bool {
	return strings.HasPrefix(varying, labelPath) && len(varying) > len(labelPath)
}

// varyingValue reads what tells the sides apart, "" when the result lacks it.
func varyingValue(r *result.Result, varying string) string {
	if name, ok := strings.CutPrefix(varying, labelPath); ok {
		return r.Provenance.Labels[name]
	}
	switch varying {
	case VaryingRole:
		s, _ := r.Coordinates.Workload.Parameters[role].String()
		return s
	case VaryingMachine:
		return machineName(r.Coordinates.Environment.Identity)
	}
	return r.Provenance.SubjectTree
}

// machineName is the name that an environment identity has for people, or the
// whole of it.
func machineName(identity canon.Value) string {
	if identity.Len() == 1 {
		for _, name := range []string{"runner", "hostname"} {
			if s := identity.Str(name); s != "" {
				return s
			}
		}
	}
	if identity.Len() == 0 {
		return ""
	}
	return string(identity.Canonical())
}

// pair is the case and quantity of a result, without what tells variants apart.
func (p Profile) pair(r *result.Result) Pair {
	w := r.Coordinates.Workload
	out := Pair{Workload: w.Name, Parameters: w.Parameters, Quantity: r.Coordinates.Quantity.Name}
	if p == Variants {
		out.Parameters = withoutRole(w.Parameters)
	}
	return out
}

func withoutRole(parameters map[string]canon.Value) map[string]canon.Value {
	if _, ok := parameters[role]; !ok {
		return parameters
	}
	out := maps.Clone(parameters)
	delete(out, role)
	return out
}

// part is something that both sides have to share.
type part struct {
	path string
	read func(*result.Result) string
}

// agree lists what the results of both sides have to share under a profile.
func (p Profile) agree() []part {
	text := func(v canon.Value) string { return string(v.Canonical()) }
	var (
		configuration = part{"coordinates.subject.configuration", func(r *result.Result) string { return text(r.Coordinates.Subject.Configuration) }}
		components    = part{"coordinates.subject.components", func(r *result.Result) string { return text(canon.MustFrom(r.Coordinates.Subject.Components)) }}
		identity      = part{"coordinates.environment.identity", func(r *result.Result) string { return text(r.Coordinates.Environment.Identity) }}
		protocol      = part{"coordinates.comparison_context", func(r *result.Result) string { return text(r.Coordinates.ComparisonContext) }}
		revision      = part{"revision.key", func(r *result.Result) string { return r.Revision.Key }}
		tree          = part{VaryingTree, func(r *result.Result) string { return r.Provenance.SubjectTree }}
	)
	switch p {
	case Environments:
		return []part{revision, tree, identity, protocol}
	case Variants:
		return []part{revision, tree, configuration, identity, protocol}
	default:
		return []part{configuration, components, identity, protocol}
	}
}

// Side reads which side a result is of, "" when it does not say.
func (p Params) Side(r *result.Result) string {
	varying := p.Varying
	if varying == "" {
		varying = p.Profile.varying()
	}
	return varyingValue(r, varying)
}
