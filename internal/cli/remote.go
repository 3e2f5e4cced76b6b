package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/ident"
)

const defaultServer = "http://127.0.0.1:7717"

func (a *app) address() string {
	if a.server != "" {
		return a.server
	}
	if s := a.getenv("WRIT_SERVER"); s != "" {
		return s
	}
	return defaultServer
}

// client talks to the server with the token that the user chose.
func (a *app) client() (*client.Client, error) { return a.clientOf("") }

// clientOf is client for somebody who signs with a key: the token that `writ
// init` kept for the key's owner goes before those of the environment.
func (a *app) clientOf(key string) (*client.Client, error) {
	token, err := a.readToken(key)
	if err != nil {
		return nil, err
	}
	c := client.New(a.address(), token)
	a.clients = append(a.clients, c)
	return c, nil
}

func (a *app) tokenPath(key string) string { return filepath.Join(a.homeDir(), "tokens", key) }

// readToken takes the first of: --token-file, the token kept for the key,
// $WRIT_TOKEN_FILE, $WRIT_TOKEN, the file token in the home folder.
func (a *app) readToken(key string) (string, error) {
	const op = "find token"
	if a.token != "" {
		return readTokenFile(a.token)
	}
	if key != "" {
		if _, err := os.Stat(a.tokenPath(key)); err == nil {
			return readTokenFile(a.tokenPath(key))
		}
	}
	if path := a.getenv("WRIT_TOKEN_FILE"); path != "" {
		return readTokenFile(path)
	}
	if text := a.getenv("WRIT_TOKEN"); text != "" {
		return checkToken(text, "$WRIT_TOKEN")
	}
	if path := filepath.Join(a.homeDir(), "token"); exists(path) {
		return readTokenFile(path)
	}
	return "", fault.New(fault.Unauthenticated, op, "no token for %s", a.address()).
		Help("pass --token-file FILE or set $WRIT_TOKEN_FILE; the first start of writ serve shows the admin's token")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func readTokenFile(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fault.Wrap(err, fault.Unauthenticated, "read token", "%s cannot be read", path)
	}
	return checkToken(string(raw), path)
}

// checkToken catches a wrong file before its content goes over the wire.
func checkToken(text, from string) (string, error) {
	text = strings.TrimSpace(text)
	if _, err := ident.ParseSecret(text); err != nil {
		return "", fault.New(fault.Unauthenticated, "read token", "%s holds no token", from).
			Help("a token begins with writ_ and is one line")
	}
	return text, nil
}

// remote turns what the client returns into a fault with the server's code and
// facts. Errors of our own pass through.
func (a *app) remote(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := fault.As(err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	var e *client.Error
	if errors.As(err, &e) {
		return refusal(e)
	}
	var cut net.Error
	if errors.As(err, &cut) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(err, fault.Unavailable, "call server", "%s does not answer", a.address()).
			Help("start one with: writ serve, or pass --server")
	}
	return fault.Wrap(err, fault.Unavailable, "call server", "what %s answers cannot be used", a.address()).
		Help("is it the address of a writ server of this version?")
}

func refusal(e *client.Error) *fault.Error {
	out := &fault.Error{Code: fault.Code(e.Code), Public: e.Detail, Hint: e.Hint, Pointer: e.Pointer}
	if op, rest, ok := strings.Cut(e.Detail, ": "); ok {
		out.Op, out.Public = op, rest
	}
	if !out.Code.Known() {
		out = out.With("code", e.Code)
		out.Code = codeOf(e.Status)
	}
	if e.Offset != nil {
		out = out.AtByte(*e.Offset)
	}
	for _, f := range e.Fields {
		out.Fields = append(out.Fields, fault.Field{Pointer: f.Pointer, Rule: f.Rule, Got: f.Got})
	}
	names := make([]string, 0, len(e.Data))
	for name := range e.Data {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		out = out.With(name, e.Data[name])
	}
	return out
}

// codeOf is the code for an answer whose own code this build does not know.
func codeOf(status int) fault.Code {
	switch status {
	case http.StatusUnauthorized:
		return fault.Unauthenticated
	case http.StatusForbidden:
		return fault.Forbidden
	case http.StatusNotFound, http.StatusGone:
		return fault.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return fault.Conflict
	case http.StatusTooManyRequests:
		return fault.RateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.Unavailable
	}
	if status < http.StatusInternalServerError {
		return fault.Invalid
	}
	return fault.Internal
}

// signer loads the key that a signing command names and a client for its owner.
func (a *app) signer(name string) (*client.Client, ident.PrivateKey, error) {
	if name == "" {
		return nil, ident.PrivateKey{}, fault.New(fault.Usage, "find key", "no key to sign with").
			Help("pass --key NAME; writ key list shows yours")
	}
	_, key, err := a.ring().Load(name)
	if err != nil {
		return nil, key, err
	}
	c, err := a.clientOf(name)
	return c, key, err
}

// plural counts things in words.
func plural(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(one, "y"))
	case strings.HasSuffix(one, "s"):
		return fmt.Sprintf("%d %ses", n, one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}
