package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// outcome is what is known after a piece of code has run.
type outcome struct {
	out  arg     // what it has written to standard output
	fail []value // where the shell is if the last command failed
	ends bool    // nothing after it runs: exit, return, exec
}

// stmts runs a list. Each of its commands may fail and the next one runs all
// the same, unless set -e is on.
func (s *shell) stmts(list []*syntax.Stmt) outcome {
	var all outcome
	var out output
	all.fail = s.scope.dirs
	for _, st := range list {
		o := s.stmt(st)
		if s.frame.wants {
			out.add(o.out)
		}
		all.ends = all.ends || o.ends
		all.fail = o.fail
		if !s.scope.errexit && !o.ends {
			s.scope.enter(unionValues(s.scope.dirs, o.fail))
			s.scope.saved = putAside{}
		}
		if s.full {
			break
		}
	}
	all.out = out.arg()
	return all
}

// output collects what the commands of a list print.
type output struct {
	text  strings.Builder
	last  string
	taint taint
}

// add appends output; what is not known ends with its line.
func (o *output) add(a arg) {
	o.taint |= a.taint
	if a.text == "" || o.text.Len() > maxText {
		return
	}
	if strings.HasSuffix(o.last, holeText) || strings.HasSuffix(o.last, vacancyText) {
		o.text.WriteByte('\n')
	}
	o.text.WriteString(a.text)
	o.last = a.text
}

func (o *output) arg() arg { return concat(arg{text: o.text.String(), taint: o.taint}, arg{}) }

// stmt runs one statement with its redirections.
func (s *shell) stmt(st *syntax.Stmt) outcome {
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget("nesting")
	}
	defer func() { s.nesting-- }()
	if !s.spend(1) {
		return outcome{out: unknownArg(), fail: s.scope.dirs}
	}
	if st.Background || st.Coprocess || st.Disown {
		return s.background(st)
	}
	o := s.redirected(st)
	if st.Negated {
		ok := s.scope.dirs
		s.scope.enter(o.fail)
		s.scope.saved = putAside{}
		o.fail = ok
	}
	return o
}

func (s *shell) background(st *syntax.Stmt) outcome {
	o := s.subshell(func() outcome {
		s.frame.bounded = false // a time limit ends with what it waits for
		return s.redirected(st)
	})
	o.out = arg{text: holeText, taint: o.out.taint}
	return o
}

// redirected runs a statement's command between its redirections.
func (s *shell) redirected(st *syntax.Stmt) outcome {
	saved, first := s.frame, s.first
	s.first = -1
	r := s.redirections(st.Redirs)
	if r.stdin != nil {
		s.frame.stdin, s.frame.piped = r.stdin, false
	}
	s.frame.muted = s.frame.muted || r.muted
	s.frame.wants = s.frame.wants || r.stdout
	o := s.command(st.Cmd)
	if st.Cmd == nil && r.stdin != nil && s.frame.wants {
		o.out = *r.stdin // $(<FILE)
	}
	s.frame.muted = saved.muted
	if r.lasts = execsNothing(st.Cmd); r.lasts {
		o.out = unknownArg() // what follows goes to the file
	}
	s.finish(r, &o, st.Cmd)
	s.frame = saved
	if r.lasts && r.stdin != nil {
		s.frame.stdin, s.frame.piped = r.stdin, false
	}
	if first >= 0 {
		s.first = first
	}
	return o
}

// execsNothing tells whether a command is exec alone, whose redirections last.
func execsNothing(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

// subshell runs f in a copy of the shell, whose changes are lost.
func (s *shell) subshell(f func() outcome) outcome {
	saved, frame := s.scope, s.frame
	s.scope = saved.child()
	o := f()
	s.scope, s.frame = saved, frame
	o.fail, o.ends = saved.dirs, false
	return o
}

// branch runs f in a child scope and returns that scope for a merge.
func (s *shell) branch(f func() outcome) (*scope, outcome) {
	saved := s.scope
	b := saved.child()
	s.scope = b
	s.steps += len(b.dirs) // a branch costs more than a word
	o := f()
	s.scope = saved
	return b, o
}

func (s *shell) command(cmd syntax.Command) outcome {
	here := outcome{fail: s.scope.dirs}
	switch c := cmd.(type) {
	case nil:
		return here
	case *syntax.CallExpr:
		return s.call(c)
	case *syntax.BinaryCmd:
		return s.chain(c)
	case *syntax.Block:
		return s.stmts(c.Stmts)
	case *syntax.Subshell:
		return s.subshell(func() outcome { return s.stmts(c.Stmts) })
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
			return s.wrapped("time", c.Stmt)
		}
	case *syntax.CoprocClause:
		return s.subshell(func() outcome {
			in := unknownArg()
			s.frame.bounded, s.frame.piped, s.frame.stdin = false, true, &in
			return s.wrapped("coproc", c.Stmt)
		})
	default:
		s.words(cmd)
		s.opaque("syntax", "command of another shell")
	}
	return here
}

