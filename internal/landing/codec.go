package landing

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
)

// shaped is a document or a part of one: a single description of its members
// serves for reading and for writing, so the two can never disagree.
type shaped interface{ shape(c *codec) }

// codec visits the members of one object in order. Reading, it takes them from
// in and refuses what is unknown, missing or not in normal form; writing, it
// collects them in out and refuses the same. The first refusal wins. Writing
// never assigns to what it visits (but see self), so a state may be written by
// several goroutines at once.
type codec struct {
	dialect *Dialect // rules for protectedBase and attempts; nil allows what any dialect allows
	reading bool
	at      string
	in      canon.Value
	seen    []string
	out     []canon.Member
	err     *fault.Error
}

// write returns the JSON object of x, or the first rule that x breaks.
func write(d *Dialect, x shaped) (canon.Value, error) {
	v, err := writeAt(d, x, "")
	if err != nil {
		return canon.Value{}, err
	}
	return v, nil
}

func writeAt(d *Dialect, x shaped, at string) (canon.Value, *fault.Error) {
	c := &codec{dialect: d, at: at, out: make([]canon.Member, 0, 32)}
	x.shape(c)
	if c.err != nil {
		return canon.Value{}, c.err
	}
	return object(c.out...), nil
}

// read fills x from v.
func read(d *Dialect, v canon.Value, x shaped) error {
	if err := readAt(d, v, x, ""); err != nil {
		return err
	}
	return nil
}

func readAt(d *Dialect, v canon.Value, x shaped, at string) *fault.Error {
	c := &codec{dialect: d, reading: true, at: at, in: v, seen: make([]string, 0, v.Len())}
	if v.Kind() != canon.Object {
		return refuse(at, "must be an object, not %s", v.Kind())
	}
	x.shape(c)
	if c.err != nil || len(c.seen) == v.Len() {
		return c.err
	}
	for _, m := range v.Members() {
		if !slices.Contains(c.seen, m.Name) {
			return refuse(canon.PointerTo(at, m.Name), "unknown member")
		}
	}
	return nil
}

func refuse(at, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "read landing document", format, args...).At(at)
}

func (c *codec) fail(name, format string, args ...any) {
	if c.err == nil {
		c.err = refuse(canon.PointerTo(c.at, name), format, args...)
	}
}

// get returns the member while reading. A missing one is a failure unless it is
// optional.
func (c *codec) get(name string, optional bool) (canon.Value, bool) {
	v, ok := c.in.Get(name)
	if ok {
		c.seen = append(c.seen, name)
	} else if !optional {
		c.fail(name, "is missing")
	}
	return v, ok
}

func (c *codec) put(name string, v canon.Value) {
	c.out = append(c.out, canon.Member{Name: name, Value: v})
}

// str is the ground of all text members: check says what is wrong, or "".
// An optional member is absent exactly when p holds "".
func (c *codec) str(name string, p *string, optional bool, check func(string) string) {
	if c.err != nil || !c.reading && optional && *p == "" {
		return
	}
	if c.reading {
		v, ok := c.get(name, optional)
		if !ok {
			return
		}
		s, isText := v.String()
		if !isText {
			c.fail(name, "must be a string, not %s", v.Kind())
			return
		}
		*p = s
	}
	if wrong := check(*p); wrong != "" {
		c.fail(name, "%s", wrong)
		return
	}
	if !c.reading {
		c.put(name, canon.StringOf(*p))
	}
}

func rule(ok bool, wrong string) string {
	if ok {
		return ""
	}
	return wrong
}

func rootRule(s string) string { return rule(isRoot(s), "must be sha256: and 64 hex digits") }
func shaRule(s string) string  { return rule(isSHA(s), "must be 40 hex digits") }
func stampRule(s string) string {
	return rule(Timestamp(s).valid(), "must be a UTC time with three decimals of a second and Z")
}
func trimmedRule(s string) string { return rule(isTrimmed(s), "must have no space around it") }
func textRule(s string) string {
	return rule(isTrimmed(s) && s != "", "must not be empty or have space around it")
}

func (c *codec) constant(name, want string) {
	s := want
	c.str(name, &s, false, func(s string) string { return rule(s == want, "must be "+want) })
}
func (c *codec) root(name string, p *string)     { c.str(name, p, false, rootRule) }
func (c *codec) optRoot(name string, p *string)  { c.str(name, p, true, rootRule) }
func (c *codec) sha(name string, p *string)      { c.str(name, p, false, shaRule) }
func (c *codec) optSHA(name string, p *string)   { c.str(name, p, true, shaRule) }
func (c *codec) text(name string, p *string)     { c.str(name, p, false, textRule) }
func (c *codec) optText(name string, p *string)  { c.str(name, p, true, textRule) }
func (c *codec) mayEmpty(name string, p *string) { c.str(name, p, false, trimmedRule) }
func (c *codec) stamp(name string, p *Timestamp) { c.str(name, (*string)(p), false, stampRule) }
func (c *codec) optStamp(name string, p *Timestamp) {
	c.str(name, (*string)(p), true, stampRule)
}

