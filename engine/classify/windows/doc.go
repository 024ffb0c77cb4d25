// Package windows interprets code of cmd and PowerShell abstractly: it walks each
// command that could run and notes what it would do. It runs nothing.
//
// Not its business: programs that are no part of either shell. Those are run by
// the machine of package shell, with what it was handed about programs.
package windows
