package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
)

// writer is the one goroutine that changes the database. Everything below the
// queue belongs to that goroutine alone.
type writer struct {
	*queue
	now     func() time.Time
	hook    Hook
	watch   *watch
	stopped chan struct{}

	pages     *checkpointer
	conn      *direct
	do        statements
	positions map[string]*position // of workspaces, as the open transaction sees them
	version   int64                // changes when another connection has written
	batch     batch
}

func newWriter(ctx context.Context, path string, o Options, watch *watch) (*writer, error) {
	conn, err := dial(dsn(path, forWriting))
	if err != nil {
		return nil, broken(err, "open store")
	}
	w := &writer{
		queue: newQueue(), now: o.Now, hook: o.Hook, watch: watch,
		stopped: make(chan struct{}), conn: conn, positions: map[string]*position{},
	}
	if err := w.ready(ctx, path); err != nil {
		return nil, errors.Join(broken(err, "open store"), w.release())
	}
	return w, nil
}

func (w *writer) ready(ctx context.Context, path string) error {
	if err := readBack(w.conn.ask); err != nil {
		return err
	}
	if err := migrate(ctx, w.conn, path, ledgerSteps()); err != nil {
		return err
	}
	if err := w.do.prepare(w.conn); err != nil {
		return err
	}
	pages, err := newCheckpointer(path)
	w.pages = pages
	return err
}

// Commit writes c. See ledger.Store for what it promises. The bodies in c are
// kept and returned as they are, so they must not be changed afterwards.
func (s *Store) Commit(ctx context.Context, c ledger.Commit) (ledger.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Receipt{}, broken(err, "commit")
	}
	r, err := newRequest(c)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := s.writer.put(r); err != nil {
		return ledger.Receipt{}, err
	}
	if err := s.writer.await(ctx, r); err != nil {
		return ledger.Receipt{}, err
	}
	return r.receipt, nil
}

// run writes batches until the queue is closed and empty.
func (w *writer) run() {
	defer close(w.stopped)
	defer close(w.pages.due)
	for range w.wake {
		for w.take(&w.batch) {
			w.write()
			w.pages.note(&w.batch)
			w.batch.reset()
			if w.pages.long.Swap(false) {
				checkpoint(w.do.checkpoint)
			}
		}
		if w.finished() {
			return
		}
	}
}

// start starts the writer and the goroutine beside it.
func (w *writer) start() {
	go w.pages.run()
	go w.run()
}

// stop refuses new commits and waits until the queued ones are answered.
func (w *writer) stop() {
	w.queue.close()
	<-w.stopped
	<-w.pages.stopped
}

// release gives up the connections.
func (w *writer) release() error {
	var err error
	if w.pages != nil {
		err = w.pages.release()
	}
	return errors.Join(err, w.do.close(), w.conn.close())
}

// write makes the batch durable and answers its members. When one of them
// fails after it wrote, or the transaction itself fails, all of it is undone
// and the members are tried again one by one, so that each gets its own answer.
func (w *writer) write() {
	err := w.transaction(w.grow)
	members := w.batch.members
	if err == nil {
		w.answer(members)
		return
	}
	for i, r := range members {
		if len(members) > 1 {
			r.err = nil
			err = w.transaction(func(done int) []*request { return members[i+done : i+1] })
		}
		if err != nil && r.err == nil {
			r.err = broken(err, "commit")
		}
		w.answer(members[i : i+1])
	}
}

// grow returns the members of the batch from the one numbered done on. When
// there are none left it looks for commits that came in the meantime: they
// share the fsync that is still to come.
func (w *writer) grow(done int) []*request {
	if done == len(w.batch.members) {
		w.take(&w.batch)
	}
	return w.batch.members[done:]
}

// answer announces new heads, then lets the callers go.
func (w *writer) answer(batch []*request) {
	for _, r := range batch {
		if n := len(r.receipt.Events); r.err == nil && n > 0 && !r.receipt.Replayed {
			w.watch.publish(r.commit.Workspace, r.receipt.Events[n-1].Seq)
		}
		close(r.done)
	}
}

// transaction runs commits in one transaction: those that next returns, given
// how many are written, until it returns none. On an error nothing of it was
// kept, and the commit at fault, if there is one, knows its own error.
func (w *writer) transaction(next func(done int) []*request) error {
	err := w.hook.at(AtBegin)
	if err == nil {
		_, err = w.do.begin.run(nil)
	}
	if err != nil {
		return err
	}
	if err = w.inside(next); err == nil {
		_, err = w.do.commit.run(nil)
	}
	if err != nil {
		// Rolling back fails when SQLite has done it already.
		_, _ = w.do.rollback.run(nil)
		clear(w.positions)
		return err
	}
	_ = w.hook.at(AtCommitted)
	return nil
}

func (w *writer) inside(next func(done int) []*request) error {
	if err := w.notice(); err != nil {
		return err
	}
	done := 0
	for more := next(done); len(more) > 0; more = next(done) {
		for _, r := range more {
			if err := w.member(r); err != nil {
				return err
			}
		}
		if err := w.fold(more); err != nil {
			return err
		}
		done += len(more)
	}
	return w.hook.at(AtCommit)
}

// notice drops what is cached when another connection wrote to the file. The
// write lock is held, so the answer stays true until the end of the
// transaction.
func (w *writer) notice() error {
	var row [1]driver.Value
	if _, err := w.do.dataVersion.row(row[:]); err != nil {
		return err
	}
	if v := row[0].(int64); v != w.version {
		w.version = v
		clear(w.positions)
	}
	return nil
}

// member writes one commit of the batch. An error means that the transaction
// is spoilt; a commit that failed before it wrote anything just keeps its own.
func (w *writer) member(r *request) error {
	r.receipt, r.err = ledger.Receipt{}, nil
	wrote, err := w.apply(r)
	if err == nil && wrote {
		err = w.hook.at(AtWrite)
	}
	if err == nil {
		return nil
	}
	r.receipt = ledger.Receipt{}
	r.err = broken(err, "commit")
	if wrote || fault.CodeOf(r.err) == fault.Internal {
		return err
	}
	return nil
}
