// Package benchfile reads files in the Go benchmark format into the series that
// package verdict judges.
//
// Invariants: lines become pairs only where the file says of which round they are
// (a configuration line "round: 3"), never by their order or number; a line that
// begins as a result and is none makes its case invalid, and is never the same as
// a line that is not there; values are told in base units, exactly as benchstat
// tells them; reading a line allocates nothing that stays unless it brings a new
// name.
//
// The package opens nothing, judges nothing and guesses nothing.
package benchfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"writ/internal/fault"
)

// MaxLine bounds one line, in bytes. A longer one is no line of a benchmark.
const MaxLine = 1 << 20

// maxBroken bounds how many broken lines of one file are told one by one.
const maxBroken = 1000

// File is one file, read.
type File struct {
	Name   string
	SHA256 string // 64 hex, of all bytes
	Lines  int
	Values int // numbers that were read

	sides   []*part
	cases   []caseName
	configs []*config
	broken  []Broken
	more    int // broken lines beyond those
	units   []unitNote
	twice   []string // what the file says about its rounds that cannot be
}

// Broken is a line that begins as a result and is none.
type Broken struct {
	Line   int
	Name   string // of the case, with Benchmark
	Reason string

	config int
}

// caseName is a benchmark under one configuration.
type caseName struct {
	config int
	name   string // without Benchmark
}

// config is a state of the configuration lines, without those that tell side and
// round.
type config struct {
	pairs []pair // in the order in which keys came first
	index map[string]uint32
}

type pair struct{ key, value string }

func (c *config) get(key string) string {
	for _, p := range c.pairs {
		if p.key == key {
			return p.value
		}
	}
	return ""
}

// part is what a file holds of one side.
type part struct {
	name     string // value of the key side; "" when the file has none
	columns  []*column
	raw      []rawUnit
	rounds   []mark // which rounds there are, and their slots
	unmarked bool   // a value is of no round
	schedule string
	seed     string
}

type mark struct {
	round, slot int // slot is -1 when the file gives none
}

// rawUnit remembers where values of a unit go.
type rawUnit struct {
	raw, unit string
	factor    float64
	column    *column // nil until there is a value
}

// Options change what is read.
type Options struct {
	// Plain reads exactly as benchstat does: no key has a meaning of its own, any
	// name counts, a unit may come twice, and zero keeps the unit it was given in.
	Plain bool
}

// Read reads a file to its end. Only text that is no benchmark file at all is
// fault.Malformed; single broken lines are noted, and spoil their case.
func Read(name string, src io.Reader, o Options) (*File, error) {
	r := reader{file: &File{Name: name}, options: o, round: -1, slot: -1}
	r.configure(nil)
	r.enter("")
	if err := r.all(src); err != nil {
		return nil, err
	}
	f := r.file
	f.sides = slices.DeleteFunc(f.sides, func(p *part) bool { return len(p.columns) == 0 })
	return f, nil
}

type reader struct {
	file    *File
	options Options

	current *config
	at      int // index of current
	pairs   []pair
	part    *part
	round   int
	slot    int

	last   uint32
	follow []uint32 // by case: the case that came after it last time
}

