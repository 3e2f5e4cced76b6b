package nativejson

import (
	"syscall"
	"testing"

	"writ/internal/fault"
)

// TestTextsThatAreTooLarge are refused before they are looked at: this one is only
// address space.
func TestTextsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	text, err := syscall.Mmap(-1, 0, maxBytes+1, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(text); err != nil {
			t.Error(err)
		}
	}()
	if _, err := New(text); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("got %v", err)
	}
}
