// Package settings has Go types for those settings of a policy that the program reads itself.
// They are generated from schemas/settings.json, where x-program marks their keys: a key that is
// not there does not compile, and a test finds those that nothing reads.
//
// Out of scope: checking and merging settings (bundles), and all settings that only policy reads.
package settings
