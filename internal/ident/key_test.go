package ident_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/fault"
	"writ/internal/ident"
)

// The key of RFC 8032, section 7.1, test 1.
const (
	seedHex   = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
	publicHex = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	sigHex    = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKeyOfRFC8032(t *testing.T) {
	t.Parallel()
	k := ident.FromSeed([32]byte(unhex(t, seedHex)))
	pub := k.Public()
	if got := hex.EncodeToString(pub[:]); got != publicHex {
		t.Errorf("public key %s", got)
	}
	if seed := k.Seed(); hex.EncodeToString(seed[:]) != seedHex {
		t.Errorf("seed %x", seed)
	}
	sig := k.Sign(nil)
	if got := hex.EncodeToString(sig); got != sigHex {
		t.Errorf("signature %s", got)
	}
	if !ident.Verify(pub, nil, sig) {
		t.Error("own signature does not verify")
	}
	if want := "z" + base58ByDivision(append([]byte{0xed, 0x01}, pub[:]...)); pub.Multibase() != want || pub.String() != want {
		t.Errorf("multibase %s, want %s", pub.Multibase(), want)
	}
	if pub.DID() != "did:key:"+pub.Multibase() || pub.Node() != "node:did:key:"+pub.Multibase() {
		t.Errorf("did %s, node %s", pub.DID(), pub.Node())
	}
	// A vector that others publish: this key as did:key.
	if want := "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"; pub.Multibase() != want {
		t.Errorf("multibase %s, want %s", pub.Multibase(), want)
	}
}

// base58ByDivision is the textbook definition: repeated division by 58.
func base58ByDivision(b []byte) string {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(58), new(big.Int)
	var out []byte
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		out = append(out, alphabet[digit.Int64()])
	}
	slices.Reverse(out)
	return string(out)
}

func TestEveryKeyHasOneSpelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var k ident.PublicKey
		copy(k[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		s := k.Multibase()
		if want := "z" + base58ByDivision(append([]byte{0xed, 0x01}, k[:]...)); s != want {
			t.Fatalf("got %s, want %s", s, want)
		}
		if len(s) != 48 || !strings.HasPrefix(s, "z6Mk") {
			t.Fatalf("form of %s", s)
		}
		got, err := ident.ParseNode(k.Node())
		if err != nil {
			if bytes.Count(k[:], []byte{0}) < 16 && bytes.Count(k[:], []byte{0xff}) < 16 {
				t.Fatalf("%x: %v", k, err)
			}
			return // a key of small order
		}
		if got != k {
			t.Fatalf("%x reads as %x", k, got)
		}
	})
}

func TestParseMultibaseRefuses(t *testing.T) {
	t.Parallel()
	k := ident.FromSeed([32]byte{1}).Public()
	good := k.Multibase()
	if _, err := ident.ParseMultibase(good); err != nil {
		t.Fatal(err)
	}
	codec := func(head ...byte) string { return "z" + base58ByDivision(append(head, k[:]...)) }
	for name, s := range map[string]string{
		"empty":            "",
		"no multibase":     good[1:],
		"other multibase":  "m" + good[1:],
		"upper Z":          "Z" + good[1:],
		"digit zero":       good[:20] + "0" + good[21:],
		"letter O":         good[:20] + "O" + good[21:],
		"letter I":         good[:20] + "I" + good[21:],
		"letter l":         good[:20] + "l" + good[21:],
		"space":            good[:20] + " " + good[21:],
		"trailing newline": good + "\n",
		"leading one":      "z1" + good[1:],
		"one inside":       "z6Mk1" + good[4:],
		"short":            good[:47],
		"long":             good + "1",
		"x25519":           codec(0xec, 0x01),
		"secp256k1":        codec(0xe7, 0x01),
		"ed 02":            codec(0xed, 0x02),
		"31 bytes":         "z" + base58ByDivision(append([]byte{0xed, 0x01}, k[:31]...)),
		"33 bytes":         "z" + base58ByDivision(append([]byte{0xed, 0x01, 0}, k[:]...)),
		"too large":        "z6Mk" + strings.Repeat("z", 44),
		"not ascii":        good[:46] + "é",
	} {
		if _, err := ident.ParseMultibase(s); fault.CodeOf(err) != fault.Spelling {
			t.Errorf("%s %q: %v", name, s, err)
		}
		if _, err := ident.ParseNode("node:did:key:" + s); fault.CodeOf(err) != fault.Spelling {
			t.Errorf("%s as node: %v", name, err)
		}
	}
	for _, s := range []string{"", good, "did:key:" + good, "node:" + good, "Node:did:key:" + good, "node:did:key:" + good + "#" + good, " " + k.Node()} {
		if _, err := ident.ParseNode(s); fault.CodeOf(err) != fault.Spelling {
			t.Errorf("node %q: %v", s, err)
		}
	}
}

