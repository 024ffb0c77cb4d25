// Package e2e drives the real Claude Code client against the built reviewer, with a
// scripted model on loopback, and checks what happened on disk.
//
// It contains the harness (model, client, scenarios) and the tests that use it, which
// need the build tag e2e. It does not simulate the client and does not test policy: it
// tests that a denied call did not run, not which calls are denied.
package e2e
