package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
	"mvdan.cc/sh/v3/syntax"
)

func (s *Machine) ifClause(c *syntax.IfClause) Outcome {
	cond := Outcome{Fail: s.Scope.Dirs}
	if len(c.Cond) > 0 {
		cond = s.stmts(c.Cond[:len(c.Cond)-1])
		cond = s.stmt(c.Cond[len(c.Cond)-1])
	}
	then, a := s.branch(func() Outcome {
		s.Frame.checked = s.Frame.checked || cond.passed || cond.rest
		return s.stmts(c.Then)
	})
	other, b := s.branch(func() Outcome {
		s.Frame.checked = s.Frame.checked || cond.denied || cond.rest
		s.Scope.Enter(cond.Fail)
		s.Scope.Saved = Stashed{}
		switch {
		case c.Else == nil:
			return Outcome{Fail: cond.Fail}
		case len(c.Else.Cond) == 0:
			return s.stmts(c.Else.Then)
		}
		return s.ifClause(c.Else)
	})
	switch {
	case a.ends && !b.ends:
		s.Scope.merge(other)
	case b.ends && !a.ends:
		s.Scope.merge(then)
	default:
		s.Scope.merge(then, other)
	}
	out := eitherOut(a.Out, b.Out)
	known := check{rest: cond.rest || a.ends && cond.denied || b.ends && cond.passed}
	return Outcome{out, s.Scope.Dirs, a.ends && b.ends, known}
}

// eitherOut is the output of one of two branches: unknown as a value, both as code.
func eitherOut(a, b abstract.Arg) abstract.Arg {
	switch {
	case a.Text == "":
		return b
	case b.Text == "":
		return a
	case a.Text == b.Text:
		a.Found = a.Found.And(b.Found)
		return a
	}
	return abstract.Concat(abstract.Concat(abstract.Word(abstract.HoleText+"\n"), a), b)
}

// endless notes an endless loop, unless a time limit ends it.
func (s *Machine) endless() {
	if !s.bounded() {
		s.Signal(engine.SignalUnbounded)
		s.emit(abstract.RawEffect{Kind: engine.EffectResource, Verb: "loop", Command: -1}, abstract.Arg{})
	}
}

// while runs the condition and the body of a loop.
func (s *Machine) while(c *syntax.WhileClause) Outcome {
	if !c.Until && endless(c) {
		s.endless()
	}
	return s.loop(c.Do, func() {
		s.stmts(c.Cond)
		s.Scope.Saved = Stashed{}
	})
}

// endless reports whether a loop has a condition that is always true and no statement in its
// body that leaves it.
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

// loop runs a body once. Every variable that the body assigns may then also have its
// value of an earlier pass. If the body changes the directory, a second pass starts
// from there.
func (s *Machine) loop(body []*syntax.Stmt, head func()) Outcome {
	s.looping++
	defer func() { s.looping-- }()
	before := s.Scope.child()
	after, o := s.branch(func() Outcome {
		s.forget(body)
		head()
		return s.stmts(body)
	})
	if !subset(after.Dirs, before.Dirs) && s.Frame.Depth < MaxDepth {
		dirs := abstract.UnionValues(before.Dirs, after.Dirs)
		saved := s.Frame.Depth
		s.Frame.Depth += 4 // loops in loops would double the work each time
		after, o = s.branch(func() Outcome {
			s.Scope.Enter(dirs)
			s.forget(body)
			head()
			return s.stmts(body)
		})
		s.Frame.Depth = saved
	}
	s.Scope.merge(before, after)
	out := o.Out
	if out.Text != "" {
		out = abstract.Concat(out, abstract.Arg{Text: abstract.HoleText, Taint: out.Taint})
	}
	return Outcome{Out: out, Fail: s.Scope.Dirs}
}

func subset(a, b []abstract.Value) bool {
	return !slices.ContainsFunc(a, func(v abstract.Value) bool { return !abstract.ContainsValue(b, v) })
}

// forget adds "anything" to the variables that a loop's body assigns.
func (s *Machine) forget(body []*syntax.Stmt) {
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			if s.Steps++; s.Steps > MaxSteps {
				return false
			}
			as, ok := n.(*syntax.Assign)
			if !ok || as.Name == nil || as.Value == nil && as.Array == nil {
				return true
			}
			name := as.Name.Value
			v, set := s.Scope.Lookup(name)
			if set && v.array {
				s.forgetArray(name, v, as)
			} else if set {
				next := abstract.UnknownArg()
				if Constant(as.Value) && !as.Append {
					next = s.Single(as.Value)
				}
				s.Scope.SetText(name, append(v.alts[:len(v.alts):len(v.alts)], next)...)
			}
			return true
		})
	}
}

