package docket

import (
	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// Shown is what a reviewer reads: the proposal, and the candidate with its
// patches in the order of its steps, as one canonical object.
func Shown(p proposal.Proposal, c taskpack.Candidate, patches []taskpack.Patch) ([]byte, error) {
	files := make([]canon.Value, len(patches))
	for i, patch := range patches {
		files[i] = patch.Value
	}
	return canon.Marshal(map[string]canon.Value{"proposal": p.Value, "candidate": c.Value, "patches": canon.ArrayOf(files...)})
}
