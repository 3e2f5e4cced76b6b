package house

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"writ/internal/testkit"
)

var writBinary = flag.String("writ", "", "path of the binary that documented commands run")

// block is one fenced console block of a page.
type block struct {
	line int
	exit int // wanted exit status of its last command
	code string
}

var fence = regexp.MustCompile("^```console(?: exit=([0-9]+))?$")

// blocks finds the console blocks of a page. Lines that start with "$ " are
// commands, lines that start with "> " continue them, the rest is what they print.
func blocks(page string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case open == nil && m != nil:
			open = &block{line: i + 1}
			if m[1] != "" {
				fmt.Sscan(m[1], &open.exit)
			}
		case open != nil && line == "```":
			out = append(out, *open)
			open = nil
		case open != nil && (strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "> ")):
			open.code += line[2:] + "\n"
		}
	}
	return out
}

// TestDocumentedCommands runs every console block of the README and the guides,
// page by page, each page in an empty folder with an empty home.
func TestDocumentedCommands(t *testing.T) {
	if *writBinary == "" {
		t.Log("run by `make docs`, which builds the binary first")
		return
	}
	root := moduleRoot(t)
	var pages []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		testkit.Skip(t, "bash", "apt-get install -y bash")
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	ran := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := blocks(string(text))
		if len(found) == 0 {
			continue
		}
		ran += len(found)
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { runPage(t, name, found, strings.TrimSpace(string(cache))) })
	}
	if ran == 0 {
		t.Error("no page has a console block: nothing was tested")
	}
}

// runPage runs the blocks of a page. The home is empty, but for the build cache
// of Go: what the pages are about is not how long the standard library takes.
func runPage(t *testing.T, name string, found []block, cache string) {
	dir, home := t.TempDir(), t.TempDir()
	env := []string{
		"HOME=" + home, "LANG=C.UTF-8", "GOFLAGS=" + os.Getenv("GOFLAGS"), "GOCACHE=" + cache,
		"PATH=" + filepath.Dir(*writBinary) + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	for _, b := range found {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", b.code)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		cancel()
		if got := cmd.ProcessState.ExitCode(); got != b.exit {
			t.Fatalf("%s:%d: exit status %d, want %d (%v)\n%s\n%s", name, b.line, got, b.exit, err, b.code, out)
		}
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	got := blocks("text\n```console exit=3\n$ a \\\n> b\nout\n$ c\n```\n```sh\n$ no\n```\n```console\n$ d\n```\n")
	want := []block{{2, 3, "a \\\nb\nc\n"}, {11, 0, "d\n"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
