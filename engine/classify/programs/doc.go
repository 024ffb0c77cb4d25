// Package programs knows what programs do: how each reads its arguments, and the
// effects that follow. A family of programs has a file; its table says how options
// are read, and names the function that notes the effects at the shell's machine.
//
// Not its business: how a shell finds the words of a command (shell), where a path
// lies (place), and whether an effect is allowed (policy).
package programs
