// Package languages finds the effects of code in languages other than the
// shells': Python, JavaScript, Perl, Ruby, PHP, awk, sed and patches. It
// records them on the shell's machine, as a command would.
//
// Out of scope: which interpreter was started and with which options
// (programs), and code of shells (shell, windows).
package languages