func (c *codec) repository(name string, p *string) {
	c.str(name, p, false, func(s string) string { return rule(isRepository(s), "must be owner/name") })
}

// base is a protected branch by the rule of the dialect at hand.
func (c *codec) base(name string, p *string) {
	d := c.dialect
	if d == nil {
		d = Writ1 // its rule is the wider one
	}
	c.str(name, p, false, d.baseRule)
}

// oneOf is a text member out of a closed list.
func oneOf[T ~string](c *codec, name string, p *T, allowed ...T) {
	s := string(*p)
	c.str(name, &s, false, func(s string) string {
		return rule(slices.Contains(allowed, T(s)), "is not one of the known words")
	})
	if c.reading {
		*p = T(s)
	}
}

// integer is the ground of all counters: optional members are pointers.
func (c *codec) integer(name string, p **int64, optional bool, least int64) {
	if c.err != nil || !c.reading && optional && *p == nil {
		return
	}
	if c.reading {
		v, ok := c.get(name, optional)
		if !ok {
			return
		}
		n, isInt := v.Int()
		if !isInt {
			c.fail(name, "must be an integer")
			return
		}
		*p = &n
	}
	if n := **p; n < least || n > canon.MaxSafe {
		c.fail(name, "must be at least %d and below 2^53", least)
		return
	}
	if !c.reading {
		c.put(name, canon.IntOf(**p))
	}
}

func (c *codec) count(name string, p *int64)    { c.fixed(name, p, 0) }
func (c *codec) positive(name string, p *int64) { c.fixed(name, p, 1) }
func (c *codec) fixed(name string, p *int64, least int64) {
	q := p
	c.integer(name, &q, false, least)
	if c.reading {
		*p = *q
	}
}
func (c *codec) optCount(name string, p **int64)    { c.integer(name, p, true, 0) }
func (c *codec) optPositive(name string, p **int64) { c.integer(name, p, true, 1) }

// optNumber is an integer of at least 1 that is absent exactly when it is 0.
func (c *codec) optNumber(name string, p *int64) {
	var q *int64
	if *p != 0 {
		q = p
	}
	c.integer(name, &q, true, 1)
	if c.reading && q != nil {
		*p = *q
	}
}

func (c *codec) boolean(name string, p *bool) {
	if c.err != nil {
		return
	}
	if !c.reading {
		c.put(name, canon.BoolOf(*p))
		return
	}
	v, ok := c.get(name, false)
	if !ok {
		return
	}
	if *p, ok = v.Bool(); !ok {
		c.fail(name, "must be true or false, not %s", v.Kind())
	}
}

func (c *codec) flag(name string, want bool) {
	b := want
	c.boolean(name, &b)
	if b != want {
		c.fail(name, "must be %t", want)
	}
}

// optFlag is a boolean that is absent exactly when it is false.
func (c *codec) optFlag(name string, p *bool) {
	if c.reading && c.in.Has(name) || !c.reading && *p {
		c.boolean(name, p)
	}
}

// set is a list of distinct strings in order of their code units; an optional
// one is absent exactly when p holds nil.
func (c *codec) set(name string, p *[]string, optional bool, check func(string) string) {
	if c.err != nil || !c.reading && optional && *p == nil {
		return
	}
	if c.reading {
		v, ok := c.get(name, optional)
		if !ok {
			return
		}
		if v.Kind() != canon.Array {
			c.fail(name, "must be an array, not %s", v.Kind())
			return
		}
		*p = make([]string, v.Len())
		for i, e := range v.Elems() {
			s, isText := e.String()
			if !isText {
				c.fail(name, "must hold strings only")
				return
			}
			(*p)[i] = s
		}
	}
	for i, s := range *p {
		if wrong := check(s); wrong != "" {
			c.fail(name, "element %d %s", i, wrong)
			return
		}
	}
	if !isSortedSet(*p) {
		c.fail(name, "must be sorted and without repeats")
		return
	}
	if !c.reading {
		c.out = append(c.out, textList(name, *p))
	}
}

func (c *codec) roots(name string, p *[]string)    { c.set(name, p, false, rootRule) }
func (c *codec) optRoots(name string, p *[]string) { c.set(name, p, true, rootRule) }
func (c *codec) texts(name string, p *[]string)    { c.set(name, p, false, textRule) }
func (c *codec) optTexts(name string, p *[]string) { c.set(name, p, true, textRule) }

// tree is a member of any shape, kept as it is; an optional one is absent
// exactly when it is null.
func (c *codec) tree(name string, p *canon.Value, optional bool) {
	switch {
	case c.err != nil || !c.reading && optional && p.IsNull():
	case c.reading:
		*p, _ = c.get(name, optional)
	default:
		c.put(name, *p)
	}
}
