package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"time"
)

// size is one limit: what it bounds, and the constant that holds it.
type size struct {
	what string
	file string // from the module root
	name string
	unit func(int64) string
}

var bounds = []size{
	{"an event that a client writes", "internal/journal/journal.go", "MaxBytes", inBytes},
	{"nesting of such an event", "internal/journal/journal.go", "MaxDepth", levels},
	{"goal of a request, prompt or action", "internal/journal/types.go", "MaxGoal", characters},
	{"body of a message", "internal/journal/types.go", "maxBody", characters},
	{"hops of a trail; the first and the last seven are kept", "internal/journal/types.go", "MaxHops", plain},
	{"idempotency key", "internal/store/sqlite/request.go", "maxKey", characters},
	{"body of any other request", "internal/server/server.go", "maxDocument", inBytes},
	{"blob sent over HTTP", "internal/server/server.go", "maxBlob", inBytes},
	{"any blob", "internal/blob/blob.go", "MaxBytes", inBytes},
	{"one stored document or event", "internal/store/sqlite/request.go", "maxBody", inBytes},
	{"events, documents and cells of one commit", "internal/store/sqlite/request.go", "maxPerWrite", plain},
	{"commits that share one sync", "internal/store/sqlite/queue.go", "batchCommits", plain},
	{"events of one page", "internal/store/sqlite/events.go", "maxLimit", plain},
	{"any JSON text, unless said otherwise", "internal/canon/parse.go", "DefaultBytes", inBytes},
	{"nesting of any JSON text", "internal/canon/parse.go", "DefaultDepth", levels},
	{"message that a proposal or review comes from", "internal/proposal/turn.go", "MaxContent", characters},
	{"evidence that a reviewer is shown", "internal/proposal/manifest.go", "MaxEvidenceBytes", inBytes},
	{"candidate", "internal/taskpack/document.go", "MaxCandidate", inBytes},
	{"patch, as a document", "internal/taskpack/document.go", "MaxPatch", inBytes},
	{"files of one patch together", "internal/taskpack/patch.go", "MaxPatchContent", inBytes},
	{"rounds of one comparison that a repository may ask for", "internal/host/repository.go", "maxRounds", plain},
	{"rounds that a verdict takes in", "internal/verdict/signedrank.go", "MaxRounds", plain},
	{"time that a person has to answer a question", "internal/host/drive.go", "answerWindow", span},
	{"time for proposing and reviewing in one run", "internal/host/turn.go", "roomLife", span},
	{"native command of a landing", "internal/host/native.go", "nativeLimit", span},
	{"output of a step that is kept as evidence, from its end", "internal/host/environment.go", "keepOutput", inBytes},
	{"output file of a contained program", "internal/runner/proc/proc.go", "DefaultOutputLimit", inBytes},
	{"lease that a landing policy may give, seconds", "internal/landing/transition.go", "MaxLeaseSeconds", plain},
	{"qualified candidates that may wait to land", "internal/landing/transition.go", "MaxQualifiedBacklog", plain},
	{"clock that may be behind a landing state", "internal/landing/transition.go", "MaxSkew", span},
	{"blob that a docket carries", "internal/docket/collect.go", "maxPart", inBytes},
	{"docket that is read", "internal/docket/bundle.go", "maxBundle", inBytes},
}

// sizes lists the limits with the numbers that the source holds.
func sizes(root string) (string, error) {
	var p page
	rows := [][]string{{"what", "at most"}}
	for _, s := range bounds {
		n, err := s.value(root)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", s.name, s.file, err)
		}
		rows = append(rows, []string{s.what, s.unit(n)})
	}
	p.table(rows)
	return p.String(), nil
}

// value evaluates the constant: an expression of numbers and units of time.
func (s size) value(root string) (int64, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(s.file)), nil, 0)
	if err != nil {
		return 0, err
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if name.Name == s.name && i < len(v.Values) {
					return evaluate(fset, v.Values[i])
				}
			}
		}
	}
	return 0, fmt.Errorf("there is no such constant")
}

func evaluate(fset *token.FileSet, e ast.Expr) (int64, error) {
	var text strings.Builder
	if err := printer.Fprint(&text, fset, e); err != nil {
		return 0, err
	}
	spelled := text.String()
	for name, d := range map[string]time.Duration{"time.Hour": time.Hour, "time.Minute": time.Minute, "time.Second": time.Second, "time.Millisecond": time.Millisecond} {
		spelled = strings.ReplaceAll(spelled, name, fmt.Sprint(int64(d)))
	}
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, spelled)
	if err != nil {
		return 0, err
	}
	n, exact := constant.Int64Val(constant.ToInt(v.Value))
	if !exact {
		return 0, fmt.Errorf("%s is no whole number", spelled)
	}
	return n, nil
}

func plain(n int64) string      { return fmt.Sprint(n) }
func levels(n int64) string     { return fmt.Sprintf("%d levels", n) }
func characters(n int64) string { return fmt.Sprintf("%d characters", n) }

func inBytes(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func span(n int64) string {
	switch d := time.Duration(n); {
	case d%(24*time.Hour) == 0:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return d.String()
	}
}
