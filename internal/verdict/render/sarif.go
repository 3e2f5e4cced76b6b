package render

import (
	"writ/internal/canon"
	"writ/internal/verdict"
)

// sarif is for code scanners, version 2.1.0: a row is a result whose place is the
// name of the case, and no file is made up for it.
func sarif(r verdict.Report) (string, error) {
	results := []any{}
	for _, row := range r.Rows {
		kind, level := "pass", "none"
		switch weigh(r, row) {
		case stop:
			kind, level = "fail", "error"
		case look:
			kind, level = "fail", "warning"
		case goOn:
			if row.Mark() == verdict.MarkUnknown {
				kind = "open"
			}
		}
		text := message(row)
		for _, n := range row.Notes() {
			text += "\nwarning: " + n
		}
		results = append(results, map[string]any{
			"ruleId": ruleID(row.Word), "kind": kind, "level": level, "message": map[string]string{"text": text},
			"locations": []any{map[string]any{"logicalLocations": []any{map[string]string{"fullyQualifiedName": row.Case, "kind": "function"}}}},
			"partialFingerprints": map[string]string{
				"writCase/v1": canon.Plain(canon.MustFrom([]any{row.Workload, row.Parameters, row.Quantity})).Hex(),
			},
			"properties": properties(row),
		})
	}
	notices := []any{}
	for _, f := range r.Failed {
		notices = append(notices, map[string]any{"level": "error", "message": map[string]string{"text": f}})
	}
	for _, e := range r.Exclusions {
		notices = append(notices, map[string]any{"level": "note", "message": map[string]string{"text": "excluded: " + e}})
	}
	for _, n := range r.Notes {
		notices = append(notices, map[string]any{"level": "note", "message": map[string]string{"text": n}})
	}
	rules := []any{}
	for _, id := range ruleIDs(r) {
		rules = append(rules, map[string]any{"id": id, "shortDescription": map[string]string{"text": meanings[id]}})
	}
	run := map[string]any{
		"tool": map[string]any{"driver": map[string]any{"name": "writ", "rules": rules}},
		"invocations": []any{map[string]any{
			"executionSuccessful": len(r.Failed) == 0, "toolExecutionNotifications": notices,
		}},
		"results":           results,
		"automationDetails": map[string]string{"id": r.RunKey},
		"properties":        map[string]string{"method": r.Method, "settings": r.Settings, "overall": r.Word},
		"columnKind":        "unicodeCodePoints",
	}
	if r.Gate != nil {
		run["properties"] = map[string]any{"method": r.Method, "settings": r.Settings, "overall": r.Word, "gate": string(r.Gate.Answer), "reasons": r.Gate.Reasons}
	}
	log, err := canon.From(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []any{run},
	})
	if err != nil {
		return "", err
	}
	return string(log.Canonical()) + "\n", nil
}

// meanings of the words, as rules of a scanner.
var meanings = map[string]string{
	"writ/slower":             "Worse than the baseline, beyond the threshold.",
	"writ/faster":             "Better than the baseline, beyond the threshold.",
	"writ/no-difference":      "Equivalent to the baseline within the threshold.",
	"writ/identical":          "The same file was measured on both sides.",
	"writ/invalid":            "The evidence breaks a rule, so there is no verdict.",
	"writ/underpowered":       "Too few rounds for any verdict.",
	"writ/inconclusive":       "The interval allows more than one verdict.",
	"writ/regressed":          "Worse than the baseline, beyond its noise.",
	"writ/improved":           "Better than the baseline, beyond its noise.",
	"writ/changed":            "Differs from the baseline, and neither way is better.",
	"writ/no-change-detected": "No change was detected.",
	"writ/indeterminate":      "There is no verdict.",
	"writ/measured":           "Measured, and compared with nothing.",
}

func ruleID(word string) string { return "writ/" + word }

// ruleIDs lists the rules that rows cite, in the order in which they come up.
func ruleIDs(r verdict.Report) (out []string) {
	seen := map[string]bool{}
	for _, row := range r.Rows {
		if id := ruleID(row.Word); !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// properties are a row's numbers in full.
func properties(row verdict.ReportRow) map[string]any {
	p := map[string]any{
		"quantity": row.Quantity, "unit": row.Unit, "verdict": row.Word, "n": row.N, "dropped": row.Dropped, "gating": row.Gating,
		"threshold": row.Threshold, "floor": row.Floor, "warnings": row.Notes(),
	}
	for name, text := range map[string]string{"mark": row.Mark(), "measure": row.Measure, "reason": row.Reason, "hint": row.Hint, "answer": string(row.Answer)} {
		if text != "" {
			p[name] = text
		}
	}
	for name, x := range map[string]*float64{"base": row.Baseline, "contender": row.Contender, "change": row.Effect, "level": row.Level, "p": row.P} {
		if x != nil {
			p[name] = *x
		}
	}
	if len(row.Interval) == 2 {
		p["interval"] = row.Interval
	}
	return p
}
