package keyring

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/ident"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewLoadList(t *testing.T) {
	t.Parallel()
	ring := At(filepath.Join(t.TempDir(), "keys"))
	if keys, err := ring.List(); err != nil || keys != nil {
		t.Fatalf("list of a ring without folder: %v, %v", keys, err)
	}
	solver, err := ring.New("solver", Agent)
	if err != nil {
		t.Fatal(err)
	}
	ann, err := ring.New("ann", Person)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ring.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Entry{ann, solver}, keys); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	entry, key, err := ring.Load("ann")
	if err != nil {
		t.Fatal(err)
	}
	if entry != ann || key.Public().Node() != ann.NodeID {
		t.Errorf("loaded %v with key %s, want %v", entry, key.Public().Node(), ann)
	}
	if sig := key.Sign([]byte("m")); !ident.Verify(key.Public(), []byte("m"), sig) {
		t.Error("the loaded key does not sign")
	}
}

func TestNewNeverOverwrites(t *testing.T) {
	t.Parallel()
	ring := At(t.TempDir())
	first, err := ring.New("ann", Person)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.New("ann", Agent); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("second key of one name: %v, want %s", err, fault.Conflict)
	}
	if got, _, err := ring.Load("ann"); err != nil || got != first {
		t.Errorf("after the refusal: %v, %v; want %v", got, err, first)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	ring := At(t.TempDir())
	if _, err := ring.New("ann", Person); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(ring.path("ann"))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string { return strings.Replace(string(raw), old, new, 1) }
	tests := []struct {
		name, file string
		mode       os.FileMode
		want       fault.Code
	}{
		{"open to others", string(raw), 0o644, fault.Forbidden},
		{"cut short", string(raw[:len(raw)-3]), 0o600, fault.Malformed},
		{"unknown member", edit(`"kind"`, `"kinds"`), 0o600, fault.Invalid},
		{"other name", edit(`"ann"`, `"bob"`), 0o600, fault.Invalid},
		{"other schema", edit("writ.key/v1", "writ.key/v2"), 0o600, fault.Invalid},
		{"seed of another node", edit("z6Mk", "z6Ml"), 0o600, fault.Signer},
		{"seed that is no base64", edit(`"seed":"`, `"seed":"*`), 0o600, fault.Invalid},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := "ann"
			own := At(filepath.Join(t.TempDir(), fmt.Sprint(i)))
			if err := os.MkdirAll(own.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(own.path(name), []byte(tt.file), tt.mode); err != nil {
				t.Fatal(err)
			}
			if _, _, err := own.Load(name); fault.CodeOf(err) != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, _, err := ring.Load("nobody"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("missing key: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	ring := At(t.TempDir())
	for _, bad := range []string{"", ".", "..", ".hidden", "a/b", "a b", "a\x00", strings.Repeat("a", 65), "é"} {
		if _, err := ring.New(bad, Person); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("New(%q): %v, want %s", bad, err, fault.Invalid)
		}
	}
	if _, err := ring.New("ann", "robot"); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("unknown kind: %v", err)
	}
}
