package result

import (
	"net/url"
	"strings"
	"sync"

	"writ/internal/canon"
)

// Rules by which results belong together. Neither looks at the revision of subject
// or benchmark, or at the conditions of the machine, which are never the same twice.
const (
	// IdentitySchema takes project, normalised source, benchmark source and all
	// coordinates as reported: paired-relative comparisons name their series by it.
	IdentitySchema = "benchx/prototype-identity/v1"
	// HistoryIdentity is the rule of our own store. It leaves out of the coordinates
	// what a comparison draws or finds out anew each time, see HistoryPrint.
	HistoryIdentity = "writ/identity/v1"
)

// hash joins parts by one zero byte and hashes them.
func hash(parts ...string) canon.Digest {
	return canon.Sum([]byte(strings.Join(parts, "\x00")))
}

// ReportedPrint fingerprints the coordinates exactly as reported.
func ReportedPrint(d Document) canon.Digest {
	type reported struct {
		Project     string      `json:"project,omitempty"`
		Source      Source      `json:"source"`
		Benchmark   *Benchmark  `json:"benchmark,omitempty"`
		Coordinates Coordinates `json:"coordinates"`
	}
	v := canon.MustFrom(reported{d.Project, d.Source, d.Benchmark, d.Coordinates})
	return hash("benchmark-reported-coordinates-v1", string(v.Canonical()))
}

// ComparisonPrint fingerprints what must be equal for two results to be of one
// series, under IdentitySchema. project is the store's own when the result has
// none.
func ComparisonPrint(d Document, project string) canon.Digest {
	return comparisonPrint(IdentitySchema, d, project)
}

// HistoryPrint is ComparisonPrint under HistoryIdentity. Beyond the conditions it
// leaves out the environment's metadata, the seed of a schedule, and an iteration
// count that was found by calibrating: how long a sample was to take stays.
func HistoryPrint(d Document, project string) canon.Digest {
	d.Coordinates.Environment.Metadata = canon.Value{}
	context := d.Coordinates.ComparisonContext
	if protocol, ok := context.Get("protocol"); ok {
		if schedule, ok := protocol.Get("schedule"); ok {
			protocol = protocol.With("schedule", schedule.Without("seed"))
		}
		if c, ok := protocol.Get("calibration"); ok && c.Has(CalibratedSeconds) {
			protocol = protocol.With("calibration", c.Without("n_iterations"))
		}
		d.Coordinates.ComparisonContext = context.With("protocol", protocol)
	}
	return comparisonPrint(HistoryIdentity, d, project)
}

// CalibratedSeconds is a member of a recorded calibration whose iteration count was
// not ordered by anybody, but chosen so that a sample takes that long.
const CalibratedSeconds = "calibrated_seconds"

func comparisonPrint(schema string, d Document, project string) canon.Digest {
	type identity struct {
		Project     string      `json:"project"`
		Source      string      `json:"source"`
		Benchmark   string      `json:"benchmark,omitempty"`
		Coordinates Coordinates `json:"coordinates"`
	}
	d.Coordinates.Environment.Condition = nil
	id := identity{Project: d.Project, Source: NormalURI(d.Source.URI), Coordinates: d.Coordinates}
	if id.Project == "" {
		id.Project = project
	}
	if d.Benchmark != nil {
		id.Benchmark = NormalURI(d.Benchmark.Source.URI)
	}
	return hash("benchmark-comparison-v1", schema, string(canon.MustFrom(id).Canonical()))
}

// EstimatorPrint fingerprints an estimator.
func EstimatorPrint(e Estimator) canon.Digest {
	return hash("benchmark-estimator-v1", string(canon.MustFrom(e).Canonical()))
}

// SeriesPrint names the series of a comparison identity under one estimator.
func SeriesPrint(comparison, estimator canon.Digest) canon.Digest {
	return hash("benchmark-series-v6", comparison.Hex(), estimator.Hex())
}

