package sqlite_test

import (
	"path/filepath"
	"testing"

	"writ/internal/ledger"
	"writ/internal/store/sqlite"
	"writ/internal/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) func() ledger.Store {
		path := filepath.Join(t.TempDir(), "data", "writ.db")
		return func() ledger.Store {
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
