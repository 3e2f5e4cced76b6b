package taskpack

import "strings"

// NetworkNone is the only network that counts as contained.
const (
	NetworkNone     = "none"
	NetworkIsolated = "isolated"
)

// Containment is what the owner of an environment attests about one instance.
// A plan with a mutation needs all of it, at admission and again before each
// step: the word of an earlier step counts for nothing.
type Containment struct {
	Exclusive     bool   // a fresh instance that nobody else uses
	Pinned        bool   // made from the pinned image and prepared system
	SharesHost    bool   // a writable folder of the host is inside
	Network       string // effective network
	Actuation     bool   // an interface that acts on the outside is reachable
	Credentials   bool   // something inside can log in elsewhere
	Destroyable   bool   // the owner offers idempotent destruction
	Confirms      bool   // and confirms it durably
	EnvironmentOf string // kind of environment, for the message
}

// Check is the containment predicate. It refuses with
// environment/not-contained and names everything that is missing. A network
// that is merely isolated is not contained.
func (c Containment) Check() error {
	var lacks []string
	for _, x := range []struct {
		bad bool
		why string
	}{
		{!c.Exclusive, "it is not a fresh instance of its own"},
		{!c.Pinned, "it is not made from the pinned image"},
		{c.SharesHost, "a folder of the host is writable from inside"},
		{c.Network != NetworkNone, "its network is " + quoteOr(c.Network, "unknown")},
		{c.Actuation, "it can act on the outside"},
		{c.Credentials, "it holds outward credentials"},
		{!c.Destroyable, "it cannot be destroyed twice without harm"},
		{!c.Confirms, "its destruction is not confirmed durably"},
	} {
		if x.bad {
			lacks = append(lacks, x.why)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return refuse(NotContained, "environment %s is not contained: %s", c.EnvironmentOf, strings.Join(lacks, "; "))
}

func quoteOr(s, or string) string {
	if s == "" {
		return or
	}
	return s
}