// Under a key of small order the all-zero-but-one signature (R the neutral
// point, S zero) passes the standard check for some message; ours says no.
func TestKeysOfSmallOrderVerifyNothing(t *testing.T) {
	t.Parallel()
	forged := make([]byte, 64)
	forged[0] = 1
	for _, text := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000080",
	} {
		k := ident.PublicKey(unhex(t, text))
		passes := 0
		for i := range 200 {
			msg := fmt.Append(nil, i)
			if ed25519.Verify(k[:], msg, forged) {
				passes++
			}
			if ident.Verify(k, msg, forged) {
				t.Fatalf("%s verifies a forged signature", text)
			}
		}
		if passes == 0 {
			t.Errorf("%s: the standard check never passed, so this key proves nothing", text)
		}
		if _, err := ident.ParseMultibase(k.Multibase()); fault.CodeOf(err) != fault.Spelling {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	k, err := ident.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	msg := []byte("message")
	sig := k.Sign(msg)
	other := ident.FromSeed([32]byte{2})
	flipped := slices.Clone(sig)
	flipped[40] ^= 1
	// S plus the group order: the same signature in a second form.
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(sig[32:])
	slices.Reverse(s)
	second := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(second)
	for name, ok := range map[string]bool{
		"other key":      ident.Verify(other.Public(), msg, sig),
		"other message":  ident.Verify(k.Public(), []byte("massage"), sig),
		"flipped bit":    ident.Verify(k.Public(), msg, flipped),
		"short":          ident.Verify(k.Public(), msg, sig[:63]),
		"long":           ident.Verify(k.Public(), msg, append(slices.Clone(sig), 0)),
		"nil":            ident.Verify(k.Public(), msg, nil),
		"malleable":      ident.Verify(k.Public(), msg, append(slices.Clone(sig[:32]), second...)),
		"no good at all": !ident.Verify(k.Public(), msg, sig),
	} {
		if ok {
			t.Errorf("%s verifies", name)
		}
	}
}

func TestPrivateKeyNeverPrints(t *testing.T) {
	t.Parallel()
	seed := [32]byte(unhex(t, seedHex))
	k := ident.FromSeed(seed)
	type holder struct {
		Key    ident.PrivateKey
		hidden ident.PrivateKey
	}
	h := holder{k, k}
	traces := []string{seedHex, strings.ToUpper(seedHex), "157 97 177", "0x9d", publicHex, string(seed[:])}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t"} {
		for _, x := range []any{k, &k, h, &h, []ident.PrivateKey{k}, map[string]any{"k": k}} {
			got := fmt.Sprintf(verb, x)
			for _, trace := range traces {
				if strings.Contains(got, trace) {
					t.Errorf("%s of %T shows the key: %s", verb, x, got)
				}
			}
		}
		if got := fmt.Sprintf(verb, k); verb != "%p" && got != "[private key]" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if _, err := json.Marshal(h); err == nil {
		t.Error("a private key became JSON")
	}
	if _, err := k.MarshalText(); err == nil {
		t.Error("a private key became text")
	}
	if k.IsZero() || !(ident.PrivateKey{}).IsZero() {
		t.Error("IsZero")
	}
}

func TestGenerateNeedsAllItsRandomness(t *testing.T) {
	t.Parallel()
	if _, err := ident.Generate(bytes.NewReader(make([]byte, 31))); fault.CodeOf(err) != fault.Internal {
		t.Errorf("31 random bytes: %v", err)
	}
	seed := bytes.Repeat([]byte{7}, 32)
	k, err := ident.Generate(bytes.NewReader(seed))
	if err != nil || k.Seed() != [32]byte(seed) {
		t.Errorf("%v", err)
	}
}

func TestEverySignatureHasOneSpelling(t *testing.T) {
	t.Parallel()
	sig := ident.FromSeed([32]byte{3}).Sign([]byte("x"))
	text := ident.EncodeSig(sig)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	same, others := 0, 0
	for _, last := range alphabet {
		got, err := ident.DecodeSig(text[:85] + string(last))
		switch {
		case err == nil && bytes.Equal(got, sig):
			same++
		case err == nil:
			others++
		case fault.CodeOf(err) != fault.Spelling:
			t.Error(err)
		}
	}
	if same != 1 || others != 3 {
		t.Errorf("%d spellings of the signature and %d of others, want 1 and 3: the last character carries two bits", same, others)
	}
	for name, s := range map[string]string{
		"empty": "", "padding": text + "==", "short": text[:85], "long": text + "A", "line feed": text[:85] + "\n",
		"line feed inside": text[:40] + "\n" + text[41:], "standard alphabet": strings.Repeat("+", 85) + "A", "space": " " + text[:85],
	} {
		if _, err := ident.DecodeSig(s); fault.CodeOf(err) != fault.Spelling {
			t.Errorf("%s: %v", name, err)
		}
	}
}
