package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// statements runs the rest of the text and returns its output.
func (p *powerShell) statements() psValue {
	var out []psValue
	for !p.Full {
		p.skip(true)
		if p.at >= len(p.src) {
			break
		}
		begin := p.at
		switch c := p.src[p.at]; c {
		case ';', '&':
			if c == ';' || !p.callOperator() {
				p.at++
				continue
			}
		case '}', ')', '|', ',', ']':
			p.bad = true
			p.at++
			continue
		}
		out = append(out, p.statement())
		if p.at == begin { // nothing readable
			p.bad = true
			p.at++
		}
	}
	return joinedPS(out)
}

// callOperator reports whether & at this place runs what follows it.
func (p *powerShell) callOperator() bool {
	return p.src[p.at] == '&' && p.at+1 < len(p.src) && p.src[p.at+1] != '&'
}

// skip skips spaces, joined lines and comments, and with lines also ends of lines.
func (p *powerShell) skip(lines bool) {
	for p.at < len(p.src) {
		rest := p.src[p.at:]
		switch {
		case mask.Blank(rest[0]) || rest[0] == '\r' || lines && rest[0] == '\n':
			p.at++
		case strings.HasPrefix(rest, "`\n"):
			p.at += 2
		case strings.HasPrefix(rest, "<#"):
			end := strings.Index(rest, "#>")
			if end < 0 {
				p.bad, p.at = true, len(p.src)
				return
			}
			p.at += end + 2
		case rest[0] == '#':
			p.at = mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c != '\n' })
		default:
			return
		}
	}
}

// is reports whether the text continues with these characters.
func (p *powerShell) is(text string) bool { return strings.HasPrefix(p.src[p.at:], text) }

// block reads what is between a bracket here and the one that closes it.
func (p *powerShell) block() string {
	end := psClosing(p.src, p.at)
	if end < 0 {
		p.bad = true
		code := p.src[p.at+1:]
		p.at = len(p.src)
		return code
	}
	code := p.src[p.at+1 : end]
	p.at = end + 1
	return code
}

// psClosing finds the bracket that closes the one at i; -1: there is none.
func psClosing(src string, i int) int {
	var open []byte
	for ; i < len(src); i++ {
		switch c := src[i]; c {
		case '(':
			open = append(open, ')')
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case ')', '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				if c == ']' {
					continue
				}
				for len(open) > 0 && open[len(open)-1] == ']' { // [ as a character of a word
					open = open[:len(open)-1]
				}
				if len(open) == 0 || open[len(open)-1] != c {
					return -1
				}
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i
			}
		case '\'', '"':
			if i = psStringEnd(src, i); i < 0 {
				return -1
			}
		case '@':
			if i+1 < len(src) && (src[i+1] == '\'' || src[i+1] == '"') {
				if end := strings.Index(src[i+1:], "\n"+src[i+1:i+2]+"@"); end >= 0 {
					i += 1 + end + 2
				}
			}
		case '`':
			i++
		case '#':
			if i == 0 || strings.IndexByte(" \t\n;{}(|", src[i-1]) >= 0 {
				i = mask.Run(src, i, len(src), func(c byte) bool { return c != '\n' }) - 1
			}
		case '<':
			if strings.HasPrefix(src[i:], "<#") {
				end := strings.Index(src[i:], "#>")
				if end < 0 {
					return -1
				}
				i += end + 1
			}
		}
	}
	return -1
}

// psStringEnd is the quote that ends the string at i.
func psStringEnd(src string, i int) int {
	q := src[i]
	for i++; i < len(src); i++ {
		switch {
		case src[i] == '`' && q == '"':
			i++
		case src[i] == q && i+1 < len(src) && src[i+1] == q:
			i++
		case src[i] == q:
			return i
		case q == '"' && strings.HasPrefix(src[i:], "$("):
			if i = psClosing(src, i+1); i < 0 { // examined once: each level would double the work
				return -1
			}
		}
	}
	return -1
}

// word is the name that is here, in lower case.
func (p *powerShell) word() string {
	end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return mask.Alnum(c) || c == '_' })
	return strings.ToLower(p.src[p.at:end])
}

