package result

import (
	"strconv"

	"writ/internal/fault"
)

// RuleSource is the rule that a result is about the repository at its head. Stores
// tell it apart from other rules: who breaks it claims another identity.
const RuleSource = "the primary component's source is the result's"

// check returns the rules that a document breaks beyond its schema.
func check(d Document) (broken []fault.Field) {
	bad := func(pointer, rule, got string) {
		broken = append(broken, fault.Field{Pointer: pointer, Rule: rule, Got: got})
	}
	for i, c := range d.Coordinates.Subject.Components {
		if c.Role == Primary && c.Source != "" && c.Source != d.Source.URI {
			bad("/coordinates/subject/components/"+strconv.Itoa(i)+"/source", RuleSource, c.Source)
		}
	}
	if c := d.Measurement.Constraint; c != nil && c.Lower != nil && c.Upper != nil && *c.Lower > *c.Upper {
		bad("/measurement/constraint", "lower must not be above upper", "")
	}
	estimates := map[string]bool{}
	for i, s := range d.Measurement.Summaries {
		at := "/measurement/summaries/" + strconv.Itoa(i)
		if s.Lower != nil && s.Upper != nil && *s.Lower > *s.Upper {
			bad(at, "lower must not be above upper", "")
		}
		if s.Estimator != nil {
			print := EstimatorPrint(*s.Estimator).Hex()
			if estimates[print] {
				bad(at+"/estimator", "estimator is used twice", s.Estimator.Name)
			}
			estimates[print] = true
			broken = append(broken, missingInputs(*s.Estimator, at+"/estimator", d)...)
		}
	}
	if d.Measurement.Derivation != nil {
		broken = append(broken, missingInputs(*d.Measurement.Derivation, "/measurement/derivation", d)...)
	}
	broken = append(broken, counts(d.Procedure)...)
	if d.Provenance.EndedAt != "" && before(d.Provenance.EndedAt, d.Provenance.StartedAt) {
		bad("/provenance/ended_at", "must not be before started_at", d.Provenance.EndedAt)
	}
	return broken
}

// missingInputs asks for exactly one reference per role that an estimator reads.
func missingInputs(e Estimator, at string, d Document) (broken []fault.Field) {
	for i, input := range e.Inputs {
		n := 0
		for _, ref := range d.Provenance.References {
			if ref.Role == input.Role {
				n++
			}
		}
		if n != 1 {
			broken = append(broken, fault.Field{
				Pointer: at + "/inputs/" + strconv.Itoa(i), Rule: "each role needs exactly one reference", Got: strconv.Itoa(n),
			})
		}
	}
	return broken
}

// counts checks that no level completes more than it attempts, and that the
// plain counts are those of the innermost level.
func counts(p Procedure) (broken []fault.Field) {
	bad := func(pointer, rule string) {
		broken = append(broken, fault.Field{Pointer: "/procedure/" + pointer, Rule: rule})
	}
	if p.AttemptedRepetitions != nil && p.CompletedRepetitions != nil && *p.CompletedRepetitions > *p.AttemptedRepetitions {
		bad("completed_repetitions", "more completed than attempted")
	}
	for i, l := range p.RepetitionLevels {
		if l.Completed > l.Attempted {
			bad("repetition_levels/"+strconv.Itoa(i)+"/completed", "more completed than attempted")
		}
	}
	if n := len(p.RepetitionLevels); n > 0 {
		inner := p.RepetitionLevels[n-1]
		if p.AttemptedRepetitions != nil && *p.AttemptedRepetitions != inner.Attempted {
			bad("attempted_repetitions", "must be the count of the innermost level")
		}
		if p.CompletedRepetitions != nil && *p.CompletedRepetitions != inner.Completed {
			bad("completed_repetitions", "must be the count of the innermost level")
		}
	}
	return broken
}

// before compares two times that the schema has passed: UTC, written with Z, and
// fractions of any length.
func before(a, b string) bool {
	const whole = len("2006-01-02T15:04:05")
	if a[:whole] != b[:whole] {
		return a[:whole] < b[:whole]
	}
	return fraction(a[whole:]) < fraction(b[whole:])
}

// fraction returns the digits after the full stop, without Z and the zeros that
// change nothing.
func fraction(s string) string {
	end := len(s) - 1
	for end > 0 && (s[end-1] == '0' || s[end-1] == '.') {
		end--
	}
	if end < 1 {
		return ""
	}
	return s[1:end]
}
