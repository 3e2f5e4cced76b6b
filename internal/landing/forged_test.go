package landing

import (
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// A document whose warrant or status was forged is not read, whatever its root.
func TestForgedDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		k.qualify()
		k.qualify()
		k.land()
		k.admit()
		refused := func(name, pointer string, x any) {
			t.Helper()
			if _, err := Normalise(edit(t, k.s, pointer, x), ReadParams{}); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		refused("warrant of a merely qualified candidate", "/landingWarrant/candidateId", k.s.Candidates[1].CandidateID)
		refused("landing without qualification", "/candidates/0/qualification", map[string]any(nil))
		for _, member := range []string{
			"schema", "authority", "nativeProofAuthority", "qualificationReceiptRoot", "sourceProofRoot", "nativeProofRoot",
			"nativeExecutionBindingRoot", "nativeExecutionReceiptRoot", "nativeCommandRoot", "qualificationContractRoot", "qualifiedAt",
		} {
			refused("qualification without "+member, "/candidates/0/qualification/"+member, nil)
		}
		for _, member := range []string{"mergeGroupHead", "mergeGroupAdmissionRoot", "expectedAdmissionStateRoot", "admittedAt", "providerAttempt"} {
			refused("admission without "+member, "/landingWarrant/"+member, nil)
		}
		refused("other head", "/landingWarrant/mergeGroupHead", hex40("9"))
		refused("migration", "/migration", map[string]any{})
		refused("unknown member", "/priority", 1)
		refused("unknown member of a candidate", "/candidates/0/priority", 1)
		refused("unknown member of the policy", "/policy/agingSeconds", 1)
		refused("missing policy member", "/policy/landingLeaseSeconds", nil)
		refused("upper case", "/candidates/0/sourceHead", "ABCDEF0000000000000000000000000000000000")
		refused("time without milliseconds", "/updatedAt", "2026-08-12T00:00:00Z")
		refused("date that is none", "/updatedAt", "2026-02-30T00:00:00.000Z")
		refused("space around a path", "/candidates/0/affectedPaths", []any{" pkg"})
		refused("paths out of order", "/candidates/0/affectedPaths", []any{"b", "a"})
		refused("domain twice", "/candidates/0/qualificationDomains", []any{root("a"), root("a")})
		refused("contract of the other dialect", "/schemaVersion", 3)
		refused("shared domain", "/candidates/1/qualificationDomains", []any{root("a")})
		refused("unknown domains beside others", "/candidates/1/qualificationDomains", []any{})
		refused("too many overtakes", "/candidates/0/landingOvertakes", 3)
		refused("active without terminal rule", "/candidates/0/status", "queued")
		refused("ended without a record", "/candidates/1/status", "merged")
		refused("null where absent is meant", "/candidates/0/environmentRoot", map[string]any(nil))
		refused("command root", "/candidates/0/nativeCommandContract/command", "make evil")
		refused("other repository", "/candidates/1/repository", "acme/gadgets")

		doc := must(k.s.Value())(t)
		_, err := Normalise(doc.With("generation", canon.IntOf(99)), ReadParams{})
		refuses(t, fault.RootDrift, err)
		if _, err := Normalise(doc, ReadParams{Repository: "acme/gadgets"}); err == nil {
			t.Error("another repository was accepted")
		}
		if _, err := Normalise(doc, ReadParams{ProtectedBase: "dev/v9/v9.9"}); err == nil {
			t.Error("another base was accepted")
		}
	})
}

// What the original reader leaves unchecked is refused in strict mode only.
func TestStrictModeChecksTheRest(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		k.lease()
		k.complete(k.s.Leases[0].Fence())
		k.lease()
		k.land()
		k.admit()
		for name, x := range map[string]struct {
			pointer string
			to      any
		}{
			"generation below the grants": {"/generation", 1},
			"lease above the counter":     {"/qualificationLeases/0/generation", 7},
			"warrant above the counter":   {"/landingWarrant/generation", 7},
			"token of a lease":            {"/landingWarrant/token", k.s.Leases[0].Token},
			"times out of order":          {"/qualificationLeases/0/expiresAt", "2026-08-11T00:00:00.000Z"},
			"heartbeat before issue":      {"/landingWarrant/heartbeatAt", "2026-08-11T00:00:00.000Z"},
			"admission root":              {"/landingWarrant/mergeGroupAdmissionRoot", root("0")},
			"admitted too early":          {"/landingWarrant/admittedAt", "2026-08-11T00:00:00.000Z"},
			"attempt of another head":     {"/landingWarrant/providerAttempt/sourceHead", hex40("9")},
			"attempt of another remote":   {"/landingWarrant/providerAttempt/repository", "acme/gadgets"},
		} {
			doc := edit(t, k.s, x.pointer, x.to)
			if _, err := Normalise(doc, ReadParams{}); err != nil {
				t.Errorf("%s: refused without strict mode: %v", name, err)
			}
			if _, err := Normalise(doc, ReadParams{Strict: true}); err == nil {
				t.Errorf("%s: accepted in strict mode", name)
			}
		}
	})
}
