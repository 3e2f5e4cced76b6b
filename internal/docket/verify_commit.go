package docket

import (
	"writ/internal/taskpack"
)

// committed follows the approved bytes into Git: the commit that was measured
// has the approved base as its only parent, says what the proposal says, and its
// tree is the base's tree with exactly the approved files written.
func (v *verifier) committed() error {
	m := v.measured
	if m.contender == "" {
		return v.missing()
	}
	if approved := baseOf(v.proposal.Candidate.Ref); m.baseline != approved {
		return wrong("commit", m.baseline, "it was measured as the base, the proposal changes %s", approved)
	}
	base, err := v.commit(m.baseline)
	if err != nil {
		return err
	}
	if base.Tree != m.baselineTree {
		return wrong("commit", m.baseline, "its tree is %s, %s was measured", base.Tree, m.baselineTree)
	}
	c, err := v.commit(m.contender)
	if err != nil {
		return err
	}
	if len(c.Parents) != 1 || c.Parents[0] != m.baseline {
		return wrong("commit", m.contender, "its parents are %v, not the measured base %s", c.Parents, m.baseline)
	}
	if c.Tree != m.contenderTree {
		return wrong("commit", m.contender, "its tree is %s, %s was measured", c.Tree, m.contenderTree)
	}
	want := CommitFrom(v.proposal, v.turn)
	if c.Author != want.author() || c.Committer != c.Author || c.Message != want.Message {
		return wrong("commit", m.contender, "author, committer, date or message is not the proposal's")
	}
	tree, err := v.objects.rewrite(base.Tree, v.changes(), v.used)
	if err != nil {
		return at("tree", base.Tree, err)
	}
	if tree != c.Tree {
		return wrong("commit", m.contender, "writing the approved files into the base gives tree %s, the commit has %s", tree, c.Tree)
	}
	v.say("commit " + m.contender + " is the approved files written into " + m.baseline + ", byte for byte")
	return nil
}

func (v *verifier) changes() []Change {
	var out []Change
	for _, p := range v.patches {
		for _, f := range p.Files {
			out = append(out, Change{Path: f.Path, Delete: f.Op == taskpack.OpDelete, Content: f.Content})
		}
	}
	return out
}
