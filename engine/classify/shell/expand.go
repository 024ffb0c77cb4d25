package shell

import (
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
	"mvdan.cc/sh/v3/syntax"
)

// param appends what a parameter expansion yields.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	list, fields := b.s.parameter(p, quoted)
	for i, a := range list {
		if i > 0 && fields {
			b.flush()
		}
		b.value(a, quoted)
	}
	if quoted && fields && len(list) == 0 && len(b.text) == 0 {
		b.open = false // "$@" without parameters is not a word at all
	}
}

// parameter evaluates an expansion. The second result reports whether the list is a list of
// words, not pieces of one.
func (s *Machine) parameter(p *syntax.ParamExp, quoted bool) ([]abstract.Arg, bool) {
	if p.Param == nil {
		s.words(p)
		return []abstract.Arg{abstract.UnknownArg()}, false
	}
	name := p.Param.Value
	if list, ok := s.listOf(p, name); ok {
		joined := name == "*" || subscript(p.Index) == "*"
		if p.Slice != nil || p.Exp != nil || p.Repl != nil {
			s.words(p)
			return []abstract.Arg{{Text: abstract.HoleText, Splits: true}}, false
		}
		if joined && quoted {
			return []abstract.Arg{s.joinFields(list)}, false
		}
		return list, true
	}
	return []abstract.Arg{s.value(p, name)}, false
}

// listOf returns the words of $@, $* and ${array[@]}.
func (s *Machine) listOf(p *syntax.ParamExp, name string) ([]abstract.Arg, bool) {
	if p.Length || p.Excl || p.Names != 0 {
		return nil, false
	}
	switch at := subscript(p.Index); {
	case name == "@" || name == "*":
		if !s.Scope.bound {
			return nil, true // sh -c without further arguments has none
		}
		return s.Scope.args, true
	case at == "@" || at == "*":
		v, ok := s.Scope.Lookup(name)
		if !ok {
			return []abstract.Arg{{Text: abstract.VacancyText, Splits: true}}, true
		}
		if v.array {
			return v.list, true
		}
		return v.alts, true
	}
	return nil, false
}

func subscript(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// joinFields evaluates "$*", with the first character of IFS between the words.
func (s *Machine) joinFields(list []abstract.Arg) abstract.Arg {
	ifs := s.ifs()
	if strings.HasPrefix(ifs, " ") {
		return JoinWords(list)
	}
	var out abstract.Arg
	for i, a := range list {
		if i > 0 && ifs != "" {
			out = abstract.Concat(out, abstract.Word(ifs[:1]))
		}
		out = abstract.Concat(out, a)
	}
	return out
}

// JoinWords returns the words as one string, with spaces between them.
func JoinWords(list []abstract.Arg) abstract.Arg {
	var out abstract.Arg
	for i, a := range list {
		if i > 0 {
			out = abstract.Concat(out, abstract.Word(" "))
		}
		out = abstract.Concat(out, a)
	}
	return out
}

// value evaluates an expansion that yields one string.
func (s *Machine) value(p *syntax.ParamExp, name string) abstract.Arg {
	a, set := s.Get(name), s.isSet(name)
	if p.Index != nil {
		a = s.element(p, name)
	}
	switch {
	case p.Excl && p.Names == 0:
		a = s.indirect(a)
	case p.Names != 0, p.IsSet, p.Width, p.Flags != nil, p.NestedParam != nil, len(p.Modifiers) > 0:
		s.words(p)
		return abstract.UnknownArg()
	case p.Length:
		if a.Known() {
			return abstract.Word(strconv.Itoa(len(a.Text)))
		}
		return abstract.UnknownArg()
	}
	out := a
	switch {
	case p.Slice != nil:
		out = s.slice(p.Slice, a)
	case p.Repl != nil:
		out = s.replace(p.Repl, a)
	case p.Exp != nil:
		out = s.operate(p.Exp, name, a, set)
	}
	out.Taint |= a.Taint & abstract.Secrets // a part of a secret is one
	return out
}

// words visits the words in an expansion that is not understood, for the commands in
// them.
func (s *Machine) words(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.capture(n.Stmts)
			return false
		case *syntax.ProcSubst:
			s.capture(n.Stmts)
			return false
		}
		return true
	})
}

func (s *Machine) indirect(a abstract.Arg) abstract.Arg {
	if name, ok := a.Literal(); ok && syntax.ValidName(name) {
		return s.Get(name)
	}
	return abstract.UnknownArg()
}

func (s *Machine) element(p *syntax.ParamExp, name string) abstract.Arg {
	index := s.arithmetic(p.Index)
	v, _ := s.Scope.Lookup(name)
	if !v.array {
		return abstract.UnknownArg()
	}
	i, err := strconv.Atoi(index.Text)
	if err != nil || i >= len(v.list) || v.sparse {
		return abstract.JoinArgs(v.list)
	}
	if i < 0 {
		i += len(v.list)
	}
	if i < 0 {
		return abstract.UnknownArg()
	}
	for _, a := range v.list[:i] {
		if a.Splits || !a.Known() {
			return abstract.JoinArgs(v.list)
		}
	}
	return v.list[i]
}

