package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/history"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/store/results"
)

func (a *app) ingestCommand() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "put measured results into the store, and say what it takes",
		Long: `Put results into the store that writ series, history and head read. A PATH is a
file, or a folder whose *.json files are taken: results, the resolved orders that they
came of, and exported dockets with both. Folders below it are not read, and files of
other kinds are passed over and counted.

Each result is answered by itself. The same bytes again are a duplicate. Rejected are:
malformed, what is no result; identity-violation, what says that it is about another
source than its subject; idempotency-conflict, other content under a key that is
taken; unit-conflict, a quantity in another unit than the project has it in;
attempt-conflict, an attempt key that stands for another execution. A rejection
changes nothing, and is told with its reason on standard error.

Results that name no project or no benchmark code are thin: they are kept under the
project of their machine, local/NAME.

Exit status: 0 everything is stored; 1 something was rejected, the rest is stored;
2 wrong usage; 6 no such file or folder; 12 there was nothing to ingest.`,
		Example: "  writ ingest results\n  writ ingest docket.json\n  writ ingest results/*.json --json\n  writ ingest results --store history.db",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.ingest(c.Context(), store, args) },
	}
	storeFlag(c, &store)
	return c
}

// ingested is what `writ ingest --json` answers.
type ingested struct {
	Store     string      `json:"store"`
	Ingested  int         `json:"ingested"`
	Duplicate int         `json:"duplicate"`
	Rejected  []rejection `json:"rejected"`
	Orders    int         `json:"orders"`
	Others    int         `json:"passed_over"` // files of other kinds
}

type rejection struct {
	Document string       `json:"document"`
	Code     history.Code `json:"code"`
	Message  string       `json:"message"`
	Pointer  string       `json:"pointer,omitempty"`
}

// batchSize is how many files go into one transaction.
const batchSize = 1000

