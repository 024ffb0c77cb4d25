package classify

import (
	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// certainty of a value that a shell word, an argument or a literal in embedded
// code evaluates to before anything has run.
type certainty int

const (
	literal certainty = iota // text is the whole value
	glob                     // text is a pattern with *, ? or []
	prefix                   // text is a known beginning, the rest is not known
	unknown                  // nothing is known
)

// value is an abstract string.
type value struct {
	sure certainty
	text string
}

// rawEffect is an effect whose target is not resolved yet: the shell
// interpreter and the tool tables make them, the resolver turns each into an
// engine.Effect by looking at the real path.
type rawEffect struct {
	kind        engine.EffectKind
	verb        string
	target      value // a path as seen from dir, or a URL or host where kind is network
	dir         value // the directory in which the command would run
	recursive   bool
	forced      bool
	privileged  bool
	egress      bool
	persistence bool
	guessed     bool                 // a program of which nothing is known may do it: counts only for files with secrets
	contents    bool                 // acts on what is in the target, not on the target itself (DIR/*)
	parents     bool                 // makes the folders above the target too, where they are missing
	reversible  engine.Reversibility // known from the verb alone (a push, a published package); else empty
	leaves      int64                // bytes that the file holds afterwards, and one; 0: not known
	bytes       int64                // bytes that are written, where the call says so
	discards    Discard              // what it throws away of what is in no commit
	object      string               // what it is about at a service: volume, table, rows; empty: not known
	command     int                  // index into script.commands; -1: the tool itself
	host        string               // where it happens; empty: on this machine
}

// script is what the interpreter makes of a piece of code.
type script struct {
	commands []engine.Command
	origins  []origin       // of the commands, one by one
	tree     []*syntax.Stmt // of the outermost code
	effects  []rawEffect
	signals  map[engine.Signal]bool
	opaque   []engine.Opaque
	waits    bool // code in it sleeps
}

// origin is where in the code a command stands, so that it can be changed
// there.
type origin struct {
	node     *syntax.CallExpr
	name     arg
	args     []arg // all words behind the name, in their order
	subs     []string
	flags    []given
	operands []arg
	known    bool // the program's grammar is known
	complete bool // its words were taken apart
}
