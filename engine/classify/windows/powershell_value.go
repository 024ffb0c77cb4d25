package windows

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// psValue is the result of an expression of PowerShell.
type psValue struct {
	items []abstract.Arg // one for each object
	list  bool
	kind  string             // what kind of object it is, in lower case; empty: text
	code  string             // of a script block
	hash  map[string]psValue // of @{…}
}

// maxListed bounds a list; a longer one is unknown.
const maxListed = 1024

func unknownPS() psValue { return psValue{items: []abstract.Arg{abstract.UnknownArg()}} }

func textPS(a abstract.Arg) psValue { return psValue{items: []abstract.Arg{a}} }

// one returns the value as one string: a list is joined by spaces.
func (v psValue) one() abstract.Arg {
	if len(v.items) == 1 {
		return v.items[0]
	}
	return joinBy(v.items, abstract.Word(" "))
}

// each returns the items of a list as values; a long list is one unknown value.
func (v psValue) each() []psValue {
	if len(v.items) > maxLoop {
		return []psValue{{items: []abstract.Arg{abstract.JoinArgs(v.items)}, kind: v.kind}}
	}
	var out []psValue
	for _, a := range v.items {
		out = append(out, psValue{items: []abstract.Arg{a}, kind: v.kind, hash: v.hash})
	}
	return out
}

// joinedPS returns a list of all items of the values.
func joinedPS(list []psValue) psValue {
	if len(list) == 1 {
		return list[0]
	}
	out := psValue{list: true}
	for _, v := range list {
		out.items = append(out.items, v.items...)
		if v.code != "" {
			out.code, out.kind = out.code+"\n"+v.code, v.kind
		}
	}
	if len(out.items) > maxListed {
		out.items = []abstract.Arg{abstract.UnknownArg()}
	}
	return out
}

// psLevel returns how tightly an operator binds.
func psLevel(op string) int {
	switch op {
	case "-and", "-or", "-xor":
		return 1
	case "+", "-":
		return 3
	case "*", "/", "%":
		return 4
	case "-f":
		return 5
	case "..":
		return 6
	case ",":
		return 7
	}
	return 2
}

// expression evaluates operators that bind at least as tightly as level.
func (p *powerShell) expression(level int) psValue {
	if p.nesting++; p.nesting > shell.MaxNesting {
		p.OverBudget("nesting")
		p.at = len(p.src)
	}
	defer func() { p.nesting-- }()
	v := p.postfix(p.unary())
	for !p.Full {
		saved := p.at
		p.skip(false)
		op := p.operator()
		if op == "" || psLevel(op) < level {
			p.at = saved
			return v
		}
		p.at += len(op)
		p.skip(true)
		if p.at >= len(p.src) {
			p.bad = true
			return v
		}
		v = p.operate(op, v, p.expression(psLevel(op)+1))
	}
	return v
}

// operator is the operator that is here; empty: none.
func (p *powerShell) operator() string {
	rest := p.src[p.at:]
	if rest == "" {
		return ""
	}
	switch c := rest[0]; {
	case strings.HasPrefix(rest, ".."):
		return ".."
	case strings.HasPrefix(rest, "??") && !strings.HasPrefix(rest, "??="):
		return "??"
	case c == '-':
		if w := p.operatorWord(); w != "" {
			return w
		}
		if !strings.HasPrefix(rest, "-=") && !strings.HasPrefix(rest, "--") {
			return "-"
		}
	case strings.IndexByte("+*/%", c) >= 0 && !strings.HasPrefix(rest[1:], "=") && !strings.HasPrefix(rest, "++"):
		return rest[:1]
	case c == ',':
		return ","
	}
	return ""
}

// operatorWord is an operator that is written as a word: -join.
func (p *powerShell) operatorWord() string {
	end := mask.Run(p.src, p.at+1, len(p.src), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	if end < len(p.src) && (mask.Alnum(p.src[end]) || p.src[end] == '_') {
		return ""
	}
	w := strings.ToLower(p.src[p.at+1 : end])
	if w == "f" || slices.Contains(psOperators, w) || len(w) > 1 && (w[0] == 'c' || w[0] == 'i') && slices.Contains(psOperators, w[1:]) {
		return "-" + w
	}
	return ""
}

var psOperators = []string{"and", "or", "xor", "eq", "ne", "gt", "ge", "lt", "le", "like", "notlike", "match", "notmatch",
	"contains", "notcontains", "in", "notin", "replace", "split", "join", "is", "isnot", "as", "band", "bor", "bxor", "shl",
	"shr", "not", "bnot"}

// unary evaluates prefix operators.
func (p *powerShell) unary() psValue {
	if p.at >= len(p.src) || !p.Spend(1) {
		p.bad = p.bad || p.at >= len(p.src)
		return unknownPS()
	}
	rest := p.src[p.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "++"), strings.HasPrefix(rest, "--"):
		p.at += 2
		p.skip(false)
		p.expression(7)
		return unknownPS()
	case c == '!' || c == '+':
		p.at++
		p.skip(false)
		return p.expression(7)
	case c == ',':
		p.at++
		p.skip(true)
		v := p.expression(7)
		v.list = true
		return v
	case c == '-':
		return p.minus()
	}
	return p.primary()
}

