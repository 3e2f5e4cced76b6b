package policy

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, text string) Policy {
	t.Helper()
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// rules is a policy with the given rules.
func rules(text string) string {
	return `{"name":"p","version":"1","rules":[` + text + `]}`
}
