package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"writ/internal/fault"
	"writ/internal/journal"
)

// Limits on the time of one request. A peer that keeps up is never cut.
const (
	bodyGrace = 30 * time.Second // for a body to begin to arrive
	bodyRate  = 64 << 10         // bytes per second that it then has to keep up
	restTime  = 5 * time.Second  // for what is left of a body that nobody reads
	writeTime = 10 * time.Second // for each piece of an answer
	writeSize = 64 << 10         // bytes of a piece
)

// exchange is one request under way and the answer to it: who asks, under which
// id, and whether the answer has begun. It limits how long a peer may take.
type exchange struct {
	http.ResponseWriter
	s       *Server
	r       *http.Request
	id      string // request id
	by      journal.Principal
	token   *token // what by was authenticated with
	control http.ResponseController
	begun   bool // the status is on its way
	whole   bool // the body was read to its end
}

type exchangeKey struct{}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, s: s, r: r, id: s.ids.of(r), control: *http.NewResponseController(w)}
	h := w.Header()
	h["X-Request-Id"] = []string{x.id}
	h["X-Content-Type-Options"] = noSniff
	if r.Header["Expect"] != nil { // "100 Continue" must not meet the deadline of the answer before
		_ = x.control.SetWriteDeadline(time.Time{})
	}
	return x
}

var noSniff = []string{"nosniff"}

// Unwrap lets http.ResponseController find the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	x.begun = true
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. Each piece has its own time limit: a
// reader that is slow gets on, one that stands still is cut and comes back.
func (x *exchange) Write(b []byte) (int, error) {
	x.begun = true
	n := 0
	for {
		piece := b[n:min(n+writeSize, len(b))]
		_ = x.control.SetWriteDeadline(time.Now().Add(writeTime))
		k, err := x.ResponseWriter.Write(piece)
		if n += k; err != nil || n == len(b) {
			return n, err
		}
	}
}

// end limits how long the HTTP server waits for a body that the handler left.
func (x *exchange) end() {
	if x.r.ContentLength != 0 && !x.whole {
		_ = x.control.SetReadDeadline(time.Now().Add(restTime))
	}
}

// rescue turns a panic of a handler into a problem document. When an answer has
// begun the connection is cut instead: half an answer must not look whole.
func (x *exchange) rescue() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // it is compared as it was thrown
		panic(v)
	}
	err := fault.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), fault.Internal, "", "something went wrong on the server")
	if x.begun {
		x.report(newProblem(err), err)
		panic(http.ErrAbortHandler)
	}
	x.fail(err)
}

// may returns nil when the caller's token has the scope, else fault.Forbidden.
func (x *exchange) may(scope string) error {
	if scope == "" || x.by.Can(scope) {
		return nil
	}
	return fault.New(fault.Forbidden, "authorise", "this token lacks the scope %s", scope).
		Help("ask an admin for a token with that scope").With("scope", scope)
}

// exchangeOf is the exchange that ctx belongs to.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// requestIDs names the requests that came without a name: unique among all
// servers by chance and within this one by counting.
type requestIDs struct {
	head string
	n    *atomic.Uint64
}

func newRequestIDs() requestIDs {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return requestIDs{hex.EncodeToString(b[:]) + "-", new(atomic.Uint64)}
}

// of is the id that the caller gave the request, or a new one.
func (i requestIDs) of(r *http.Request) string {
	if given := r.Header["X-Request-Id"]; len(given) == 1 && isRequestID(given[0]) {
		return given[0]
	}
	return i.head + strconv.FormatUint(i.n.Add(1), 36)
}

// isRequestID reports whether s can be repeated in headers and logs: 1 to 100
// letters, digits and marks that neither quote nor split anything, and no token.
func isRequestID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 100 && !secret.MatchString(s)
}
