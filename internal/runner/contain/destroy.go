package contain

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Confirmation records that an environment is gone: its programs were killed,
// its folder was removed, and a look afterwards found nothing.
type Confirmation struct {
	Schema      string `json:"schema"` // "writ.environment-destruction/v1"
	Kind        string `json:"kind"`
	Environment string `json:"environment/ref"`
	CreatedAt   string `json:"created-at,omitempty"` // RFC 3339; absent when the label was lost
	DestroyedAt string `json:"destroyed-at"`         // RFC 3339
	Files       int    `json:"files-removed"`
	Swept       bool   `json:"swept,omitempty"` // found and removed after its owner had died
}

const confirmationSchema = "writ.environment-destruction/v1"

// Ref is the content address of the confirmation.
func (c Confirmation) Ref() string { return canon.PlainRef(canon.MustFrom(c)) }

// Destroy ends every program, removes the folder and confirms it. It may be
// called again, also after an error: it goes on where it stopped, and once it has
// succeeded it returns the same confirmation.
func (e *Environment) Destroy(ctx context.Context) (Confirmation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone != nil {
		return *e.gone, nil
	}
	for _, k := range []interface{ Close() error }{e.keeper, e.observer} {
		if err := closeKeeper(k); err != nil {
			return Confirmation{}, fault.Wrap(err, fault.Internal, "destroy environment", "programs of %s could not be ended", e.id)
		}
	}
	c, err := remove(ctx, e.dir, e.params.Now)
	if err != nil {
		return Confirmation{}, err
	}
	if e.lock != nil {
		e.lock.Close()
	}
	e.gone = &c
	return c, nil
}
