// Package languages finds the effects of code in languages other than the shells':
// Python, JavaScript, Perl, Ruby, PHP, awk, sed and patches. It notes what it finds
// at the shell's machine, as a command would.
//
// Not its business: which interpreter was started and with which options
// (programs), and code of shells (shell, windows).
package languages
