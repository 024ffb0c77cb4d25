package windows

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// pipeline runs a | b.
func (p *powerShell) pipeline() psValue {
	out := p.element(nil)
	for p.more() && !p.Full {
		p.at++
		p.skip(true)
		in := out
		if p.at >= len(p.src) {
			p.bad = true
			return in
		}
		out = p.element(&in)
	}
	return out
}

// more reports whether a pipe follows, perhaps on the next line.
func (p *powerShell) more() bool {
	p.skip(false)
	saved := p.at
	if p.is("\n") {
		if p.skip(true); !p.is("|") || p.is("||") {
			p.at = saved
			return false
		}
	}
	return p.is("|") && !p.is("||")
}

// element runs one command or expression of a pipeline.
func (p *powerShell) element(in *psValue) psValue {
	if !p.Spend(1) || p.at >= len(p.src) {
		return unknownPS()
	}
	c := p.src[p.at]
	next := byte(' ')
	if p.at+1 < len(p.src) {
		next = p.src[p.at+1]
	}
	if c == '&' || c == '.' && strings.IndexByte(" \t'\"$({", next) >= 0 {
		return p.called(in)
	}
	if in == nil {
		if v, ok := p.assignment(); ok {
			return v
		}
	}
	if p.expressionHere(c, next) {
		v := p.expression(0)
		p.skip(false)
		if in == nil && p.assigns() {
			return p.assigned()
		}
		p.outputTo(v)
		if !p.ended() {
			p.bad = true
			p.at = mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c != '\n' && c != ';' })
		}
		return v
	}
	name := p.bareWord(true)
	return p.command(name, in)
}

// expressionHere reports whether an expression begins here instead of a command.
func (p *powerShell) expressionHere(c, next byte) bool {
	switch {
	case strings.IndexByte("$'\"([{!,+", c) >= 0:
		return true
	case c == '@':
		return strings.IndexByte("({'\"", next) >= 0
	case c == '-':
		return next == '$' || next == '(' || next >= '0' && next <= '9' || p.operatorWord() != ""
	case c >= '0' && c <= '9' || c == '.' && next >= '0' && next <= '9':
		end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return mask.Alnum(c) || c == '.' })
		return number(p.src[p.at:end]) && (end >= len(p.src) || strings.IndexByte(" \t\n;|)},+*%[", p.src[end]) >= 0 || p.counts(end))
	}
	return false
}

// counts reports whether an arithmetic operator follows a number: 1-$a, but not 7-zip.
func (p *powerShell) counts(at int) bool {
	if at+1 >= len(p.src) || p.src[at] != '-' && p.src[at] != '/' {
		return false
	}
	next := p.src[at+1]
	return next == '$' || next == '(' || next >= '0' && next <= '9'
}

// number reports whether digits, with the letters after them, are a number and
// not the name of a program such as 7z.
func number(word string) bool {
	low := strings.ToLower(word)
	for _, unit := range []string{"kb", "mb", "gb", "tb", "pb"} {
		low = strings.TrimSuffix(low, unit)
	}
	if hex, ok := strings.CutPrefix(low, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdefl") == ""
	}
	return strings.Trim(low, "0123456789.eldun") == ""
}

// assigns reports whether an assignment operator follows, and skips it.
func (p *powerShell) assigns() bool {
	for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "??="} {
		if p.is(op) && !strings.HasPrefix(p.src[p.at:], "==") {
			p.at += len(op)
			return true
		}
	}
	return false
}

// assignment runs [type]$name = …; false: there is none here.
func (p *powerShell) assignment() (psValue, bool) {
	saved := p.at
	for p.is("[") {
		end := psClosing(p.src, p.at)
		if end < 0 {
			break
		}
		p.at = end + 1
		p.skip(false)
	}
	if p.is("$") && p.at+1 < len(p.src) && p.src[p.at+1] != '(' {
		p.at++
		name := p.variableName()
		p.skip(false)
		add := p.is("+=")
		if name != "" && p.assigns() {
			v := p.assigned()
			if old, ok := p.lookup(name); add && ok {
				v = plusPS(old, v)
			}
			p.set(name, v)
			return psValue{}, true
		}
	}
	p.at = saved
	return psValue{}, false
}

// assigned runs what follows the operator.
func (p *powerShell) assigned() psValue {
	if p.skip(true); p.at >= len(p.src) {
		p.bad = true
		return unknownPS()
	}
	return p.statement()
}

// set sets a variable; if the code might not run, the variable may keep its old
// value.
func (p *powerShell) set(name string, v psValue) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		p.setEnv(env, v.one())
		return
	}
	if old, ok := p.scope.vars[name]; ok && p.maybe > 0 && old.one().Text != v.one().Text && v.code == "" {
		v = psValue{items: []abstract.Arg{abstract.JoinArgs([]abstract.Arg{old.one(), v.one()})}, kind: v.kind}
	}
	if len(p.scope.vars) < 4096 {
		p.scope.vars[name] = v
	}
}

