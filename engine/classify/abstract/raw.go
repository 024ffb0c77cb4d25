package abstract

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// Discard describes what a version control command throws away, if it exists: changes of
// tracked files relative to the index, staged changes, untracked files, ignored files, the
// stash. Sides: for files in conflict it takes one of the two sides, and loses nothing.
type Discard struct{ Changes, Staged, Untracked, Ignored, Stash, Sides bool }

// certainty is how precisely the value of a shell word, an argument or a literal in
// embedded code is known before anything has run.
type certainty int

const (
	Literal certainty = iota // text is the whole value
	Glob                     // text is a pattern with *, ? or []
	Prefix                   // text is a known beginning, the rest is unknown
	Unknown                  // nothing is known
)

// Value is an abstract string.
type Value struct {
	Sure certainty
	Text string
}

// RawEffect is an effect whose target is not resolved yet: the shell interpreter and the
// tool tables produce it, and the resolver turns it into an engine.Effect by resolving the
// path.
type RawEffect struct {
	Kind        engine.EffectKind
	Verb        string
	Target      Value // a path relative to dir, or a URL or host if kind is network
	Dir         Value // the directory in which the command would run
	Recursive   bool
	Forced      bool
	Privileged  bool
	Egress      bool
	Persistence bool
	Guessed     bool                 // an unknown program may do it: counts only for files with secrets
	ForGuard    bool                 // counts only if it concerns what guards the session
	Except      string               // what a read of a tree leaves out, one a line: names, or paths of several names
	Names       bool                 // reads names and sizes, not contents, whatever the verb
	Contents    bool                 // acts on the contents of the target, not on the target itself (DIR/*)
	Parents     bool                 // also creates missing parent folders
	Reversible  engine.Reversibility // known from the verb alone (a push, a published package); else empty
	Leaves      int64                // size of the file afterwards in bytes, plus one; 0: unknown
	Bytes       int64                // number of bytes written, if the call shows it
	Discards    Discard              // the discarded changes that are not in any commit
	Object      string               // the kind of object if the target does not show it: volume, table, rows; empty: unknown
	Mode        string               // permissions that the call gives the target; empty: none or unknown
	Server      string               // what else a client names of a database's server; empty: nothing
	Signal      string               // name of the signal that a process gets; empty: one that ends it, or unknown
	Command     int                  // index in script.commands; -1: the tool itself
	Host        string               // where it happens; empty: on this machine
	Own         bool                 // acts on a process that the same code started
	ByNumber    bool                 // ends processes by their IDs, not by a name
}

// HiddenNames is the element of RawEffect.Except that means all names that begin with a dot.
const HiddenNames = ".*"

// Script is the result of interpreting a piece of code.
type Script struct {
	Commands []engine.Command
	Origins  []Origin       // of the commands, by index
	Tree     []*syntax.Stmt // syntax tree of the outermost code
	Effects  []RawEffect
	Signals  map[engine.Signal]bool
	Opaque   []engine.Opaque
	Unread   map[string]string // files whose code runs and was not read, with the reason as in engine.Effect
	Waits    bool              // the code sleeps

	Terminals       *engine.Terminals      // what it leaves in terminals that it types into; nil: it types into none
	Guarded         []RawEffect            // effects that count only for what guards the session
	Possible        []RawEffect            // of commands in the arguments of unknown programs
	PossibleSignals map[engine.Signal]bool // signals of these commands
	PossibleRuns    []engine.Command       // these commands
	Written         []Text                 // texts that it writes into files, as far as they are known
	Modules         []string               // names of modules that code in it imports
	Inputs          []string               // files whose text reaches an interpreter through a pipe, as its code
	Followed        []int                  // commands that run tasks of a file, all of which are among the commands
	Secrets         []Secret
	Flows           []RawFlow
	Starts          []engine.Started // what keeps running afterwards
	Remotes         []string         // remotes that git adds
	Taken           []Taken          // what version control takes
	Makes           []engine.Made    // containers and databases that it makes; classify leaves out those without proof
}

// Taken is a path whose files version control takes, if it does not have them yet.
type Taken struct {
	Path    Value
	New     bool // also files that it does not know
	Ignored bool // also those that it ignores
	Staged  bool // those that are in the index of the repository around the path
}

// MaxTaken limits the paths of one call that version control takes.
const MaxTaken = 64

// Text is a string that code writes into a file.
type Text struct {
	Path string // absolute, or relative to where the code runs
	Text string // unknown parts are holes
}

// Origin is the position of a command in the code, so that it can be changed there.
type Origin struct {
	Node     *syntax.CallExpr
	Name     Arg
	Args     []Arg // all words after the name, in order
	Subs     []string
	Flags    []Given
	Operands []Arg
	Known    bool // the program's grammar is known
	Complete bool // its words could be separated
}

// Without returns a cluster without some of its letters; empty if none is left. A value
// attached to the last letter is removed with it.
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

// Given is one word of options, as written in the command.
type Given struct {
	Text    string // as displayed: a separate value is joined with =, as in --context=prod
	Word    Arg
	Letters string // the options of a cluster: rf of -rf, o of -oFILE; empty: the word is one option
	Valued  bool   // the option, or the last letter, has a value
	Value   *Arg   // that value if it is a separate word
}
