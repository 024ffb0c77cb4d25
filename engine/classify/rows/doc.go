// Package rows parses a policy's knowledge about programs: which options take a
// value, which subcommands they have, and what follows from them. A row is YAML
// in a layer of the policy, in a file under programs/:
//
//	shopctl:
//	  values: --tenant --region
//	  cases:
//	    - {sub: tenants purge, do: [{end: purge, object: tenant, recursive: --all}]}
//	  examples:
//	    - {run: shopctl tenants purge --all, effects: [network purge shopctl recursive]}
//
// A file is split at the lines that begin at column 0, and only the blocks that a
// call needs are parsed: there are thousands of rows, and a hook needs a few.
//
// The base and the organisation's layer define what a program does. Rows of the
// user's and the project's layer only add to that: they can neither remove an effect nor make
// an unknown program known.
//
// Out of scope: what the steps of a row do to a call (programs), and the
// errors that a person is shown for a row that is wrong (bundles).
package rows
