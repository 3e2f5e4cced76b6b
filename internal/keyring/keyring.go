// Package keyring keeps the private keys of the people and agents that use one
// account on one machine: one file per key, readable by its owner only.
//
// A key never leaves its file except as a signature: nothing here prints a
// seed, and the files are refused when others can read them. There is no
// password: whoever can read the folder can sign, as with an SSH key that has
// none. A team that needs more keeps the folder on an encrypted device.
package keyring

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// Schema of a key file.
const Schema = "writ.key/v1"

// Kind of participant that a key signs for. An agent's key can never answer for a human.
type Kind string

// The two kinds.
const (
	Person Kind = "person"
	Agent  Kind = "agent"
)

// Entry is a key without its secret.
type Entry struct {
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"`
	NodeID string `json:"node_id"` // node:did:key:z6Mk…
}

type file struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"`
	NodeID string `json:"node_id"`
	Seed   string `json:"seed"` // 32 bytes, unpadded base64url
}

// Ring is a folder of keys.
type Ring struct{ dir string }

// At opens the ring in dir; the folder is made when the first key is.
func At(dir string) Ring { return Ring{dir} }

// Dir is the folder of the ring.
func (r Ring) Dir() string { return r.dir }

// New makes a key. A name is 1 to 64 letters, digits, dots, dashes or
// underscores and does not start with a dot; an existing name is never overwritten.
func (r Ring) New(name string, kind Kind) (Entry, error) {
	if err := checkName(name); err != nil {
		return Entry{}, err
	}
	if kind != Person && kind != Agent {
		return Entry{}, fault.New(fault.Invalid, "make key", "kind %q is neither person nor agent", kind)
	}
	key, err := ident.Generate(rand.Reader)
	if err != nil {
		return Entry{}, fmt.Errorf("make key: %w", err)
	}
	seed := key.Seed()
	entry := Entry{Name: name, Kind: kind, NodeID: key.Public().Node()}
	body, err := canon.Marshal(file{Schema, name, kind, entry.NodeID, base64.RawURLEncoding.EncodeToString(seed[:])})
	if err != nil {
		return Entry{}, fmt.Errorf("make key: %w", err)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return Entry{}, fmt.Errorf("make key folder: %w", err)
	}
	if err := create(r.path(name), body); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return Entry{}, fault.New(fault.Conflict, "make key", "a key named %q exists", name).
				Help("choose another name; keys are never overwritten")
		}
		return Entry{}, fmt.Errorf("write key: %w", err)
	}
	return entry, nil
}

// create writes a new file durably, or fails with fs.ErrExist.
func create(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(body); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// List returns the keys by name.
func (r Ring) List() ([]Entry, error) {
	names, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	var out []Entry
	for _, n := range names {
		name, ok := strings.CutSuffix(n.Name(), ".key")
		if !ok {
			continue
		}
		e, _, err := r.Load(name)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// Load reads a key. A file that others may read or write is refused.
func (r Ring) Load(name string) (Entry, ident.PrivateKey, error) {
	const op = "load key"
	var none ident.PrivateKey
	if err := checkName(name); err != nil {
		return Entry{}, none, err
	}
	path := r.path(name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, none, fault.New(fault.NotFound, op, "no key named %q in %s", name, r.dir).
			Help("make one with: writ key new %s", name)
	}
	if err != nil {
		return Entry{}, none, fmt.Errorf("%s: %w", op, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Entry{}, none, fault.New(fault.Forbidden, op, "%s is open to others (mode %04o)", path, info.Mode().Perm()).
			Help("chmod 600 %s", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, none, fmt.Errorf("%s: %w", op, err)
	}
	return parse(name, raw)
}

func parse(name string, raw []byte) (Entry, ident.PrivateKey, error) {
	const op = "load key"
	var none ident.PrivateKey
	v, err := canon.Parse(raw)
	if err != nil {
		return Entry{}, none, err
	}
	var f file
	if err := v.Decode(&f); err != nil {
		return Entry{}, none, err
	}
	if f.Schema != Schema || f.Name != name {
		return Entry{}, none, fault.New(fault.Invalid, op, "file of key %q holds schema %q and name %q", name, f.Schema, f.Name)
	}
	seed, err := base64.RawURLEncoding.Strict().DecodeString(f.Seed)
	if err != nil || len(seed) != 32 {
		return Entry{}, none, fault.New(fault.Invalid, op, "the seed of key %q is not 32 bytes of base64url", name).At("/seed")
	}
	key := ident.FromSeed([32]byte(seed))
	if key.Public().Node() != f.NodeID {
		return Entry{}, none, fault.New(fault.Signer, op, "key %q names node %s but its seed is of %s", name, f.NodeID, key.Public().Node()).At("/node_id")
	}
	return Entry{f.Name, f.Kind, f.NodeID}, key, nil
}

func (r Ring) path(name string) string { return filepath.Join(r.dir, name+".key") }

func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '.'
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c))
	}
	if !ok {
		return fault.New(fault.Invalid, "name key", "%q is not a key name: 1 to 64 letters, digits, dots, dashes or underscores, not starting with a dot", name)
	}
	return nil
}
