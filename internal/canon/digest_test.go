package canon_test

import (
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

func parse(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Values that others published or computed for the formats that Writ reads.
func TestPublishedDigests(t *testing.T) {
	t.Parallel()
	ones, twos, threes := strings.Repeat("1", 64), strings.Repeat("2", 64), strings.Repeat("3", 64)
	for name, c := range map[string]struct{ got, want string }{
		"canonical profile": {
			canon.Plain(parse(t, `{"z":[3,2,1],"a":{"b":true,"a":"\u0105"},"n":1}`)).Base64(),
			"r2bAYdhk5FfM2FDmWq2HlGY4jDKM2Dcg6SG84tw7g7o",
		},
		"work order": {
			canon.Plain(parse(t, workOrder)).Hex(),
			"41d3b2be28538f657e9362e157a3976868d3eba159be23de2ca7df3a138c911f",
		},
		"legacy landing identity": {
			canon.Root(parse(t, `{"repository":"example/consumer","protectedBase":"dev/v1/v1.0","pullRequestNumber":7,
				"assignmentRoot":"sha256:`+ones+`","initiativeRoot":"sha256:`+twos+`","sourceIdentityRoot":"sha256:`+threes+`",
				"deliveryClass":"non-native-fast"}`)),
			"sha256:813934370a742836babec43977e77b5d028901efb6dec3ccc087993ecb69a5d4",
		},
		"root of an empty object": {canon.Root(parse(t, `{}`)), "sha256:ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"},
		"root of an empty array":  {canon.Root(parse(t, `[]`)), "sha256:37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570"},
		"root of null":            {canon.Root(canon.Null()), "sha256:38e0b9de817f645c4bec37c0d4a3e58baecccb040f5718dc069a72c7385a0bed"},
		"root of numbers": {
			canon.Root(parse(t, `{"b":1,"a":[true,null,-0,1.5,1e21,"x"]}`)),
			"sha256:4f12f78a286a941f298f6e718b2a6c06dd7c714f37aaf256373a1f202ba65e43",
		},
		"root of text": {
			canon.Root(parse(t, `{"t":"<&>\u2028\u00e9\ud83d\ude00\u0007\"\\/\n"}`)),
			"sha256:c46b52dada75280eadf69cffb4081a948610ccf96e269d1d0a77d1c68f35b9c5",
		},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", name, c.got, c.want)
		}
	}
	if got := canon.PlainRef(parse(t, workOrder)); got != "sha256:41d3b2be28538f657e9362e157a3976868d3eba159be23de2ca7df3a138c911f" {
		t.Errorf("plain ref: %s", got)
	}
}

const workOrder = `{"schema_version":"benchx/work-order/0.1.0","state":"resolved","run_key":"local:demo",
	"work_order_id":"urn:uuid:00000000-0000-4000-8000-000000000001","requester":{"kind":"person","name":"ann"},
	"target":{"kind":"build","path":"/builds/demo","source":{"type":"git","uri":"https://example.org/demo.git"}},
	"suites":[{"suite":"demo-bench","adapter":"google-benchmark","filter":"BM_.*"}],"quantities":["wall-time"],
	"plan":[{"id":"p0","case":"BM_Quiet/1024","from":"BM_.*","quantity":"wall-time"}],
	"precision":{"repetitions":5.0},"timeouts":{"case_s":30,"order_s":6e2}}`

func TestRootsEndInALineFeedAndSortByByte(t *testing.T) {
	t.Parallel()
	// U+E000 is before U+1F600 by code point and byte, after it by UTF-16.
	v := parse(t, `{"😀":1,"\ue000":2}`)
	if got, want := string(canon.RootBytes(v)), "{\"\ue000\":2,\"😀\":1}\n"; got != want {
		t.Errorf("root bytes: got %q, want %q", got, want)
	}
	if got, want := string(v.Canonical()), "{\"😀\":1,\"\ue000\":2}"; got != want {
		t.Errorf("canonical: got %q, want %q", got, want)
	}
}

func TestRefLeavesOutSelfAndSignatureOnly(t *testing.T) {
	t.Parallel()
	bare := parse(t, `{"a":{"signature":1,"x/ref":2},"b":1}`)
	signed := parse(t, `{"x/ref":"whatever","b":1,"signature":{"value":"s"},"a":{"x/ref":2,"signature":1}}`)
	want := "x:sha256:" + canon.Sum([]byte(`{"a":{"signature":1,"x/ref":2},"b":1}`)).Base64()
	if got := canon.Ref("x", "x/ref", signed); got != want {
		t.Errorf("signed: got %s, want %s", got, want)
	}
	if got := canon.Ref("x", "x/ref", bare); got != want {
		t.Errorf("bare: got %s, want %s", got, want)
	}
	if got := canon.Ref("x", "", parse(t, `{"":1,"signature":2}`)); got != "x:sha256:"+canon.Sum([]byte(`{"":1}`)).Base64() {
		t.Errorf("no self: %s", got)
	}
	if got, want := string(canon.SigningBytes(signed)), `{"a":{"signature":1,"x/ref":2},"b":1,"x/ref":"whatever"}`; got != want {
		t.Errorf("signing bytes: got %s, want %s", got, want)
	}
}

func TestEveryDigestHasOneSpelling(t *testing.T) {
	t.Parallel()
	d := canon.Sum([]byte("x"))
	b64, hex := d.Base64(), d.Hex()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	accepted := 0
	for _, last := range alphabet {
		s := b64[:42] + string(last)
		got, err := canon.ParseBase64(s)
		switch {
		case err == nil:
			accepted++
			if got.Base64() != s {
				t.Errorf("%s reads as %s", s, got.Base64())
			}
		case fault.CodeOf(err) != fault.Spelling:
			t.Errorf("%s: %v", s, err)
		}
	}
	if accepted != 16 {
		t.Errorf("%d last characters accepted, want the 16 that carry four bits", accepted)
	}
	for _, s := range []string{
		"", b64 + "=", b64[:42], b64 + "A", b64[:41] + "\nA", b64[:42] + "+", b64[:42] + "/", " " + b64[:42],
	} {
		if _, err := canon.ParseBase64(s); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("base64 %q: %v", s, err)
		}
	}
	if got, err := canon.ParseHex(hex); err != nil || got != d {
		t.Errorf("hex: %v", err)
	}
	if _, err := canon.ParseHex(strings.ToUpper(hex)); fault.CodeOf(err) != fault.Spelling {
		t.Errorf("upper hex: %v", err)
	}
	for _, s := range []string{"", hex[:63], hex + "0", hex[:63] + "g"} {
		if _, err := canon.ParseHex(s); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("hex %q: %v", s, err)
		}
	}
	if got, err := canon.ParseRoot(d.String()); err != nil || got != d {
		t.Errorf("root: %v", err)
	}
	for _, s := range []string{"", hex, "SHA256:" + hex, "sha256:" + b64} {
		if _, err := canon.ParseRoot(s); err == nil {
			t.Errorf("root %q accepted", s)
		}
	}
}

func TestRefSpellings(t *testing.T) {
	t.Parallel()
	d := canon.Sum([]byte("x"))
	if got, err := canon.ParseRef("object-store", canon.ObjectRef(d)); err != nil || got != d {
		t.Errorf("object ref: %v", err)
	}
	if got, err := canon.ParseRef("artifact", canon.ArtifactRef(d)); err != nil || got != d {
		t.Errorf("artifact ref: %v", err)
	}
	for _, s := range []string{"artifact:" + d.String(), "artifact:sha256:", "sha256:" + d.Base64(), canon.ObjectRef(d), " " + canon.ArtifactRef(d)} {
		if _, err := canon.ParseRef("artifact", s); err == nil {
			t.Errorf("%q accepted", s)
		}
	}
	var back canon.Digest
	text, err := d.MarshalText()
	if err != nil || back.UnmarshalText(text) != nil || back != d {
		t.Errorf("text form %s: %v", text, err)
	}
	if back.UnmarshalText([]byte("sha256:x")) == nil || back != d {
		t.Error("a bad text form changed the digest")
	}
	if !(canon.Digest{}).IsZero() || d.IsZero() {
		t.Error("IsZero")
	}
}
