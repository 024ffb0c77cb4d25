// Package permissions converts the permission rules of Claude Code's settings into an
// access list.
//
//	{ "permissions": {
//	    "deny":  ["Bash(git push --force *)", "Read(./.env)"],
//	    "ask":   ["WebFetch(domain:example.com)"],
//	    "allow": ["Bash(npm run *)", "Edit(/src/**)", "mcp__github__get_issue"] } }
//
// Rules that deny come first, then those that ask, then those that allow, as in Claude
// Code. Rules that deny or ask may match more than the original, since they apply to
// more: any command of a compound one, under sudo, sh -c and similar; a path for every tool
// that touches it (but not a search of the folder above it, from whose
// results Claude Code's own Grep leaves such files out). Rules that allow never match
// more: a shell call only if it is one plain command, a path only as written and
// without links.
//
// What no rule matches is left to Claude Code's own prompt: the list's default is
// allow, which has no effect.
package permissions
