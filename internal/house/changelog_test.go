package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fragmentTitle = regexp.MustCompile(`^(Added|Changed|Fixed|Removed|Security): [A-Z].{1,71}$`)

// TestChangelogFragments: release notes are put together from these files, so
// they have one form.
func TestChangelogFragments(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(moduleRoot(t), "changelog", "unreleased")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if wrong := fragmentFault(e.Name(), string(text)); wrong != "" {
			t.Errorf("changelog/unreleased/%s: %s", e.Name(), wrong)
		}
	}
}

func fragmentFault(name, text string) string {
	title, body, _ := strings.Cut(text, "\n")
	switch {
	case filepath.Ext(name) != ".md" || name != strings.ToLower(name):
		return "the name is lower case and ends in .md"
	case !fragmentTitle.MatchString(title) || strings.HasSuffix(title, "."):
		return "the first line is Added, Changed, Fixed, Removed or Security, a colon and a title of at most 72 characters"
	case !strings.HasPrefix(body, "\n") || len(strings.TrimSpace(body)) < 40:
		return "an empty line and a few sentences for users follow the title"
	case strings.Contains(body, "internal/"):
		return "users know no packages"
	}
	return ""
}

func TestFragmentFault(t *testing.T) {
	t.Parallel()
	const body = "\nA sentence that is long enough to tell a user what is new.\n"
	for text, fine := range map[string]bool{
		"Added: A thing\n" + body:                                                     true,
		"Added: A thing.\n" + body:                                                    false,
		"added: A thing\n" + body:                                                     false,
		"Improved: A thing\n" + body:                                                  false,
		"Added: " + strings.Repeat("A", 73) + "\n" + body:                             false,
		"Added: A thing\nno empty line, but long enough\n":                            false,
		"Added: A thing\n\nShort.\n":                                                  false,
		"Fixed: A thing\n\nThe file internal/lane/run.go no longer loses anything.\n": false,
	} {
		if got := fragmentFault("a-thing.md", text) == ""; got != fine {
			t.Errorf("%q: %v", text, got)
		}
	}
	if fragmentFault("Thing.txt", "Added: A thing\n"+body) == "" {
		t.Error("any name will do")
	}
}