func (a *app) ingest(ctx context.Context, store string, paths []string) error {
	files, err := offered(paths)
	if err != nil {
		return err
	}
	out := ingested{Rejected: []rejection{}}
	if out.Store, err = a.storeFile(store); err != nil {
		return err
	}
	err = a.withStore(ctx, store, true, func(s *results.Store) error {
		done := 0
		for batch := range readAhead(ctx, files) {
			if err := out.take(ctx, s, batch); err != nil {
				return err
			}
			if done += len(batch); a.live() && len(files) > batchSize {
				a.say("%d of %s", done, plural(len(files), "file"))
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	a.showRejected(out.Rejected)
	if err := a.emit(out, out.show); err != nil {
		return err
	}
	switch {
	case len(out.Rejected) > 0:
		return exitStatus(fault.ExitFinding)
	case out.Ingested+out.Duplicate+out.Orders == 0:
		return fault.New(fault.Nothing, "ingest", "there is no result in %s", strings.Join(paths, ", "))
	}
	return nil
}

// feed puts what was just measured into the store that is named, or into that of the
// data folder when it is there; nil when there is none. files, in dir, are those of
// all results that found gives, in that order.
func (a *app) feed(ctx context.Context, store, dir string, files []string, found iter.Seq2[[]result.Result, error], orders ...order.Order) (*ingested, error) {
	if store == "" && !a.hasStore() {
		return nil, nil
	}
	path, err := a.storeFile(store)
	if err != nil {
		return nil, err
	}
	out := ingested{Store: path, Rejected: []rejection{}, Orders: len(orders)}
	err = a.withStore(ctx, path, true, func(s *results.Store) error {
		left := files
		for batch, err := range found {
			if err != nil {
				return err
			}
			answers, err := s.Ingest(ctx, batch, orders...)
			for i, d := range answers {
				out.count(filepath.Join(dir, left[i]), d)
			}
			if err != nil {
				return err
			}
			left, orders = left[len(batch):], nil
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.showRejected(out.Rejected)
	return &out, nil
}

// measured gives results that are in memory already.
func measured(all []result.Result) iter.Seq2[[]result.Result, error] {
	return func(yield func([]result.Result, error) bool) { yield(all, nil) }
}

// maxBatch is how many bytes of results are read before they go into the store.
const maxBatch = 4 << 20

// readResults reads the files of a run that did not keep its results in memory, in
// batches that fit there.
func readResults(dir string, files []string) iter.Seq2[[]result.Result, error] {
	return func(yield func([]result.Result, error) bool) {
		var batch []result.Result
		size := 0
		for i, name := range files {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				yield(nil, fault.Wrap(err, fault.Internal, "keep results", "cannot read %s again", name))
				return
			}
			x, err := result.Parse(raw)
			if err != nil {
				yield(nil, err)
				return
			}
			batch, size = append(batch, x), size+len(raw)
			if size < maxBatch && i < len(files)-1 {
				continue
			}
			if !yield(batch, nil) {
				return
			}
			batch, size = nil, 0
		}
	}
}

// showRejected tells every rejection, also with --quiet: nothing else would.
func (a *app) showRejected(all []rejection) {
	for _, r := range all {
		where := ""
		if r.Pointer != "" {
			where = r.Pointer + ": "
		}
		fmt.Fprintf(a.err, "writ: rejected %s: %s: %s%s\n", r.Document, r.Code, where, strings.Join(strings.Fields(r.Message), " "))
	}
}

func (i ingested) show(w io.Writer) {
	fmt.Fprintln(w, i.summary())
	if i.Orders+i.Others > 0 {
		fmt.Fprintf(w, "%s, %s passed over\n", plural(i.Orders, "order"), plural(i.Others, "other file"))
	}
}

// summary is the count in one line, with the codes of what was rejected.
func (i ingested) summary() string {
	s := fmt.Sprintf("ingested %d, duplicate %d", i.Ingested, i.Duplicate)
	if n := len(i.Rejected); n > 0 {
		codes := map[string]bool{}
		for _, r := range i.Rejected {
			codes[string(r.Code)] = true
		}
		s += fmt.Sprintf(", rejected %d (%s)", n, strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
	}
	return s
}

// offer is one file that is brought to the store.
type offer struct {
	name   string
	named  bool // by the user, not found in a folder
	result *result.Result
	order  *order.Order
	parts  []offer          // of a docket
	reject history.Decision // the zero value for a file that could be read
	err    error
}

// offered lists the files of the command line, those of a folder by name.
func offered(paths []string) ([]offer, error) {
	const op = "ingest"
	var out []offer
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fault.Wrap(err, fault.NotFound, op, "there is no %s", p)
		}
		if !info.IsDir() {
			out = append(out, offer{name: p, named: true})
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fault.Wrap(err, fault.NotFound, op, "%s cannot be read", p)
		}
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".json" {
				out = append(out, offer{name: filepath.Join(p, e.Name())})
			}
		}
	}
	return out, nil
}

// readAhead reads batches in their order, the next one while the last one is stored.
func readAhead(ctx context.Context, files []offer) iter.Seq[[]offer] {
	return func(yield func([]offer) bool) {
		ctx, stop := context.WithCancel(ctx)
		ready := make(chan []offer)
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(ready)
			for batch := range slices.Chunk(files, batchSize) {
				select {
				case ready <- readOffers(batch):
				case <-ctx.Done():
					return
				}
			}
		})
		defer func() { stop(); reader.Wait() }()
		for batch := range ready {
			if !yield(batch) {
				return
			}
		}
	}
}

// readOffers reads files side by side; they stay in their order.
func readOffers(all []offer) []offer {
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				all[i].read()
			}
		})
	}
	readers.Wait()
	return all
}

const orderPrefix = "workorder-"

