package cli

import (
	"strings"
	"testing"
)

// What the flags of measuring cannot mean is refused before anything is looked at.
func TestMeasuringRefuses(t *testing.T) {
	t.Parallel()
	const compare, calibrate, bisect = "compare nosuch-a nosuch-b --suite s --rounds 6 ", "calibrate nosuch-a --suite s --rounds 6 --suites 1 ", "bisect nosuch-a nosuch-b --suite s --rounds 6 "
	for _, c := range []struct {
		line string
		exit int
		says string
	}{
		{"compare", 2, "give BASE and CONTENDER to measure, or --run KEY or --results DIR to read"},
		{"compare a b --run k", 2, "give two targets or --run, not both"},
		{"compare a b --results out", 2, "--results is for reading"},
		{"compare a b --baseline x", 2, "--baseline is for reading"},
		{"compare a b --profile revisions", 2, "--profile is for reading"},
		{"compare --run k --suite s", 2, "--suite is for measuring"},
		{"compare --results out --rounds 6", 2, "--rounds is for measuring"},
		{"compare nosuch-a --suite s", 2, "a comparison has two sides, and here are 1"},
		{"compare nosuch-a nosuch-b nosuch-c --suite s", 2, "here are 3"},
		{"compare --run k --run-key k", 2, "--run and --run-key say the same"},
		{"compare --run nosuch", 6, "results/nosuch cannot be read"},

		{"compare nosuch-a nosuch-b --rounds 6", 2, "pass --suite NAME"},
		{"compare nosuch-a nosuch-b --suite s", 2, "pass --rounds N"},
		{"compare nosuch-a nosuch-b --suite s --rounds 100000", 2, "100000 rounds, at most 1000 can be judged"},
		{compare + "--order sometimes", 2, "random, abba or baseline-first"},
		{compare + "--order abba --seed 3", 2, "--seed says nothing"},
		{compare + "--seed -4", 2, "--seed -4"},
		{compare + "--case-timeout 0", 2, "--case-timeout"},
		{compare + "--label build", 2, `--label "build" is no NAME=BASE,CONTENDER`},
		{compare + "--label build=x,x", 2, "two different values"},
		{compare + "--label build=x,y,z", 2, "two different values"},
		{compare + "--label side=x,y", 2, "is given by this command"},
		{compare + "--label stages=x,y", 2, "is given by this command"},
		{compare + "--second-stage 100000", 2, "--second-stage 100000 after 6 rounds"},
		{compare + "--second-stage -1", 2, "--second-stage -1 after 6 rounds"},
		{compare + "--second-stage 6 --until-precise", 2, "two rules for one end"},
		{compare + "--until-precise --method benchx/paired-relative", 2, "a fixed number of rounds only"},
		{compare + "--method nosuch", 2, `there is no method "nosuch"`},
		{compare + "--format pdf", 2, `there is no format "pdf"`},
		{compare + "--run-key a\tb", 2, "has spaces or control characters"},
		{compare + "--run-key a --run-key b", 2, "one comparison has one run key"},
		{compare + "--policy nosuch.json", 2, "nosuch.json cannot be read"},
		{compare + "--build 'x", 2, "is not closed"},
		{compare + `--build ""`, 2, "has no program"},
		{compare + "--build-dir ../x", 2, "leaves the worktree"},
		{compare + "--build-timeout 0s", 2, "--build-timeout"},
		{compare + "--min-time 1 --iterations 2", 2, "min-time"},
		{compare + "--filter a --include b", 2, "filter"},
		{compare + "--environment lab", 2, `--environment "lab" is no NAME@VERSION`},
		{compare + "--repo /nosuch", 6, "is no repository"},
		{compare, 6, `there is no file and no revision "nosuch-a"`},

		{"calibrate nosuch-a --suite s --rounds 6", 2, "pass --suites N, from 1 to 10000"},
		{"calibrate nosuch-a --suite s --rounds 6 --suites 10001", 2, "from 1 to 10000"},
		{"calibrate nosuch-a --suite s --suites 3", 2, "pass --rounds N"},
		{"calibrate nosuch-a --rounds 6 --suites 3", 2, "pass --suite NAME"},
		{calibrate + "another", 2, "accepts 1 arg"},
		{calibrate + "--policy nosuch.json", 2, "nosuch.json cannot be read"},
		{calibrate, 6, `no revision "nosuch-a"`},

		{"bisect nosuch-a", 2, "accepts 2 arg"},
		{"bisect nosuch-a nosuch-b --suite s", 2, "pass --rounds N"},
		{"bisect nosuch-a nosuch-b --rounds 6", 2, "pass --suite NAME"},
		{bisect + "--tries -1", 2, "--tries -1 is below 0"},
		{bisect + "--policy nosuch.json", 2, "nosuch.json cannot be read"},
		{bisect + "--repo /nosuch", 6, "/nosuch is not a git repository"},
		{bisect, 6, "nosuch-a"},
	} {
		a, out, err := newApp(t, "")
		if got := a.run(t.Context(), spaced(c.line)); got != c.exit || !strings.Contains(err.String(), c.says) || out.Len() > 0 {
			t.Errorf("writ %s: exit %d, want %d with %q\n%s%s", c.line, got, c.exit, c.says, out, err)
		}
	}
}

// spaced takes a line apart at single spaces; \t stands for a space in a word.
func spaced(line string) (words []string) {
	for w := range strings.SplitSeq(strings.TrimSpace(line), " ") {
		words = append(words, strings.ReplaceAll(w, "\t", " "))
	}
	return words
}
