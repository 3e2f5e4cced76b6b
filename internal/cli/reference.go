package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

//go:generate go run ./gendocs

// Tree is every command as help describes it, for pages that are made of it.
// Running one of them does nothing that anybody sees.
func Tree() *cobra.Command {
	a := &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }}
	return a.root()
}