func (s *shell) wrapped(name string, st *syntax.Stmt) outcome {
	saved := s.frame
	s.frame.wrappers = appendText(saved.wrappers, name)
	o := s.stmt(st)
	s.frame = saved
	return o
}

func appendText(list []string, text string) []string {
	return append(list[:len(list):len(list)], text)
}

// chain runs a && b, a || b and a | b.
func (s *shell) chain(c *syntax.BinaryCmd) outcome {
	switch c.Op {
	case syntax.AndStmt:
		x := s.stmt(c.X)
		y := s.stmt(c.Y)
		return outcome{concat(x.out, y.out), unionValues(x.fail, y.fail), x.ends}
	case syntax.OrStmt:
		return s.or(c)
	}
	return s.pipe(c)
}

func (s *shell) or(c *syntax.BinaryCmd) outcome {
	saved := s.frame.muted
	s.frame.muted = saved || swallows(c.Y)
	x := s.stmt(c.X)
	s.frame.muted = saved
	ok := s.scope.dirs
	b, y := s.branch(func() outcome {
		s.scope.enter(x.fail)
		s.scope.saved = putAside{}
		return s.stmt(c.Y)
	})
	if y.ends {
		return outcome{concat(x.out, y.out), nil, x.ends}
	}
	failed := b.dirs
	b.dirs = unionValues(ok, failed)
	same := s.scope.child()
	same.dirs = ok
	s.scope.merge(same, b)
	s.scope.saved = putAside{} // what put something aside may be what failed
	return outcome{concat(x.out, y.out), y.fail, x.ends}
}

// swallows tells whether a statement only hides that another one failed.
func swallows(st *syntax.Stmt) bool {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "true" || name == ":"
}

// pipe runs both sides as subshells; the second reads what the first prints.
func (s *shell) pipe(c *syntax.BinaryCmd) outcome {
	x := s.subshell(func() outcome {
		s.frame.feeds, s.frame.wants = true, true
		return s.stmt(c.X)
	})
	return s.subshell(func() outcome {
		s.frame.stdin, s.frame.piped = &x.out, true
		return s.stmt(c.Y)
	})
}

// test evaluates the words of [[ … ]] for the commands in them.
func (s *shell) test(x syntax.TestExpr) {
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget("test")
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
			s.subscripts(s.single(w))
			return
		}
		s.test(x.X)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.Word:
		s.single(x)
	}
}

// operand is one side of -eq and its kin, which is arithmetic.
func (s *shell) operand(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		s.number(w)
		return
	}
	s.test(x)
}

func (s *shell) declare(c *syntax.FuncDecl) {
	if c.Name == nil {
		return
	}
	if forks(c) {
		s.signal(engine.SignalForkBomb)
		s.note(engine.EffectResource, "fork", arg{})
	}
	s.overrides(c.Name.Value)
	s.scope.define(c.Name.Value, c.Body)
	if name := c.Name.Value; name == "command_not_found_handle" || name == "command_not_found_handler" {
		s.subshell(func() outcome { // any command that is not there calls it
			s.scope.args, s.scope.bound = []arg{{text: holeText, splits: true}}, true
			return s.stmt(c.Body)
		})
	}
}

// forks tells whether a function starts two of itself, or itself in the
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
func (s *shell) declClause(c *syntax.DeclClause) outcome {
	local := c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset"
	printed := c.Variant.Value != "local"
	refers := c.Variant.Value == "nameref"
	for _, as := range c.Args {
		if as.Name == nil {
			flag := s.single(as.Value)
			s.subscripts(flag)
			printed = printed && flag.is("-p", "-x", "-px")
			refers = refers || flag.hasPrefix("-") && strings.Contains(flag.text, "n")
			continue
		}
		printed = false
		if local && len(s.calls) > 0 {
			s.scope.hold(as.Name.Value)
		}
		s.assign(as)
		if refers {
			s.refer(as.Name.Value)
		}
	}
	if printed {
		s.signal(engine.SignalEnvDump)
	}
	return outcome{fail: s.scope.dirs}
}

// refer makes a variable another name of the one that its value names.
func (s *shell) refer(name string) {
	if v, ok := s.scope.find(name); ok && v.ref == "" && len(v.alts) == 1 && v.alts[0].known() {
		s.scope.set(name, variable{ref: v.alts[0].text})
	} else {
		s.scope.setText(name, unknownArg())
	}
}