// minus evaluates a negative number, -not and similar, or -join of a list.
func (p *powerShell) minus() psValue {
	op := p.operatorWord()
	p.at += max(1, len(op))
	p.skip(false)
	v := p.expression(7)
	switch op {
	case "":
		if n, ok := psNumber(v.one()); ok {
			return psValue{items: []abstract.Arg{abstract.Word(strconv.Itoa(-n))}, kind: "number"}
		}
		return unknownPS()
	case "-join":
		return joinPS(v, abstract.Arg{})
	case "-split":
		return splitPS(v.one(), abstract.Word(`\s+`))
	}
	return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "bool"}
}

// primary reads one value.
func (p *powerShell) primary() psValue {
	if p.at >= len(p.src) {
		p.bad = true
		return unknownPS()
	}
	rest := p.src[p.at:]
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		return textPS(p.quoted())
	case strings.HasPrefix(rest, "@'"), strings.HasPrefix(rest, `@"`):
		return textPS(p.hereString())
	case strings.HasPrefix(rest, "@("):
		p.at++
		v := p.eval(p.block())
		v.list = true
		return v
	case strings.HasPrefix(rest, "@{"):
		p.at++
		return p.hashOf(p.block())
	case c == '$':
		return p.variable()
	case c == '(':
		return p.eval(p.block())
	case c == '{':
		return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "scriptblock", code: p.block()}
	case c == '[':
		return p.typed(p.block())
	case c >= '0' && c <= '9' || c == '.':
		return p.numeral()
	}
	p.at += max(1, len(p.word()))
	p.bad = true
	return unknownPS()
}

func (p *powerShell) numeral() psValue {
	end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return mask.Alnum(c) })
	if end < len(p.src) && p.src[end] == '.' && !strings.HasPrefix(p.src[end:], "..") {
		end = mask.Run(p.src, end+1, len(p.src), func(c byte) bool { return mask.Alnum(c) })
	}
	text := p.src[p.at:end]
	p.at = max(end, p.at+1)
	return psValue{items: []abstract.Arg{abstract.Word(text)}, kind: "number"}
}

// hashOf reads key = value; … of @{…}.
func (p *powerShell) hashOf(code string) psValue {
	v := psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "hashtable", hash: map[string]psValue{}}
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: code, nesting: p.nesting + 1}
	for sub.skip(true); sub.at < len(code) && !p.Full; sub.skip(true) {
		if sub.is(";") || sub.is(",") {
			sub.at++
			continue
		}
		begin := sub.at
		var key abstract.Arg
		if sub.is("(") || sub.is("$") || sub.is("[") {
			key = sub.postfix(sub.primary()).one()
		} else {
			end := mask.Run(code, sub.at, len(code), func(c byte) bool { return mask.Alnum(c) || strings.IndexByte("_.-", c) >= 0 })
			if key = abstract.Word(code[sub.at:end]); end == sub.at {
				key = sub.bareWord(false)
			} else {
				sub.at = end
			}
		}
		sub.skip(true)
		if !sub.is("=") {
			sub.bad = true
			sub.at = max(sub.at, begin+1)
			break
		}
		sub.at++
		if sub.skip(true); sub.at < len(code) {
			v.hash[strings.ToLower(key.Text)] = sub.statement()
		}
	}
	p.bad = p.bad || sub.bad
	return v
}

// typed is [Type]::Member, or a cast of what follows.
func (p *powerShell) typed(name string) psValue {
	low := strings.ToLower(strings.TrimSpace(name))
	low = strings.TrimPrefix(low, "system.")
	v := psValue{items: []abstract.Arg{abstract.Word(name)}, kind: "[" + low}
	saved := p.at
	p.skip(false)
	if p.ended() || p.is("::") || p.is(".") || p.is(",") || p.operator() != "" {
		p.at = saved
		return v
	}
	return castPS(low, p.postfix(p.unary()))
}

