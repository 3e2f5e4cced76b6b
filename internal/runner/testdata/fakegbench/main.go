// Command fakegbench behaves like a program that is linked with Google Benchmark,
// as far as a runner can see. What its benchmarks do is in a JSON document at the
// end of its own file, so that two of them are two programs:
//
//	{"seed": 1, "cases": {NAME: {"mean": s, "rsd": fraction}}, "error": [NAME…],
//	 "skip": [NAME…], "sleep": {NAME: s}, "ghost": [NAME…]}
//
// A ghost is listed and never reported.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type behaviour struct {
	Seed  uint64                                 `json:"seed"`
	Cases map[string]struct{ Mean, RSD float64 } `json:"cases"`
	Error []string                               `json:"error"`
	Skip  []string                               `json:"skip"`
	Sleep map[string]float64                     `json:"sleep"`
	Ghost []string                               `json:"ghost"`
}

const help = "benchmark [--benchmark_list_tests={true|false}]\n [--benchmark_filter=<regex>]\n" +
	" [--benchmark_min_time=`<integer>x` OR `<float>s` ]\n [--benchmark_min_warmup_time=<min_warmup_time>]\n" +
	" [--benchmark_repetitions=<num_repetitions>]\n [--benchmark_out=<filename>]\n [--benchmark_out_format=<json|console|csv>]\n"

func main() {
	b, exe, err := configured()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	flags := map[string]string{}
	for _, a := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		flags[name] = value
	}
	if _, asked := flags["help"]; asked {
		fmt.Print(help)
		return
	}
	filter := flags["benchmark_filter"]
	if filter == "" {
		filter = "."
	}
	names := b.selected(regexp.MustCompile(filter))
	if flags["benchmark_list_tests"] == "true" {
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	repetitions, err := strconv.Atoi(flags["benchmark_repetitions"])
	if err != nil {
		repetitions = 1
	}
	if len(names) == 0 { // the library has made the file by then
		_ = os.WriteFile(flags["benchmark_out"], nil, 0o644)
		fmt.Fprintln(os.Stderr, "Failed to match any benchmarks")
		return
	}
	rows := []map[string]any{}
	for _, name := range names {
		rows = append(rows, b.run(exe, name, repetitions)...)
	}
	out, err := json.Marshal(map[string]any{
		"context":    map[string]any{"library_version": "v1.9.1-fake", "library_build_type": "release", "num_cpus": 4, "host_name": "fake", "cpu_scaling_enabled": false},
		"benchmarks": rows,
	})
	if err == nil {
		err = os.WriteFile(flags["benchmark_out"], out, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// configured reads the document at the end of the program: JSON, its length as
// eight bytes.
func configured() (b behaviour, exe string, err error) {
	exe, err = os.Executable()
	if err != nil {
		return b, exe, err
	}
	raw, err := os.ReadFile(exe)
	if err != nil {
		return b, exe, err
	}
	end := len(raw) - 8
	start := end - int(binary.BigEndian.Uint64(raw[end:]))
	return b, exe, json.Unmarshal(raw[start:end], &b)
}

func (b behaviour) selected(filter *regexp.Regexp) []string {
	var names []string
	for name := range b.Cases {
		names = append(names, name)
	}
	names = slices.Concat(names, b.Error, b.Skip, b.Ghost)
	for name := range b.Sleep {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !filter.MatchString(n) })
}

func (b behaviour) run(exe, name string, repetitions int) (rows []map[string]any) {
	if s := b.Sleep[name]; s > 0 {
		time.Sleep(time.Duration(s * float64(time.Second)))
	}
	c, measured := b.Cases[name]
	if !measured && b.Sleep[name] > 0 {
		c.Mean = b.Sleep[name]
	}
	rng := rand.New(rand.NewPCG(b.Seed, turn(exe, name)))
	sum := 0.0
	row := func(more map[string]any) {
		r := map[string]any{"name": name, "run_name": name, "run_type": "iteration", "repetitions": repetitions, "threads": 1, "iterations": 1000, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
		for k, v := range more {
			r[k] = v
		}
		rows = append(rows, r)
	}
	for i := range repetitions {
		switch {
		case slices.Contains(b.Ghost, name):
			return nil
		case slices.Contains(b.Error, name):
			row(map[string]any{"repetition_index": i, "error_occurred": true, "error_message": "it broke"})
			return rows
		case slices.Contains(b.Skip, name):
			row(map[string]any{"repetition_index": i, "skipped": true, "skip_message": "not here"})
			return rows
		}
		t := c.Mean * (1 + c.RSD*rng.NormFloat64()) * 1e9
		sum += t
		row(map[string]any{"repetition_index": i, "real_time": t, "cpu_time": 0.99 * t})
	}
	if repetitions > 1 {
		for _, aggregate := range []string{"mean", "median"} {
			mean := sum / float64(repetitions)
			row(map[string]any{"name": name + "_" + aggregate, "run_type": "aggregate", "aggregate_name": aggregate, "aggregate_unit": "time", "iterations": repetitions, "real_time": mean, "cpu_time": 0.99 * mean})
		}
	}
	return rows
}

// turn counts how often a case was run, so that every run has its own noise and a
// test is the same each time.
func turn(exe, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	f, err := os.OpenFile(exe+"."+strconv.FormatUint(h.Sum64(), 36), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return 0
	}
	defer f.Close()
	_, _ = f.Write([]byte{1})
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}
