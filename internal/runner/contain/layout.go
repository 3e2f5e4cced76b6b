package contain

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"writ/internal/fault"
)

// folders of the area.
var folders = []string{
	"w", "b", "home", "tmp", "gopath", "gocache", "gomodcache", "scratch",
	"layers/" + layerMain + "/upper", "layers/" + layerMain + "/work",
	"layers/" + layerObserver + "/upper", "layers/" + layerObserver + "/work",
}

// layers of the build cache, one for each keeper.
const (
	layerMain     = "main"
	layerObserver = "observer"
)

const (
	labelFile = "environment.json" // says what the folder is; written first, removed last
	lockFile  = "lock"             // held as long as the owner lives
)

// label is the content of labelFile.
type label struct {
	Kind    string    `json:"kind"`
	ID      string    `json:"id"`
	Created time.Time `json:"created_at"`
	Owner   int       `json:"owner_pid"`
}

// layout makes the folders, with the label and the lock first, so that a crash at
// any point leaves something that Sweep knows.
func (e *Environment) layout() error {
	const op = "lay out environment"
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return fault.Wrap(err, fault.Internal, op, "cannot make %s", e.dir)
	}
	lock, err := acquire(e.dir)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "cannot lock %s", e.dir)
	}
	e.lock = lock
	b, err := json.Marshal(label{Kind, e.id, e.params.Now().UTC(), os.Getpid()})
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no label")
	}
	if err := os.WriteFile(filepath.Join(e.dir, labelFile), b, 0o600); err != nil {
		return fault.Wrap(err, fault.Internal, op, "no label")
	}
	for _, f := range folders {
		if err := os.MkdirAll(e.area(f), 0o755); err != nil {
			return fault.Wrap(err, fault.Internal, op, "cannot make %s", f)
		}
	}
	if err := os.Mkdir(filepath.Join(e.dir, "repo.git"), 0o755); err != nil { // there before the keeper, to be shown in it
		return fault.Wrap(err, fault.Internal, op, "cannot make repo.git")
	}
	return nil
}

// errOwned means that a living process has the environment.
var errOwned = errors.New("owned by a living process")

// acquire takes the lock of an environment. It is released when the file is
// closed, and by the kernel when the process dies.
func acquire(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errOwned
		}
		return nil, err
	}
	return f, nil
}
