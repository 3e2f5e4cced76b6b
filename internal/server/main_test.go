package server_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(silent{m}) }

// silent fails a run in which a token was written to a log or came back in an
// error, in any test, and a whole run that leaves an operation untried.
type silent struct{ *testing.M }

func (s silent) Run() int {
	status := s.M.Run()
	for text := range spoken.secrets {
		if bytes.Contains(spoken.text.Bytes(), []byte(text)) {
			fmt.Fprintf(os.Stderr, "a token was logged or sent back:\n%s\n", spoken.text.Bytes())
			return 1
		}
	}
	if c, err := theContract(); status == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.bench").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" {
		if err != nil || len(c.unmet()) > 0 {
			fmt.Fprintf(os.Stderr, "operations without a success: %v, %v\n", c.unmet(), err)
			return 1
		}
	}
	return status
}

// spoken is everything that servers of all tests logged and every error that
// they answered, and every token that was made.
var spoken = record{secrets: map[string]bool{}}

type record struct {
	mu      sync.Mutex
	text    bytes.Buffer
	secrets map[string]bool
}

// Write implements io.Writer, for logs.
func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// secret adds a token. The part that makes it one is looked for, and the
// checksum that follows it.
func (r *record) secret(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const id = len("writ_") + 26 + 1
	r.secrets[text[id:id+43]] = true
}
