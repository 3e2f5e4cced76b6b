package benchfile

import (
	"fmt"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/verdict"
)

// Gathered is what two sides have to be judged by.
type Gathered struct {
	verdict.SeriesParams          // without policy and name
	Units                []string // beside Series: as the files have them, in base units
	Names                [2]string
	Remarks              []string // what a reader should know, and nothing that changes a number
}

// Gather puts the two sides of a comparison together: two files, or one file with
// the sides baseline and contender when second is nil. It takes the values out of
// the files, which are of no use afterwards. fault.Nothing when a side has no
// value at all, fault.Incomparable when the files do not have two sides.
func Gather(first, second *File) (Gathered, error) {
	g := gathering{files: []*File{first}, ids: map[identity]uint32{}}
	if second != nil {
		g.files = append(g.files, second)
	}
	if err := g.findSides(); err != nil {
		return Gathered{}, err
	}
	g.checkContext()
	g.name()
	g.readRounds()
	g.spoil()
	g.sort()
	for _, f := range g.files {
		f.cases, f.configs, f.sides = nil, nil, nil
	}
	return g.Gathered, nil
}

type gathering struct {
	Gathered
	files  []*File
	sides  [2]*part
	fileOf [2]*File

	packages []string
	ids      map[identity]uint32
	known    []identity
	idOf     [2][]uint32 // by file: case to identity
	paired   bool
	spoilt   map[uint32]bool // identities with a broken line
}

// identity is a benchmark, whatever else was configured.
type identity struct {
	pkg  int // index of packages
	name string
}

func (g *gathering) findSides() error {
	const op = "compare benchmark files"
	for _, f := range g.files {
		if f.Values == 0 {
			e := fault.New(fault.Nothing, op, "%s holds no benchmark result", f.Name)
			if len(f.broken) > 0 {
				e = e.Help("%s:%d: %s", f.Name, f.broken[0].Line, f.broken[0].Reason)
			}
			return e
		}
	}
	if len(g.files) == 1 {
		f := g.files[0]
		for at, name := range [2]string{"baseline", "contender"} {
			i := slices.IndexFunc(f.sides, func(p *part) bool { return p.name == name })
			if i < 0 || len(f.sides) != 2 {
				return fault.New(fault.Incomparable, op, "%s does not hold the two sides baseline and contender", f.Name).
					Help("name two files, or have lines \"side: baseline\" and \"side: contender\" in the one")
			}
			g.sides[at], g.fileOf[at], g.Names[at] = f.sides[i], f, f.Name+" "+name
		}
		return nil
	}
	for at, f := range g.files {
		if len(f.sides) != 1 {
			return fault.New(fault.Incomparable, op, "%s holds %d sides", f.Name, len(f.sides)).Help("compare a file with two sides alone")
		}
		g.sides[at], g.fileOf[at], g.Names[at] = f.sides[0], f, f.Name
	}
	return nil
}

func (g *gathering) fail(invariant, format string, args ...any) {
	g.Failed = append(g.Failed, verdict.Failure{Invariant: invariant, Detail: fmt.Sprintf(format, args...)})
}

func (g *gathering) remark(format string, args ...any) {
	g.Remarks = append(g.Remarks, fmt.Sprintf(format, args...))
}

// environment are the keys that must say the same wherever they are: what differs
// there is another machine, and no other version of the code.
var environment = []string{"goos", "goarch", "cpu", "machine", "host", "environment", "protocol"}

// checkContext compares the configuration lines of everything that was measured.
func (g *gathering) checkContext() {
	type seen struct {
		key    string
		values []string
	}
	var all []seen
	for _, f := range g.files {
		for _, c := range f.configs {
			for _, p := range c.pairs {
				if p.key == "pkg" || len(c.index) == 0 {
					continue
				}
				i := slices.IndexFunc(all, func(s seen) bool { return s.key == p.key })
				if i < 0 {
					i = len(all)
					all = append(all, seen{key: p.key})
				}
				if !slices.Contains(all[i].values, p.value) {
					all[i].values = append(all[i].values, p.value)
				}
			}
		}
	}
	for _, s := range all {
		switch {
		case len(s.values) == 1:
		case slices.Contains(environment, s.key):
			g.fail("environment", "%s is %q and %q", s.key, s.values[0], s.values[1])
		default:
			g.remark("context: %s is not the same everywhere: %q, %q", s.key, s.values[0], s.values[1])
		}
	}
}

