package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/store/results"
)

// storeFlag lets a command choose its store of results.
func storeFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "store", "", "store of results: a file (default results.db in $WRIT_DATA or the user's data folder)")
}

// storeFile is the file of a store of results.
func (a *app) storeFile(file string) (string, error) {
	if file != "" && file != "default" {
		return file, nil
	}
	if a.getenv("WRIT_DATA") == "" && a.getenv("XDG_DATA_HOME") == "" && a.getenv("HOME") == "" {
		return "", fault.New(fault.Usage, "open store", "there is no data folder, because $HOME is not set").Help("name a file with --store")
	}
	return filepath.Join(a.dataDir(), "results.db"), nil
}

// withStore opens a store of results for do. With make it is made when missing.
func (a *app) withStore(ctx context.Context, file string, make bool, do func(*results.Store) error) (err error) {
	path, err := a.storeFile(file)
	if err != nil {
		return err
	}
	s, err := results.Open(ctx, path, make, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// hasStore reports whether the store that runs feed by default is there.
func (a *app) hasStore() bool {
	path, err := a.storeFile("")
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}