func (o *offer) read() {
	raw, err := os.ReadFile(o.name)
	if err != nil {
		o.err = fault.Wrap(err, fault.NotFound, "ingest", "%s cannot be read", o.name)
		return
	}
	if bytes.HasPrefix(raw, []byte(docketStart)) {
		o.readDocket(raw)
		return
	}
	v, err := canon.Parse(raw)
	if err != nil {
		_, o.reject = history.Read(raw)
		return
	}
	version, _ := v.Get("schema_version")
	text, isText := version.String()
	base := filepath.Base(o.name)
	switch {
	case strings.HasPrefix(base, orderPrefix), isText && strings.HasPrefix(text, "benchx/work-order/"):
		o.readOrder(raw, base)
	case o.named, version.Kind() == canon.Number && v.Has("measurement"):
		r, d := history.Accept(v, raw)
		o.reject = d
		if d.Answer == "" {
			o.result = &r
		}
	}
}

// docketStart is how every exported docket begins.
const docketStart = `{"schema":"` + docket.Schema + `"`

// readDocket takes the results and orders of a run. Whether the docket holds together
// is not looked at: writ docket verify does.
func (o *offer) readDocket(raw []byte) {
	b, err := docket.Read(bytes.NewReader(raw))
	if err != nil {
		o.reject = history.Decision{Answer: history.Rejected, Code: history.Malformed, Message: err.Error()}
		return
	}
	for _, d := range b.Documents {
		part := offer{name: o.name + "#" + d.Ref, named: true}
		switch {
		case d.Kind != ledger.KindResult && d.Kind != ledger.KindOrder:
			continue
		case canon.Sum([]byte(d.Body)).Hex() != d.SHA256:
			part.reject = history.Decision{Answer: history.Rejected, Code: history.Malformed, Message: "the bytes are not those of the digest that the docket gives"}
		case d.Kind == ledger.KindOrder:
			part.readOrder([]byte(d.Body), "")
		default:
			r, reject := history.Read([]byte(d.Body))
			if part.reject = reject; reject.Answer == "" {
				part.result = &r
			}
		}
		o.parts = append(o.parts, part)
	}
}

// readOrder takes a resolved order; results never cite a draft. A name that holds
// another digest than the content has means that the order was changed.
func (o *offer) readOrder(raw []byte, base string) {
	read, err := order.Parse(raw)
	switch {
	case err != nil:
		o.reject = history.Decision{Answer: history.Rejected, Code: history.Malformed, Message: err.Error()}
	case read.State != order.Resolved:
	case strings.HasPrefix(base, orderPrefix) && len(base) == len(read.FileName()) && base != read.FileName():
		o.reject = history.Decision{Answer: history.Rejected, Code: history.Malformed, Message: "the content is that of " + read.FileName() + "; it was changed after it was written"}
	default:
		o.order = &read
	}
}

// flat puts the parts of dockets in their place.
func flat(all []offer) []offer {
	if !slices.ContainsFunc(all, func(o offer) bool { return o.parts != nil }) {
		return all
	}
	var out []offer
	for _, o := range all {
		if o.parts == nil {
			out = append(out, o)
		}
		out = append(out, o.parts...)
	}
	return out
}

// take brings a batch to the store and counts the answers.
func (i *ingested) take(ctx context.Context, s *results.Store, batch []offer) error {
	var found []result.Result
	var names []string
	var orders []order.Order
	for _, o := range flat(batch) {
		switch {
		case o.err != nil:
			return o.err
		case o.result != nil:
			found, names = append(found, *o.result), append(names, o.name)
		case o.order != nil:
			orders = append(orders, *o.order)
		case o.reject.Answer != "":
			i.count(o.name, o.reject)
		default:
			i.Others++
		}
	}
	answers, err := s.Ingest(ctx, found, orders...)
	if err != nil {
		return err
	}
	i.Orders += len(orders)
	for k, d := range answers {
		i.count(names[k], d)
	}
	return nil
}

func (i *ingested) count(name string, d history.Decision) {
	switch d.Answer {
	case history.Accepted:
		i.Ingested++
	case history.Duplicate:
		i.Duplicate++
	case history.Rejected:
		i.Rejected = append(i.Rejected, rejection{name, d.Code, d.Message, d.Pointer})
	}
}
