package taskpack

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// Retry says when trying again may help.
type Retry string

// The retry classes.
const (
	RetryNever     Retry = "terminal"
	RetryOperator  Retry = "after-operator-action"
	RetryDeferred  Retry = "after-deferred-operation"
	RetryReconcile Retry = "after-owner-reconcile"
	RetryTransient Retry = "transient"
)

// Code is one word of the closed refusal vocabulary.
type Code string

// The codes that this package itself gives. Refusals lists all 45.
const (
	ProfileDigestMismatch Code = "package/profile-digest-mismatch"
	BindingMissing        Code = "local-binding/missing"
	BindingIncomplete     Code = "local-binding/incomplete"
	BindingOutside        Code = "local-binding/outside-package-ceiling"
	BindingPaused         Code = "local-binding/paused"
	EgressDenied          Code = "environment/runtime-egress-denied"
	NotContained          Code = "environment/not-contained"
	ProfileMissing        Code = "workbench/command-profile-missing"
	EffectModeMissing     Code = "workbench/effect-mode-missing"
	PatchOutside          Code = "workbench/patch-outside-policy"
	GrantMissing          Code = "interface/grant-missing"
	UnknownAction         Code = "plan/unknown-action-kind"
	OutsideProfile        Code = "plan/outside-profile"
	FirstStep             Code = "plan/first-step-not-observation"
	RecoveryClass         Code = "plan/recovery-class-not-admitted"
	ChangedReplay         Code = "plan/changed-replay"
	HILDenied             Code = "hil/denied"
	HILExpired            Code = "hil/expired"
	CheckMissing          Code = "verifier/check-missing"
	RunCancelled          Code = "run/cancelled"
	BudgetExhausted       Code = "run/budget-exhausted"
)

// Refusal is one row of the vocabulary.
type Refusal struct {
	Code  Code
	Stage string // package, binding, environment, deliberation, effects, verification, rollback, publication or run
	Retry Retry
	Next  string // a pointer for a person; the host never does it by itself
}

var refusals = []Refusal{
	{"package/not-active", "package", RetryOperator, "activate-package"},
	{"package/conformance-missing", "package", RetryOperator, "run-conformance"},
	{ProfileDigestMismatch, "package", RetryNever, "inspect-package"},
	{"operator/binding-lost", "package", RetryOperator, "rebind-operator"},
	{BindingMissing, "binding", RetryOperator, "create-binding"},
	{BindingIncomplete, "binding", RetryOperator, "edit-binding"},
	{BindingOutside, "binding", RetryOperator, "edit-binding"},
	{"local-binding/profile-changed", "binding", RetryOperator, "review-profile-change"},
	{"local-binding/conflict", "binding", RetryOperator, "resolve-binding-sources"},
	{BindingPaused, "binding", RetryOperator, "resume-binding"},
	{"local-binding/revision-stale", "binding", RetryOperator, "edit-binding"},
	{"environment/image-mismatch", "environment", RetryNever, "inspect-environment"},
	{"environment/prepared-system-unavailable", "environment", RetryDeferred, "prepare-environment"},
	{EgressDenied, "environment", RetryOperator, "edit-binding"},
	{"environment/impact-class-exceeded", "environment", RetryOperator, "edit-binding"},
	{NotContained, "environment", RetryOperator, "edit-binding"},
	{"deliberation/flow-unavailable", "deliberation", RetryOperator, "inspect-deliberation"},
	{"capability/missing", "effects", RetryOperator, "grant-capability"},
	{"capability/revoked", "effects", RetryOperator, "inspect-capability"},
	{ProfileMissing, "effects", RetryOperator, "inspect-effects"},
	{EffectModeMissing, "effects", RetryReconcile, "inspect-effects"},
	{GrantMissing, "effects", RetryOperator, "grant-interface"},
	{"hil/attention-unavailable", "effects", RetryTransient, "inspect-attention-budget"},
	{"verifier/unavailable", "verification", RetryOperator, "inspect-verification"},
	{"verifier/effect-mode-missing", "verification", RetryReconcile, "inspect-verification"},
	{"rollback/unavailable", "rollback", RetryDeferred, "prepare-environment"},
	{"rollback/destroy-unconfirmed", "rollback", RetryReconcile, "inspect-environment"},
	{"publication/policy-missing", "publication", RetryOperator, "edit-binding"},
	{"publication/disabled", "publication", RetryOperator, "edit-binding"},
	{"offer/withdrawal-pending", "publication", RetryReconcile, "none"},
	{"package/generation-stale", "run", RetryNever, "start-new-run"},
	{UnknownAction, "run", RetryNever, "none"},
	{OutsideProfile, "run", RetryNever, "none"},
	{FirstStep, "run", RetryNever, "none"},
	{RecoveryClass, "run", RetryNever, "none"},
	{ChangedReplay, "run", RetryNever, "none"},
	{PatchOutside, "run", RetryNever, "none"},
	{"interface/lease-lost", "run", RetryReconcile, "start-new-run"},
	{HILDenied, "run", RetryNever, "none"},
	{HILExpired, "run", RetryOperator, "start-new-run"},
	{CheckMissing, "run", RetryNever, "inspect-verification"},
	{"verifier/mutation-not-admitted", "run", RetryNever, "inspect-verification"},
	{"verifier/timeout", "run", RetryTransient, "retry-verification"},
	{RunCancelled, "run", RetryNever, "none"},
	{BudgetExhausted, "run", RetryNever, "start-new-run"},
}

// Refusals returns the whole vocabulary. It is closed: a code that is not in it
// is refused wherever it appears.
func Refusals() []Refusal { return slices.Clone(refusals) }

// RefusalOf returns the row of a code; fault.Invalid for a word outside the
// vocabulary.
func RefusalOf(code Code) (Refusal, error) {
	for _, r := range refusals {
		if r.Code == code {
			return r, nil
		}
	}
	return Refusal{}, fault.New(fault.Invalid, "refusal", "no refusal code %q", string(code))
}

// refuse is a refusal as a fault: fault.Plan, or fault.NotContained for the
// containment predicate and fault.ChangedReplay for a changed replay, with the
// code as fact "refusal" and what a person may do about it as fact "next".
func refuse(code Code, format string, args ...any) *fault.Error {
	kind := fault.Plan
	switch code {
	case NotContained:
		kind = fault.NotContained
	case ChangedReplay:
		kind = fault.ChangedReplay
	}
	e := fault.New(kind, "task pack", format, args...).With("refusal", string(code))
	row, err := RefusalOf(code)
	if err == nil && row.Next != "none" {
		e = e.With("next", row.Next)
	}
	return e
}

// CodeOf returns the refusal code of an error, or "".
func CodeOf(err error) Code {
	e, ok := fault.As(err)
	if !ok {
		return ""
	}
	return Code(e.Get("refusal"))
}

// RefusalDocument is what a client is told about a refusal: codes and refs, no
// prose. missing is a subset of "workspace", "image-variant", "inference";
// subject names what was refused, or is "".
func RefusalDocument(code Code, subject string, missing ...string) (canon.Value, error) {
	row, err := RefusalOf(code)
	if err != nil {
		return canon.Value{}, err
	}
	body := map[string]any{
		"schema": "operator-task-refusal.v1", "schema/v": 1,
		"refusal/code": string(row.Code), "retry-class": string(row.Retry), "next-action": row.Next,
	}
	if subject != "" {
		body["subject/ref"] = subject
	}
	if len(missing) > 0 {
		body["missing/fields"] = missing
	}
	return build(schema.Refusal, body)
}
