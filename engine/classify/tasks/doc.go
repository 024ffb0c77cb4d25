// Package tasks reads the files in which a project keeps its tasks (makefiles,
// justfiles, Taskfiles, scripts of package.json), finds the tasks that a
// command runs, and lets the shell's machine interpret their code.
//
// Out of scope: the programs that run tasks, and what the code does.
package tasks
