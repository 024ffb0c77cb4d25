// Package tasks reads the files in which a project keeps its tasks (makefiles,
// justfiles, Taskfiles, scripts of package.json), finds the tasks that a command
// asks for, and has the shell's machine run their code.
//
// Not its business: the programs that run tasks, and what the code does.
package tasks
