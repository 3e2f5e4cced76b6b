package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"writ/internal/blob"
	"writ/internal/fault"
	"writ/internal/store/sqlite"
)

func (a *app) fsckCommand() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "fsck",
		Short: "check a data folder: journal chain, documents and blobs",
		Long: `Read a data folder whole while no server uses it: the pages of the database, gaps
and the hash chain of every journal, the bytes of every document and blob against
their digests. Nothing is repaired.

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
	Workspace string `json:"workspace_id"`
	Where     string `json:"where"`
	What      string `json:"what"`
}

func (a *app) fsck(ctx context.Context, data string) (err error) {
	db := filepath.Join(data, "writ.db")
	if _, err := os.Stat(db); err != nil {
		return fault.Wrap(err, fault.NotFound, "check data", "%s is no data folder", data).Help("pass the folder of writ serve with --data")
	}
	lock, err := lockData(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: db})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	out := checked{Data: data, Findings: []finding{}, Blobs: []string{}}
	found, err := store.Check(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		out.Findings = append(out.Findings, finding(f))
	}
	blobs, err := blob.Open(filepath.Join(data, "blobs"))
	if err != nil {
		return err
	}
	damaged, err := blob.Check(ctx, blobs)
	if err != nil {
		return err
	}
	for _, d := range damaged {
		out.Blobs = append(out.Blobs, d.String())
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
		fmt.Fprintf(w, "%s %s: %s\n", f.Workspace, f.Where, f.What)
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
