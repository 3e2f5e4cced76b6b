package result

import (
	"net/url"
	"strings"

	"writ/internal/canon"
)

// IdentitySchema names the rule by which results belong to one series: project,
// normalised source, benchmark source and all coordinates as reported; never the
// revision of subject or benchmark.
const IdentitySchema = "benchx/prototype-identity/v1"

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
	type identity struct {
		Project     string      `json:"project"`
		Source      string      `json:"source"`
		Benchmark   string      `json:"benchmark,omitempty"`
		Coordinates Coordinates `json:"coordinates"`
	}
	id := identity{Project: d.Project, Source: NormalURI(d.Source.URI), Coordinates: d.Coordinates}
	if id.Project == "" {
		id.Project = project
	}
	if d.Benchmark != nil {
		id.Benchmark = NormalURI(d.Benchmark.Source.URI)
	}
	return hash("benchmark-comparison-v1", IdentitySchema, string(canon.MustFrom(id).Canonical()))
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

// prints are digests of the parts that have to be equal between results, taken
// once while the document is read.
type prints struct {
	attempt  canon.Digest // what results of one execution share
	settings canon.Digest // comparison context, resources, quantity, dataset
	subject  canon.Digest // components and configuration
	place    canon.Digest // environment schema, identity and system facts
	machine  canon.Digest // place, and the boot
}

func newPrints(v canon.Value) prints {
	part := func(pointers ...string) canon.Digest {
		var b []byte
		for _, p := range pointers {
			if x, ok := v.At(p); ok {
				b = x.AppendCanonical(b)
			}
			b = append(b, 0)
		}
		return canon.Sum(b)
	}
	return prints{
		attempt: part("/project", "/source", "/revision", "/benchmark", "/coordinates/workload", "/coordinates/subject",
			"/coordinates/environment/schema", "/coordinates/environment/identity", "/provenance/run_key",
			"/provenance/subject_dirty", "/provenance/benchmark_dirty", "/provenance/subject_tree", "/provenance/benchmark_tree"),
		settings: part("/coordinates/comparison_context", "/coordinates/resource_selection", "/coordinates/quantity", "/coordinates/workload/dataset"),
		subject:  part("/coordinates/subject/name", "/coordinates/subject/components", "/coordinates/subject/configuration", "/source"),
		place:    part("/coordinates/environment/schema", "/coordinates/environment/identity", "/coordinates/environment/system"),
		machine: part("/coordinates/environment/schema", "/coordinates/environment/identity", "/coordinates/environment/system",
			"/coordinates/environment/condition/"+BootID+"/value"),
	}
}

// SameAttempt reports whether two results agree on everything that results of
// one execution must share.
func SameAttempt(a, b *Result) bool { return a.prints.attempt == b.prints.attempt }

// SameSettings reports whether two results were taken under the same comparison
// context, resources, quantity (with unit and direction) and data set.
func SameSettings(a, b *Result) bool { return a.prints.settings == b.prints.settings }

// SameSubject reports whether two results have the same source, parts and build
// configuration; their revisions may differ.
func SameSubject(a, b *Result) bool { return a.prints.subject == b.prints.subject }

// SameMachine reports whether two results come from one environment: the same
// identity, the same system facts, and the same boot where it is recorded.
func SameMachine(a, b *Result) bool { return a.prints.machine == b.prints.machine }

// SameEnvironment reports whether two results come from one environment, perhaps
// of different boots.
func SameEnvironment(a, b *Result) bool { return a.prints.place == b.prints.place }
