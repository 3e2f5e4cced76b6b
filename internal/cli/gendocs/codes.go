package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"writ/internal/fault"
	"writ/internal/taskpack"
)

// codes lists the error codes in the groups of their source, with the words
// beside them there.
func codes(root string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal", "fault", "code.go"), nil, parser.ParseComments)
	if err != nil {
		return "", err
	}
	table := fault.Codes()
	var p page
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		rows := [][]string{{"code", "HTTP", "exit", "again?", "meaning"}}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if id, typed := spec.Type.(*ast.Ident); !ok || !typed || id.Name != "Code" {
				continue
			}
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				return "", err
			}
			row := table[fault.Code(text)]
			meaning := row.Summary
			if says := strings.TrimSpace(spec.Comment.Text()); says != "" && says != meaning {
				meaning += ": " + says
			}
			rows = append(rows, []string{code(text), strconv.Itoa(row.HTTP), strconv.Itoa(row.Exit), map[bool]string{true: "yes", false: "no"}[row.Retry], meaning})
		}
		if len(rows) == 1 {
			continue
		}
		title, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(g.Doc.Text()), "."), ":")
		p.gap("### ", title)
		if rest != "" {
			rest = strings.Join(strings.Fields(rest), " ")
			p.gap(strings.ToUpper(rest[:1]), rest[1:], ".")
		}
		p.table(rows)
		p.line()
	}
	return p.String(), nil
}

// refusals lists the vocabulary of task packs.
func refusals(string) (string, error) {
	var p page
	rows := [][]string{{"code", "stage", "again?", "next"}}
	for _, r := range taskpack.Refusals() {
		rows = append(rows, []string{code(string(r.Code)), r.Stage, string(r.Retry), r.Next})
	}
	p.table(rows)
	return p.String(), nil
}