// slice cuts ${x:2:3}.
func (s *Machine) slice(sl *syntax.Slice, a abstract.Arg) abstract.Arg {
	from, length := s.arithmetic(sl.Offset), abstract.Arg{}
	if sl.Length != nil {
		length = s.arithmetic(sl.Length)
	}
	i, err := strconv.Atoi(from.Text)
	if !a.Known() || err != nil {
		return abstract.UnknownArg()
	}
	if i < 0 {
		i += len(a.Text)
	}
	end := len(a.Text)
	if sl.Length != nil {
		n, err := strconv.Atoi(length.Text)
		if err != nil {
			return abstract.UnknownArg()
		}
		end = i + n
		if n < 0 {
			end = len(a.Text) + n
		}
	}
	if i < 0 || end < i {
		return abstract.Word("")
	}
	a.Taint |= abstract.Decoded
	return a.With(a.Text[min(i, len(a.Text)):min(end, len(a.Text))])
}

// replace evaluates ${x/a/b} for texts without patterns.
func (s *Machine) replace(r *syntax.Replace, a abstract.Arg) abstract.Arg {
	from, to := s.pattern(r.Orig), s.Single(r.With)
	if !a.Known() || !from.Known() || strings.ContainsAny(from.Text, "*?[") || from.Text == "" {
		return abstract.UnknownArg()
	}
	n := 1
	if r.All {
		n = -1
	}
	if strings.Count(a.Text, from.Text)*len(to.Text) > abstract.MaxText {
		return abstract.UnknownArg()
	}
	return abstract.Concat(a.With(strings.Replace(a.Text, from.Text, to.Text, n)), abstract.Arg{Taint: to.Taint})
}

// operate evaluates ${x:-d} and the like.
func (s *Machine) operate(e *syntax.Expansion, name string, a abstract.Arg, set bool) abstract.Arg {
	empty := !set || a.Text == ""
	maybe := set && !a.Known() || strings.ContainsRune(a.Text, abstract.Vacancy)
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		d := s.Single(e.Word)
		if s.outside(name) || empty {
			a = s.defaulted(a, d)
		}
		if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
			s.Scope.SetText(name, a)
		}
		return a
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		s.Single(e.Word)
		return a.With(strings.ReplaceAll(a.Text, abstract.VacancyText, abstract.HoleText))
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		d := s.Single(e.Word)
		if maybe {
			return d.With(d.Text + abstract.VacancyText)
		}
		if empty {
			return abstract.Word("")
		}
		return d
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return removePart(a, s.pattern(e.Word), e.Op)
	}
	return s.convert(e, a)
}

// defaulted evaluates ${x:-d}, where x comes from outside or is not set: the default
// is used as the value, since the author intended it.
func (s *Machine) defaulted(a, d abstract.Arg) abstract.Arg {
	if a.Spare || a.Text == "" || a.Text == abstract.VacancyText {
		return d
	}
	return a
}

func (s *Machine) convert(e *syntax.Expansion, a abstract.Arg) abstract.Arg {
	s.Single(e.Word)
	switch e.Op {
	case syntax.LowerAll:
		return a.With(strings.ToLower(a.Text))
	case syntax.UpperAll:
		return a.With(strings.ToUpper(a.Text))
	case syntax.OtherParamOps:
		if op := e.Word.Lit(); op == "P" || op == "E" {
			return s.document(a)
		} else if op == "Q" || op == "L" || op == "U" {
			return a
		}
	}
	return abstract.UnknownArg()
}

// document expands a string as ${x@P} does: commands in it run.
func (s *Machine) document(a abstract.Arg) abstract.Arg {
	s.SignalIf(strings.ContainsAny(a.Text, "$`"), engine.SignalObfuscated)
	return s.prompt(a)
}

// prompt expands a string as a shell expands its prompts: commands in it run.
func (s *Machine) prompt(a abstract.Arg) abstract.Arg {
	if !strings.ContainsAny(a.Text, "$`") {
		return a
	}
	w, err := syntax.NewParser().Document(strings.NewReader(a.Text))
	if err != nil || s.Frame.Depth >= MaxDepth {
		s.Opaque("syntax", a.Text)
		return abstract.UnknownArg()
	}
	s.Frame.Depth++
	b := &builder{s: s, raw: true}
	b.parts(w.Parts, true)
	s.Frame.Depth--
	b.bare = nil
	return b.field()
}

