package classify

import (
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
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
		if quoted {
			b.addArg(a, true)
		} else {
			b.split(a)
		}
	}
	if quoted && fields && len(list) == 0 && b.cur.text == "" {
		b.open = false // "$@" without parameters is no word at all
	}
}

// parameter evaluates an expansion. The second result says that the list is a
// list of words, not pieces of one.
func (s *shell) parameter(p *syntax.ParamExp, quoted bool) ([]arg, bool) {
	if p.Param == nil {
		s.words(p)
		return []arg{unknownArg()}, false
	}
	name := p.Param.Value
	if list, ok := s.listOf(p, name); ok {
		joined := name == "*" || subscript(p.Index) == "*"
		if p.Slice != nil || p.Exp != nil || p.Repl != nil {
			s.words(p)
			return []arg{{text: holeText, splits: true}}, false
		}
		if joined && quoted {
			return []arg{s.joinFields(list)}, false
		}
		return list, true
	}
	return []arg{s.value(p, name)}, false
}

// listOf returns the words of $@, $* and ${array[@]}.
func (s *shell) listOf(p *syntax.ParamExp, name string) ([]arg, bool) {
	if p.Length || p.Excl || p.Names != 0 {
		return nil, false
	}
	switch at := subscript(p.Index); {
	case name == "@" || name == "*":
		if !s.scope.bound {
			return nil, true // sh -c without further arguments has none
		}
		return s.scope.args, true
	case at == "@" || at == "*":
		v, ok := s.scope.lookup(name)
		if !ok {
			return []arg{{text: vacancyText, splits: true}}, true
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

// joinFields is "$*": the first character of IFS stands between.
func (s *shell) joinFields(list []arg) arg {
	ifs := s.ifs()
	if strings.HasPrefix(ifs, " ") {
		return joinWords(list)
	}
	var out arg
	for i, a := range list {
		if i > 0 && ifs != "" {
			out = concat(out, word(ifs[:1]))
		}
		out = concat(out, a)
	}
	return out
}

func joinWords(list []arg) arg {
	var out arg
	for i, a := range list {
		if i > 0 {
			out = concat(out, word(" "))
		}
		out = concat(out, a)
	}
	return out
}

// value evaluates an expansion that yields one string.
func (s *shell) value(p *syntax.ParamExp, name string) arg {
	a, set := s.get(name), s.isSet(name)
	if p.Index != nil {
		a = s.element(p, name)
	}
	switch {
	case p.Excl && p.Names == 0:
		a = s.indirect(a)
	case p.Names != 0, p.IsSet, p.Width, p.Flags != nil, p.NestedParam != nil, len(p.Modifiers) > 0:
		s.words(p)
		return unknownArg()
	case p.Length:
		if a.known() {
			return word(strconv.Itoa(len(a.text)))
		}
		return unknownArg()
	}
	switch {
	case p.Slice != nil:
		return s.slice(p.Slice, a)
	case p.Repl != nil:
		return s.replace(p.Repl, a)
	case p.Exp != nil:
		return s.operate(p.Exp, name, a, set)
	}
	return a
}

// words walks the words below an expansion that is not understood, for the
// commands in them.
func (s *shell) words(n syntax.Node) {
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

func (s *shell) indirect(a arg) arg {
	if name, ok := a.literal(); ok && syntax.ValidName(name) {
		return s.get(name)
	}
	return unknownArg()
}

func (s *shell) element(p *syntax.ParamExp, name string) arg {
	index := s.arithmetic(p.Index)
	v, _ := s.scope.lookup(name)
	if !v.array {
		return unknownArg()
	}
	i, err := strconv.Atoi(index.text)
	if err != nil || i >= len(v.list) || v.sparse {
		return joinArgs(v.list)
	}
	if i < 0 {
		i += len(v.list)
	}
	if i < 0 {
		return unknownArg()
	}
	for _, a := range v.list[:i] {
		if a.splits || !a.known() {
			return joinArgs(v.list)
		}
	}
	return v.list[i]
}

// slice cuts ${x:2:3}.
func (s *shell) slice(sl *syntax.Slice, a arg) arg {
	from, length := s.arithmetic(sl.Offset), arg{}
	if sl.Length != nil {
		length = s.arithmetic(sl.Length)
	}
	i, err := strconv.Atoi(from.text)
	if !a.known() || err != nil {
		return unknownArg()
	}
	if i < 0 {
		i += len(a.text)
	}
	end := len(a.text)
	if sl.Length != nil {
		n, err := strconv.Atoi(length.text)
		if err != nil {
			return unknownArg()
		}
		end = i + n
		if n < 0 {
			end = len(a.text) + n
		}
	}
	if i < 0 || end < i {
		return word("")
	}
	a.taint |= decoded
	return a.with(a.text[min(i, len(a.text)):min(end, len(a.text))])
}

// replace evaluates ${x/a/b} for texts without patterns.
func (s *shell) replace(r *syntax.Replace, a arg) arg {
	from, to := s.pattern(r.Orig), s.single(r.With)
	if !a.known() || !from.known() || strings.ContainsAny(from.text, "*?[") || from.text == "" {
		return unknownArg()
	}
	n := 1
	if r.All {
		n = -1
	}
	if strings.Count(a.text, from.text)*len(to.text) > maxText {
		return unknownArg()
	}
	return concat(a.with(strings.Replace(a.text, from.text, to.text, n)), arg{taint: to.taint})
}

// operate evaluates ${x:-d} and its kin.
func (s *shell) operate(e *syntax.Expansion, name string, a arg, set bool) arg {
	empty := !set || a.text == ""
	maybe := set && !a.known() || strings.ContainsRune(a.text, vacancy)
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		d := s.single(e.Word)
		if s.outside(name) || empty {
			a = s.defaulted(a, d)
		}
		if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
			s.scope.setText(name, a)
		}
		return a
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		s.single(e.Word)
		return a.with(strings.ReplaceAll(a.text, vacancyText, holeText))
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		d := s.single(e.Word)
		if maybe {
			return d.with(d.text + vacancyText)
		}
		if empty {
			return word("")
		}
		return d
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return removePart(a, s.pattern(e.Word), e.Op)
	}
	return s.convert(e, a)
}

// defaulted is ${x:-d}, where x comes from outside or is not set: the default
// is what the script's author had in mind, so it stands for the value.
func (s *shell) defaulted(a, d arg) arg {
	if a.spare || a.text == "" || a.text == vacancyText {
		return d
	}
	return a
}

func (s *shell) convert(e *syntax.Expansion, a arg) arg {
	s.single(e.Word)
	switch e.Op {
	case syntax.LowerAll:
		return a.with(strings.ToLower(a.text))
	case syntax.UpperAll:
		return a.with(strings.ToUpper(a.text))
	case syntax.OtherParamOps:
		if op := e.Word.Lit(); op == "P" || op == "E" {
			return s.document(a)
		} else if op == "Q" || op == "L" || op == "U" {
			return a
		}
	}
	return unknownArg()
}

// document expands a text as ${x@P} does: commands in it run.
func (s *shell) document(a arg) arg {
	if !strings.ContainsAny(a.text, "$`") {
		return a
	}
	w, err := syntax.NewParser().Document(strings.NewReader(a.text))
	if err != nil || s.frame.depth >= maxDepth {
		s.opaque("syntax", a.text)
		return unknownArg()
	}
	s.signal(engine.SignalObfuscated)
	s.frame.depth++
	b := &builder{s: s, raw: true}
	b.parts(w.Parts, true)
	s.frame.depth--
	return b.cur
}

// removePart cuts what a pattern matches off the end or the beginning.
func removePart(a, p arg, op syntax.ParExpOperator) arg {
	if !p.known() {
		return unknownArg()
	}
	if !a.known() {
		return removeUnknown(a, p, op)
	}
	if len(a.text) > 4096 {
		return unknownArg()
	}
	return a.with(removeKnown(a.text, p.text, op))
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

// removeUnknown cuts a plain ending from a text whose end is known; otherwise
// nothing is left that is sure but the beginning.
func removeUnknown(a, p arg, op syntax.ParExpOperator) arg {
	if strings.HasPrefix(p.text, "*") || op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix {
		return unknownArg()
	}
	if strings.HasSuffix(a.tail(), p.text) {
		return a.with(strings.TrimSuffix(a.text, p.text))
	}
	i := strings.IndexAny(a.text, holes)
	known := a.text[:i]
	if strings.HasPrefix(p.text, "/") {
		known = known[:max(strings.LastIndexByte(known, '/'), 0)]
	}
	return a.with(known + holeText)
}

// arithmetic evaluates an expression of known integers; the commands in any
// expression run.
func (s *shell) arithmetic(x syntax.ArithmExpr) arg {
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget("arithmetic")
	}
	defer func() { s.nesting-- }()
	if x == nil || !s.spend(1) {
		return unknownArg()
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
		if x.Op == syntax.Minus && v.known() {
			return word(strings.TrimPrefix("-"+v.text, "--"))
		}
		s.changeNumber(x.X, x.Op == syntax.Inc || x.Op == syntax.Dec)
	case *syntax.BinaryArithm:
		return s.binary(x)
	}
	return unknownArg()
}

func (s *shell) binary(x *syntax.BinaryArithm) arg {
	a, b := s.arithmetic(x.X), s.arithmetic(x.Y)
	assigns := x.Op == syntax.Assgn || x.Op >= syntax.AddAssgn && x.Op <= syntax.PowAssgn
	s.changeNumber(x.X, assigns)
	i, err1 := strconv.ParseInt(a.text, 0, 32)
	j, err2 := strconv.ParseInt(b.text, 0, 32)
	if err1 != nil || err2 != nil {
		return unknownArg()
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
		return unknownArg()
	}
	return word(strconv.FormatInt(i, 10))
}

// changeNumber forgets a variable that arithmetic assigns to.
func (s *shell) changeNumber(x syntax.ArithmExpr, assigns bool) {
	if w, ok := x.(*syntax.Word); ok && assigns && syntax.ValidName(w.Lit()) {
		s.scope.setText(w.Lit(), unknownArg())
	}
}

func (s *shell) number(w *syntax.Word) arg {
	if name := w.Lit(); syntax.ValidName(name) {
		a := s.get(name)
		s.subscripts(a)
		if a.text == "" {
			return word("0")
		}
		return a
	}
	a := s.single(w)
	s.subscripts(a)
	return a
}

// subscripts runs what stands in the subscripts of values that bash evaluates
// as arithmetic or takes for the name of a variable: x='a[$(cmd)]'; echo $((x)).
func (s *shell) subscripts(list ...arg) {
	for _, a := range list {
		i := strings.IndexByte(a.text, '[')
		if i >= 0 && (strings.Contains(a.text[i:], "$(") || strings.Contains(a.text[i:], "`")) {
			s.subshell(func() outcome { return outcome{out: s.document(a)} })
		}
	}
}
