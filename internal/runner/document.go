package runner

import (
	"maps"
	"slices"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// stamp spells a time as documents do: RFC 3339, UTC, with Z.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// build makes the result of one entry. Output that cannot be made into a valid
// document becomes an error result that says so.
func (r *run) build(c planned, e order.Entry, a attempt, artifacts []result.Artifact) (result.Result, error) {
	m, ok := a.reading.Quantities[e.Quantity]
	if !ok {
		m = harness.All([]string{e.Quantity}, result.Failed, result.ReasonMapping, "").Quantities[e.Quantity]
		m.Message = "the adapter says nothing about it"
	}
	x, err := result.New(r.document(c, e, a, m, artifacts))
	if err == nil {
		return x, nil
	}
	m = harness.All([]string{e.Quantity}, result.Failed, result.ReasonMapping, "").Quantities[e.Quantity]
	m.Message = err.Error()
	if m.Unit == "" {
		m.Unit = "1" // the quantity is not known by name
	}
	plain := a
	plain.reading.InnerIterations, plain.reading.Facts, plain.reading.Warnings = nil, nil, nil
	x, again := result.New(r.document(c, e, plain, m, artifacts))
	if again != nil {
		return result.Result{}, fault.Wrap(again, fault.Internal, "write result", "no valid document for %s of %s", e.Quantity, c.name)
	}
	return x, nil
}

func (r *run) document(c planned, e order.Entry, a attempt, m harness.Measured, artifacts []result.Artifact) result.Document {
	o, at := r.order, max(c.suite, 0)
	su := r.found[at]
	known, _ := result.Known(e.Quantity)
	from := r.origins[at]
	d := result.Document{
		Producer:   r.harnesses[at].Producer(),
		AttemptKey: result.RetryKey(o.Digest(), c.index, c.attempt),
		Project:    o.Project,
		Source:     result.Source(o.Target.Source),
		Revision:   result.Revision{Key: r.identity.Revision},
		Benchmark:  &from.benchmark,
		Coordinates: result.Coordinates{
			Workload:          r.workload(c.name),
			Subject:           subject(o, su),
			Quantity:          result.Quantity{Name: e.Quantity, Unit: m.Unit, Direction: known.Direction},
			ComparisonContext: r.compared(at),
			Environment:       r.environment,
		},
		Measurement: result.Measurement{Status: m.Status, Reason: m.Reason, Observations: observations(m), Summaries: m.Summaries},
		Procedure:   r.procedure(a, m),
		Provenance: result.Provenance{
			RunKey: o.RunKey, Labels: o.Labels, NativeID: c.name,
			StartedAt: stamp(a.started), EndedAt: stamp(a.ended),
			SubjectDirty: r.identity.Dirty, SubjectTree: r.identity.Tree,
			BenchmarkDirty: from.dirty, BenchmarkTree: from.tree,
			Runner: &r.Runner, OriginalUnit: m.OriginalUnit, Artifacts: artifacts, Info: r.info(c, e, a, m),
		},
	}
	d.Coordinates.Environment.Condition = a.condition
	d.ObservedContext = observed(r.context, a.condition, r.noticed(a))
	d.Coordinates.ResourceSelection = selection(r.regime.settings)
	doubts := []string{}
	if from.warning != "" {
		doubts = append(doubts, from.warning)
	}
	if w := mergeTokens(r.warnings, a.reading.Warnings, a.warnings, doubts); len(w) > 0 {
		d.Quality = &result.Quality{Warnings: w}
	}
	return d
}

// selection is what of the machine's resources a policy has chosen, null for all.
func selection(s policy.Settings) canon.Value {
	chosen := map[string]string{}
	for name, value := range map[string]string{"cpus": s.CPUs, "gpu": s.Device} {
		if value != "" {
			chosen[name] = value
		}
	}
	if len(chosen) == 0 {
		return canon.Value{}
	}
	return canon.MustFrom(chosen)
}

// observations are the values of a measurement, with the process of each where
// there was more than one.
func observations(m harness.Measured) []result.Observation {
	out := result.Values(m.Values...)
	if len(m.Groups) != len(out) {
		return out
	}
	for i := range out {
		n := i
		out[i].Ordinal, out[i].Group = &n, m.Groups[i]
	}
	return out
}

// observed adds the load at the start to the facts for older readers, and what the
// policy is about.
func observed(facts map[string]canon.Value, condition capture.Block, noticed map[string]canon.Value) canon.Value {
	out := maps.Clone(facts)
	if out == nil {
		out = map[string]canon.Value{}
	}
	maps.Copy(out, noticed)
	if load := condition["load.avg_1m"]; load.Status == result.SeenOK {
		out["load_avg_1m"] = load.Value
	}
	if len(out) == 0 {
		return canon.Value{}
	}
	return canon.MustFrom(out)
}

// configuration is how the subject was built, as the program itself and the order
// say; null when neither does.
func configuration(o order.Order, su harness.Suite) canon.Value {
	all, options := map[string]canon.Value{}, map[string]string{}
	for name, value := range su.Configuration {
		if option, ok := strings.CutPrefix(name, "options."); ok {
			options[option] = value
		} else {
			all[name] = canon.StringOf(value)
		}
	}
	if len(options) > 0 {
		all["options"] = canon.MustFrom(options)
	}
	if o.Build != nil {
		all["declared"] = canon.MustFrom(o.Build)
	}
	if len(all) == 0 {
		return canon.Value{}
	}
	return canon.MustFrom(all)
}

// compared is the comparison context of a suite, made once: it is the same for all
// its cases.
func (r *run) compared(suite int) canon.Value {
	v, made := r.contexts[suite]
	if !made {
		if r.contexts == nil {
			r.contexts = map[int]canon.Value{}
		}
		v = r.comparison(suite)
		r.contexts[suite] = v
	}
	return v
}

// comparison is what must be equal for two results to be compared: harness,
// intended protocol and runtime.
func (r *run) comparison(suite int) canon.Value {
	su := r.found[suite]
	protocol, err := r.order.Precision.Protocol(r.harnesses[suite].Defaults())
	if err != nil {
		protocol = canon.MustFrom(map[string]string{}) // cannot happen for a parsed order
	}
	for _, name := range slices.Sorted(maps.Keys(su.Protocol)) {
		protocol = protocol.With(name, su.Protocol[name])
	}
	protocol = r.regime.protocol(protocol)
	if c, ok := protocol.Get("calibration"); ok && r.sample > 0 {
		protocol = protocol.With("calibration", c.With(result.CalibratedSeconds, canon.MustFrom(r.sample)))
	}
	if r.order.Schedule != nil {
		protocol = protocol.With("schedule", canon.MustFrom(r.order.Schedule))
	}
	parts := map[string]canon.Value{
		"harness":  canon.MustFrom(map[string]string{"name": su.Adapter, "version": su.Version}),
		"protocol": protocol,
	}
	if len(su.Runtime) > 0 {
		parts["runtime"] = canon.MustFrom(su.Runtime)
	}
	return canon.MustFrom(parts)
}

// procedure is what was really done.
func (r *run) procedure(a attempt, m harness.Measured) result.Procedure {
	limit := r.order.Timeouts.CaseS
	p := result.Procedure{Slot: r.Slot, Round: r.order.Round, TimeoutSeconds: &limit, Extra: r.gap.steps()}
	if !a.ran {
		return p
	}
	wall := a.process.Wall.Seconds()
	p.DurationSeconds = &wall
	if n := a.reading.Attempted; n > 0 {
		done := min(len(m.Values), n)
		p.AttemptedRepetitions, p.CompletedRepetitions = &n, &done
		p.RepetitionLevels = []result.LevelCounts{{Unit: order.PlainUnit, Attempted: n, Completed: done}}
		if levels := a.reading.Levels; len(levels) > 0 {
			inner := levels[len(levels)-1]
			p.AttemptedRepetitions, p.CompletedRepetitions, p.RepetitionLevels = &inner.Attempted, &inner.Completed, levels
		}
		warmups := a.reading.Warmups
		p.WarmupsPerformed = &warmups
	}
	if n := a.reading.InnerIterations; len(n) > 0 && !slices.ContainsFunc(n, func(x int) bool { return x != n[0] }) {
		p.InnerIterations = &n[0]
	}
	return p
}

// info is the rest, for audits.
func (r *run) info(c planned, e order.Entry, a attempt, m harness.Measured) map[string]canon.Value {
	info := r.order.Target.Declared()
	info[result.InfoWorkOrder] = canon.StringOf(r.order.Ref())
	info[result.InfoDomainHash] = canon.StringOf(r.order.DomainHash().Hex())
	info[result.InfoPlanEntry] = canon.StringOf(e.ID)
	info[result.InfoRequester] = canon.MustFrom(r.order.Requester)
	if named := namedComponents(r.order); len(named) > 0 {
		info["components"] = canon.MustFrom(named)
	}
	if r.regime.named {
		info[result.InfoPolicyHash] = canon.StringOf(r.regime.policy.Hash().Hex())
	}
	if r.order.Reason != "" {
		info[result.InfoReason] = canon.StringOf(r.order.Reason)
	}
	if text := message(a.reading.Message, m.Message); text != "" {
		info[result.InfoMessage] = canon.StringOf(text)
	}
	if len(a.reading.Facts) > 0 {
		info[r.found[max(c.suite, 0)].Adapter] = canon.MustFrom(a.reading.Facts)
	}
	if !a.ran {
		return info
	}
	info[result.InfoExitStatus] = canon.IntOf(int64(a.process.Exit))
	if n := a.reading.InnerIterations; len(n) > 0 && slices.ContainsFunc(n, func(x int) bool { return x != n[0] }) {
		info["iterations"] = canon.MustFrom(n)
	}
	info["process"] = process(a)
	return info
}

// namedComponents are the parts of the subject that the order gives a name: the
// subject itself lists them by role only.
func namedComponents(o order.Order) []order.Component {
	var out []order.Component
	for _, c := range o.Components {
		if c.Name != "" {
			out = append(out, c)
		}
	}
	return out
}

// process is what the kernel counted for the process as a whole.
func process(a attempt) canon.Value {
	p, u := a.process, a.process.Usage
	out := map[string]any{
		"cause": p.Cause, "user_seconds": u.User.Seconds(), "system_seconds": u.System.Seconds(),
		"voluntary_switches": u.VoluntarySwitch, "preempted": u.Preempted, "major_faults": u.MajorFaults,
	}
	if u.MaxRSS > u.RSSFloor {
		out["max_rss_bytes"] = u.MaxRSS
	}
	if p.Signal != 0 {
		out["signal"] = p.Signal.String()
	}
	if p.Forced {
		out["forced"] = true
	}
	if n := len(p.Strays); n > 0 {
		names := make([]string, 0, n)
		for _, s := range p.Strays {
			names = append(names, strings.ToValidUTF8(s.Name, "\uFFFD"))
		}
		out["strays"] = names
	}
	return canon.MustFrom(out)
}

const maxMessage = 2000 // bytes of a message in a document

// message joins what is known about a failure.
func message(texts ...string) string {
	var parts []string
	for _, t := range texts {
		if t = strings.ToValidUTF8(t, "\uFFFD"); t != "" && !slices.Contains(parts, t) {
			parts = append(parts, t)
		}
	}
	s := strings.Join(parts, "; ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
