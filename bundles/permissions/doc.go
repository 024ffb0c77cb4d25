// Package permissions converts the permission rules of Claude Code's settings into an
// access list.
//
//	{ "permissions": {
//	    "deny":  ["Bash(git push --force *)", "Read(./.env)"],
//	    "ask":   ["WebFetch(domain:example.com)"],
//	    "allow": ["Bash(npm run *)", "Edit(/src/**)", "mcp__github__get_issue"] } }
//
// Rules that deny come first, then those that ask, then those that allow, as in Claude
// Code. Each matches the calls that the original matches; what cannot be converted
// exactly is left out, with a remark. Rules for Bash become patterns of commands, as an
// access rule has them. Rules that deny or ask about a path apply to every tool that
// touches it (but not to a search of the folder above it, from whose results Claude
// Code's own Grep leaves such files out); rules that allow one apply only to the path as
// written and without links.
//
// What no rule matches is left to Claude Code's own prompt: the list's default is
// allow, which has no effect.
package permissions
