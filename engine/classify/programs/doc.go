// Package programs interprets command lines of programs: how each reads its
// arguments, and the effects that follow. Each family of programs has a file,
// whose table defines how options are parsed and names the function that
// records the effects on the shell's machine.
//
// Out of scope: how a shell finds the words of a command (shell), the
// location of a path (place), and whether an effect is allowed (policy).
package programs
