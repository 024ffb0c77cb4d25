// Package cel evaluates a policy's conditions: expressions in CEL over the
// Input, which answer "does it look like X?" and produce findings.
//
// A condition has a match list, which is evaluated in Go first, and up to two
// expressions. No CEL code runs, and no expression is compiled, before an input passes
// a match list: a hook process runs for one call, so it pays only for what could apply
// to that call.
//
// Expressions see the fields of engine.Input under their JSON names, as typed
// variables: event, action, history, session, time, facts, kinds, verbs, phase, harness, agent. A
// field or a word of a closed vocabulary that does not exist is an error when the
// expression is compiled. They cannot read a clock, a file or random numbers, and maps
// are iterated in the order of their keys: the same Input gives the same findings. An
// expression that fails while it runs gives a finding with an error, never a silent
// 'no'.
//
// Expressions can also use the definitions of the policy, as variables, and its settings as data.NAME.
//
// These functions are added to the language:
//
//	under(path, dir)    the path is dir or under it, as spelled:
//	                    under("/etc/ssh/sshd_config", "/etc")
//	glob(path, pattern) the whole path matches; * and ? stop at /, ** does not:
//	                    glob("/srv/app/.env", "**/.env")
//	domain(host, name)  the host is name or under it; a port is ignored:
//	                    domain("api.example.com:443", "example.com")
//	c.has(option, …)    the command has one of the options, however it is written, and it is on
//	c.sub(word, …)      the subcommands of the command begin with these words
//	reads(effect)       the effect shows what is in a file
//
// Out of scope: what a finding means (rego), what the facts are
// (engine/classify), and how conditions are written in files (bundles).
package cel

// Version is the version of cel-go, as engine.Env records it: another one could
// evaluate the same facts differently.
const Version = "v0.33.2"