// castPS makes a value from a type.
func castPS(typ string, v psValue) psValue {
	switch typ {
	case "char", "char[]":
		out := psValue{list: v.list || typ == "char[]", kind: "char"}
		for _, a := range v.items {
			if n, ok := psNumber(a); ok && n > 0 && n < 0xd800 {
				out.items = append(out.items, abstract.Arg{Text: string(rune(n)), Taint: abstract.Decoded})
			} else if typ == "char[]" && a.Known() {
				for _, r := range a.Text {
					out.items = append(out.items, a.With(string(r)))
				}
			} else {
				out.items = append(out.items, a)
			}
		}
		return out
	case "scriptblock":
		return psValue{items: v.items, kind: "scriptblock", code: v.one().Text}
	case "string":
		return psValue{items: []abstract.Arg{v.one()}}
	case "void":
		return psValue{}
	case "pscredential", "securestring":
		return unknownPS()
	}
	if strings.HasSuffix(typ, "[]") {
		v.list = true
	}
	return v
}

// postfix reads members, calls and indexes after a value.
func (p *powerShell) postfix(v psValue) psValue {
	for p.at < len(p.src) && !p.Full {
		rest := p.src[p.at:]
		switch {
		case strings.HasPrefix(rest, "::"), rest[0] == '.' && len(rest) > 1 && (mask.Alnum(rest[1]) || strings.IndexByte("_'\"($", rest[1]) >= 0), strings.HasPrefix(rest, "?."):
			p.at += 1 + strings.Count(rest[:2], ":")/2
			if rest[0] == '?' {
				p.at++
			}
			v = p.member(v, strings.HasPrefix(rest, "::"))
		case rest[0] == '[':
			v = indexPS(v, p.eval(p.block()))
		case strings.HasPrefix(rest, "++"), strings.HasPrefix(rest, "--"):
			p.at += 2
			return unknownPS()
		default:
			return v
		}
	}
	return v
}

// member is .Name, .Name(…), ::Name or ::Name(…).
func (p *powerShell) member(v psValue, static bool) psValue {
	p.skip(true)
	var name string
	switch {
	case p.at >= len(p.src):
		p.bad = true
		return unknownPS()
	case strings.IndexByte("'\"", p.src[p.at]) >= 0:
		name = p.quoted().Text
	case p.is("$") || p.is("("):
		name = p.primary().one().Text
	default:
		end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return mask.Alnum(c) || c == '_' })
		name = p.src[p.at:end]
		p.at = end
	}
	name = strings.ToLower(name)
	if p.is("(") {
		return p.method(v, name, p.methodArgs(p.block()))
	}
	if p.is("{") && (name == "foreach" || name == "where") {
		return p.method(v, name, []psValue{p.primary()})
	}
	return p.property(v, name, static)
}

// methodArgs are the values between the brackets of a call.
func (p *powerShell) methodArgs(code string) []psValue {
	var list []psValue
	sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: code, nesting: p.nesting + 1}
	for sub.skip(true); sub.at < len(code) && !p.Full; sub.skip(true) {
		if sub.is(",") {
			sub.at++
			continue
		}
		begin := sub.at
		list = append(list, sub.expression(psLevel(",")+1))
		for sub.skip(true); sub.at < len(code) && !sub.is(",") && !p.Full; sub.skip(true) {
			op := sub.operator()
			if op == "" || op == "," {
				sub.bad = true
				sub.at = len(code)
				break
			}
			sub.at += len(op)
			if sub.skip(true); sub.at < len(code) {
				last := &list[len(list)-1]
				*last = p.operate(op, *last, sub.expression(max(psLevel(op)+1, psLevel(",")+1)))
			}
		}
		if sub.at == begin {
			sub.bad = true
			break
		}
	}
	p.bad = p.bad || sub.bad
	return list
}

// indexPS is v[i] or v[i, j].
func indexPS(v, at psValue) psValue {
	if len(v.hash) > 0 {
		if x, ok := v.hash[strings.ToLower(at.one().Text)]; ok {
			return x
		}
	}
	items := v.items
	if !v.list && len(items) == 1 && items[0].Known() && v.kind == "" {
		items = castPS("char[]", v).items
	}
	out := psValue{list: len(at.items) > 1, kind: "char"}
	for _, a := range at.items {
		n, ok := psNumber(a)
		if n < 0 {
			n += len(items)
		}
		if !ok || n < 0 || n >= len(items) || !items[n].Known() {
			out.items = append(out.items, abstract.Arg{Text: abstract.HoleText, Taint: v.one().Taint})
			continue
		}
		item := items[n]
		if !v.list {
			item.Taint |= abstract.Decoded
		}
		out.items = append(out.items, item)
	}
	if v.list {
		out.kind = v.kind
	}
	return out
}
