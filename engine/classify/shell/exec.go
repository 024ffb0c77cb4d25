package shell

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// Outcome describes the state after code has run.
type Outcome struct {
	Out  abstract.Arg     // what it has written to standard output
	Fail []abstract.Value // the shell's directories if the last command failed
	ends bool             // nothing after it runs: exit, return, exec
	check
}

// check is what the result of a command says about a checksum or a signature that it checks.
type check struct {
	passed bool // it succeeds only if what it checks is right
	denied bool // it fails only if that is right: ! sha256sum -c FILE
	rest   bool // what comes after it runs only if that is right: sha256sum -c FILE || exit
}

// stmts runs a list. Each of its commands may fail and the next one runs anyway,
// unless set -e is on.
func (s *Machine) stmts(list []*syntax.Stmt) Outcome {
	var all Outcome
	var out output
	all.Fail = s.Scope.Dirs
	for _, st := range list {
		o := s.stmt(st)
		if s.Frame.Wants {
			out.add(o.Out)
		}
		all.ends = all.ends || o.ends
		all.Fail = o.Fail
		all.check = check{o.passed, o.denied, all.rest || o.rest || s.Scope.errexit && o.passed && endsIfItFails(st)}
		s.Frame.checked = s.Frame.checked || all.rest
		if !s.Scope.errexit && !o.ends {
			s.Scope.Enter(abstract.UnionValues(s.Scope.Dirs, o.Fail))
			s.Scope.Saved = Stashed{}
		}
		if s.Full {
			break
		}
	}
	all.Out = out.arg()
	return all
}

// endsIfItFails reports whether a script ends, with set -e, whichever command of a statement fails.
func endsIfItFails(st *syntax.Stmt) bool {
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe
	}
	return false
}

// output collects what the commands of a list print.
type output struct {
	text  strings.Builder
	last  string
	taint abstract.Taint
	parts abstract.Arg // without text: strings some lines of which are in the output
	found *abstract.Found
}

// add appends output; an unknown part is followed by a line end.
func (o *output) add(a abstract.Arg) {
	o.taint |= a.Taint
	o.parts = abstract.Concat(o.parts, abstract.Arg{Part: a.Part})
	if a.Text == "" || o.text.Len() > abstract.MaxText {
		return
	}
	if o.last == "" {
		o.found = a.Found
	} else {
		o.found = o.found.And(a.Found)
	}
	if strings.HasSuffix(o.last, abstract.HoleText) || strings.HasSuffix(o.last, abstract.VacancyText) {
		o.text.WriteByte('\n')
	}
	o.text.WriteString(a.Text)
	o.last = a.Text
}

func (o *output) arg() abstract.Arg {
	out := abstract.Concat(abstract.Arg{Text: o.text.String(), Taint: o.taint}, o.parts)
	out.Found = o.found
	return out
}

// stmt runs one statement with its redirections.
func (s *Machine) stmt(st *syntax.Stmt) Outcome {
	if s.nesting++; s.nesting > MaxNesting {
		s.OverBudget("nesting")
	}
	defer func() { s.nesting-- }()
	if !s.Spend(1) {
		return Outcome{Out: abstract.UnknownArg(), Fail: s.Scope.Dirs}
	}
	if st.Background || st.Coprocess || st.Disown {
		return s.background(st)
	}
	o := s.redirected(st)
	if st.Negated {
		ok := s.Scope.Dirs
		s.Scope.Enter(o.Fail)
		s.Scope.Saved = Stashed{}
		o.Fail = ok
		o.passed, o.denied = o.denied, o.passed
	}
	return o
}

func (s *Machine) background(st *syntax.Stmt) Outcome {
	begin := len(s.Out.Commands)
	o := s.Subshell(func() Outcome {
		s.Frame.Bounded = false // a time limit ends with what it waits for
		return s.redirected(st)
	})
	s.starts(st, begin)
	o.check = check{}
	o.Out = abstract.Arg{Text: abstract.HoleText, Taint: o.Out.Taint, Part: o.Out.Part}
	return o
}

// redirected runs a statement's command between its redirections.
func (s *Machine) redirected(st *syntax.Stmt) Outcome {
	saved, first := s.Frame, s.first
	s.first = -1
	begin := len(s.Out.Effects)
	if s.Frame.Piped && s.Frame.Begin < begin {
		begin = s.Frame.Begin
	}
	r := s.redirections(st.Redirs)
	r.begin = begin
	if r.stdin != nil {
		s.Frame.Stdin, s.Frame.Piped = r.stdin, false
	}
	s.Frame.Muted = s.Frame.Muted || r.muted
	s.Frame.Wants = s.Frame.Wants || r.stdout
	o := s.command(st.Cmd)
	if st.Cmd == nil && r.stdin != nil && s.Frame.Wants {
		o.Out = *r.stdin // $(<FILE)
	}
	s.Frame.Muted = saved.Muted
	if r.lasts = execsNothing(st.Cmd); r.lasts {
		o.Out = abstract.UnknownArg() // later output goes to the file
	}
	s.finish(r, &o, st.Cmd)
	s.Frame = saved
	if r.lasts && r.stdin != nil {
		s.Frame.Stdin, s.Frame.Piped = r.stdin, false
	}
	if first >= 0 {
		s.first = first
	}
	return o
}