// removePart removes what a pattern matches from the end or the beginning.
func removePart(a, p abstract.Arg, op syntax.ParExpOperator) abstract.Arg {
	if !p.Known() {
		return abstract.UnknownArg()
	}
	if !a.Known() {
		return removeUnknown(a, p, op)
	}
	if len(a.Text) > 4096 {
		return abstract.UnknownArg()
	}
	return a.With(removeKnown(a.Text, p.Text, op))
}

func removeKnown(text, p string, op syntax.ParExpOperator) string {
	n := len(text)
	for k := 0; k <= n; k++ {
		switch op {
		case syntax.RemSmallSuffix:
			if wildcard.Text(p, text[n-k:]) {
				return text[:n-k]
			}
		case syntax.RemLargeSuffix:
			if wildcard.Text(p, text[k:]) {
				return text[:k]
			}
		case syntax.RemSmallPrefix:
			if wildcard.Text(p, text[:k]) {
				return text[k:]
			}
		default:
			if wildcard.Text(p, text[:n-k]) {
				return text[n-k:]
			}
		}
	}
	return text
}

// removeUnknown removes a literal ending from a string whose end is known; otherwise
// only the beginning remains certain.
func removeUnknown(a, p abstract.Arg, op syntax.ParExpOperator) abstract.Arg {
	if strings.HasPrefix(p.Text, "*") || op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix {
		return abstract.UnknownArg()
	}
	if strings.HasSuffix(a.Tail(), p.Text) {
		return a.With(strings.TrimSuffix(a.Text, p.Text))
	}
	i := strings.IndexAny(a.Text, abstract.Holes)
	known := a.Text[:i]
	if strings.HasPrefix(p.Text, "/") {
		known = known[:max(strings.LastIndexByte(known, '/'), 0)]
	}
	return a.With(known + abstract.HoleText)
}

// arithmetic evaluates an expression of known integers; the commands in any
// expression run.
func (s *Machine) arithmetic(x syntax.ArithmExpr) abstract.Arg {
	if s.nesting++; s.nesting > MaxNesting {
		s.OverBudget("arithmetic")
	}
	defer func() { s.nesting-- }()
	if x == nil || !s.Spend(1) {
		return abstract.UnknownArg()
	}
	switch x := x.(type) {
	case *syntax.Word:
		return s.number(x)
	case *syntax.ParenArithm:
		return s.arithmetic(x.X)
	case *syntax.FlagsArithm:
		s.arithmetic(x.X)
	case *syntax.UnaryArithm:
		v := s.arithmetic(x.X)
		if x.Op == syntax.Minus && v.Known() {
			return abstract.Word(strings.TrimPrefix("-"+v.Text, "--"))
		}
		s.changeNumber(x.X, x.Op == syntax.Inc || x.Op == syntax.Dec)
	case *syntax.BinaryArithm:
		return s.binary(x)
	}
	return abstract.UnknownArg()
}

func (s *Machine) binary(x *syntax.BinaryArithm) abstract.Arg {
	a, b := s.arithmetic(x.X), s.arithmetic(x.Y)
	assigns := x.Op == syntax.Assgn || x.Op >= syntax.AddAssgn && x.Op <= syntax.PowAssgn
	s.changeNumber(x.X, assigns)
	i, err1 := strconv.ParseInt(a.Text, 0, 32)
	j, err2 := strconv.ParseInt(b.Text, 0, 32)
	if err1 != nil || err2 != nil {
		return abstract.UnknownArg()
	}
	switch x.Op {
	case syntax.Add:
		i += j
	case syntax.Sub:
		i -= j
	case syntax.Mul:
		i *= j
	case syntax.Comma:
		i = j
	default:
		return abstract.UnknownArg()
	}
	return abstract.Word(strconv.FormatInt(i, 10))
}

// changeNumber forgets a variable that arithmetic assigns to.
func (s *Machine) changeNumber(x syntax.ArithmExpr, assigns bool) {
	if w, ok := x.(*syntax.Word); ok && assigns && syntax.ValidName(w.Lit()) {
		s.Scope.SetText(w.Lit(), abstract.UnknownArg())
	}
}

func (s *Machine) number(w *syntax.Word) abstract.Arg {
	if name := w.Lit(); syntax.ValidName(name) {
		a := s.Get(name)
		s.subscripts(a)
		if a.Text == "" {
			return abstract.Word("0")
		}
		return a
	}
	a := s.Single(w)
	s.subscripts(a)
	return a
}

// subscripts runs commands in the subscripts of values that bash evaluates as
// arithmetic or as the name of a variable: x='a[$(cmd)]'; echo $((x)).
func (s *Machine) subscripts(list ...abstract.Arg) {
	for _, a := range list {
		i := strings.IndexByte(a.Text, '[')
		if i >= 0 && (strings.Contains(a.Text[i:], "$(") || strings.Contains(a.Text[i:], "`")) {
			s.Subshell(func() Outcome { return Outcome{Out: s.document(a)} })
		}
	}
}
