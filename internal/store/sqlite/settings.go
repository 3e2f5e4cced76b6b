package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	engine "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"writ/internal/fault"
)

const driverName = "sqlite"

// role is what a connection is for.
type role int

const (
	forWriting role = iota
	forReading
	forBoth // of a file that is no ledger, see OpenFile
)

// setting is a PRAGMA that a connection must have: what is asked for and what
// SQLite answers when it was taken.
type setting struct{ name, ask, want string }

// required are read back after opening, because SQLite answers a setting that
// it cannot take with silence. FULL is what makes an acknowledged commit
// survive a power cut; the default differs between drivers.
var required = []setting{
	{"busy_timeout", "5000", "5000"}, // milliseconds
	{"journal_mode", "wal", "wal"},
	{"synchronous", "full", "2"},
	{"foreign_keys", "on", "1"},
}

// dsn names the file and the settings of a connection. Escaping keeps a path
// with '?', '#' or '%' a path.
func dsn(path string, r role) string {
	q := url.Values{"_txlock": {"immediate"}}
	for _, s := range required {
		q.Add("_pragma", s.name+"("+s.ask+")")
	}
	if r == forReading {
		q.Add("_pragma", "query_only(on)")
	} else {
		q.Add("_pragma", "cache_size(-16000)")           // KiB
		q.Add("_pragma", "journal_size_limit(67108864)") // bytes of WAL kept after a burst
		q.Add("_pragma", "temp_store(memory)")
	}
	if r == forWriting {
		q.Add("_pragma", "wal_autocheckpoint(0)") // see checkpointer
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
}

// useDataSync makes the engine sync with fdatasync where there is one, as SQLite
// built by its own makefile does: just as durable, and the file's times do not
// go through the journal of the file system. The switch is process-wide.
var useDataSync = sync.OnceFunc(func() {
	_, _ = engine.Fdatasync(true) // the error says that there is none
})

// readBack refuses a connection that lacks one of the required settings. ask
// runs a statement that answers one value.
func readBack(ask func(sql string) (string, error)) error {
	for _, s := range required {
		got, err := ask("PRAGMA " + s.name)
		if err != nil {
			return broken(err, "open store")
		}
		if got != s.want {
			return fault.New(fault.Unavailable, "open store", "the database answers %s = %s, %s is required", s.name, got, s.want).
				Help("put the file on a local file system that supports write-ahead logging")
		}
	}
	return nil
}

// broken turns an error of the database or the context into a fault; one that
// is a fault already passes unchanged.
func broken(err error, op string) error {
	var known *fault.Error
	var e *engine.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Cancelled, op, "given up by the caller")
	case errors.As(err, &e):
		switch e.Code() & 0xff {
		case code.SQLITE_CORRUPT, code.SQLITE_NOTADB:
			return fault.Wrap(err, fault.Corrupt, op, "the database file is damaged")
		case code.SQLITE_BUSY, code.SQLITE_LOCKED:
			return fault.Wrap(err, fault.Unavailable, op, "the database is locked by another process")
		case code.SQLITE_FULL:
			return fault.Wrap(err, fault.Unavailable, op, "the disk is full")
		case code.SQLITE_IOERR, code.SQLITE_CANTOPEN, code.SQLITE_READONLY, code.SQLITE_PERM, code.SQLITE_AUTH:
			return fault.Wrap(err, fault.Unavailable, op, "the database file cannot be used")
		}
	case strings.Contains(err.Error(), "database is closed"):
		return errClosed(op)
	}
	return fault.Wrap(err, fault.Internal, op, "database error")
}

// place packs the number of a workspace and a sequence number into one key.
const (
	seqBits    = 44
	maxSeq     = 1<<seqBits - 1
	maxNumbers = 1<<(63-seqBits) - 1
)

func place(number, seq int64) int64 { return number<<seqBits | seq }
func seqOf(place int64) int64       { return place & maxSeq }

func errFull(what string, limit int64) error {
	return fault.New(fault.Unavailable, "commit", "%s", fmt.Sprintf("the store holds its limit of %d %s", limit, what))
}
