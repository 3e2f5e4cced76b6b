package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"writ/client"
)

func TestWhatARunNeedsNext(t *testing.T) {
	t.Parallel()
	asked := []client.Why{{What: "step change", Ref: "operator-task-hil-request:x"}}
	for name, c := range map[string]struct {
		kinds   string
		waiting []client.Why
		ended   string
		want    string // in the command; "" for nothing that a command can give
	}{
		"nothing yet":           {"", nil, "null", "writ propose run_1 "},
		"only a turn":           {"role-assignment turn", nil, "null", "writ propose run_1 "},
		"a proposal":            {"turn proposal", nil, "null", "writ review run_1"},
		"a review":              {"proposal evidence-manifest review", nil, "null", "writ decide run_1 "},
		"a newer proposal":      {"proposal review proposal", nil, "null", "writ review run_1"},
		"a decision that stops": {"proposal review decision", nil, "null", "writ propose run_1 "},
		"admitted, running":     {"proposal review decision task-profile plan", nil, "null", ""},
		"admitted, asking":      {"proposal review decision plan hil-request", asked, "null", "writ inbox --run run_1"},
		"another turn after":    {"proposal review decision plan turn", asked, "null", "writ inbox --run run_1"},
		"ended":                 {"proposal review decision plan", asked, `{"type":"run.failed"}`, "writ docket show run_1"},
	} {
		r := client.Run{RunID: "run_1", Waiting: c.waiting, Ended: json.RawMessage(c.ended)}
		for kind := range strings.FieldsSeq(c.kinds) {
			r.Documents = append(r.Documents, client.DocRef{Kind: kind})
		}
		got := ""
		if n := nextOf(r); n != nil {
			got = n.Command
		}
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
