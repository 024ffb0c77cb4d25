// Package shipped tests the built-in policy as a whole, as it is compiled for the program: its cases, incidents,
// self-protection and flows, the frozen logs, and the pages of docs that are made of them.
//
// It contains tests only. Out of scope: commands and their scripts, which cmd/reviewer tests, and how a policy
// is tested in general (cmd/reviewer/trial).
package shipped
