// Package overview sums up what agents did, for a person who looks at it later: how many calls ran, were warned about, asked
// about, denied or saved first, by agent, project and harm; what a person should look at; and how each rule fared.
//
// An [Index] takes the records of each session once, in order, and keeps what the pages show: its memory grows with the sessions
// and with the calls that did not simply run, the latter up to a limit. The same records give the same index.
//
// Out of scope: where records are, how pages look, and what one session did step by step.
package overview
