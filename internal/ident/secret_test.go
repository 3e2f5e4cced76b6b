package ident_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"writ/internal/fault"
	"writ/internal/ident"
)

func TestSecretRoundTrip(t *testing.T) {
	t.Parallel()
	id, text := ident.NewSecret()
	if !regexp.MustCompile(`^writ_[0-7][0-9A-HJKMNP-TV-Z]{25}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$`).MatchString(text) {
		t.Errorf("form of a secret")
	}
	if got, err := ident.ParseSecret(text); err != nil || got != id || !ident.Is(ident.Token, id) {
		t.Errorf("id %s, want %s: %v", got, id, err)
	}
	if ident.HashSecret(text) != sha256.Sum256([]byte(text)) {
		t.Error("hash is not the SHA-256 of the text")
	}
	if other, second := ident.NewSecret(); other == id || second == text {
		t.Error("two secrets are the same")
	}
}

func TestSecretRefusesEveryChangedCharacter(t *testing.T) {
	t.Parallel()
	_, text := ident.NewSecret()
	for i := range text {
		c := byte('A')
		if text[i] == c {
			c = 'B'
		}
		if _, err := ident.ParseSecret(text[:i] + string(c) + text[i+1:]); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("character %d changed: %v", i, err)
		}
	}
	for _, s := range []string{"", "writ_", text[:len(text)-1], text + "0", text + "\n", strings.ToUpper(text), "Bearer " + text} {
		_, err := ident.ParseSecret(s)
		if fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("%d characters: %v", len(s), err)
		}
		if err != nil && len(s) > 20 && strings.Contains(err.Error(), s[6:20]) {
			t.Error("the error repeats the secret")
		}
	}
}

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	_, text := ident.NewSecret()
	s := ident.Secret(text)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb, s); got != "[secret]" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if _, err := json.Marshal(s); err == nil {
		t.Error("a secret became JSON")
	}
	if string(s) != text {
		t.Error("conversion lost the text")
	}
}
