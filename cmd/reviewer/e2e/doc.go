// Package e2e drives the real Claude Code client against the built reviewer,
// with a scripted model on loopback, and looks at what happened on disk.
//
// It holds the harness (model, client, scenarios) and the tests that use it,
// which need the build tag e2e. It is not a simulation of the client and has no
// opinion on policy: which calls are denied is the bundle's business, and that
// a denied call did not run is this package's.
package e2e
