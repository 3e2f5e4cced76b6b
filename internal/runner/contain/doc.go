// Package contain makes environments of the kind writ-worktree/v1: a private
// clone with worktrees, own caches and home, and no network. Programs run inside
// in their own namespaces; where the kernel denies one, no environment is made.
//
// An environment is used by one run and destroyed after it, and its destruction
// is confirmed. What a crash left behind is swept. The package decides nothing
// about what runs inside, and never runs anything outside of the namespaces.
package contain
