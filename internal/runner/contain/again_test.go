package contain

import (
	"testing"
	"time"

	"writ/internal/fault"
)

func TestNameOf(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		refPrefix + "e0123456789AB": "e0123456789AB",
		refPrefix + "e0123456789ab": "", refPrefix + "../etc": "", refPrefix + "e": "", refPrefix: "", "": "", "other:e0123456789AB": "",
	} {
		if got := NameOf(ref); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", ref, got, want)
		}
	}
}

func TestDestroyNamedIsRepeatable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for range 2 { // nothing is there, and that is what is confirmed
		c, err := DestroyNamed(t.Context(), root, "e0123456789AB", time.Now)
		if err != nil || !c.Swept || c.Environment != refPrefix+"e0123456789AB" {
			t.Fatalf("%+v %v", c, err)
		}
	}
	if _, err := DestroyNamed(t.Context(), root, "../x", time.Now); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a name that leads elsewhere: %v", err)
	}
}
