// Package shell is an abstract machine for code of POSIX shells, bash and zsh. It
// walks each command that could run, with what is known about variables, files, the
// directory and standard input, and records effects, signals, and the parts that it could not
// understand. It decides nothing and runs nothing.
//
// Out of scope: what programs do. These are passed in as Knowledge:
// functions that interpret a program, report whether one is known, and read
// code of other languages.
package shell
