package landing

import (
	"writ/internal/canon"
)

// part is a pointer to T that describes its members.
type part[T any] interface {
	*T
	shaped
}

// nested is an object inside the object at hand.
func nested[T any, P part[T]](c *codec, name string, p *T) {
	if c.err != nil {
		return
	}
	at := canon.PointerTo(c.at, name)
	if !c.reading {
		v, err := writeAt(c.dialect, P(p), at)
		c.err = err
		c.put(name, v)
		return
	}
	if v, ok := c.get(name, false); ok {
		c.err = readAt(c.dialect, v, P(p), at)
	}
}

// optNested is absent exactly when *p is nil.
func optNested[T any, P part[T]](c *codec, name string, p **T) {
	if c.err != nil || c.reading && !c.in.Has(name) || !c.reading && *p == nil {
		return
	}
	if c.reading {
		*p = new(T)
	}
	nested[T, P](c, name, *p)
}

// orNull is null exactly when *p is nil, and never absent.
func orNull[T any, P part[T]](c *codec, name string, p **T) {
	if c.err != nil {
		return
	}
	if !c.reading && *p == nil {
		c.put(name, canon.Null())
		return
	}
	if c.reading {
		v, ok := c.get(name, false)
		if !ok || v.IsNull() {
			return
		}
		c.seen = c.seen[:len(c.seen)-1]
		*p = new(T)
	}
	nested[T, P](c, name, *p)
}

// list is an array of objects in document order.
func list[T any, P part[T]](c *codec, name string, p *[]T) {
	if c.err != nil {
		return
	}
	at := canon.PointerTo(c.at, name)
	if !c.reading {
		out := make([]canon.Value, len(*p))
		for i := range *p {
			if out[i], c.err = writeAt(c.dialect, P(&(*p)[i]), canon.PointerToIndex(at, i)); c.err != nil {
				return
			}
		}
		c.put(name, canon.ArrayOf(out...))
		return
	}
	v, ok := c.get(name, false)
	if !ok {
		return
	}
	if v.Kind() != canon.Array {
		c.fail(name, "must be an array, not %s", v.Kind())
		return
	}
	*p = make([]T, v.Len())
	for i, e := range v.Elems() {
		if c.err = readAt(c.dialect, e, P(&(*p)[i]), canon.PointerToIndex(at, i)); c.err != nil {
			return
		}
	}
}

// self is a document's own root, over every member written or read so far
// except those named. An empty *p is filled when writing; anything else is
// compared.
func (c *codec) self(name string, p *string, without ...string) {
	if c.err != nil {
		return
	}
	if !c.reading {
		got := canon.Root(object(c.out...).Without(without...))
		if *p == "" {
			*p = got
		} else if *p != got {
			c.err = drift(canon.PointerTo(c.at, name), *p, got)
		}
		c.put(name, canon.StringOf(got))
		return
	}
	c.root(name, p)
	if c.err != nil {
		return
	}
	kept := make([]canon.Member, 0, len(c.seen))
	for _, n := range c.seen {
		if n != name {
			v, _ := c.in.Get(n)
			kept = append(kept, value(n, v))
		}
	}
	if got := canon.Root(object(kept...).Without(without...)); got != *p {
		c.err = drift(canon.PointerTo(c.at, name), *p, got)
	}
}

// derived is a root over other parts of the document. An empty *p is filled when
// writing; anything else is compared.
func (c *codec) derived(name string, p *string, want func() string) {
	if c.reading {
		c.root(name, p)
	}
	if c.err != nil {
		return
	}
	got := want()
	switch {
	case !c.reading && *p == "":
		*p = got
	case *p != got:
		c.err = drift(canon.PointerTo(c.at, name), *p, got)
		return
	}
	if !c.reading {
		c.put(name, canon.StringOf(got))
	}
}