// called runs & x … and . x …, where the command is a value.
func (p *powerShell) called(in *psValue) psValue {
	p.at++
	if p.skip(false); p.at >= len(p.src) {
		p.bad = true
		return psValue{}
	}
	var v psValue
	if strings.IndexByte("$'\"({@", p.src[p.at]) >= 0 {
		v = p.argument().psValue
	} else {
		v = textPS(p.bareWord(true))
	}
	if v.kind == "scriptblock" {
		c := p.arguments("&", in)
		return p.function(psFunction{params: p.blockParams(v.code), body: v.code}, c)
	}
	return p.command(v.one(), in)
}

// blockParams are the parameters that a script block declares.
func (p *powerShell) blockParams(code string) []string {
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: code}
	if sub.skip(true); sub.word() != "param" {
		return nil
	}
	sub.at += 5
	if sub.skip(true); sub.is("(") {
		return p.params(sub.block())
	}
	return nil
}

// psArg is one argument of a command.
type psArg struct {
	psValue
	dash  bool // begins with an unquoted dash
	splat bool
}

// argument reads one argument; commas make a list of several.
func (p *powerShell) argument() psArg {
	a := p.argumentPart()
	for !a.dash {
		saved := p.at
		if p.skip(false); !p.is(",") {
			p.at = saved
			break
		}
		p.at++
		if p.skip(true); p.at >= len(p.src) {
			break
		}
		next := p.argumentPart()
		a.psValue = psValue{items: append(a.items[:len(a.items):len(a.items)], next.items...), list: true}
	}
	return a
}

func (p *powerShell) argumentPart() psArg {
	switch c := p.src[p.at]; {
	case c == '{', c == '(' || c == '@' && p.at+1 < len(p.src) && strings.IndexByte("({'\"", p.src[p.at+1]) >= 0:
		return psArg{psValue: p.postfix(p.primary())}
	case c == '@' && p.at+1 < len(p.src) && mask.Alnum(p.src[p.at+1]):
		p.at++
		v, _ := p.lookup(p.variableName())
		return psArg{psValue: v, splat: true}
	case c == '$' && !p.pathAfterVariable():
		return psArg{psValue: p.postfix(p.primary())}
	case c == '\'' || c == '"':
		begin := p.at
		if end := psStringEnd(p.src, p.at); end > 0 && (end+1 >= len(p.src) || p.src[end+1] == '.' ||
			strings.IndexByte(" \t\n;,|)}", p.src[end+1]) >= 0) {
			return psArg{psValue: p.postfix(p.primary())}
		}
		p.at = begin
	}
	dash := p.src[p.at] == '-'
	return psArg{psValue: textPS(p.bareWord(false)), dash: dash}
}

// pathAfterVariable reports whether the variable here begins a longer word:
// $HOME\x.
func (p *powerShell) pathAfterVariable() bool {
	saved := p.at
	defer func() { p.at = saved }()
	if p.at++; p.is("(") {
		end := psClosing(p.src, p.at)
		if end < 0 {
			return false
		}
		p.at = end + 1
	} else {
		p.variableName()
	}
	if p.at >= len(p.src) {
		return false
	}
	c := p.src[p.at]
	return mask.Alnum(c) || strings.IndexByte(`\/-_*?$'"%:~+=`, c) >= 0 && !p.is("::") || c == '.' && p.at+1 < len(p.src) &&
		!mask.Alnum(p.src[p.at+1])
}

// bareWord reads an unquoted word with expansions. A command's name also ends at a
// bracket.
func (p *powerShell) bareWord(name bool) abstract.Arg {
	var w abstract.Arg
	bare := true
	for p.at < len(p.src) && !p.Full {
		c := p.src[p.at]
		switch {
		case c == '\'' || c == '"':
			w = abstract.Concat(w, p.quoted())
			bare = false
		case c == '`' && p.at+1 < len(p.src):
			w = abstract.Concat(w, abstract.Word(p.src[p.at+1:p.at+2]))
			p.at += 2
		case c == '$' && p.at+1 < len(p.src) && (mask.Alnum(p.src[p.at+1]) || strings.IndexByte("_{(?", p.src[p.at+1]) >= 0):
			w = abstract.Concat(w, p.variable().one())
		case strings.IndexByte(" \t\r\n;|(){}<>", c) >= 0, c == ',' && !name, c == '&' && !(name && w.Text == ""):
			if c == '<' || c == '>' {
				if w.Text == "" {
					p.at++ // not a known redirection
				}
			}
			w.Quoted = !bare
			return w
		default:
			end := mask.Run(p.src, p.at+1, len(p.src), psPlain)
			w = abstract.Concat(w, abstract.Word(p.src[p.at:end]))
			p.at = end
		}
	}
	w.Quoted = !bare
	return w
}

// psPlain are characters without a special meaning inside a word.
func psPlain(c byte) bool {
	return mask.Alnum(c) || strings.IndexByte("-_./\\:=[]*?#%+!~^@", c) >= 0 || c >= 0x80
}

