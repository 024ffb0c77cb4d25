// Package trust knows whose signatures count: the trust file with its keys,
// roles and channels, how it is replaced, and in which order a bundle is checked
// before anything in it is read as policy.
//
// Everything here is a function of its arguments: bytes, a time, and what was
// seen before. What cannot be established is a refusal with a code and a sentence
// that says what to do, and never a pass.
//
// Not its business: how signatures are made and encoded (bundles/signing), where
// files lie and what is remembered between checks (bundles/depot, cmd), compiling
// a policy (the caller's Compile), the clock, and the log.
package trust
