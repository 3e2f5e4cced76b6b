package cli

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain makes this binary the writ command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(counted{m}, map[string]func(){
		"writ": func() { os.Exit(Main(os.Args[1:])) },
	})
}

// counted fails a run that leaves goroutines behind.
type counted struct{ *testing.M }

func (c counted) Run() int {
	status := c.M.Run()
	if status == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return status
}
