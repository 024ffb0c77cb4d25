// Package mask finds secrets and personal data in texts and replaces them, so
// that no fact about a call holds them. A secret has the same replacement wherever
// it stands in one event.
//
// What tokens of issuers look like is rows of the policy; the forms of the policy
// that ships are masked whatever the policy says.
//
// Not its business: what a call does, and whether a secret may be read or sent.
package mask
