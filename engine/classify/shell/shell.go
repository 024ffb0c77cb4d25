package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"mvdan.cc/sh/v3/syntax"
)

// Input describes the state before the first command runs.
type Input struct {
	Cwd       abstract.Value
	Home      string                             // empty: unknown
	Program   string                             // absolute path of reviewer; empty: unknown
	Guard     []string                           // as World.Guard
	State     string                             // as World.State
	Env       map[string]abstract.Value          // variables from outside; may be nil
	ListDir   func(dir string) ([]string, error) // names in a directory; nil: patterns are not looked up
	Knows     Knowledge                          // of programs and of other languages
	Rows      *rows.Set                          // of the policy; nil: none
	Secret    func(text string) bool             // reports whether a string contains a secret; nil: unknown
	Tokens    func(text string) []string         // kinds of the tokens of known issuers in a string; nil: unknown
	Class     func(path string) engine.Class     // what kind of file an absolute path is; nil: unknown
	Remotes   func(dir string) place.Remotes     // of the repository that contains a directory; nil: unknown
	Disk      *Disk                              // code in files; nil: not examined
	Terminals *engine.Terminals                  // what was typed into terminals before
	later     int                                // nesting depth of code that runs later
}

// Knowledge is the functions that interpret programs and other languages. Without it every program
// is unknown.
type Knowledge struct {
	Run     func(c *Call) Outcome                         // interprets a program (not a function, an alias or a builtin)
	Program func(name string) bool                        // reports whether a program is known
	Agent   func(name string) bool                        // reports whether a program is a coding agent
	Code    func(c *Call, lang string, code abstract.Arg) // records what code in another language does
	Go      func(name string) func(c *Call)               // the function that a row names; nil: there is none
}

func knowsNothing() Knowledge {
	none := func(string) bool { return false }
	return Knowledge{Run: (*Call).unknown, Program: none, Agent: none,
		Code: func(c *Call, lang string, code abstract.Arg) { c.Shell.Unseen(code, lang) }}
}

// Machine interprets code abstractly: it walks every command that could run and records what each
// would do. It decides nothing and runs nothing.
type Machine struct {
	Notes
	In         Input
	Scope      *scope
	Frame      Frame
	indexes    map[commandKey]int
	checks     int                       // of checksums and signatures since something was fetched
	terminals  *terminals                // that the script types into
	Files      map[string]abstract.Arg   // what the script has written to files so far
	outputs    map[string]abstract.Arg   // files by the descriptors that it opened for writing
	Links      map[string]abstract.Value // symbolic links that it has made
	hardLinks  []string                  // those of Links that are hard links: deleting below one deletes nothing of the other
	programs   map[string]string         // copies and links of programs that it has made
	GitAliases map[string]abstract.Arg   // aliases that it defined for git
	GitRemotes map[string]abstract.Arg   // addresses of the remotes that it has added or changed
	MadeTrees  []abstract.Value          // working trees that it created with git
	arrivals   []string                  // directories that it fills from elsewhere
	startups   map[string]bool           // code that runs later and was examined
	sought     bool                      // it has looked up the guard's process IDs
	Popped     bool                      // what was stashed may be in the working tree
	Staged     []abstract.Arg            // paths that were staged: a reset removes those that are in no commit
	first      int                       // index of the first command of the statement; -1: none yet
	nesting    int
	looping    int
	calls      []*syntax.Stmt            // bodies of the functions that are running
	trees      map[string][]*syntax.Stmt // of code that runs more than once
	pending    []abstract.Arg            // what traps will run
	grown      *strings.Builder          // text of the variable that was appended to last
	traps      bool                      // a signal that ends things is caught
	unset      bool                      // variables without a value are empty instead of being those of the environment
	leaving    bool                      // traps are running
	sourced    engine.Class              // of the file whose variables were imported: any unset variable may be from it
}

// Frame describes how the running code was started.
type Frame struct {
	Wrappers   []string
	Via        []string
	Privileged bool
	Muted      bool
	mounts     []Mount
	Host       string        // where it runs; empty: on this machine
	Remade     bool          // files of this machine have other paths there, or are hidden
	Isolated   bool          // on a temporary file system of its own: only mounts matter
	reaches    bool          // isolated, but with the privileges of its host
	Stdin      *abstract.Arg // contents of standard input; nil: the terminal
	Piped      bool
	Begin      int  // number of effects before the pipeline that feeds it
	Feeds      bool // standard output goes to another command
	Wants      bool // the contents of standard output are used
	Cleared    bool // it gets no environment variables
	Renamed    bool // it is called by another name than its own
	Bounded    bool // a time limit ends it
	Perhaps    bool // it is unknown whether it runs; see Perhaps
	checked    bool // it only runs if a checksum or a signature is right
	Adding     bool // for a row of a layer that can only add: no other such row applies within it
	Depth      int
	files      []string // on the disk, whose code is running
}

type commandKey struct {
	node *syntax.CallExpr
	text string
}

// Interpret reports the effects of a piece of shell code.
func Interpret(src string, in Input) abstract.Script {
	s := New(in)
	s.checkBytes(src)
	if len(src) > MaxSource {
		s.Opaque("budget", src[:64])
		src = src[:MaxSource]
	}
	s.source(strings.ToValidUTF8(src, abstract.HoleText))
	s.runTraps(0)
	s.Out.Written = s.written()
	return s.Out
}