// forgetArray adds what a loop's body may have put into an array.
func (s *Machine) forgetArray(name string, v variable, as *syntax.Assign) {
	anything := abstract.Arg{Text: abstract.HoleText, Splits: true}
	if as.Array != nil && !as.Append || as.Index != nil {
		v.list = []abstract.Arg{anything}
	} else {
		v.list = append(v.list[:len(v.list):len(v.list)], anything)
	}
	s.Scope.set(name, v)
}

// Constant reports whether a word contains no expansion.
func Constant(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !Constant(&syntax.Word{Parts: p.Parts}) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (s *Machine) forClause(c *syntax.ForClause) Outcome {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var items []abstract.Arg
		if l.InPos.IsValid() {
			s.variants(func() { items = append(items, s.Expand(l.Items)...) })
		} else {
			items = s.Scope.args
		}
		if l.InPos.IsValid() && len(items) == 0 {
			items = []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
		}
		return s.loop(c.Do, func() { s.Scope.SetText(l.Name.Value, asItems(items)...) })
	case *syntax.CStyleLoop:
		s.arithmetic(l.Init)
		if l.Cond == nil {
			s.endless()
		}
		return s.loop(c.Do, func() { s.arithmetic(l.Cond); s.arithmetic(l.Post); s.arithmetic(l.Init); s.forgetNumbers(l.Post) })
	}
	return Outcome{Fail: s.Scope.Dirs}
}

// asItems returns the values of a loop's variable. A pattern becomes the names of
// files that match it, of which only the directory is certain.
func asItems(items []abstract.Arg) []abstract.Arg {
	out := make([]abstract.Arg, len(items))
	for i, a := range items {
		a.Quoted, a.Splits = false, false
		out[i] = a
	}
	return out
}

func (s *Machine) forgetNumbers(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			s.Scope.SetText(w.Lit(), abstract.UnknownArg())
		}
		return true
	})
}

// caseClause runs the arms that can match; all of them if the word is not known. After ;& the
// next arm runs whatever its patterns are, and after ;;& (;| in zsh and mksh) the patterns of
// the following arms are tested.
func (s *Machine) caseClause(c *syntax.CaseClause) Outcome {
	subject := s.Single(c.Word)
	tests, falls := caseState{scope: s.Scope.child()}, caseState{}
	var done []*scope
	var out abstract.Arg
	leaves := func(at caseState) {
		out = eitherOut(out, at.out)
		if at.scope != nil {
			done = append(done, at.scope)
		}
	}
	for _, item := range c.Items {
		enters := falls
		falls = caseState{}
		possible, certain := s.matches(item, subject, tests.scope)
		if possible {
			enters = s.either(enters, tests)
		}
		if certain {
			tests = caseState{}
		}
		if enters.scope == nil {
			continue
		}
		b, o := s.branch(func() Outcome {
			s.Scope.merge(enters.scope)
			s.Scope.Saved = enters.scope.Saved
			return s.stmts(item.Stmts)
		})
		var printed output
		printed.add(enters.out)
		printed.add(o.Out)
		after := caseState{b, printed.arg()}
		switch {
		case o.ends:
			leaves(caseState{out: after.out})
		case item.Op == syntax.Fallthrough:
			falls = after
		case item.Op == syntax.Resume || item.Op == syntax.ResumeKorn:
			tests = s.either(tests, after)
		default:
			leaves(after)
		}
	}
	leaves(tests)
	leaves(falls)
	s.Scope.merge(done...)
	return Outcome{Out: out, Fail: s.Scope.Dirs, ends: len(done) == 0}
}

// caseState is the shell between two arms of a case clause, and what it has printed in the
// clause. Without a scope, no shell gets there.
type caseState struct {
	scope *scope
	out   abstract.Arg
}

// either is one of two states.
func (s *Machine) either(a, b caseState) caseState {
	switch {
	case a.scope == nil:
		return b
	case b.scope == nil:
		return a
	}
	joined, _ := s.branch(func() Outcome {
		s.Scope.merge(a.scope, b.scope)
		if s.Scope.Saved = a.scope.Saved; b.scope.Saved != a.scope.Saved {
			s.Scope.Saved = Stashed{}
		}
		return Outcome{}
	})
	return caseState{joined, eitherOut(a.out, b.out)}
}

// matches reports whether a case arm may match in the state in which it is tested, and
// whether it certainly does.
func (s *Machine) matches(item *syntax.CaseItem, subject abstract.Arg, in *scope) (possible, certain bool) {
	if in == nil {
		return false, false
	}
	saved := s.Scope
	s.Scope = in
	defer func() { s.Scope = saved }()
	for _, w := range item.Patterns {
		p := s.pattern(w)
		if !p.Known() || !subject.Known() || strings.ContainsAny(p.Text, "(|\\") {
			possible = true
			continue
		}
		if len(p.Text)*len(subject.Text) > 1<<20 || wildcard.Text(p.Text, subject.Text) {
			return true, true
		}
	}
	return possible, false
}
