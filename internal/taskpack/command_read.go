package taskpack

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// ParseCommandProfile reads a command profile that a host kept. It has to be in
// the form in which Value writes it, so that its digest is the one that plans
// pin. Errors: Malformed, Invalid.
func ParseCommandProfile(raw []byte) (CommandProfile, error) {
	const op = "read command profile"
	v, err := canon.Parse(raw)
	if err != nil {
		return CommandProfile{}, err
	}
	c := CommandProfile{
		Ref: v.Str("profile/ref"), Effect: v.Str("effect/mode"), Enforced: boolean(v, "effect/enforced"), On: v.Str("on"),
		Argv: strs(v, "argv"), Harness: v.Str("harness"), Quantities: strs(v, "quantities"),
		Rounds: int(integer(v, "rounds")), Seconds: int(integer(v, "seconds")), Packages: strs(v, "packages"), Benchmarks: v.Str("benchmarks"),
	}
	for _, list := range []*[]string{&c.Argv, &c.Quantities, &c.Packages} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if !canon.Equal(c.Value(), v) {
		return CommandProfile{}, fault.New(fault.Invalid, op, "%q is not a command profile of this build", c.Ref)
	}
	return c, nil
}