// New returns a machine on which nothing has run.
func New(in Input) *Machine {
	if in.Knows.Run == nil {
		in.Knows = knowsNothing()
	}
	s := &Machine{
		Notes:      NewNotes(),
		In:         in,
		indexes:    map[commandKey]int{},
		Files:      map[string]abstract.Arg{},
		outputs:    map[string]abstract.Arg{},
		Links:      map[string]abstract.Value{},
		programs:   map[string]string{},
		trees:      map[string][]*syntax.Stmt{},
		GitAliases: map[string]abstract.Arg{},
		GitRemotes: map[string]abstract.Arg{},
		first:      -1,
	}
	s.Scope = &scope{vars: map[string]variable{}, Dirs: []abstract.Value{in.Cwd}}
	return s
}

// source parses code and runs it in the current scope.
func (s *Machine) source(src string) Outcome {
	list, ok := s.trees[src]
	if !ok {
		list, ok = Parse(src)
	}
	if !ok && len(list) == 0 {
		list, ok = parseOther(src)
	}
	if !ok {
		s.Opaque("syntax", src)
		s.Signal(engine.SignalUnknownCommand)
	}
	if s.Out.Tree == nil {
		s.Out.Tree = list
	}
	return s.stmts(list)
}

// Parse parses as bash, then as POSIX shell. A shell runs what is before an
// error, so those statements are returned with it.
func Parse(src string) ([]*syntax.Stmt, bool) {
	list, ok := parseVariant(src, syntax.LangBash)
	if ok {
		return list, true
	}
	if other, ok := parseVariant(src, syntax.LangPOSIX); ok {
		return other, true
	}
	if strings.Contains(src, ";|") { // ends an arm of a case clause in zsh and mksh
		if other, ok := parseVariant(src, syntax.LangMirBSDKorn); ok {
			return other, false
		}
	}
	return list, false
}

// parseOther is for lines that bash refuses as a whole and whose meaning for
// other shells is certain.
func parseOther(src string) ([]*syntax.Stmt, bool) {
	if refused(src) {
		return nil, true
	}
	if line, ok := asPatterns(src); ok {
		return parseVariant(line, syntax.LangBash)
	}
	return nil, false
}

func parseVariant(src string, v syntax.LangVariant) (list []*syntax.Stmt, ok bool) {
	// A bug in the parser must not stop the guard: a panic counts as code that does
	// not parse.
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for st, err := range syntax.NewParser(syntax.Variant(v)).StmtsSeq(strings.NewReader(src)) {
		if err != nil {
			return list, false
		}
		list = append(list, st)
	}
	return list, true
}

// checkBytes reports bytes that make a string look different from what it is. They are
// never converted: bash does not treat them as spaces either.
func (s *Machine) checkBytes(src string) {
	for i, r := range src {
		if Misleading(r) || r == utf8.RuneError {
			end := min(len(src), i+16)
			s.Opaque("encoding", strings.ToValidUTF8(src[i:end], "?"))
			return
		}
	}
}

// Misleading reports whether a character may look like another one, or be
// invisible.
func Misleading(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t' && r != 0x1b
	case r < 0x7f:
		return false
	case r == 0x7f, r == 0xa0, r == 0x3164, r == 0xfeff:
		return true
	case r >= 0xe000 && r <= 0xf8ff: // private use
		return r == abstract.Hole || r == abstract.Vacancy
	case r == 0x200d: // joins emoji
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp)
}

// Signal records a signal, unless it is confined to the container in which the code runs.
func (s *Machine) Signal(id engine.Signal) {
	if !s.Frame.contains(id) {
		s.Out.Signals[id] = true
	}
}

// Embed runs code found in code, in a scope of its own unless it is shared.
func (s *Machine) Embed(code abstract.Arg, via string, shared bool) Outcome {
	if s.Frame.Depth >= MaxDepth || s.Parsed+len(code.Text) > MaxEmbedded {
		s.OverBudget(via)
		return Outcome{Out: abstract.UnknownArg(), Fail: s.Scope.Dirs}
	}
	s.Parsed += len(code.Text)
	if code.Part != nil { // at most the whole text runs
		s.Embed(*code.Part, via, shared)
	}
	if strings.Trim(code.Text, abstract.Holes+" \t\n") == "" && !code.Known() {
		if !code.Taint.AsFile() {
			s.Unseen(code, via) // eval "$(cat x)" is source x
		}
		return Outcome{Out: abstract.UnknownArg(), Fail: s.Scope.Dirs}
	}
	if code.Taint&abstract.Decoded != 0 {
		s.Signal(engine.SignalObfuscated)
	}
	saved, scope := s.Frame, s.Scope
	s.Frame.Depth++
	s.Frame.Via = append(s.Frame.Via[:len(s.Frame.Via):len(s.Frame.Via)], via)
	if !shared {
		s.Scope = s.Scope.child()
	}
	o := s.source(code.Text)
	if !shared {
		s.Scope = scope
		o.Fail, o.ends = scope.Dirs, false
	}
	s.Frame = saved
	return o
}

// Unseen records that unknown code runs.
func (s *Machine) Unseen(code abstract.Arg, via string) {
	s.Opaque("code", via)
	if code.Taint&abstract.Fetched != 0 {
		s.RemoteCode()
	}
	if code.Taint&abstract.Decoded != 0 {
		s.Signal(engine.SignalObfuscated)
	}
}

// RemoteCode records that fetched code is run.
func (s *Machine) RemoteCode() {
	if s.Frame.checked && s.checks > 0 {
		s.Signal(engine.SignalCheckedCode)
		return
	}
	s.Signal(engine.SignalRemoteCode)
}

// Verifies records that a checksum or a signature is checked. What is fetched later is not.
func (c *Call) Verifies() { c.Shell.checks++ }

// SignalIf records a signal if a condition is true.
func (s *Machine) SignalIf(holds bool, id engine.Signal) {
	if holds {
		s.Signal(id)
	}
}
