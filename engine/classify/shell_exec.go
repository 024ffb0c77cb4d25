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
	s.frame.muted = saved.muted
	s.finish(r, &o, st.Cmd)
	s.frame = saved
	if first >= 0 {
		s.first = first
	}
	return o
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
			s.frame.bounded = false
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

func (s *shell) ifClause(c *syntax.IfClause) outcome {
	cond := outcome{fail: s.scope.dirs}
	if len(c.Cond) > 0 {
		cond = s.stmts(c.Cond[:len(c.Cond)-1])
		cond = s.stmt(c.Cond[len(c.Cond)-1])
	}
	then, a := s.branch(func() outcome { return s.stmts(c.Then) })
	other, b := s.branch(func() outcome {
		s.scope.enter(cond.fail)
		switch {
		case c.Else == nil:
			return outcome{fail: cond.fail}
		case len(c.Else.Cond) == 0:
			return s.stmts(c.Else.Then)
		}
		return s.ifClause(c.Else)
	})
	switch {
	case a.ends && !b.ends:
		s.scope.merge(other)
	case b.ends && !a.ends:
		s.scope.merge(then)
	default:
		s.scope.merge(then, other)
	}
	out := eitherOut(a.out, b.out)
	return outcome{out, s.scope.dirs, a.ends && b.ends}
}

// eitherOut is the output of one of two branches: as a value not known, as code
// both.
func eitherOut(a, b arg) arg {
	switch {
	case a.text == "":
		return b
	case b.text == "" || a.text == b.text:
		return a
	}
	return concat(concat(word(holeText+"\n"), a), b)
}

// while runs the condition and the body of a loop.
func (s *shell) while(c *syntax.WhileClause) outcome {
	if !c.Until && endless(c) && !s.bounded() {
		s.signal(engine.SignalUnbounded)
	}
	return s.loop(c.Do, func() {
		s.stmts(c.Cond)
	})
}

// endless tells whether a loop has a condition that always holds and nothing
// in its body that leaves it.
func endless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || c.Cond[0].Negated {
		return false
	}
	if name := call.Args[0].Lit(); name != "true" && name != ":" {
		return false
	}
	leaves := false
	for _, st := range c.Do {
		syntax.Walk(st, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "break", "exit", "return", "exec":
					leaves = true
				}
			}
			return !leaves
		})
	}
	return !leaves
}

// loop runs a body once, with every variable that the body assigns holding
// also what an earlier pass may have left. Where the body moves the shell, a
// second pass starts from there.
func (s *shell) loop(body []*syntax.Stmt, head func()) outcome {
	before := s.scope.child()
	after, o := s.branch(func() outcome {
		s.forget(body)
		head()
		return s.stmts(body)
	})
	if !subset(after.dirs, before.dirs) && s.frame.depth < maxDepth {
		dirs := unionValues(before.dirs, after.dirs)
		saved := s.frame.depth
		s.frame.depth += 4 // loops in loops would double the work each time
		after, o = s.branch(func() outcome {
			s.scope.enter(dirs)
			s.forget(body)
			head()
			return s.stmts(body)
		})
		s.frame.depth = saved
	}
	s.scope.merge(before, after)
	out := o.out
	if out.text != "" {
		out = concat(out, arg{text: holeText, taint: out.taint})
	}
	return outcome{out: out, fail: s.scope.dirs}
}

func subset(a, b []value) bool {
	for _, v := range a {
		if !containsValue(b, v) {
			return false
		}
	}
	return true
}

// forget adds "anything" to the variables that a loop's body assigns.
func (s *shell) forget(body []*syntax.Stmt) {
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			if s.steps++; s.steps > maxSteps {
				return false
			}
			as, ok := n.(*syntax.Assign)
			if !ok || as.Name == nil || as.Value == nil && as.Array == nil {
				return true
			}
			name := as.Name.Value
			if v, set := s.scope.lookup(name); set && !v.array {
				next := unknownArg()
				if constant(as.Value) && !as.Append {
					next = s.single(as.Value)
				}
				s.scope.setText(name, append(v.alts[:len(v.alts):len(v.alts)], next)...)
			}
			return true
		})
	}
}

// constant tells whether a word has no expansion in it.
func constant(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !constant(&syntax.Word{Parts: p.Parts}) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (s *shell) forClause(c *syntax.ForClause) outcome {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var items []arg
		if l.InPos.IsValid() {
			s.variants(func() { items = append(items, s.expand(l.Items)...) })
		} else {
			items = s.scope.args
		}
		if l.InPos.IsValid() && len(items) == 0 {
			items = []arg{{text: holeText, splits: true}}
		}
		return s.loop(c.Do, func() { s.scope.setText(l.Name.Value, asItems(items)...) })
	case *syntax.CStyleLoop:
		s.arithmetic(l.Init)
		if l.Cond == nil && !s.bounded() {
			s.signal(engine.SignalUnbounded)
		}
		return s.loop(c.Do, func() { s.arithmetic(l.Cond); s.arithmetic(l.Post); s.arithmetic(l.Init); s.forgetNumbers(l.Post) })
	}
	return outcome{fail: s.scope.dirs}
}

// asItems are the values of a loop's variable. A pattern becomes the names of
// files that match it, of which only the directory is known for sure.
func asItems(items []arg) []arg {
	out := make([]arg, len(items))
	for i, a := range items {
		a.quoted, a.splits = false, false
		out[i] = a
	}
	return out
}

func (s *shell) forgetNumbers(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			s.scope.setText(w.Lit(), unknownArg())
		}
		return true
	})
}

// caseClause runs the arms that can match; all of them if the word is not
// known.
func (s *shell) caseClause(c *syntax.CaseClause) outcome {
	subject := s.single(c.Word)
	none := s.scope.child()
	branches := []*scope{none}
	var out arg
	ended := len(c.Items) > 0
	for _, item := range c.Items {
		possible, certain := s.matches(item, subject)
		if !possible {
			continue
		}
		b, o := s.branch(func() outcome { return s.stmts(item.Stmts) })
		if !o.ends {
			branches = append(branches, b)
		}
		ended = ended && o.ends
		out = eitherOut(out, o.out)
		if certain && item.Op == syntax.Break {
			branches = branches[1:]
			break
		}
		ended = false
	}
	if len(branches) > 0 {
		s.scope.merge(branches...)
	}
	return outcome{out, s.scope.dirs, ended && len(branches) == 0}
}

// matches tells whether a case arm may match, and whether it does for sure.
func (s *shell) matches(item *syntax.CaseItem, subject arg) (possible, certain bool) {
	for _, w := range item.Patterns {
		p := s.pattern(w)
		if !p.known() || !subject.known() || strings.ContainsAny(p.text, "(|\\") {
			possible = true
			continue
		}
		if len(p.text)*len(subject.text) > 1<<20 || matchPattern(p.text, subject.text) {
			return true, true
		}
	}
	return possible, false
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
		s.test(x.X)
		s.test(x.Y)
	case *syntax.UnaryTest:
		s.test(x.X)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.Word:
		s.single(x)
	}
}

func (s *shell) declare(c *syntax.FuncDecl) {
	if c.Name == nil {
		return
	}
	if forks(c) {
		s.signal(engine.SignalForkBomb)
		s.note(engine.EffectResource, "fork", arg{})
	}
	s.scope.define(c.Name.Value, c.Body)
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