// quoted reads '…' or "…", where a doubled quote stands for one.
func (p *powerShell) quoted() abstract.Arg {
	q := p.src[p.at]
	var w abstract.Arg
	var plain strings.Builder // the text between two variables
	begin := p.at + 1
	for p.at++; p.at < len(p.src) && !p.Full; {
		c := p.src[p.at]
		switch {
		case c == q && p.at+1 < len(p.src) && p.src[p.at+1] == q:
			plain.WriteString(p.src[begin : p.at+1])
			p.at += 2
			begin = p.at
		case c == q:
			plain.WriteString(p.src[begin:p.at])
			w = abstract.Concat(w, abstract.Word(plain.String()))
			w.Quoted = true
			p.at++
			return w
		case c == '`' && q == '"' && p.at+1 < len(p.src):
			plain.WriteString(p.src[begin:p.at] + psEscape(p.src[p.at+1]))
			p.at += 2
			begin = p.at
		case c == '$' && q == '"' && p.expands():
			plain.WriteString(p.src[begin:p.at])
			w = abstract.Concat(abstract.Concat(w, abstract.Word(plain.String())), p.variable().one())
			plain.Reset()
			begin = p.at
		default:
			p.at++
		}
	}
	p.bad = true
	return abstract.Arg{Text: abstract.HoleText, Quoted: true}
}

func psEscape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r', '0', 'a', 'b', 'e', 'f', 'v':
		return " "
	}
	return string(rune(c))
}

// expands reports whether the $ here begins a variable or an expression.
func (p *powerShell) expands() bool {
	if p.at+1 >= len(p.src) {
		return false
	}
	c := p.src[p.at+1]
	return mask.Alnum(c) || c == '_' || c == '{' || c == '('
}

// hereString reads @'…'@ or @"…"@.
func (p *powerShell) hereString() abstract.Arg {
	q := p.src[p.at+1 : p.at+2]
	begin := p.at + 2
	i := strings.Index(p.src[begin:], "\n"+q+"@")
	if i < 0 {
		p.bad, p.at = true, len(p.src)
		return abstract.UnknownArg()
	}
	text := p.src[begin : begin+i]
	p.at = begin + i + 3
	if j := strings.IndexByte(text, '\n'); j >= 0 {
		text = text[j+1:]
	} else {
		text = ""
	}
	if q == "'" {
		return abstract.Arg{Text: text, Quoted: true}
	}
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: `"` + strings.ReplaceAll(text, `"`, `""`) + `"`,
		nesting: p.nesting + 1}
	return sub.quoted()
}

// variableName reads the name after $: x, {x y}, env:NAME, script:x.
func (p *powerShell) variableName() string {
	rest := p.src[p.at:]
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			p.bad, p.at = true, len(p.src)
			return ""
		}
		p.at += end + 1
		return plainVariable(rest[1:end])
	}
	if rest != "" && strings.IndexByte("$?^", rest[0]) >= 0 {
		p.at++
		return rest[:1]
	}
	end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return mask.Alnum(c) || c == '_' })
	if end+1 < len(p.src) && p.src[end] == ':' && (mask.Alnum(p.src[end+1]) || p.src[end+1] == '_') {
		end = mask.Run(p.src, end+1, len(p.src), func(c byte) bool { return mask.Alnum(c) || c == '_' })
	}
	name := p.src[p.at:end]
	p.at = end
	return plainVariable(name)
}

// plainVariable removes the scope: script:x is x.
func plainVariable(name string) string {
	low := strings.ToLower(name)
	for _, scope := range []string{"script:", "global:", "local:", "private:", "using:", "variable:"} {
		low = strings.TrimPrefix(low, scope)
	}
	return low
}

// variable reads $name or $(…).
func (p *powerShell) variable() psValue {
	p.at++
	if p.is("(") {
		return p.eval(p.block())
	}
	name := p.variableName()
	v, _ := p.lookup(name)
	if p.is("++") || p.is("--") {
		p.set(name, unknownPS())
	}
	return v
}

// lookup returns the contents of a variable.
func (p *powerShell) lookup(name string) (psValue, bool) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		v, known := p.interpreter.variable(env)
		return textPS(v), known
	}
	if v, ok := p.scope.vars[name]; ok {
		return v, true
	}
	home := p.in.Home
	switch name {
	case "null":
		return psValue{items: []abstract.Arg{abstract.Word("$null")}, kind: "null"}, true
	case "true", "false":
		return textPS(abstract.Word("$" + name)), true
	case "pwd":
		return textPS(p.dirs[0].Arg()), true
	case "pshome":
		return textPS(abstract.Word(`C:\Windows\System32\WindowsPowerShell\v1.0`)), true
	case "shellid":
		return textPS(abstract.Word("Microsoft.PowerShell")), true
	case "verbosepreference", "debugpreference":
		return textPS(abstract.Word("SilentlyContinue")), true
	}
	if home != "" {
		switch name {
		case "home":
			return textPS(abstract.Word(home)), true
		case "profile":
			return textPS(abstract.Word(home + "/Documents/PowerShell/Microsoft.PowerShell_profile.ps1")), true
		}
	}
	return unknownPS(), false
}
