package gitcmd

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"writ/internal/fault"
)

// Object is a git object with its bytes, without the header that git hashes
// with them.
type Object struct {
	ID   string
	Kind string // commit, tree, blob or tag
	Raw  []byte
}

// HashObject returns the SHA-1 id of an object: what git calls it in a
// repository of the usual format. It needs no git.
func HashObject(kind string, raw []byte) string {
	h := sha1.New()
	h.Write(header(kind, raw))
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil))
}

// sameID reports whether raw hashes to id, in the format that id's length says.
func sameID(id, kind string, raw []byte) bool {
	if len(id) == 40 {
		return HashObject(kind, raw) == id
	}
	h := sha256.New()
	h.Write(header(kind, raw))
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)) == id
}

func header(kind string, raw []byte) []byte {
	return append(strconv.AppendInt([]byte(kind+" "), int64(len(raw)), 10), 0)
}

// WriteBlob stores bytes as they are, with no filter, and returns their id.
func (r Repo) WriteBlob(ctx context.Context, raw []byte) (string, error) {
	return r.writeObject(ctx, "blob", raw)
}

func (r Repo) writeObject(ctx context.Context, kind string, raw []byte) (string, error) {
	a, err := r.run(ctx, call{args: []string{"hash-object", "-w", "-t", kind, "--no-filters", "--stdin"}, stdin: raw})
	return a.line(), err
}

// ReadObject returns an object and checks that its bytes hash to its id:
// fault.NotFound when it is not there, fault.Corrupt when it is another.
func (r Repo) ReadObject(ctx context.Context, id string) (Object, error) {
	objects, err := r.ReadObjects(ctx, id)
	if err != nil {
		return Object{}, err
	}
	return objects[0], nil
}

// ReadObjects is ReadObject for several ids with one run of git, in the order
// of the ids.
func (r Repo) ReadObjects(ctx context.Context, ids ...string) ([]Object, error) {
	if err := checkIDs("git cat-file", ids...); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, nil
	}
	a, err := r.run(ctx, call{args: []string{"cat-file", "--batch"}, stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	out := make([]Object, 0, len(ids))
	for rest := a.out; len(out) < len(ids); {
		var o Object
		if o, rest, err = nextObject(rest, ids[len(out)]); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// nextObject reads one answer of cat-file --batch: "<id> <kind> <size>", a line
// feed, the bytes, a line feed; or "<id> missing".
func nextObject(in []byte, id string) (Object, []byte, error) {
	corrupt := fault.New(fault.Corrupt, "read object", "object %s cannot be read", id)
	line, rest, ok := bytes.Cut(in, []byte("\n"))
	fields := strings.Fields(string(line))
	if !ok || len(fields) < 2 || fields[0] != id {
		return Object{}, nil, corrupt
	}
	if fields[1] == "missing" {
		return Object{}, nil, fault.New(fault.NotFound, "read object", "no object %s", id)
	}
	if len(fields) != 3 {
		return Object{}, nil, corrupt
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size >= len(rest) {
		return Object{}, nil, corrupt
	}
	o := Object{ID: id, Kind: fields[1], Raw: bytes.Clone(rest[:size])}
	if !sameID(id, o.Kind, o.Raw) {
		return Object{}, nil, corrupt
	}
	return o, rest[size+1:], nil
}
