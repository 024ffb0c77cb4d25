package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the interpreter. What lies beyond them is not judged harmless: it
// is reported as opaque "budget".
const (
	maxSource   = 256 << 10 // Linux passes no single argument over 128 KiB, so no longer sh -c script can run
	maxEmbedded = 1 << 20   // bytes of code found in code; each level is parsed again
	maxCommands = 8192      // more than the longest script above holds in practice
	maxEffects  = 16384     // several directories and targets for each command
	maxSteps    = 200_000   // statements, words and loop passes; about 50 ms
	maxBytes    = 16 << 20  // text made by expansions
	maxNesting  = 200       // depth of the syntax tree; people write less than 20
	maxDepth    = 16        // code in code: sh -c in eval in sh -c …
	maxVariants = 64        // argument lists of one command, from loops and alternatives
	maxAlts     = 32        // values of one variable
	maxDirs     = 8         // directories in which the shell may be
)

// shellInput is what is known before the first command runs.
type shellInput struct {
	cwd     value
	home    string                             // empty: not known
	program string                             // absolute path of reviewer; empty: not known
	guard   []string                           // as World.Guard
	env     map[string]value                   // variables from outside; may be nil
	listDir func(dir string) ([]string, error) // names in a directory; nil: patterns are not looked up
	knows   knowledge                          // of programs and of other languages
	disk    *codeDisk                          // code in files; nil: is not looked into
	later   int                                // how deep it is in code that runs later
}

// knowledge is what the machine is handed of those who know programs and other
// languages. Without it each program is one of which nothing is known.
type knowledge struct {
	run     func(c *call) outcome                // runs a program: no function, no alias, no builtin
	program func(name string) bool               // reports whether a program is known
	agent   func(name string) bool               // reports whether a program is a coding agent
	code    func(c *call, lang string, code arg) // notes what code in another language does
}

func knowsNothing() knowledge {
	none := func(string) bool { return false }
	return knowledge{run: (*call).unknown, program: none, agent: none, code: func(c *call, lang string, code arg) { c.s.unseen(code, lang) }}
}

// shell interprets code abstractly: it walks every command that could run and
// notes what each would do. It decides nothing and runs nothing.
type shell struct {
	in         shellInput
	out        script
	scope      *scope
	frame      frame
	effects    map[rawEffect]bool
	opaques    map[engine.Opaque]bool
	indexes    map[commandKey]int
	files      map[string]arg    // what the script has written to a file so far
	outputs    map[string]arg    // files behind the descriptors that it has opened for writing
	links      map[string]value  // symbolic links that it has made
	programs   map[string]string // copies and links of programs that it has made
	gitAliases map[string]arg    // short forms that it has taught git
	madeTrees  []value           // working trees that it has made with git
	startups   map[string]bool   // code of it that runs later and was looked into
	sought     bool              // it has asked for the numbers of the guard's processes
	popped     bool              // what was stashed may lie in the working tree
	first      int               // index of the first command of the statement; -1: none yet
	steps      int
	bytes      int
	parsed     int // bytes of embedded code
	nesting    int
	calls      []*syntax.Stmt            // bodies of the functions that are running
	full       bool                      // a budget is used up
	trees      map[string][]*syntax.Stmt // of code that runs more than once: it is the same commands each time
	pending    []arg                     // what traps will run
	traps      bool                      // a signal that ends things is caught
}

// frame is how the code that runs now came to run.
type frame struct {
	wrappers   []string
	via        []string
	privileged bool
	muted      bool
	mounts     []mount
	host       string // where it runs; empty: on this machine
	remade     bool   // files of this machine lie elsewhere for it, or are hidden from it
	isolated   bool   // on a file system of its own that is thrown away: only mounts matter
	reaches    bool   // isolated, but with the powers of the machine that it is on
	stdin      *arg   // what standard input holds; nil: the terminal
	piped      bool
	feeds      bool // standard output goes to another command
	wants      bool // somebody looks at what standard output holds
	bounded    bool // a time limit ends it
	depth      int
	files      []string // on the disk, whose code is running
}

type commandKey struct {
	node *syntax.CallExpr
	text string
}

// interpretShell says what a piece of shell code would do if it ran.
func interpretShell(src string, in shellInput) script {
	s := newShell(in)
	s.checkBytes(src)
	if len(src) > maxSource {
		s.opaque("budget", src[:64])
		src = src[:maxSource]
	}
	s.source(strings.ToValidUTF8(src, holeText))
	s.runTraps(0)
	return s.out
}

