// Package shell is an abstract machine for code of POSIX shells, bash and zsh. It
// walks each command that could run, with what is known of variables, files, the
// directory and standard input, and notes effects, signals, and what it could not
// understand. It decides nothing and runs nothing.
//
// Not its business: what programs do. It is handed Knowledge: functions that run a
// program, say whether one is known, and read code of other languages. Its imports
// hold no program.
package shell
