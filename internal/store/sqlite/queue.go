package sqlite

import (
	"context"
	"sync"
)

// Bounds of one transaction. Past them a batch gains little and makes the
// first of its members wait.
const (
	batchCommits = 256
	batchBytes   = 1 << 20
)

// queue holds the commits that wait for the writer. It needs no bound of its
// own: every commit in it has a caller that waits.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	closed  bool
	wake    chan struct{} // one token: there is something to look at
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put queues r, unless the store is closed.
func (q *queue) put(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed("commit")
	}
	q.waiting = append(q.waiting, r)
	if len(q.waiting) == 1 {
		q.nudge()
	}
	return nil
}

// nudge makes the writer look at the queue.
func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// batch is what one transaction writes.
type batch struct {
	members []*request
	bytes   int
}

func (b *batch) room(r *request) bool {
	return len(b.members) == 0 || len(b.members) < batchCommits && b.bytes+r.size <= batchBytes
}

func (b *batch) reset() {
	clear(b.members)
	*b = batch{members: b.members[:0]}
}

// take moves commits out of the queue into b while it has room, and reports
// whether there were any. From then on they can no longer be withdrawn.
func (q *queue) take(b *batch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, n := len(b.members), 0
	for _, r := range q.waiting {
		if !b.room(r) {
			break
		}
		n++
		if r.state == withdrawn {
			continue
		}
		r.state = taken
		b.members = append(b.members, r)
		b.bytes += r.size
	}
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:])
	q.waiting = q.waiting[:rest]
	return len(b.members) > before
}

// withdraw takes r back if the writer has not taken it yet.
func (q *queue) withdraw(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.state == queued {
		r.state = withdrawn
	}
	return r.state == withdrawn
}

// close refuses what comes from now on.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.nudge()
}

// finished reports whether the queue is closed and empty.
func (q *queue) finished() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && len(q.waiting) == 0
}

// await waits for the writer's answer. A caller that gives up early either
// takes its commit back, or waits the moment until it is durable: it never
// leaves one behind whose fate it does not know.
func (q *queue) await(ctx context.Context, r *request) error {
	select {
	case <-r.done:
	case <-ctx.Done():
		if q.withdraw(r) {
			return broken(ctx.Err(), "commit")
		}
		<-r.done
	}
	return r.err
}