// name gives every benchmark one number in both files.
func (g *gathering) name() {
	for at, f := range g.files {
		packageOf := make([]int, len(f.configs))
		for i, c := range f.configs {
			name := c.get("pkg")
			packageOf[i] = slices.Index(g.packages, name)
			if packageOf[i] < 0 && len(c.index) > 0 {
				packageOf[i] = len(g.packages)
				g.packages = append(g.packages, name)
			}
		}
		g.idOf[at] = make([]uint32, len(f.cases))
		for i, c := range f.cases {
			g.idOf[at][i] = g.identify(identity{packageOf[c.config], c.name})
		}
	}
	if len(g.files) == 1 {
		g.idOf[1] = g.idOf[0]
	}
}

func (g *gathering) identify(x identity) uint32 {
	id, ok := g.ids[x]
	if !ok {
		id = uint32(len(g.known))
		g.ids[x], g.known = id, append(g.known, x)
	}
	return id
}

// pair is the case and quantity in the words of results.
func (g *gathering) pair(id uint32, quantity string) verdict.Pair {
	x := g.known[id]
	p := verdict.Pair{Workload: "Benchmark" + x.name, Quantity: quantity}
	if len(g.packages) > 1 {
		p.Parameters = map[string]canon.Value{"pkg": canon.StringOf(g.packages[x.pkg])}
	}
	return p
}

// spoil makes benchmarks with a broken line invalid, and says which line it is.
func (g *gathering) spoil() {
	g.spoilt = map[uint32]bool{}
	for _, f := range g.files {
		for _, b := range f.broken {
			name := f.configs[b.config].get("pkg")
			pkg := slices.Index(g.packages, name)
			if pkg < 0 {
				pkg = len(g.packages)
				g.packages = append(g.packages, name)
			}
			id := g.identify(identity{pkg, b.Name[len("Benchmark"):]})
			g.spoilt[id] = true
			p := g.pair(id, "")
			g.Failed = append(g.Failed, verdict.Failure{
				Invariant: brokenLine, Detail: fmt.Sprintf("%s:%d: %s", f.Name, b.Line, b.Reason), Workload: p.Workload, Parameters: p.Parameters,
			})
		}
		if f.more > 0 {
			g.fail(brokenLine, "%s has %d more broken lines", f.Name, f.more)
		}
	}
}

const brokenLine = "broken-line"

// readRounds finds out whether the files say of which round their values are, and
// whether what they say fits together.
func (g *gathering) readRounds() {
	for _, f := range g.files {
		for _, text := range f.twice {
			g.fail("rounds", "%s", text)
		}
	}
	var seen [2]map[int]bool
	for at, p := range g.sides {
		seen[at] = p.measuredRounds()
		g.paired = g.paired || len(seen[at]) > 0
	}
	if !g.paired {
		return
	}
	for at, p := range g.sides {
		switch {
		case len(seen[at]) == 0:
			g.fail("rounds", "%s says nothing about rounds", g.Names[at])
		case p.unmarked:
			g.fail("rounds", "%s has values of no round", g.Names[at])
		}
		for round := range seen[at] {
			g.Rounds = max(g.Rounds, round+1)
		}
	}
	for at := range g.sides {
		for round := range min(g.Rounds, verdict.MaxRounds) {
			if len(seen[at]) > 0 && !seen[at][round] {
				g.fail("rounds", "round %d has no result in %s", round, g.Names[at])
				break
			}
		}
	}
	g.readSchedule()
	g.readSlots()
}

// measuredRounds are the rounds that a part has values of.
func (p *part) measuredRounds() map[int]bool {
	out := map[int]bool{}
	for _, c := range p.columns {
		for _, s := range c.rounds {
			if s.round >= 0 {
				out[s.round] = true
			}
		}
	}
	return out
}

func (g *gathering) readSchedule() {
	a, b := g.sides[0], g.sides[1]
	if a.schedule != b.schedule || a.seed != b.seed {
		g.fail("schedule", "the sides record different schedules: %q and %q", a.schedule+" "+a.seed, b.schedule+" "+b.seed)
		return
	}
	switch a.schedule {
	case "", order.Sequential, order.Alternating, order.Random:
		g.Schedule.Kind = a.schedule
	default:
		g.fail("schedule", "there is no schedule %q", a.schedule)
	}
	if a.seed != "" {
		seed, err := strconv.ParseInt(a.seed, 10, 64)
		if err != nil {
			g.fail("schedule", "the seed %q is no number", a.seed)
			return
		}
		g.Schedule.Seed = &seed
	}
}

