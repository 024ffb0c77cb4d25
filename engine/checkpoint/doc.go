// Package checkpoint keeps snapshots of the files of a workspace, and restores
// them.
//
// A Store belongs to one workspace. It is in the state directory, outside the workspace,
// and contains:
//
//	root      the path of the workspace
//	journal   one line per checkpoint: the SHA-256 of the rest, a space, and JSON that has the hash of the line before
//	objects/  contents, by digest: compressed, and encrypted where they contain credentials
//	packs/    the same, many in one file
//	index     what the files looked like when they were last read: a cache
//	lock      held by a process that reads or changes the above
//
// A checkpoint records how the workspace differs from the previous checkpoint,
// so a small change costs a small line. The contents of a file are stored once,
// however many checkpoints contain them.
//
// Nothing in a repository's .git folder is stored, changed or restored. The .git file of a worktree or submodule,
// which names that folder, is a file like others.
//
// Out of scope: when a checkpoint is taken, which one is returned to and who may
// ask for it, what a command was expected to change, and masking what is shown.
package checkpoint