// statement runs one statement.
func (p *powerShell) statement() psValue {
	if p.nesting++; p.nesting > shell.MaxNesting {
		p.OverBudget("nesting")
	}
	defer func() { p.nesting-- }()
	if !p.Spend(1) {
		p.at = len(p.src)
		return unknownPS()
	}
	if p.src[p.at] == ':' { // a label
		p.at++
		p.at += len(p.word())
		p.skip(true)
	}
	if p.at < len(p.src) {
		if name := p.word(); name != "" {
			if f := psKeyword(name); f != nil && p.keywordHere(len(name)) {
				p.at += len(name)
				return f(p)
			}
		}
	}
	return p.chain()
}

// keywordHere reports whether the word here is not the beginning of a program's
// name.
func (p *powerShell) keywordHere(n int) bool {
	return p.at+n >= len(p.src) || strings.IndexByte(" \t\n;({[}$'\"@", p.src[p.at+n]) >= 0
}

func psKeyword(name string) func(p *powerShell) psValue {
	switch name {
	case "if", "elseif", "while", "else", "do", "until", "try", "finally", "begin", "process", "end", "dynamicparam", "catch", "trap":
		return func(p *powerShell) psValue { return p.clause(name) }
	case "switch":
		return (*powerShell).switchClause
	case "foreach":
		return (*powerShell).foreachClause
	case "for":
		return (*powerShell).forClause
	case "function", "filter", "workflow":
		return (*powerShell).functionClause
	case "return", "throw", "exit":
		return func(p *powerShell) psValue {
			if p.skip(false); p.ended() {
				return psValue{}
			}
			return p.chain()
		}
	case "break", "continue":
		return func(p *powerShell) psValue { p.skip(false); p.at += len(p.word()); return psValue{} }
	case "param":
		return (*powerShell).paramClause
	case "using", "class", "enum", "configuration":
		return (*powerShell).declaration
	}
	return nil
}

// clause is any word of the language with a condition, a block, or both.
func (p *powerShell) clause(name string) psValue {
	p.skip(true)
	if p.is("(") {
		p.eval(p.block())
		p.skip(true)
	}
	for p.is("[") { // catch [Type]
		p.block()
		if p.skip(true); p.is(",") {
			p.at++
			p.skip(true)
		}
	}
	if !p.is("{") { // until (…) of do; an if after else
		return psValue{}
	}
	code := p.block()
	out := unknownPS()
	for range 1 + p.again(name) {
		p.branch(func() { out = p.eval(code) })
	}
	return out
}

// again runs the block of a loop a second time, so that its beginning sees what its
// end sets.
func (p *powerShell) again(name string) int {
	if slices.Contains([]string{"while", "do", "for", "until"}, name) {
		return 1
	}
	return 0
}

// switchClause runs switch (x) { pattern {…} … }: every block may run.
func (p *powerShell) switchClause() psValue {
	p.skip(true)
	for p.is("-") {
		p.argument()
		p.skip(true)
	}
	subject := unknownPS()
	if p.is("(") {
		subject = p.eval(p.block())
		p.skip(true)
	}
	if !p.is("{") {
		p.bad = true
		return psValue{}
	}
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: p.block(), nesting: p.nesting + 1}
	for sub.skip(true); sub.at < len(sub.src) && !p.Full; sub.skip(true) {
		switch {
		case sub.is(";"):
			sub.at++
		case sub.is("{"):
			code := sub.block()
			p.branch(func() { p.with(code, subject) })
		default:
			begin := sub.at
			sub.argument()
			sub.bad = sub.bad || sub.at == begin
			sub.at = max(sub.at, begin+1)
		}
	}
	p.bad = p.bad || sub.bad
	return unknownPS()
}

// foreachClause runs foreach ($x in …) {…}, and foreach as an alias.
func (p *powerShell) foreachClause() psValue {
	if p.skip(true); !p.is("(") {
		p.skip(false)
		return p.command(abstract.Word("foreach-object"), nil)
	}
	head := p.block()
	if p.skip(true); !p.is("{") {
		p.bad = true
		return psValue{}
	}
	body := p.block()
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: head, nesting: p.nesting + 1}
	sub.skip(true)
	name := ""
	if sub.is("$") {
		sub.at++
		name = sub.variableName()
	}
	if sub.skip(true); sub.word() == "in" {
		sub.at += 2
	}
	list := sub.statements()
	p.bad = p.bad || sub.bad
	for _, item := range list.each() {
		p.branch(func() {
			p.scope.vars[name] = item
			p.eval(body)
		})
	}
	return unknownPS()
}