// readSlots checks that the two processes of a round ran next to each other,
// where the files say in which slots they ran.
func (g *gathering) readSlots() {
	slots, first := [2]map[int]int{{}, {}}, [2]int{}
	given, missing := 0, 0
	for at, p := range g.sides {
		for _, m := range p.rounds {
			if m.slot < 0 {
				missing++
				continue
			}
			given++
			slots[at][m.round] = m.slot
			if g.Schedule.Kind != order.Sequential && m.slot/2 != m.round {
				g.fail("slots", "%s: slot %d is not of round %d", g.Names[at], m.slot, m.round)
				return
			}
		}
	}
	if given == 0 {
		g.Unknown = true
		return
	}
	if missing > 0 {
		g.fail("slots", "%d rounds have a slot and %d have none", given, missing)
		return
	}
	for round, slot := range slots[0] {
		switch other, ok := slots[1][round]; {
		case ok && other == slot:
			g.fail("slots", "both sides of round %d are in slot %d", round, slot)
			return
		case ok && slot < other:
			first[0]++
		case ok:
			first[1]++
		}
	}
	g.Fixed = first[0] == 0 || first[1] == 0
}

// sort brings the values of each benchmark together, unit by unit.
func (g *gathering) sort() {
	var units []string
	for _, p := range g.sides {
		for _, c := range p.columns {
			if c.n > 0 && !slices.Contains(units, c.unit) {
				units = append(units, c.unit)
			}
		}
	}
	directions := g.directions()
	for _, unit := range units {
		var grouped [2]grouped
		for at, p := range g.sides {
			if i := slices.IndexFunc(p.columns, func(c *column) bool { return c.unit == unit }); i >= 0 {
				file := at
				if len(g.files) == 1 {
					file = 0
				}
				grouped[at] = p.columns[i].group(g.idOf[file], len(g.known), g.paired)
				p.columns[i].chunks = nil
			}
		}
		m := meaningOf(unit)
		if d, ok := directions[unit]; ok {
			m.direction = d
		}
		g.Series = slices.Grow(g.Series, some(grouped, len(g.known)))
		g.Units = slices.Grow(g.Units, cap(g.Series)-len(g.Series))
		for id := range uint32(len(g.known)) {
			s := verdict.Series{Unit: m.unit, Direction: m.direction}
			for at := range grouped {
				s.Samples[at], s.Rounds[at] = grouped[at].of(id)
			}
			if len(s.Samples[0])+len(s.Samples[1]) == 0 {
				continue
			}
			s.Pair = g.pair(id, m.quantity)
			switch {
			case g.spoilt[id]:
				s.Invalid = brokenLine
			case m.direction == conflict:
				s.Invalid, s.Direction = "units", ""
			}
			g.Series, g.Units = append(g.Series, s), append(g.Units, unit)
		}
	}
}

// conflict is the direction of a unit of which two are given.
const conflict = "?"

// directions are what the unit lines say; two of one unit have to say the same.
func (g *gathering) directions() map[string]string {
	out := map[string]string{}
	for _, f := range g.files {
		for _, u := range f.units {
			d, ok := better[u.value]
			if u.key != "better" || !ok {
				continue
			}
			if known, twice := out[u.unit]; twice && known != d && known != conflict {
				g.fail("units", "%s:%d: %s is better the other way round elsewhere", f.Name, u.line, u.unit)
				d = conflict
			} else if twice {
				d = known
			}
			out[u.unit] = d
		}
	}
	return out
}

// grouped are values by benchmark.
type grouped struct {
	from   []uint32 // by identity; one more at the end
	values []float64
	rounds []uint16
}

// some counts the benchmarks that have a value on either side.
func some(g [2]grouped, n int) (count int) {
	for id := range uint32(n) {
		a, _ := g[0].of(id)
		b, _ := g[1].of(id)
		if len(a)+len(b) > 0 {
			count++
		}
	}
	return count
}

func (x grouped) of(id uint32) ([]float64, []uint16) {
	if int(id)+1 >= len(x.from) || x.from[id] == x.from[id+1] {
		return nil, nil
	}
	from, to := x.from[id], x.from[id+1]
	if x.rounds == nil {
		return x.values[from:to:to], nil
	}
	return x.values[from:to:to], x.rounds[from:to:to]
}

// group sorts the values by identity and keeps the order of each.
func (c *column) group(idOf []uint32, n int, paired bool) grouped {
	out := grouped{from: make([]uint32, n+1), values: make([]float64, c.n)}
	if paired {
		out.rounds = make([]uint16, c.n)
	}
	for i := range c.n {
		out.from[idOf[c.chunks[i/chunkSize].cases[i%chunkSize]]]++
	}
	sum := uint32(0)
	for i, count := range out.from {
		out.from[i] = sum
		sum += count
	}
	next := slices.Clone(out.from)
	spans := c.rounds
	for i := range c.n {
		for len(spans) > 1 && spans[1].from <= i {
			spans = spans[1:]
		}
		piece := c.chunks[i/chunkSize]
		id := idOf[piece.cases[i%chunkSize]]
		to := next[id]
		next[id]++
		out.values[to] = piece.values[i%chunkSize]
		if paired {
			out.rounds[to] = uint16(max(0, spans[0].round))
		}
	}
	return out
}
