package abstract

import "github.com/agent-reviewer/reviewer/engine"

// Above the bits that say where a text comes from each bit of a taint stands
// for one secret of which something is in the text: the n-th of
// Script.Secrets. So it goes wherever the text goes.
const (
	provenance = 8  // bits below those of secrets
	MaxSecrets = 48 // what is found beyond these counts as the last of them
)

// Secrets is the part of a taint that stands for secrets.
const Secrets = ^Taint(1<<provenance - 1)

// SecretBit is the taint of a text that holds something of the n-th secret.
func SecretBit(n int) Taint { return 1 << (provenance + min(n, MaxSecrets-1)) }

// Secret is where a secret comes from.
type Secret struct {
	What  engine.FlowKind
	Name  string       // of the variable, the program, or the kind of a token
	Path  Value        // of a file
	Class engine.Class // of the file, also of that which has set a variable
}

// RawFlow says that a command hands something of a secret to another host.
type RawFlow struct {
	Secret
	To      string // host or service; empty: not known
	Image   string // of the container that gets it; empty: none
	Part    bool   // picked out of a file: one line, one field
	Login   bool   // where a client says who asks
	Command int
}
