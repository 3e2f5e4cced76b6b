package gitcmd

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"writ/internal/fault"
)

// op names a call in errors: "git push".
func op(c call) string {
	if len(c.args) == 0 {
		return "git"
	}
	return "git " + c.args[0]
}

// ended says why the context ended.
func ended(ctx context.Context, c call) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(ctx.Err(), fault.Timeout, op(c), "git took too long")
	}
	return fault.Wrap(ctx.Err(), fault.Cancelled, op(c), "stopped before git was done")
}

// failed makes a fault of what git wrote to its standard error. The first line
// of a cause is for everybody; all of it, without credentials, is the private
// cause.
func failed(c call, code int, stderr string) error {
	text := strings.TrimSpace(Scrub(stderr))
	e := fault.Wrap(errors.New(text), fault.Forge, op(c), "%s", summary(text, code))
	if text == "" {
		e.Err = nil
	}
	return e
}

// summary picks the first line that git marks as the cause.
func summary(text string, code int) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if first == "" {
			first = line
		}
		for _, mark := range []string{"fatal: ", "error: ", "remote: "} {
			if rest, ok := strings.CutPrefix(line, mark); ok && rest != "" {
				return rest
			}
		}
	}
	if first == "" {
		return "exit status " + itoa(code)
	}
	return first
}

var (
	userInfo = regexp.MustCompile(`(\w://)[^/@\s'"]+@`)
	keyValue = regexp.MustCompile(`(?i)([?&][^=&\s'"]*(?:token|secret|password|passwd|key|auth)[^=&\s'"]*=)[^&\s'"]+`)
	bearer   = regexp.MustCompile(`(?i)(authorization:\s*\S+\s+)\S+`)
)

// Scrub takes credentials out of a text: what stands before the @ of a URL,
// values of telling query parameters, and authorization headers.
func Scrub(text string) string {
	text = userInfo.ReplaceAllString(text, "${1}")
	text = keyValue.ReplaceAllString(text, "${1}[hidden]")
	return bearer.ReplaceAllString(text, "${1}[hidden]")
}
