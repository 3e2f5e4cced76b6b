package googlebenchmark

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// Locate implements harness.Harness. The suite is an executable file below the
// target's path.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op = "locate suite"
	if !filepath.IsLocal(s.Suite) {
		return harness.Suite{}, fault.New(fault.OutsidePath, op, "%q leaves the target's directory", s.Suite).At("/suites/0/suite")
	}
	base, err := filepath.Abs(o.Target.Path)
	if err != nil {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "no working directory")
	}
	out := harness.Suite{
		Adapter: Name, Program: filepath.Join(base, s.Suite), Dir: base, SourceDir: o.Target.SourceDir,
		Filter: s.Filter, Protocol: protocol(), Traits: map[string]string{},
	}
	if info, err := os.Stat(out.Program); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "suite binary not found, or not executable: %s", out.Program).At("/suites/0/suite")
	}
	out.Shared = harness.LoadsMore(out.Program)
	for name := range o.EnvironmentVariables {
		if strings.HasPrefix(name, "BENCHMARK_") {
			return harness.Suite{}, fault.New(fault.Refused, op, "the library takes %s for a flag", name).
				At("/environment_variables/" + name).Help("say it in precision or parameters")
		}
	}
	if _, ordered := o.EnvironmentVariables["LC_ALL"]; !ordered {
		out.Traits[traitLocale] = "C"
	}
	if o.Target.Kind == order.BuildTree {
		cache, err := readCache(base)
		if err != nil {
			return harness.Suite{}, err
		}
		out.Configuration = cache.configuration()
		if out.SourceDir == "" {
			out.SourceDir = cache.source()
		}
	} else if out.SourceDir == "" {
		out.SourceDir = base
	}
	if err := place(&out, s); err != nil {
		return harness.Suite{}, err
	}
	return out, counters(&out, o, s)
}

// place settles the working directory.
func place(out *harness.Suite, s order.Suite) error {
	v, given := s.Parameters.Get(ParamDir)
	if !given {
		return nil
	}
	const op, pointer = "locate suite", "/suites/0/parameters/" + ParamDir
	dir, isText := v.String()
	if !isText || dir != "" && !filepath.IsLocal(dir) {
		return fault.New(fault.OutsidePath, op, "the working directory must be inside the source directory").At(pointer)
	}
	source, err := filepath.Abs(harness.FirstOf(out.SourceDir, out.Dir))
	if err != nil {
		return fault.Wrap(err, fault.Target, op, "no working directory")
	}
	out.Dir = filepath.Join(source, filepath.FromSlash(dir))
	if info, err := os.Stat(out.Dir); err != nil || !info.IsDir() {
		return fault.Wrap(err, fault.Target, op, "working directory not found: %s", out.Dir).At(pointer)
	}
	return nil
}

// counters notes which counters stand for quantities, and refuses quantities that
// nothing stands for.
func counters(out *harness.Suite, o order.Order, s order.Suite) error {
	const op, pointer = "locate suite", "/suites/0/parameters/" + ParamCounters
	v, given := s.Parameters.Get(ParamCounters)
	if given && v.Kind() != canon.Object {
		return fault.New(fault.Refused, op, "counters are an object of names by quantity").At(pointer)
	}
	for _, m := range v.Members() {
		counter, isText := m.Value.String()
		switch {
		case !slices.Contains(countable, m.Name):
			return fault.New(fault.Refused, op, "%q cannot be a counter; these can: %s", m.Name, strings.Join(countable, ", ")).At(pointer + "/" + m.Name)
		case !isText || counter == "" || slices.Contains(fields, counter):
			return fault.New(fault.Refused, op, "%s is no counter's name", m.Value.Canonical()).At(pointer + "/" + m.Name)
		}
		out.Traits[traitCounter+m.Name] = counter
	}
	for i, q := range o.Quantities {
		if slices.Contains(countable, q) && out.Traits[traitCounter+q] == "" {
			return fault.New(fault.Refused, op, "nothing says which counter %q is", q).At("/quantities/"+strconv.Itoa(i)).
				Help("name it in suites[].parameters.%s", ParamCounters)
		}
	}
	return nil
}