// execsNothing reports whether a command is exec alone, whose redirections
// last: it opens descriptors and attaches nothing to them.
func execsNothing(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

// Subshell runs f in a copy of the shell, whose changes are lost.
func (s *Machine) Subshell(f func() Outcome) Outcome {
	saved, frame := s.Scope, s.Frame
	s.Scope = saved.child()
	o := f()
	s.Scope, s.Frame = saved, frame
	o.Fail, o.ends, o.rest = saved.Dirs, false, false
	return o
}

// branch runs f in a child scope and returns that scope for a merge.
func (s *Machine) branch(f func() Outcome) (*scope, Outcome) {
	saved := s.Scope
	checked := s.Frame.checked
	b := saved.child()
	s.Scope = b
	s.Steps += len(b.Dirs) // a branch costs more than a step
	o := f()
	s.Scope, s.Frame.checked = saved, checked
	return b, o
}

func (s *Machine) command(cmd syntax.Command) Outcome {
	here := Outcome{Fail: s.Scope.Dirs}
	switch c := cmd.(type) {
	case nil:
		return here
	case *syntax.CallExpr:
		before := s.checks
		o := s.call(c)
		o.check = check{passed: s.checks > before}
		return o
	case *syntax.BinaryCmd:
		return s.chain(c)
	case *syntax.Block:
		return s.stmts(c.Stmts)
	case *syntax.Subshell:
		return s.Subshell(func() Outcome { return s.stmts(c.Stmts) })
	case *syntax.IfClause:
		return s.ifClause(c)
	case *syntax.WhileClause:
		return s.while(c)
	case *syntax.ForClause:
		return s.forClause(c)
	case *syntax.CaseClause:
		return s.caseClause(c)
	case *syntax.FuncDecl:
		s.declare(c)
	case *syntax.DeclClause:
		return s.declClause(c)
	case *syntax.ArithmCmd:
		s.arithmetic(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			s.arithmetic(x)
		}
	case *syntax.TestClause:
		s.test(c.X)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return s.wrapped("time", timed(c.Stmt))
		}
	case *syntax.CoprocClause:
		return s.Subshell(func() Outcome {
			in := abstract.UnknownArg()
			s.Frame.Bounded, s.Frame.Piped, s.Frame.Stdin = false, true, &in
			return s.wrapped("coproc", c.Stmt)
		})
	default:
		s.words(cmd)
		s.Opaque("syntax", "command of another shell")
	}
	return here
}

// timed returns the command that time runs: -p and -- belong to time, wherever the
// parser puts them.
func timed(st *syntax.Stmt) *syntax.Stmt {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return st
	}
	args := call.Args
	for len(args) > 1 && (args[0].Lit() == "-p" || args[0].Lit() == "--") {
		args = args[1:]
	}
	if len(args) == len(call.Args) {
		return st
	}
	own, command := *st, *call
	command.Args = args
	own.Cmd = &command
	return &own
}

func (s *Machine) wrapped(name string, st *syntax.Stmt) Outcome {
	saved := s.Frame
	s.Frame.Wrappers = AppendText(saved.Wrappers, name)
	o := s.stmt(st)
	s.Frame = saved
	return o
}

// AppendText returns a list with a string appended; the list itself is not changed.
func AppendText(list []string, text string) []string { return append(list[:len(list):len(list)], text) }

// chain runs a && b, a || b and a | b.
func (s *Machine) chain(c *syntax.BinaryCmd) Outcome {
	switch c.Op {
	case syntax.AndStmt:
		checked := s.Frame.checked
		x := s.stmt(c.X)
		s.Frame.checked = checked || x.passed || x.rest
		y := s.stmt(c.Y)
		s.Frame.checked = checked
		both := check{passed: x.passed || y.passed, rest: x.rest || x.denied && y.ends}
		return Outcome{abstract.Concat(x.Out, y.Out), abstract.UnionValues(x.Fail, y.Fail), x.ends, both}
	case syntax.OrStmt:
		return s.or(c)
	}
	return s.pipe(c)
}

