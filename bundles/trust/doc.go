// Package trust decides whose signatures count: the trust file with its keys,
// roles and channels, how it is replaced, and in which order a bundle is
// checked before anything in it is read as policy.
//
// Everything here is a function of its arguments: bytes, a time, and earlier observations. Anything
// that cannot be verified is refused, with a code and a sentence that describes what to do.
//
// Out of scope: how signatures are made and encoded (bundles/signing), the
// places of files and the memory between checks (bundles/releases, cmd), compiling
// a policy (the caller's Compile), the clock, and the log.
package trust
