// Package classifytest contains the helpers that tests of several packages under classify
// share: a keyed digest, tokens that nobody has issued, and values made from the formats of
// issuers.
//
// Out of scope: anything that ships. Only tests import it.
package classifytest
