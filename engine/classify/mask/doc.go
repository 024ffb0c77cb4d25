// Package mask finds secrets and personal data in texts and replaces them, so
// that no fact about a call contains them. A secret has the same replacement
// wherever it is in one event.
//
// The formats of issuers' tokens are rows of the policy; those of the built-in policy are
// masked regardless of the policy.
//
// Out of scope: what a call does, and whether a secret may be read or sent.
package mask