// ImplicitProject is the project of a result that names none: results of one
// machine stay together and never join a tracked series by themselves.
func ImplicitProject(d Document) string {
	for _, name := range []string{"runner", "hostname"} {
		if s := d.Coordinates.Environment.Identity.Str(name); s != "" {
			return "local/" + s
		}
	}
	return "local/unknown"
}

// NormalURI folds the spellings of one repository: lower-case scheme and host,
// no slash and no .git at the end, no query and no fragment. Text that is no URI
// stays as it is.
func NormalURI(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || !u.IsAbs() {
		return uri
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	s := strings.TrimRight(u.String(), "/")
	return strings.TrimRight(strings.TrimSuffix(s, ".git"), "/")
}

// prints are digests of the parts that have to be equal between results.
type prints struct {
	attempt  canon.Digest // what results of one execution share
	settings canon.Digest // comparison context, resources, quantity, dataset
	subject  canon.Digest // components and configuration
	place    canon.Digest // environment schema, identity and system facts
	machine  canon.Digest // place, and the boot
}

// printed is the prints of a result: of one that was read, taken at once; of one
// that was built, when they are first asked for, because whoever measures never
// asks. It is safe for concurrent use.
type printed struct {
	once sync.Once
	raw  []byte // to read them from; nil when they are there
	are  prints
}

func printedOf(v canon.Value) *printed { return &printed{are: newPrints(v)} }

func (p *printed) get() *prints {
	p.once.Do(func() {
		if p.raw != nil {
			v, _ := canon.Parse(p.raw) // our own canonical bytes
			p.are, p.raw = newPrints(v), nil
		}
	})
	return &p.are
}

func newPrints(v canon.Value) prints {
	coordinates, _ := v.Get("coordinates")
	environment, _ := coordinates.Get("environment")
	subject, _ := coordinates.Get("subject")
	workload, _ := coordinates.Get("workload")
	provenance, _ := v.Get("provenance")
	boot, _ := environment.At("/condition/" + BootID + "/value")

	b := make([]byte, 0, 4096)
	add := func(from canon.Value, names ...string) {
		for _, n := range names {
			if x, ok := from.Get(n); ok {
				b = x.AppendCanonical(b)
			}
			b = append(b, 0)
		}
	}
	take := func() canon.Digest {
		d := canon.Sum(b)
		b = b[:0]
		return d
	}
	var p prints
	add(v, "project", "source", "revision", "benchmark")
	add(coordinates, "workload", "subject")
	add(environment, "schema", "identity")
	add(provenance, "run_key", "subject_dirty", "benchmark_dirty", "subject_tree", "benchmark_tree")
	p.attempt = take()
	add(coordinates, "comparison_context", "resource_selection", "quantity")
	add(workload, "dataset")
	p.settings = take()
	add(subject, "name", "components", "configuration")
	add(v, "source")
	p.subject = take()
	add(environment, "schema", "identity", "system")
	p.place = canon.Sum(b)
	b = boot.AppendCanonical(b)
	p.machine = take()
	return p
}

// AttemptPrint fingerprints what results of one execution share: two results with
// one attempt key and two of these cannot both be true.
func AttemptPrint(r *Result) canon.Digest { return r.prints.get().attempt }

// SameAttempt reports whether two results agree on everything that results of
// one execution must share.
func SameAttempt(a, b *Result) bool { return a.prints.get().attempt == b.prints.get().attempt }

// SameSettings reports whether two results were taken under the same comparison
// context, resources, quantity (with unit and direction) and data set.
func SameSettings(a, b *Result) bool { return a.prints.get().settings == b.prints.get().settings }

// SameSubject reports whether two results have the same source, parts and build
// configuration; their revisions may differ.
func SameSubject(a, b *Result) bool { return a.prints.get().subject == b.prints.get().subject }

// SameMachine reports whether two results come from one environment: the same
// identity, the same system facts, and the same boot where it is recorded.
func SameMachine(a, b *Result) bool { return a.prints.get().machine == b.prints.get().machine }

// SameEnvironment reports whether two results come from one environment, perhaps
// of different boots.
func SameEnvironment(a, b *Result) bool { return a.prints.get().place == b.prints.get().place }
