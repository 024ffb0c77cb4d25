package abstract

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// Discard describes what a command of version control throws away, as far as it
// is there: changes of tracked files against the index, what is staged against
// the last commit, files that are not tracked, files that are ignored, the
// stash. Sides: of files in conflict it takes one of the two sides, and loses
// nothing.
type Discard struct{ Changes, Staged, Untracked, Ignored, Stash, Sides bool }

// certainty of a value that a shell word, an argument or a literal in embedded
// code evaluates to before anything has run.
type certainty int

const (
	Literal certainty = iota // text is the whole value
	Glob                     // text is a pattern with *, ? or []
	Prefix                   // text is a known beginning, the rest is not known
	Unknown                  // nothing is known
)

// Value is an abstract string.
type Value struct {
	Sure certainty
	Text string
}

// RawEffect is an effect whose target is not resolved yet: the shell
// interpreter and the tool tables make them, the resolver turns each into an
// engine.Effect by looking at the real path.
type RawEffect struct {
	Kind        engine.EffectKind
	Verb        string
	Target      Value // a path as seen from dir, or a URL or host where kind is network
	Dir         Value // the directory in which the command would run
	Recursive   bool
	Forced      bool
	Privileged  bool
	Egress      bool
	Persistence bool
	Guessed     bool                 // a program about which nothing is known may do it: counts only for files with secrets
	Contents    bool                 // acts on what is in the target, not on the target itself (DIR/*)
	Parents     bool                 // makes the folders above the target too, where they are missing
	Reversible  engine.Reversibility // known from the verb alone (a push, a published package); else empty
	Leaves      int64                // bytes that the file holds afterwards, and one; 0: not known
	Bytes       int64                // bytes that are written, where the call says so
	Discards    Discard              // what it throws away of what is in no commit
	Object      string               // what it is about where the target does not say: volume, table, rows; empty: not known
	Mode        string               // permissions that the target gets, as the call gives them; empty: none, or not known
	Command     int                  // index into script.commands; -1: the tool itself
	Host        string               // where it happens; empty: on this machine
	Own         bool                 // on a process that the same code started
}

// Script is what the interpreter makes of a piece of code.
type Script struct {
	Commands []engine.Command
	Origins  []Origin       // of the commands, one by one
	Tree     []*syntax.Stmt // of the outermost code
	Effects  []RawEffect
	Signals  map[engine.Signal]bool
	Opaque   []engine.Opaque
	Waits    bool // code in it sleeps

	Terminals       *engine.Terminals      // what it leaves in terminals that it types into; nil: it types into none
	Possible        []RawEffect            // of commands that are among the arguments of programs about which nothing is known
	PossibleSignals map[engine.Signal]bool // the same
	Written         []Text                 // what it puts into files, as far as that is known
	Modules         []string               // names of modules that code in it asks for
	Inputs          []string               // files whose text reaches an interpreter through a pipe, as its code
	Followed        []int                  // commands that run tasks of a file, all of which are among the commands
	Secrets         []Secret
	Flows           []RawFlow
	Starts          []engine.Started // what it leaves running
	Remotes         []string         // that git adds
}

// Text is what some code puts into a file.
type Text struct {
	Path string // absolute, or as seen from where the code runs
	Text string // what is not known about it is as a hole
}

// Origin is where in the code a command stands, so that it can be changed
// there.
type Origin struct {
	Node     *syntax.CallExpr
	Name     Arg
	Args     []Arg // all words after the name, in their order
	Subs     []string
	Flags    []Given
	Operands []Arg
	Known    bool // the program's grammar is known
	Complete bool // its words were taken apart
}

// Without is a cluster without some of its letters; empty if none is left.
// The value that is glued to the last letter goes with it.
func (g Given) Without(cut string) string {
	left := strings.Map(func(r rune) rune {
		if strings.ContainsRune(cut, r) {
			return -1
		}
		return r
	}, g.Letters)
	glued := g.Word.Text[1+len(g.Letters):]
	if left == "" || g.Valued && left[len(left)-1] != g.Letters[len(g.Letters)-1] {
		glued = ""
	}
	if left == "" {
		return ""
	}
	return "-" + left + glued
}

// Given is one word of options, as it was given.
type Given struct {
	Text    string // as it is shown: a value that stands apart after =, --context=prod
	Word    Arg
	Letters string // the options of a cluster: rf of -rf, o of -oFILE; empty: the word is one option
	Valued  bool   // the option, or the last letter, has a value
	Value   *Arg   // that value where it is separate
}
