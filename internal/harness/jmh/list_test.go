package jmh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func second[T any](_ T, err error) error { return err }

func pointerOf(err error) string {
	if e, ok := fault.As(err); ok && e.Code == fault.Refused {
		return e.Pointer
	}
	return ""
}

func TestCaseNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"org.sample.Sums.loop", "a.B$C.d_1", "Bär.größe", "a.b:size=10", "a.b:k=v=w:x,z=a b"} {
		if c, ok := parseCase(name); !ok || c.String() != name {
			t.Errorf("%q: %+v %v", name, c, ok)
		}
	}
	for _, name := range []string{"", "a b", "a:", "a:x", "a:=1", "a:x=", "a:x=1,", "a:x=1,x=2", "a:x= 1", "a:x=1\n", "-l", "a.b\\E", "\xff"} {
		if c, ok := parseCase(name); ok {
			t.Errorf("%q: %+v", name, c)
		}
	}
}

const listing = `Benchmarks: 
org.sample.Sums.loop
  param "text" = {a b, c=d}
  param "size" = {10, 1000}
org.sample.Sums.loop
  param "text" = {a b, c=d}
  param "size" = {10, 1000}
org.sample.Sums.plain
`

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) []harness.Output {
		out := harnesstest.Ended(exit, nil)
		out.Stdout = []byte(text)
		return []harness.Output{out}
	}
	combinations := []string{
		"org.sample.Sums.loop:size=10,text=a b", "org.sample.Sums.loop:size=1000,text=a b", "org.sample.Sums.loop:size=10,text=c=d", "org.sample.Sums.loop:size=1000,text=c=d", "org.sample.Sums.plain",
	}
	for name, tc := range map[string]struct {
		text  string
		fixed string
		want  []string
	}{
		"parameters":     {listing, "", combinations},
		"line ends":      {"WARNING: something\r\n" + strings.ReplaceAll(listing, "\n", "\r\n"), "", combinations},
		"one is fixed":   {listing, "size", []string{"org.sample.Sums.loop:text=a b", "org.sample.Sums.loop:text=c=d", "org.sample.Sums.plain"}},
		"nothing listed": {"Benchmarks: \n", "", nil},
	} {
		s := harness.Suite{Filter: "Sums", Traits: map[string]string{}}
		if tc.fixed != "" {
			s.Traits[traitFixed+tc.fixed] = "7"
		}
		cases, err := Adapter{}.Cases(s, list(0, tc.text))
		var got []string
		for _, c := range cases {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	huge := "Benchmarks:\na.b\n" + strings.Repeat("  param \"x\" = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\n", 9)
	for name, listed := range map[string][]harness.Output{
		"failed": list(1, listing), "no list": list(0, "Error: no main manifest attribute\n"), "odd line": list(0, listing+"some words\n"), "a comma in a value": list(0, "Benchmarks:\na.b\n  param \"x\" = {1,2, 3}\n"),
		"an empty value": list(0, "Benchmarks:\na.b\n  param \"x\" = {}\n"), "a parameter of nothing": list(0, "Benchmarks:\n  param \"x\" = {1}\n"), "too many": list(0, huge),
	} {
		if cases, err := (Adapter{}).Cases(harness.Suite{}, listed); fault.CodeOf(err) != fault.Harness {
			t.Errorf("%s: %d cases, %v", name, len(cases), err)
		}
	}
	if err := second(Adapter{}.Cases(harness.Suite{}, nil)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}

// FuzzCases: whatever is listed, every case can be selected by its name.
func FuzzCases(f *testing.F) {
	f.Add([]byte(listing))
	f.Add([]byte("Benchmarks:\na\n param \"x\" = {1}\n param \"x\" = {2}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := harnesstest.Ended(0, nil)
		out.Stdout = b
		cases, err := Adapter{}.Cases(harness.Suite{}, []harness.Output{out})
		for _, c := range cases {
			if parsed, ok := parseCase(c.Name); err != nil || !ok || parsed.String() != c.Name {
				t.Errorf("%q %v", c.Name, err)
			}
		}
	})
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for _, name := range []string{"java", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "words.jar"), []byte("words"), 0o644); err != nil {
		t.Fatal(err)
	}
	jar(t, filepath.Join(dir, "thin.jar"), map[string]string{"org/sample/Sums.class": ""})
	jar(t, filepath.Join(dir, "bare.jar"), map[string]string{benchmarkList: ""})
	for name, tc := range map[string]struct {
		suite, parameters string
		variable          string
		workload          map[string]canon.Value
		code              fault.Code
		pointer           string
		version           string
	}{
		"fine":             {"target/benchmarks.jar", `{"jvm_arguments":["-Xmx1g","-XX:+UseSerialGC"]}`, "", map[string]canon.Value{"size": canon.IntOf(7)}, "", "", "1.37"},
		"another launcher": {"target/benchmarks.jar", `{"java":"other"}`, "", nil, "", "", "1.37"},
		"no version":       {"bare.jar", `{}`, "", nil, "", "", "1"},
		"no such jar":      {"none.jar", `{}`, "", nil, fault.Target, "/suites/0/suite", ""},
		"no archive":       {"words.jar", `{}`, "", nil, fault.Target, "/suites/0/suite", ""},
		"no benchmarks":    {"thin.jar", `{}`, "", nil, fault.Target, "/suites/0/suite", ""},
		"no launcher":      {"bare.jar", `{"java":"none"}`, "", nil, fault.Target, "/suites/0/suite", ""},
		"odd arguments":    {"bare.jar", `{"jvm_arguments":["-Da=b c"]}`, "", nil, fault.Refused, "/suites/0/parameters/jvm_arguments", ""},
		"no arguments":     {"bare.jar", `{"jvm_arguments":"-Xmx1g"}`, "", nil, fault.Refused, "/suites/0/parameters/jvm_arguments", ""},
		"a list of values": {"bare.jar", `{}`, "", map[string]canon.Value{"size": canon.StringOf("1,2")}, fault.Refused, "/workload_parameters/size", ""},
		"a variable":       {"bare.jar", `{}`, "JAVA_TOOL_OPTIONS", nil, fault.Refused, "/environment_variables/JAVA_TOOL_OPTIONS", ""},
	} {
		v, err := canon.Parse([]byte(tc.parameters))
		if err != nil {
			t.Fatal(err)
		}
		o := buildOrder(dir, "wall-time")
		o.Suites[0].Suite, o.Suites[0].Parameters, o.WorkloadParameters = tc.suite, v, tc.workload
		if tc.variable != "" {
			o.EnvironmentVariables = map[string]string{tc.variable: "-Xmx1g"}
		}
		s, err := Adapter{Path: dir}.Locate(o, o.Suites[0])
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.code || e != nil && e.Pointer != tc.pointer {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (s.Version != tc.version || s.Dir != dir || !s.Shared || len(tc.workload) > 0 && (s.Traits[traitFixed+"size"] != "7" || s.Traits[traitArguments] != "-Xmx1g -XX:+UseSerialGC")) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestTheProfilerIsInTheProtocol: a machine that also counts allocations is another
// way to measure.
func TestTheProfilerIsInTheProtocol(t *testing.T) {
	t.Parallel()
	dir := project(t)
	if err := os.WriteFile(filepath.Join(dir, "java"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, quantities := range [][]string{{"wall-time"}, {"wall-time", "allocated-bytes"}} {
		o := buildOrder(dir, quantities...)
		s, err := Adapter{Path: dir}.Locate(o, o.Suites[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, on := s.Protocol["profiler"]; on != (len(quantities) == 2) || (s.Traits[traitGC] != "") != on {
			t.Errorf("%v: %+v", quantities, s)
		}
	}
}

// TestInvocation is the precision matrix: arguments, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/bin/java", Dir: "/build", Traits: map[string]string{traitJar: "/build/b.jar"}}
	two := 2
	levels := func(levels ...order.Level) order.Repetitions { return order.Repetitions{Levels: levels} }
	adaptive := func(s float64) *order.Calibration {
		return &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s}
	}
	counted := &order.Warmup{Mode: order.Count, NWarmup: &two}
	fixed := &order.Calibration{Mode: order.Fixed, NIterations: 30}
	for name, tc := range map[string]struct {
		p       order.Precision
		want    string // arguments behind the file
		refused string // pointer
	}{
		"defaults":        {order.Precision{Repetitions: levels()}, "-f 5 -i 5 -wi 5 -r 10s -w 10s", ""},
		"bare":            {order.Precision{Repetitions: order.Times(7)}, "-f 1 -i 7 -wi 5 -r 10s -w 10s", ""},
		"levels":          {order.Precision{Repetitions: levels(order.Level{Unit: Process, N: 2}, order.Level{Unit: Iteration, N: 3}), Calibration: adaptive(0.1), Warmup: counted}, "-f 2 -i 3 -wi 2 -r 100ms -w 100ms", ""},
		"one level":       {order.Precision{Repetitions: levels(order.Level{Unit: Iteration, N: 3}), Calibration: adaptive(0.0000015)}, "-f 5 -i 3 -wi 5 -r 1500ns -w 1500ns", ""},
		"no warm-up":      {order.Precision{Repetitions: order.Times(1), Calibration: adaptive(2.5), Warmup: &order.Warmup{Mode: order.None}}, "-f 1 -i 1 -wi 0 -r 2500ms", ""},
		"warm-up by time": {order.Precision{Repetitions: order.Times(1), Calibration: adaptive(1), Warmup: &order.Warmup{Mode: order.Time, Seconds: 0.25}}, "-f 1 -i 1 -wi 1 -r 1s -w 250ms", ""},
		"fixed":           {order.Precision{Repetitions: order.Times(4), Calibration: fixed, Warmup: counted}, "-f 1 -i 4 -wi 2 -bs 30 -wbs 30", ""},
		"fixed with time": {order.Precision{Repetitions: order.Times(4), Calibration: fixed, Warmup: &order.Warmup{Mode: order.Time, Seconds: 1}}, "", "/precision/warmup/mode"},
		"another level":   {order.Precision{Repetitions: levels(order.Level{Unit: "fork", N: 2})}, "", "/precision/repetitions/levels/0/unit"},
		"twice the same":  {order.Precision{Repetitions: levels(order.Level{Unit: Process, N: 2}, order.Level{Unit: Process, N: 2})}, "", "/precision/repetitions/levels/1/unit"},
		"no forks (E-54)": {order.Precision{Repetitions: levels(order.Level{Unit: Process, N: 0})}, "", "/precision/repetitions"},
		"not whole":       {order.Precision{Repetitions: order.Times(1), Calibration: adaptive(3.0000000015)}, "", "/precision/calibration/minimum_sample_seconds"},
		"no time":         {order.Precision{Repetitions: order.Times(1), Calibration: adaptive(0)}, "", "/precision/calibration/minimum_sample_seconds"},
		"no warm-up time": {order.Precision{Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.Time}}, "", "/precision/warmup/seconds"},
		"no calls":        {order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Fixed}}, "", "/precision/calibration/n_iterations"},
	} {
		inv, err := Adapter{}.Invocation(s, "a.B$C.d:k=v", tc.p)
		if tc.refused != "" {
			if pointerOf(err) != tc.refused {
				t.Errorf("%s: %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		mode := "avgt"
		if strings.HasPrefix(name, "fixed") {
			mode = "ss"
		}
		want := append([]string{"/bin/java", "-jar", "/build/b.jar", `^\Qa.B$C.d\E$`, "-bm", mode, "-tu", "ns", "-foe", "true", "-rf", "json", "-rff", harness.InExchange(nativeFile)}, strings.Fields(tc.want)...)
		if diff := cmp.Diff(append(want, "-p", "k=v"), inv.Argv); diff != "" || err != nil || inv.Variables["JAVA_TOOL_OPTIONS"] != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	s.Traits[traitGC], s.Traits[traitArguments], s.Traits[traitFixed+"size"] = "yes", "-Xmx1g", "7"
	inv, err := Adapter{}.Invocation(s, "a.b", ordered(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"-prof", "gc", "-jvmArgs", "-Xmx1g", "-p", "size=7"}, inv.Argv[len(inv.Argv)-6:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "a b", "a:x"} {
		if err := second(Adapter{}.Invocation(s, bad, ordered(1, 1))); pointerOf(err) != "/plan" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
