package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/canon"
	"writ/internal/fault"
)

// bodyDepth is how deeply a body of the server's own types may nest.
const bodyDepth = 32

// read reads the body of the request, at most limit bytes.
func (x *exchange) read(limit int64) ([]byte, error) {
	in, err := x.body(limit)
	if err != nil {
		return nil, err
	}
	if x.r.ContentLength < 0 {
		raw, err := io.ReadAll(in)
		return raw, cut(err, limit)
	}
	raw := make([]byte, x.r.ContentLength)
	if _, err = io.ReadFull(in, raw); err == nil {
		in.stop()
		x.whole = true
	}
	return raw, cut(err, limit)
}

// body is the body of the request; it ends with an error after limit bytes, and
// when it comes too slowly. One that is announced to be larger is refused
// before it is sent.
func (x *exchange) body(limit int64) (*timedBody, error) {
	if x.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var in io.Reader = x.r.Body
	if x.r.ContentLength < 0 {
		in = http.MaxBytesReader(x.ResponseWriter, x.r.Body, limit)
	}
	return &timedBody{in: in, x: x, from: time.Now()}, nil
}

// timedBody is a request body that has to arrive in time. It stands beside the
// request's own, which the HTTP server knows by its type.
type timedBody struct {
	in   io.Reader
	x    *exchange
	from time.Time
	n    int64
	err  error // what reading ended with, unless that was the end
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	_ = b.x.control.SetReadDeadline(b.from.Add(bodyGrace + time.Duration(b.n)*time.Second/bodyRate))
	n, err := b.in.Read(p)
	b.n += int64(n)
	switch {
	case err == io.EOF:
		b.x.whole = true
		b.stop()
	case err != nil:
		b.err = err
		b.stop()
	}
	return n, err
}

// stop lifts the deadline: one that stays would end the request while it is
// worked on.
func (b *timedBody) stop() { _ = b.x.control.SetReadDeadline(time.Time{}) }

// cut says why a body did not arrive whole; nil when it did.
func cut(err error, limit int64) error {
	if err == nil {
		return nil
	}
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return tooLarge(limit)
	}
	return fault.Wrap(err, fault.Invalid, "read request", "the body ended early or came too slowly")
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "read request", "the body is larger than %d bytes", limit)
}

// decode reads a body of one of the server's own types: strict JSON, its schema
// with every failure listed, and exactly its members.
func decode[B any](schemas huma.Registry, schema *huma.Schema, raw []byte) (B, error) {
	var out B
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: maxDocument, Depth: bodyDepth})
	if err != nil {
		return out, err
	}
	var res huma.ValidateResult
	huma.Validate(schemas, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, asAny(raw), &res)
	if len(res.Errors) > 0 {
		e := fault.New(fault.Invalid, "read request", "")
		e.Fields = failures(&res)
		return out, summed(e)
	}
	err = v.Decode(&out)
	return out, err
}
