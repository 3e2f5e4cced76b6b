package journal

import "writ/internal/canon"

// strip removes from an object what the server owns, and from closed objects
// also what the table does not name. The common event has nothing to remove and
// is returned as it is.
func strip(v canon.Value, m *members) canon.Value {
	if !m.strips && !m.closed {
		return v
	}
	var kept []canon.Member
	all := v.Members()
	for i, x := range all {
		at, named := m.index[x.Name]
		drop := !named && m.closed || named && m.list[at].duty.owned()
		y := x
		if named && !drop {
			y.Value = stripItems(x.Value, &m.list[at].shape)
		}
		if kept == nil && (drop || !same(x.Value, y.Value)) {
			kept = append(make([]canon.Member, 0, len(all)), all[:i]...)
		}
		if kept != nil && !drop {
			kept = append(kept, y)
		}
	}
	if kept == nil {
		return v
	}
	out, err := canon.ObjectOf(kept...)
	if err != nil {
		return v // cannot happen: the names come from a parsed object
	}
	return out
}

// stripItems strips the objects of a list of closed objects.
func stripItems(v canon.Value, s *shape) canon.Value {
	if s.kind != listing || s.item.members == nil || !s.item.members.closed || v.Kind() != canon.Array {
		return v
	}
	items := make([]canon.Value, 0, v.Len())
	for _, x := range v.Elems() {
		if x.Kind() == canon.Object {
			x = strip(x, s.item.members)
		}
		items = append(items, x)
	}
	return canon.ArrayOf(items...)
}

// same reports cheaply whether stripping left a value alone: scalars always,
// lists when they are equal.
func same(a, b canon.Value) bool {
	return a.Kind() != canon.Array || canon.Equal(a, b)
}
