package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/canon"
	"writ/internal/fault"
)

// bodyDepth is how deeply a body of the server's own types may nest.
const bodyDepth = 32

// read reads the body of the request, at most limit bytes.
func (x *exchange) read(limit int64) ([]byte, error) {
	n := x.r.ContentLength
	if n > limit {
		return nil, tooLarge(limit)
	}
	if n == 0 || x.r.Body == nil {
		return nil, nil
	}
	in := http.MaxBytesReader(x.ResponseWriter, x.r.Body, limit)
	if n < 0 {
		raw, err := io.ReadAll(in)
		return raw, cut(err, limit)
	}
	raw := make([]byte, n)
	_, err := io.ReadFull(in, raw)
	return raw, cut(err, limit)
}

// cut says why a body did not arrive whole.
func cut(err error, limit int64) error {
	var big *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &big):
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
