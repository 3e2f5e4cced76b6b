package schema

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

func documents(t testing.TB) map[string]map[string]any {
	t.Helper()
	names, err := fs.Glob(files, "files/*")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]map[string]any{}
	for _, n := range names {
		b, err := files.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		docs[strings.TrimSuffix(strings.TrimPrefix(n, "files/"), suffix)] = doc
	}
	return docs
}

// published are the ids that the formats themselves fix.
var published = map[string]string{
	"delivery-authority.v2":  "https://buildchain.libkungfu.dev/schemas/dev-delivery-authority-v2.schema.json",
	"event.run.requested.v1": "https://chipschat.ai/schema/v1/run.requested.json",
}

func TestFilesNameThemselves(t *testing.T) {
	t.Parallel()
	for stem, doc := range documents(t) {
		id, _ := doc["$id"].(string)
		if want, ok := published[stem]; ok {
			if id != want {
				t.Errorf("%s: $id is %s, want %s", stem, id, want)
			}
		} else if got := fileRef(id); got != stem+suffix+"#" {
			t.Errorf("%s: $id %s names the file %s", stem, id, got)
		}
		if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $schema is %v", stem, doc["$schema"])
		}
		for _, k := range []string{"title", "description"} {
			if s, _ := doc[k].(string); s == "" {
				t.Errorf("%s has no %s", stem, k)
			}
		}
	}
}

func TestIDsAreTheConstants(t *testing.T) {
	t.Parallel()
	constants := []ID{
		WorkOrder, MeasurementResult, ComparisonDocument, EnvironmentPolicy, EnvironmentIdentity, TargetDescription,
		RoleAssignment, TurnProposal, EvidenceManifest, RoomPolicy, ExperimentProposalV1, ExperimentProposal,
		ExperimentReview, ChairDecision, Execution, HumanAnswer,
		TaskCandidate, TaskPatch, TaskProfile, TaskBinding, TaskPlan, HILRequest, HILAnswer, RunFact, ExperimentResult, Refusal,
		DeliveryAuthority, WritAuthority, SourceProofV1, SourceProof, NativeProof, ExecutionReceipt, ExecutionBinding,
		QualificationContract, QualificationReceipt, Admission, GitAttempt, GitReadback,
		DocketBinding, ResultSet, Verdict, Gate, GatePolicy, Docket, RunRequested,
	}
	named := map[ID]bool{}
	for _, id := range constants {
		named[id] = true
		if !Has(id) || Raw(id) == nil {
			t.Errorf("%s has no file", id)
		}
	}
	for _, id := range IDs() {
		if !named[id] && !strings.HasPrefix(string(id), "event.") {
			t.Errorf("%s has no constant", id)
		}
	}
	if Event("run.requested") != RunRequested {
		t.Errorf("Event spells %s", Event("run.requested"))
	}
	if Has("defs.event.v1") || Raw("defs.event.v1") != nil || Has("nothing.v1") || Raw("nothing.v1") != nil {
		t.Error("Has or Raw knows what is no document")
	}
}

// TestPatternsAreECMA keeps patterns to what both regular expression languages
// read alike once white space is spelled out.
func TestPatternsAreECMA(t *testing.T) {
	t.Parallel()
	odd := regexp.MustCompile(`\\[pPwWbBAzZQE]|\(\?[^:]|\[\[`)
	var walk func(stem string, x any)
	walk = func(stem string, x any) {
		switch x := x.(type) {
		case map[string]any:
			if p, ok := x["pattern"].(string); ok {
				if odd.MatchString(p) || !strings.HasPrefix(p, "^") {
					t.Errorf("%s: pattern %s", stem, p)
				}
				if _, err := compilePattern(p); err != nil {
					t.Errorf("%s: pattern %s: %v", stem, p, err)
				}
			}
			for _, e := range x {
				walk(stem, e)
			}
		case []any:
			for _, e := range x {
				walk(stem, e)
			}
		}
	}
	for stem, doc := range documents(t) {
		walk(stem, doc)
	}
}
