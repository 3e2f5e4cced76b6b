package capture

import (
	"slices"
	"strings"
)

// allowed are the variables that change what a numeric program does and hold no
// secrets.
var allowed = []string{
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
	"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_PRELOAD",
}

// AllowListVariable names the variable whose comma-separated value adds names to
// the list of what may be recorded.
const AllowListVariable = "WRIT_ENV_ALLOWLIST"

// Environ picks from environ (NAME=VALUE) the variables that may be recorded: the
// built-in list, the harness's own, and what the operator lists. Everything else
// may be a secret. It returns nil when there is none.
func Environ(environ, harness []string, operator string) map[string]string {
	names := slices.Concat(allowed, harness)
	for name := range strings.SplitSeq(operator, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	var out map[string]string
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !slices.Contains(names, name) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value // the last one counts, as it does for most programs
	}
	return out
}

// Merge sets variables on top of an environment, sorted by name, each name once:
// the same variables give the same bytes, whatever they were set on.
func Merge(environ []string, variables map[string]string) []string {
	all := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	for name, value := range variables {
		all[name] = value
	}
	out := make([]string, 0, len(all))
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
