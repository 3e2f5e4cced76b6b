package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// asker asks on one stream and reads answers, a line each, from another.
type asker struct {
	lines *bufio.Scanner
	out   io.Writer
}

// ask returns the answer to one question, fallback for an empty line. A question
// without a fallback is asked until it is answered, one whose answer does not do
// again; the end of the input is fault.Usage.
func (q asker) ask(what, fallback string, wrong func(string) string) (string, error) {
	for {
		fmt.Fprint(q.out, what)
		if fallback != "" {
			fmt.Fprintf(q.out, " [%s]", fallback)
		}
		fmt.Fprint(q.out, ": ")
		if !q.lines.Scan() {
			fmt.Fprintln(q.out)
			return "", fault.New(fault.Usage, "write order", "the answers end before %q", what).Help("answer every question, or pass flags")
		}
		answer := strings.TrimSpace(q.lines.Text())
		if answer == "" {
			answer = fallback
		}
		why := wrong(answer)
		if why == "" {
			return answer, nil
		}
		fmt.Fprintln(q.out, "  "+why)
	}
}

func something(answer string) string {
	if answer == "" {
		return "there is no default"
	}
	return ""
}

func oneOfWords(words []string) func(string) string {
	return func(answer string) string {
		if slices.Contains(words, answer) {
			return ""
		}
		return "one of: " + strings.Join(words, ", ")
	}
}

// askOrder asks for what the flags of c left open. An answer is what the flag would
// have been.
func (a *app) askOrder(c *cobra.Command, o *newOptions) error {
	q := asker{bufio.NewScanner(a.in), a.err}
	given := c.Flags().Changed
	var err error
	put := func(flag, what, fallback string, wrong func(string) string) string {
		if err != nil || given(flag) {
			return c.Flag(flag).Value.String()
		}
		var answer string
		answer, err = q.ask(what, fallback, wrong)
		return answer
	}
	if !given("target") && !given("artifact") {
		o.path = put("path", "Directory of the built programs, or the work tree", ".", something)
		o.kind = put("kind", "What it is: build or working_tree", order.BuildTree, oneOfWords([]string{order.BuildTree, order.WorkingTree}))
		if o.kind == order.BuildTree {
			o.sourceDir = put("source-dir", "Checkout that was built (- when the build says itself)", ".", something)
			if o.sourceDir == "-" {
				o.sourceDir = ""
			}
		}
	}
	o.adapter = put("adapter", "Harness", "gobench", oneOfWords(adapters(harnesses())))
	if err == nil && !given("suite") && !given("artifact") {
		var suite string
		if suite, err = q.ask("Suite, as the harness names it", "", something); err == nil {
			o.suites = []string{suite}
		}
	}
	if err == nil && !given("include") && !given("filter") {
		var pattern string
		if pattern, err = q.ask("Cases, a pattern of whole names with * and ?", "*", something); err == nil && pattern != "*" {
			o.include = []string{pattern}
		}
	}
	if err == nil {
		err = q.askAmounts(given, o)
	}
	if err != nil {
		return err
	}
	o.out = put("out", "File for the order (- for standard output)", "order.json", something)
	if o.out == "-" {
		o.out = ""
	}
	return err
}

// askAmounts asks what is measured and how often.
func (q asker) askAmounts(given func(string) bool, o *newOptions) error {
	h, err := harnesses().Find(o.adapter)
	if err != nil {
		return err
	}
	capable := h.Capabilities()
	if !given("quantity") {
		quantity, err := q.ask("Quantity", "wall-time", oneOfWords(capable.Quantities))
		if err != nil {
			return err
		}
		o.quantities = []string{quantity}
	}
	if capable.Bare && !given("repetitions") && !given("level") {
		text, err := q.ask("Repetitions of each case", strconv.Itoa(max(1, h.Defaults().Repetitions.Total())), whole)
		if err != nil {
			return err
		}
		o.repetitions, _ = strconv.Atoi(text) // whole has looked at it
	}
	if slices.Contains(capable.Calibration, order.Adaptive) && !given("min-time") && !given("iterations") {
		text, err := q.ask("Seconds that a repetition takes at least (- for the harness's own)", "-", seconds)
		if err != nil {
			return err
		}
		o.minTime, _ = strconv.ParseFloat(text, 64) // 0 for "-": not set
	}
	return nil
}

func whole(answer string) string {
	if n, err := strconv.Atoi(answer); err != nil || n < 1 {
		return "a whole number from 1"
	}
	return ""
}

func seconds(answer string) string {
	if f, err := strconv.ParseFloat(answer, 64); answer != "-" && (err != nil || !(f > 0)) {
		return "a number above 0"
	}
	return ""
}

// adapters are the names of all harnesses.
func adapters(set harness.Set) []string {
	names := make([]string, len(set))
	for i, h := range set {
		names[i] = h.Capabilities().Adapter
	}
	slices.Sort(names)
	return names
}
