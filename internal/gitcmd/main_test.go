package gitcmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs every test in a hostile surrounding: a user configuration and
// environment variables that would break or redirect git if they were read.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "writ-home-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config := "[user\nthis is no configuration"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent",
		"GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_CONFIG_COUNT": "x", "GIT_TRACE": "1", "LC_ALL": "de_DE.UTF-8", "GIT_AUTHOR_DATE": "yesterday",
	} {
		os.Setenv(name, value)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(home)
		os.Exit(code)
	}))
}
