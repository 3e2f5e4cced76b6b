// Package e2e tests the whole way, from the ask to the landed commit, as clients
// go it: over HTTP, against a node with a real repository. It tells nothing that
// the packages below could tell alone: that a run survives every death of its
// server, a base that moves, and people who say no; and that a docket of such a
// run stands while no byte of it is changed, and falls with any.
//
// It holds tests only, and no test waits for time to pass: each waits for an
// event, with a deadline.
package e2e
