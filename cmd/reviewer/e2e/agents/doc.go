// Package agents drives real coding agents from the npm registry, headless, against the
// built reviewer and a scripted model on loopback, and checks on disk whether a call ran.
//
// It contains a model server for four protocols, a cache of clients with pinned versions,
// one row and a few functions per client, and one matrix of failures that is tried with
// each client. The tests that start clients need the build tag e2e and Linux on amd64.
// It does not simulate a client and does not test policy.
package agents
