package shell

// Bounds of the interpreter. What lies beyond them is not judged harmless: it
// is reported as opaque "budget".
const (
	MaxSource   = 256 << 10 // Linux passes no single argument over 128 KiB, so no longer sh -c script can run
	MaxEmbedded = 1 << 20   // bytes of code found in code; each level is parsed again
	MaxCommands = 8192      // more than the longest script above holds in practice
	MaxEffects  = 16384     // several directories and targets for each command
	MaxSteps    = 200_000   // statements, words and loop passes; about 50 ms
	MaxBytes    = 16 << 20  // text made by expansions
	MaxNesting  = 200       // depth of the syntax tree; people write less than 20
	MaxDepth    = 16        // code in code: sh -c in eval in sh -c …
	maxVariants = 64        // argument lists of one command, from loops and alternatives
	MaxAlts     = 32        // values of one variable
	MaxDirs     = 8         // directories in which the shell may be
)