func (p *powerShell) forClause() psValue {
	if p.skip(true); p.is("(") {
		p.eval(p.block())
	}
	return p.clause("for")
}

func (p *powerShell) functionClause() psValue {
	p.skip(true)
	end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return strings.IndexByte(" \t\n({", c) < 0 })
	name := strings.ToLower(p.src[p.at:end])
	if i := strings.LastIndexByte(name, ':'); i >= 0 { // global:name
		name = name[i+1:]
	}
	p.at = end
	var f psFunction
	if p.skip(true); p.is("(") {
		f.params = p.params(p.block())
		p.skip(true)
	}
	if !p.is("{") {
		p.bad = true
		return psValue{}
	}
	f.body = p.block()
	if sub := (&powerShell{interpreter: p.interpreter, scope: p.scope, src: f.body}); len(f.params) == 0 {
		sub.skip(true)
		for sub.is("[") { // [CmdletBinding()]
			sub.block()
			sub.skip(true)
		}
		if sub.word() == "param" {
			sub.at += 5
			if sub.skip(true); sub.is("(") {
				f.params = p.params(sub.block())
			}
		}
	}
	if len(p.scope.funcs) < 512 {
		p.scope.funcs[name] = f
	}
	return psValue{}
}

// params are the names of a parameter list: the variables outside brackets.
func (p *powerShell) params(list string) []string {
	var names []string
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '[' || c == '(' || c == '{':
			end := psClosing(list, i)
			if end < 0 {
				return names
			}
			i = end
		case c == '\'' || c == '"':
			if i = psStringEnd(list, i); i < 0 {
				return names
			}
		case c == '=': // a default: its variables are not parameters
			i = defaultEnd(list, i)
		case c == '$':
			end := mask.Run(list, i+1, len(list), func(c byte) bool { return mask.Alnum(c) || c == '_' })
			names = append(names, strings.ToLower(list[i+1:end]))
			i = end - 1
		}
	}
	return names
}

// defaultEnd returns the end of a parameter's default.
func defaultEnd(list string, i int) int {
	for ; i < len(list); i++ {
		switch c := list[i]; c {
		case ',':
			return i
		case '(', '{', '[':
			end := psClosing(list, i)
			if end < 0 {
				return len(list)
			}
			i = end
		case '\'', '"':
			if i = psStringEnd(list, i); i < 0 {
				return len(list)
			}
		}
	}
	return i
}

// paramClause runs a param block without arguments: parameters without a default are
// unknown.
func (p *powerShell) paramClause() psValue {
	if p.skip(true); !p.is("(") {
		p.bad = true
		return psValue{}
	}
	for _, name := range p.params(p.block()) {
		if _, ok := p.scope.vars[name]; !ok {
			p.scope.vars[name] = unknownPS()
		}
	}
	return psValue{}
}

// declaration skips using, class and enum: the code in classes runs only if it is
// called.
func (p *powerShell) declaration() psValue {
	p.at = mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c != '\n' && c != ';' && c != '{' })
	if p.is("{") {
		p.eval("") // counts as a step
		if code := p.block(); strings.Contains(code, "(") {
			p.Opaque("code", "class")
		}
	}
	return psValue{}
}

// ended reports whether a command ends here.
func (p *powerShell) ended() bool {
	return p.at >= len(p.src) || strings.IndexByte(";\n|})", p.src[p.at]) >= 0 || p.src[p.at] == '&'
}

// chain runs pipelines joined by && and ||.
func (p *powerShell) chain() psValue {
	out := p.pipeline()
	for p.skip(false); (p.is("&&") || p.is("||")) && !p.Full; p.skip(false) {
		p.at += 2
		p.skip(true)
		out = p.pipeline()
	}
	if p.is("&") { // in the background
		p.at++
	}
	return out
}
