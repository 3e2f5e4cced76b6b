package sqlite

import (
	"database/sql/driver"
	"errors"
	"sync/atomic"
)

// Moving pages from the write-ahead log to the database takes longer than a
// batch does, so it happens beside the writer, on a connection of its own. The
// log starts again from its beginning only once all of it was moved, which
// never comes true while commits keep arriving; so when the log has become
// long the writer moves the last few pages itself, between two batches. A log
// that starts again overwrites its file, which syncs faster than making it
// longer.
const (
	checkpointEvery = 1000 // pages committed between two rounds, about
	checkpointPages = 2500 // length of the log from which on the writer helps
)

// checkpointer is the goroutine that moves pages.
type checkpointer struct {
	conn    *direct
	move    *statement
	due     chan struct{} // the writer's signal; it closes it to end the goroutine
	stopped chan struct{}
	long    atomic.Bool // the writer's help is wanted

	pages int // committed since the last signal; the writer's own
}

func newCheckpointer(path string) (*checkpointer, error) {
	conn, err := dial(dsn(path, forWriting))
	if err != nil {
		return nil, err
	}
	c := &checkpointer{conn: conn, due: make(chan struct{}, 1), stopped: make(chan struct{})}
	text, err := query("Checkpoint")
	if err == nil {
		c.move, err = conn.prepare(text)
	}
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return c, nil
}

// note counts the pages that a batch added to the log, about: those of its
// bodies, one index page for every commit, and the inner pages of the trees.
// It is called by the writer.
func (c *checkpointer) note(b *batch) {
	if c.pages += b.bytes/4096 + len(b.members) + 4; c.pages < checkpointEvery {
		return
	}
	c.pages = 0
	select {
	case c.due <- struct{}{}:
	default: // a round is on its way
	}
}

// run moves pages whenever enough have gathered. An error is left for the next
// round: until then the log keeps everything, and a disk that fails for good
// fails commits too.
func (c *checkpointer) run() {
	defer close(c.stopped)
	for range c.due {
		if pages := checkpoint(c.move); pages >= checkpointPages {
			checkpoint(c.move) // what came in meanwhile, so that little is left
			c.long.Store(true)
		}
	}
}

// checkpoint moves what it can without waiting for anybody, and returns how
// many pages the log held.
func checkpoint(move *statement) (pages int64) {
	row := make([]driver.Value, 3) // busy, pages in the log, pages moved
	if found, err := move.row(row); err != nil || !found {
		return 0
	}
	return row[1].(int64)
}

func (c *checkpointer) release() error {
	return errors.Join(c.move.stmt.Close(), c.conn.close())
}