func (r *reader) all(src io.Reader) error {
	digest := sha256.New()
	buf := make([]byte, 256<<10)
	start, end := 0, 0
	for {
		n, err := src.Read(buf[end:])
		digest.Write(buf[end : end+n])
		end += n
		for {
			i := bytes.IndexByte(buf[start:end], '\n')
			if i < 0 {
				break
			}
			r.file.Lines++
			r.line(bytes.TrimSuffix(buf[start:start+i], []byte{'\r'}))
			start += i + 1
		}
		switch {
		case errors.Is(err, io.EOF):
			if start < end {
				r.file.Lines++
				r.line(bytes.TrimSuffix(buf[start:end], []byte{'\r'}))
			}
			r.file.SHA256 = hex.EncodeToString(digest.Sum(nil))
			return nil
		case err != nil:
			return fault.Wrap(err, fault.Usage, "read benchmark file", "%s cannot be read", r.file.Name)
		case end-start > MaxLine:
			return fault.New(fault.Malformed, "read benchmark file", "%s:%d: the line is longer than %d bytes", r.file.Name, r.file.Lines+1, MaxLine).
				Help("name the output of go test -bench, as text")
		}
		if start > 0 {
			end = copy(buf, buf[start:end])
			start = 0
		}
		if end == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

func (r *reader) line(b []byte) {
	if bytes.HasPrefix(b, []byte("Benchmark")) {
		r.result(b[len("Benchmark"):])
		return
	}
	if len(b) == 0 {
		return
	}
	if b[0] == 'U' {
		if f, rest := field(b); string(f) == "Unit" {
			r.unit(rest)
			return
		}
	}
	if b[0] < utf8.RuneSelf && (b[0] < 'a' || b[0] > 'z') {
		return
	}
	if key, value, ok := keyValue(b); ok {
		r.set(string(key), string(value))
	}
}

// set takes over a configuration line.
func (r *reader) set(key, value string) {
	if !r.options.Plain {
		switch key {
		case "side":
			r.enter(value)
			return
		case "round":
			r.begin(value)
			return
		case "slot":
			r.place(value)
			return
		case "schedule":
			r.part.schedule = value
			return
		case "seed":
			r.part.seed = value
			return
		}
	}
	i := slices.IndexFunc(r.pairs, func(p pair) bool { return p.key == key })
	switch {
	case value == "" && i < 0, i >= 0 && r.pairs[i].value == value:
		return
	case value == "":
		r.configure(slices.Delete(slices.Clone(r.pairs), i, i+1))
	case i < 0:
		r.configure(append(slices.Clone(r.pairs), pair{key, value}))
	default:
		changed := slices.Clone(r.pairs)
		changed[i].value = value
		r.configure(changed)
	}
}

// configure goes to a state of the configuration, an earlier one where it is the
// same.
func (r *reader) configure(pairs []pair) {
	r.pairs = pairs
	for i, c := range r.file.configs {
		if slices.Equal(c.pairs, pairs) {
			r.current, r.at = c, i
			return
		}
	}
	r.current, r.at = &config{pairs: pairs, index: map[string]uint32{}}, len(r.file.configs)
	r.file.configs = append(r.file.configs, r.current)
}

// enter goes to a side.
func (r *reader) enter(name string) {
	r.round, r.slot = -1, -1
	for _, p := range r.file.sides {
		if p.name == name {
			r.part = p
			return
		}
	}
	r.part = &part{name: name}
	r.file.sides = append(r.file.sides, r.part)
}

// begin opens a round. Each is there once: what was appended twice would
// otherwise count twice.
func (r *reader) begin(value string) {
	n, err := strconv.ParseUint(value, 10, 16)
	if value == "" {
		r.round, r.slot = -1, -1
		return
	}
	if err != nil || value != strconv.FormatUint(n, 10) {
		r.refuse("round %q is no number from 0 to 65535", value)
		return
	}
	if int(n) == r.round {
		return
	}
	if slices.ContainsFunc(r.part.rounds, func(m mark) bool { return m.round == int(n) }) {
		r.refuse("round %s begins twice", value)
	}
	r.round, r.slot = int(n), -1
	r.part.rounds = append(r.part.rounds, mark{int(n), -1})
}

// place gives the round its slot: where it ran among all.
func (r *reader) place(value string) {
	n, err := strconv.ParseUint(value, 10, 31)
	at := len(r.part.rounds) - 1
	switch {
	case err != nil || r.round < 0:
		r.refuse("slot %q belongs to no round or is no number", value)
	case r.part.rounds[at].slot >= 0 && r.part.rounds[at].slot != int(n):
		r.refuse("round %d has two slots", r.round)
	default:
		r.part.rounds[at].slot = int(n)
	}
}
