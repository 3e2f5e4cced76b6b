package policy

import (
	"cmp"
	"embed"
	"slices"
	"strings"

	"writ/internal/fault"
)

// Set holds policies by name and version. The zero value is empty.
type Set struct{ held []Held }

// Held is a policy of a set.
type Held struct {
	Policy
	Origin string // where it was read: for people
}

// Add takes a policy in. The same body again changes nothing; another body under
// the same name and version is fault.Conflict, because results that cite the pair
// would no longer say what they were measured under.
func (s *Set) Add(p Policy, origin string) error {
	for _, h := range s.held {
		if h.Name != p.Name || h.Version != p.Version {
			continue
		}
		if h.Hash() == p.Hash() {
			return nil
		}
		return fault.New(fault.Conflict, "add policy", "%s and %s hold two bodies of policy %s version %s", h.Origin, origin, p.Name, p.Version).
			With("policy", p.Ref()).Help("give the changed policy a new version")
	}
	s.held = append(s.held, Held{p, origin})
	slices.SortStableFunc(s.held, func(a, b Held) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return nil
}

// All returns the policies by name, then version.
func (s Set) All() []Held { return slices.Clone(s.held) }

// Find returns the policy of that name and version, or fault.Refused.
func (s Set) Find(name, version string) (Policy, error) {
	var versions []string
	for _, h := range s.held {
		if h.Name != name {
			continue
		}
		if h.Version == version {
			return h.Policy, nil
		}
		versions = append(versions, h.Version)
	}
	e := fault.New(fault.Refused, "find policy", "no policy %q", name).At("/environment_policy/name")
	if len(versions) > 0 {
		e = fault.New(fault.Refused, "find policy", "no version %q of policy %q", version, name).At("/environment_policy/version")
		return Policy{}, e.Help("there is version %s", strings.Join(versions, ", "))
	}
	return Policy{}, e.Help("see: writ policy list; files are taken from --policy-dir and .writ/policies")
}

//go:embed shipped/*.json
var shipped embed.FS

// Shipped returns the policies that come with the program.
func Shipped() (Set, error) {
	var s Set
	files, err := shipped.ReadDir("shipped")
	if err != nil {
		return s, fault.Wrap(err, fault.Internal, "read shipped policies", "they are not there")
	}
	for _, f := range files {
		raw, err := shipped.ReadFile("shipped/" + f.Name())
		if err != nil {
			return s, fault.Wrap(err, fault.Internal, "read shipped policies", "%s cannot be read", f.Name())
		}
		p, err := Parse(raw)
		if err != nil {
			return s, err
		}
		if err := s.Add(p, "shipped"); err != nil {
			return s, err
		}
	}
	return s, nil
}
