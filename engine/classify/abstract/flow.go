package abstract

import "github.com/agent-reviewer/reviewer/engine"

// Each bit of a taint above those for the origin of a string stands for one secret that the
// text contains part of: the n-th of Script.Secrets. So it propagates with the text.
const (
	provenance = 9  // number of bits below those of secrets
	MaxSecrets = 48 // further secrets share the last bit
)

// Secrets is the part of a taint that stands for secrets.
const Secrets = ^Taint(1<<provenance - 1)

// SecretBit is the taint of a string that contains part of the n-th secret.
func SecretBit(n int) Taint { return 1 << (provenance + min(n, MaxSecrets-1)) }

// Secret is the source of a secret.
type Secret struct {
	What  engine.FlowKind
	Name  string       // of the variable, the program, or the kind of a token
	Path  Value        // of a file
	Class engine.Class // of the file, or of the file that sets a variable
}

// RawFlow records that a command passes part of a secret to another host.
type RawFlow struct {
	Secret
	To      string // host or service; empty: unknown
	Image   string // image of the container that receives it; empty: none
	Part    bool   // extracted from a file: one line, one field
	Login   bool   // used by a client to authenticate
	Command int
}