func newShell(in shellInput) *shell {
	if in.knows.run == nil {
		in.knows = knowsNothing()
	}
	s := &shell{
		in:         in,
		effects:    map[rawEffect]bool{},
		opaques:    map[engine.Opaque]bool{},
		indexes:    map[commandKey]int{},
		files:      map[string]arg{},
		outputs:    map[string]arg{},
		links:      map[string]value{},
		programs:   map[string]string{},
		trees:      map[string][]*syntax.Stmt{},
		gitAliases: map[string]arg{},
		first:      -1,
	}
	s.out.signals = map[engine.Signal]bool{}
	s.scope = &scope{vars: map[string]variable{}, dirs: []value{in.cwd}}
	return s
}

// source parses code and runs it in the present scope.
func (s *shell) source(src string) outcome {
	list, ok := s.trees[src]
	if !ok {
		list, ok = parseShell(src)
	}
	if !ok && len(list) == 0 {
		list, ok = parseOther(src)
	}
	if !ok {
		s.opaque("syntax", src)
		s.signal(engine.SignalUnknownCommand)
	}
	if s.out.tree == nil {
		s.out.tree = list
	}
	return s.stmts(list)
}

// parseShell parses as bash, then as POSIX shell. A shell runs what stands
// before an error, so those statements are returned with it.
func parseShell(src string) ([]*syntax.Stmt, bool) {
	list, ok := parseVariant(src, syntax.LangBash)
	if ok {
		return list, true
	}
	if other, ok := parseVariant(src, syntax.LangPOSIX); ok {
		return other, true
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
	// A bug in the parser must not take down the guard: it counts as code that
	// does not parse.
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

// checkBytes reports bytes with which a text can look other than it is. They
// are never converted: bash does not take them for blanks either.
func (s *shell) checkBytes(src string) {
	for i, r := range src {
		if misleading(r) || r == utf8.RuneError {
			end := min(len(src), i+16)
			s.opaque("encoding", strings.ToValidUTF8(src[i:end], "?"))
			return
		}
	}
}

func misleading(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t' && r != 0x1b
	case r < 0x7f:
		return false
	case r == 0x7f, r == 0xa0, r == 0x3164, r == 0xfeff:
		return true
	case r >= 0xe000 && r <= 0xf8ff: // private use
		return r == hole || r == vacancy
	case r == 0x200d: // joins emoji
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp)
}

func (s *shell) signal(id engine.Signal) {
	if !s.frame.contains(id) {
		s.out.signals[id] = true
	}
}

// opaque notes what was not understood, once.
func (s *shell) opaque(reason, where string) {
	if len(where) > 200 {
		where = strings.ToValidUTF8(where[:200], "")
	}
	o := engine.Opaque{Reason: reason, Where: arg{text: where}.show()}
	if s.opaques[o] || len(s.out.opaque) >= 64 && reason != "budget" {
		return
	}
	s.opaques[o] = true
	s.out.opaque = append(s.out.opaque, o)
}

// overBudget stops the interpretation: nothing that follows is looked at.
func (s *shell) overBudget(where string) {
	if !s.full {
		s.full = true
		s.opaque("budget", where)
	}
}

// spend takes one step and n bytes from the budget.
func (s *shell) spend(n int) bool {
	s.steps++
	s.bytes += n
	if s.steps > maxSteps || s.bytes > maxBytes {
		s.overBudget("steps")
	}
	return !s.full
}

// embed runs code found in code, in a scope of its own unless it is shared.
func (s *shell) embed(code arg, via string, shared bool) outcome {
	if s.frame.depth >= maxDepth || s.parsed+len(code.text) > maxEmbedded {
		s.overBudget(via)
		return outcome{out: unknownArg(), fail: s.scope.dirs}
	}
	s.parsed += len(code.text)
	if strings.Trim(code.text, holes+" \t\n") == "" && !code.known() {
		if code.taint&(filed|fetched|decoded) != filed {
			s.unseen(code, via) // eval "$(cat x)" is source x
		}
		return outcome{out: unknownArg(), fail: s.scope.dirs}
	}
	if code.taint&decoded != 0 {
		s.signal(engine.SignalObfuscated)
	}
	saved, scope := s.frame, s.scope
	s.frame.depth++
	s.frame.via = append(s.frame.via[:len(s.frame.via):len(s.frame.via)], via)
	if !shared {
		s.scope = s.scope.child()
	}
	o := s.source(code.text)
	if !shared {
		s.scope = scope
		o.fail, o.ends = scope.dirs, false
	}
	s.frame = saved
	return o
}

// unseen notes that code runs that nobody has seen.
func (s *shell) unseen(code arg, via string) {
	s.opaque("code", via)
	if code.taint&fetched != 0 {
		s.signal(engine.SignalRemoteCode)
	}
	if code.taint&decoded != 0 {
		s.signal(engine.SignalObfuscated)
	}
}
