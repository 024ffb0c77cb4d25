package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
	"mvdan.cc/sh/v3/syntax"
)

func (s *shell) ifClause(c *syntax.IfClause) outcome {
	cond := outcome{fail: s.scope.dirs}
	if len(c.Cond) > 0 {
		cond = s.stmts(c.Cond[:len(c.Cond)-1])
		cond = s.stmt(c.Cond[len(c.Cond)-1])
	}
	then, a := s.branch(func() outcome { return s.stmts(c.Then) })
	other, b := s.branch(func() outcome {
		s.scope.enter(cond.fail)
		s.scope.saved = putAside{}
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
		s.scope.saved = putAside{}
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
			v, set := s.scope.lookup(name)
			if set && v.array {
				s.forgetArray(name, v, as)
			} else if set {
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

// forgetArray adds what a loop's body may have put into an array.
func (s *shell) forgetArray(name string, v variable, as *syntax.Assign) {
	anything := arg{text: holeText, splits: true}
	if as.Array != nil && !as.Append || as.Index != nil {
		v.list = []arg{anything}
	} else {
		v.list = append(v.list[:len(v.list):len(v.list)], anything)
	}
	s.scope.set(name, v)
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
		if len(p.text)*len(subject.text) > 1<<20 || wildcard.Text(p.text, subject.text) {
			return true, true
		}
	}
	return possible, false
}
