// Command writ carries a change from the ask to the landed commit and proves
// every step. Everything is in internal/cli; this file only starts it.
package main

import (
	"os"

	"writ/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
