package landing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
)

// independent checks a state document by the written rules alone, with nothing
// of this package: plain maps, its own roots, one rule after the other. It
// answers the first rule that is broken, or "".
func independent(doc map[string]any) string {
	rest := map[string]any{}
	for k, v := range doc {
		if k != "stateRoot" {
			rest[k] = v
		}
	}
	if plainRoot(rest) != doc["stateRoot"] {
		return "state root"
	}
	var cands []map[string]any
	for _, x := range doc["candidates"].([]any) {
		cands = append(cands, x.(map[string]any))
	}
	leases := map[any]bool{}
	for _, x := range doc["qualificationLeases"].([]any) {
		l := x.(map[string]any)
		if leases[l["candidateId"]] {
			return "two leases of one candidate"
		}
		leases[l["candidateId"]] = true
	}
	policy := doc["policy"].(map[string]any)
	if len(leases) > num(policy["maxQualificationLeases"]) {
		return "too many leases"
	}
	warrant, _ := doc["landingWarrant"].(map[string]any)
	bound := 2
	if n, ok := policy["maxLandingOvertakes"]; ok {
		bound = num(n)
	}
	for _, rule := range []func() string{
		func() string { return identities(doc, cands) },
		func() string { return chains(cands) },
		func() string { return grants(cands, leases, warrant) },
		func() string { return statuses(cands) },
		func() string { return disjoint(cands) },
		func() string {
			for _, c := range cands {
				if n, ok := c["landingOvertakes"]; ok && num(n) > bound {
					return "overtaken too often"
				}
			}
			return ""
		},
	} {
		if wrong := rule(); wrong != "" {
			return wrong
		}
	}
	return ""
}

func num(x any) int {
	n, err := x.(json.Number).Int64()
	if err != nil {
		return -1
	}
	return int(n)
}

func plainRoot(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b) // sorts members and ends with one line feed
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(b.Bytes())
	return "sha256:" + hex.EncodeToString(sum[:])
}

func identities(doc map[string]any, cands []map[string]any) string {
	seen := map[any]bool{}
	for _, c := range cands {
		id := map[string]any{"repository": doc["repository"], "protectedBase": doc["protectedBase"]}
		for _, k := range []string{"pullRequestNumber", "sourceRoot", "sourceIdentityRoot", "deliveryClass"} {
			id[k] = c[k]
		}
		if p, ok := c["predecessorCandidateId"]; ok {
			id["identitySemantics"], id["predecessorCandidateId"] = "chained-attempt-v2", p
		}
		if plainRoot(id) != c["candidateId"] {
			return "identity"
		}
		if seen[c["candidateId"]] {
			return "id twice"
		}
		seen[c["candidateId"]] = true
		for _, k := range []string{"affectedPaths", "shardEvidenceRoots", "qualificationDomains"} {
			if l, ok := c[k].([]any); ok && !sort.SliceIsSorted(l, func(i, j int) bool { return l[i].(string) < l[j].(string) }) {
				return k + " not sorted"
			}
		}
	}
	return ""
}

func ended(c map[string]any) bool {
	switch c["status"] {
	case "merged", "terminal-failure", "dequeued", "cancelled":
		return true
	}
	return false
}

func chains(cands []map[string]any) string {
	for i, c := range cands {
		var latest map[string]any
		for _, e := range cands[:i] {
			if num(e["pullRequestNumber"]) == num(c["pullRequestNumber"]) {
				latest = e
			}
		}
		p, chained := c["predecessorCandidateId"]
		switch {
		case latest == nil && chained:
			return "predecessor not there"
		case latest != nil && (!chained || p != latest["candidateId"] || !ended(latest)):
			return "chain"
		}
	}
	return ""
}

func grants(cands []map[string]any, leases map[any]bool, warrant map[string]any) string {
	for _, c := range cands {
		id := c["candidateId"]
		if (c["status"] == "qualifying") != leases[id] {
			return "lease and status disagree"
		}
		delete(leases, id)
		if (c["status"] == "landing") != (warrant != nil && warrant["candidateId"] == id) {
			return "warrant and status disagree"
		}
	}
	if len(leases) > 0 {
		return "lease of nobody"
	}
	if warrant == nil {
		return ""
	}
	n := 0
	for _, k := range []string{"mergeGroupHead", "mergeGroupAdmissionRoot", "expectedAdmissionStateRoot", "admittedAt", "providerAttempt"} {
		if _, ok := warrant[k]; ok {
			n++
		}
	}
	if n != 0 && n != 5 {
		return "admission in part"
	}
	if n == 5 && warrant["providerAttempt"].(map[string]any)["mergeGroupHead"] != warrant["mergeGroupHead"] {
		return "admitted head"
	}
	found := 0
	for _, c := range cands {
		if c["candidateId"] == warrant["candidateId"] {
			found++
		}
	}
	if found != 1 {
		return "warrant of nobody"
	}
	return ""
}

func statuses(cands []map[string]any) string {
	for _, c := range cands {
		q, t := c["qualification"], c["terminal"]
		switch c["status"] {
		case "queued", "qualifying":
			if q != nil || t != nil {
				return "too early for a record"
			}
		case "qualified", "landing":
			if q == nil || t != nil {
				return "qualification missing"
			}
		default:
			if t == nil || t.(map[string]any)["outcome"] != c["status"] {
				return "terminal record"
			}
		}
	}
	return ""
}

func disjoint(cands []map[string]any) string {
	var active [][]any
	for _, c := range cands {
		switch c["status"] {
		case "qualifying", "qualified", "landing":
			d, _ := c["qualificationDomains"].([]any)
			active = append(active, d)
		}
	}
	for i := range active {
		for j := range i {
			if len(active[i]) == 0 || len(active[j]) == 0 {
				return "unknown domains beside others"
			}
			for _, a := range active[i] {
				for _, b := range active[j] {
					if a == b {
						return fmt.Sprint("shared domain ", a)
					}
				}
			}
		}
	}
	return ""
}
