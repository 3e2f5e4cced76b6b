package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"writ/internal/blob"
	"writ/internal/fault"
	"writ/internal/store/results"
	"writ/internal/store/sqlite"
)

func (a *app) fsckCommand() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "fsck",
		Short: "check a data folder: journal chain, documents, blobs and results",
		Long: `Read a data folder whole while no server uses it: the pages of the database, gaps
and the hash chain of every journal, the bytes of every document and blob against
their digests; in the store of results, every document and what follows from it.
Nothing is repaired.

Exit status: 0 sound; 1 something does not hold, and is listed; 3 the folder
cannot be read; 4 a server uses the folder; 6 no such folder.`,
		Example: "  writ fsck\n  writ fsck --data ./writ-data --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if data == "" {
				data = a.dataDir()
			}
			return a.fsck(c.Context(), data)
		},
	}
	c.Flags().StringVar(&data, "data", "", "data folder (default $WRIT_DATA or the user's data folder)")
	return c
}

// checked is what `writ fsck --json` answers.
type checked struct {
	Data     string    `json:"data"`
	Sound    bool      `json:"sound"`
	Findings []finding `json:"findings"`
	Blobs    []string  `json:"damaged_blobs"` // digests
}

type finding struct {
	Workspace string `json:"workspace_id"` // "" for the store of results
	Where     string `json:"where"`
	What      string `json:"what"`
}

func (a *app) fsck(ctx context.Context, data string) (err error) {
	db, resultsDB := filepath.Join(data, "writ.db"), filepath.Join(data, "results.db")
	_, noLedger := os.Stat(db)
	_, noResults := os.Stat(resultsDB)
	if err := noLedger; err != nil && noResults != nil {
		return fault.Wrap(err, fault.NotFound, "check data", "%s is no data folder", data).Help("pass the folder of writ serve with --data")
	}
	lock, err := lockData(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	out := checked{Data: data, Findings: []finding{}, Blobs: []string{}}
	if noLedger == nil {
		if err := out.ledger(ctx, db, filepath.Join(data, "blobs")); err != nil {
			return err
		}
	}
	if noResults == nil {
		if err := out.results(ctx, resultsDB); err != nil {
			return err
		}
	}
	out.Sound = len(out.Findings) == 0 && len(out.Blobs) == 0
	if err := a.emit(out, out.show); err != nil {
		return err
	}
	if !out.Sound {
		return exitStatus(fault.ExitFinding)
	}
	return nil
}

// ledger checks the journals, the documents and the blobs.
func (c *checked) ledger(ctx context.Context, db, blobDir string) (err error) {
	store, err := sqlite.Open(ctx, sqlite.Options{Path: db})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	found, err := store.Check(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		c.Findings = append(c.Findings, finding(f))
	}
	blobs, err := blob.Open(blobDir)
	if err != nil {
		return err
	}
	damaged, err := blob.Check(ctx, blobs)
	for _, d := range damaged {
		c.Blobs = append(c.Blobs, d.String())
	}
	return err
}

// results checks the store of results.
func (c *checked) results(ctx context.Context, db string) (err error) {
	store, err := results.Open(ctx, db, false, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	found, err := store.Check(ctx)
	for _, what := range found {
		c.Findings = append(c.Findings, finding{Where: filepath.Base(db), What: what})
	}
	return err
}

// lockData takes the lock that a server holds while it runs.
func lockData(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "lock data folder", "%s cannot be written", dir)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fault.New(fault.Held, "lock data folder", "a server uses %s", dir).Help("stop it first"), f.Close())
	}
	return f, nil
}

func (c checked) show(w io.Writer) {
	for _, f := range c.Findings {
		fmt.Fprintln(w, strings.TrimSpace(f.Workspace+" "+f.Where)+": "+f.What)
	}
	for _, d := range c.Blobs {
		fmt.Fprintf(w, "blob %s does not have the bytes of its digest\n", d)
	}
	if c.Sound {
		fmt.Fprintf(w, "%s is sound\n", c.Data)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", c.Data, plural(len(c.Findings)+len(c.Blobs), "finding"))
}