func (s *Machine) or(c *syntax.BinaryCmd) Outcome {
	saved := s.Frame.Muted
	s.Frame.Muted = saved || swallows(c.Y)
	x := s.stmt(c.X)
	s.Frame.Muted = saved
	ok := s.Scope.Dirs
	b, y := s.branch(func() Outcome {
		s.Scope.Enter(x.Fail)
		s.Scope.Saved = Stashed{}
		return s.stmt(c.Y)
	})
	if y.ends {
		return Outcome{abstract.Concat(x.Out, y.Out), nil, x.ends, check{passed: x.passed, rest: x.rest || x.passed}}
	}
	failed := b.Dirs
	b.Dirs = abstract.UnionValues(ok, failed)
	same := s.Scope.child()
	same.Dirs = ok
	s.Scope.merge(same, b)
	s.Scope.Saved = Stashed{} // the command that stashed something may have failed
	return Outcome{abstract.Concat(x.Out, y.Out), y.Fail, x.ends, check{denied: x.denied || y.denied, rest: x.rest}}
}

// swallows reports whether a statement only ignores that another one failed.
func swallows(st *syntax.Stmt) bool {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "true" || name == ":"
}

// pipe runs both sides as subshells; the second reads what the first prints.
func (s *Machine) pipe(c *syntax.BinaryCmd) Outcome {
	begin := len(s.Out.Effects)
	x := s.Subshell(func() Outcome {
		s.Frame.Feeds, s.Frame.Wants = true, true
		return s.stmt(c.X)
	})
	return s.Subshell(func() Outcome {
		s.Frame.Stdin, s.Frame.Piped, s.Frame.Begin = &x.Out, true, begin
		return s.stmt(c.Y)
	})
}

// test evaluates the words of [[ … ]] for the commands in them.
func (s *Machine) test(x syntax.TestExpr) {
	if s.nesting++; s.nesting > MaxNesting {
		s.OverBudget("test")
		return
	}
	defer func() { s.nesting-- }()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		if x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr {
			s.operand(x.X)
			s.operand(x.Y)
			return
		}
		s.test(x.X)
		s.test(x.Y)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsVarSet {
			s.subscripts(s.Single(w))
			return
		}
		s.test(x.X)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.Word:
		s.Single(x)
	}
}

// operand is one side of -eq and the like, which is arithmetic.
func (s *Machine) operand(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		s.number(w)
		return
	}
	s.test(x)
}

func (s *Machine) declare(c *syntax.FuncDecl) {
	if c.Name == nil {
		return
	}
	if forks(c) {
		s.Signal(engine.SignalForkBomb)
		s.Note(engine.EffectResource, "fork", abstract.Arg{})
	}
	s.overrides(c.Name.Value)
	s.Scope.define(c.Name.Value, c.Body)
	if name := c.Name.Value; name == "command_not_found_handle" || name == "command_not_found_handler" {
		s.Subshell(func() Outcome { // any command that does not exist calls it
			s.Scope.args, s.Scope.bound = []abstract.Arg{{Text: abstract.HoleText, Splits: true}}, true
			return s.stmt(c.Body)
		})
	}
}

// forks reports whether a function starts two of itself, or itself in the
// background: its processes double until none is left.
func forks(c *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe && callsName(n.X, c.Name.Value) && callsName(n.Y, c.Name.Value) {
				found = true
			}
		case *syntax.Stmt:
			if n.Background && callsName(n, c.Name.Value) {
				found = true
			}
		}
		return !found
	})
	return found
}

func callsName(st *syntax.Stmt, name string) bool {
	found := false
	syntax.Walk(st, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == name {
			found = true
		}
		return !found
	})
	return found
}

// declClause runs export, local, declare, readonly and typeset.
func (s *Machine) declClause(c *syntax.DeclClause) Outcome {
	local := c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset"
	printed := c.Variant.Value != "local"
	refers := c.Variant.Value == "nameref"
	hidden := false // from what is started
	for _, as := range c.Args {
		if as.Name == nil {
			flag := s.Single(as.Value)
			s.subscripts(flag)
			s.takenOver([]abstract.Arg{flag})
			printed = printed && flag.Is("-p", "-x", "-px")
			refers = refers || flag.HasPrefix("-") && strings.Contains(flag.Text, "n")
			hidden = hidden || flag.HasPrefix("+x") || flag.HasPrefix("-n") && c.Variant.Value == "export"
			continue
		}
		printed = false
		if local && len(s.calls) > 0 {
			s.Scope.hold(as.Name.Value)
		}
		s.assign(as)
		if hidden {
			s.TakesMarker(as.Name.Value)
		}
		if refers {
			s.refer(as.Name.Value)
		}
	}
	if printed {
		s.Signal(engine.SignalEnvDump)
		return Outcome{Fail: s.Scope.Dirs, Out: s.wholeEnvironment()}
	}
	return Outcome{Fail: s.Scope.Dirs}
}

// refer makes a variable a reference to the one that its value names.
func (s *Machine) refer(name string) {
	if v, ok := s.Scope.find(name); ok && v.ref == "" && len(v.alts) == 1 && v.alts[0].Known() {
		s.Scope.set(name, variable{ref: v.alts[0].Text})
	} else {
		s.Scope.SetText(name, abstract.UnknownArg())
	}
}
