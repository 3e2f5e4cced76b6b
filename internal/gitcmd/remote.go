package gitcmd

import (
	"context"
	"strings"

	"writ/internal/fault"
)

// Fetch brings objects and refs of a remote, given by path or URL. A refspec is
// git's "+source:destination", "source:destination", or an object id alone,
// which brings the objects only. Tags do not follow.
func (r Repo) Fetch(ctx context.Context, remote string, refspecs ...string) error {
	if err := checkRemote(remote); err != nil {
		return err
	}
	for _, s := range refspecs {
		if s == "" || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \n\x00") {
			return fault.New(fault.Invalid, "git fetch", "%.200q is no refspec", s)
		}
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--", remote}
	_, err := r.git(ctx, append(args, refspecs...)...)
	return err
}

// ReadRefs asks a remote for refs by full name. A ref that is not there is not
// in the answer.
func (r Repo) ReadRefs(ctx context.Context, remote string, refs ...string) (map[string]string, error) {
	if err := checkRemote(remote); err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if err := CheckRef(ref); err != nil {
			return nil, err
		}
	}
	a, err := r.git(ctx, append([]string{"ls-remote", "--quiet", "--", remote}, refs...)...)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(refs))
	for _, ref := range refs {
		wanted[ref] = true
	}
	out := make(map[string]string, len(refs))
	for line := range strings.Lines(string(a.out)) {
		id, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !IsID(id) {
			return nil, fault.New(fault.Forge, "git ls-remote", "line %.80q cannot be read", Scrub(line))
		}
		if wanted[ref] { // git matches the ends of names too
			out[ref] = id
		}
	}
	return out, nil
}

// PushAtomic moves refs of a remote, all or none, each only from the old value
// that its update names. fault.Conflict says which ref held something else, and
// that nothing moved. When the answer of the remote was lost but the refs hold
// the new values, the push was made, and there is no error.
//
// Git compares nothing for a ref that holds its new value already: it leaves it
// out and moves the others. So where one ref guards another, its new value must
// be one that nobody else could have written.
func (r Repo) PushAtomic(ctx context.Context, remote string, updates ...RefUpdate) error {
	if err := checkRemote(remote); err != nil {
		return err
	}
	args := []string{"push", "--quiet", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}
	var specs, refs []string
	for _, u := range updates {
		if err := u.check(); err != nil {
			return err
		}
		args = append(args, "--force-with-lease="+u.Ref+":"+u.Old)
		specs = append(specs, u.New+":"+u.Ref)
		refs = append(refs, u.Ref)
	}
	a, err := r.run(ctx, call{args: append(append(args, "--", remote), specs...)})
	if err == nil || fault.CodeOf(err) != fault.Forge {
		return err
	}
	held, readErr := r.ReadRefs(ctx, remote, refs...)
	if readErr != nil {
		return err
	}
	if moved(updates, held) {
		return nil
	}
	return judge(withReasons(err, a), updates, held)
}

// moved reports whether every ref holds its new value.
func moved(updates []RefUpdate, held map[string]string) bool {
	for _, u := range updates {
		if held[u.Ref] != u.New {
			return false
		}
	}
	return true
}

// withReasons puts the remote's own words about each refused ref into the
// error: lines "!<tab>source:ref<tab>[remote rejected] (why)".
func withReasons(err error, a answer) error {
	var reasons []string
	for line := range strings.Lines(string(a.out)) {
		if f := strings.SplitN(strings.TrimSpace(line), "\t", 3); len(f) == 3 && f[0] == "!" {
			_, ref, _ := strings.Cut(f[1], ":")
			reasons = append(reasons, ref+" "+f[2])
		}
	}
	if len(reasons) == 0 {
		return err
	}
	return fault.Wrap(err, fault.Forge, "git push", "%s", Scrub(strings.Join(reasons, "; ")))
}
