package sqlite

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed queries.sql
var queriesText string

// queries maps the names in queries.sql to their statements.
var queries = parseQueries(queriesText)

// parseQueries splits text at its "-- name: X" lines. What stands before the
// first is a comment.
func parseQueries(text string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(text, "-- name: ")[1:] {
		name, statement, _ := strings.Cut(part, "\n")
		statement, _, _ = strings.Cut(statement, ";")
		out[strings.TrimSpace(name)] = strings.TrimSpace(statement)
	}
	return out
}

// query returns the statement called name.
func query(name string) (string, error) {
	q, ok := queries[name]
	if !ok {
		return "", fmt.Errorf("no statement called %s", name)
	}
	return q, nil
}
