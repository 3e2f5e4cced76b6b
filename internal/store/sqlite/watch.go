package sqlite

import (
	"sync"

	"writ/internal/fault"
)

// watch tells waiting readers that a head moved. A reader holds a cursor and a
// channel that closes at the next move: there is no queue per reader, so one
// that stalls costs nothing.
type watch struct {
	mu     sync.Mutex
	heads  map[string]*headline
	closed bool
}

// headline is the newest durable head of one workspace, -1 while unknown.
type headline struct {
	head  int64
	moved chan struct{} // nil while nobody waits
}

func newWatch() *watch { return &watch{heads: map[string]*headline{}} }

func (w *watch) of(workspace string) *headline {
	h := w.heads[workspace]
	if h == nil {
		h = &headline{head: -1}
		w.heads[workspace] = h
	}
	return h
}

// look returns the head, or -1 when it is not known here, and a channel that
// closes when it moves.
func (w *watch) look(workspace string) (int64, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, nil, errClosed("wait for events")
	}
	h := w.of(workspace)
	if h.moved == nil {
		h.moved = make(chan struct{})
	}
	return h.head, h.moved, nil
}

// publish announces a durable head.
func (w *watch) publish(workspace string, head int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.of(workspace)
	if head <= h.head {
		return
	}
	h.head = head
	if h.moved != nil {
		close(h.moved)
		h.moved = nil
	}
}

// close lets every waiting reader go, for good.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, h := range w.heads {
		if h.moved != nil {
			close(h.moved)
			h.moved = nil
		}
	}
}

func errClosed(op string) error {
	return fault.New(fault.Unavailable, op, "store is closed")
}
