// Package windows interprets code of cmd and PowerShell abstractly: it walks each command that
// could run and records its effects. It runs nothing.
//
// Out of scope: programs that are not part of either shell. Those are interpreted by
// the machine of package shell, with its Knowledge.
package windows
