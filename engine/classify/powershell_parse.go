package classify

import "strings"

// PowerShell is read conservatively: words, strings, pipelines, blocks and
// variables that hold a literal. Blocks and parentheses are flattened, which
// loses when something runs but not that it could run.

// psWord is one argument.
type psWord struct {
	value
	quoted bool
	block  bool     // { … } or ( … ), whose statements stand on their own
	call   []psWord // arguments of a method call that the word is, without a space before (
	method bool
	raw    string // as written, also where the value is not known
}

// psCommand is one command of a pipeline.
type psCommand struct {
	words []psWord
	piped bool // another command writes into it
	feeds bool // it writes into another command
}

// psParser reads a script. Bounds: each byte is read once, and blocks nest at
// most psDepth deep.
type psParser struct {
	src      string
	at       int
	depth    int
	vars     map[string]value
	home     string
	cwd      value
	commands []psCommand
	bad      bool // the text does not parse
}

const psDepth = 64

// block reads statements up to the closing character, or the end if it is 0.
func (p *psParser) block(until byte) {
	if p.depth++; p.depth > psDepth {
		p.bad, p.at = true, len(p.src)
	}
	defer func() { p.depth-- }()
	piped := false
	for p.at < len(p.src) {
		p.skip()
		if p.at >= len(p.src) {
			break
		}
		switch c := p.src[p.at]; {
		case c == until && until != 0:
			p.at++
			return
		case c == '}' || c == ')':
			p.bad = true
			p.at++
		case c == '|':
			piped = p.pipe()
		case strings.IndexByte(";\n\r&,=", c) >= 0 && !p.callOperator():
			p.at++
			piped = false
		default:
			p.command(piped, until)
			piped = false
		}
	}
	if until != 0 {
		p.bad = true
	}
}

// pipe passes | and ||; only the first connects two commands.
func (p *psParser) pipe() bool {
	n := run(p.src, p.at, min(len(p.src), p.at+2), func(c byte) bool { return c == '|' }) - p.at
	p.at += n
	if n == 1 && len(p.commands) > 0 {
		p.commands[len(p.commands)-1].feeds = true
	}
	return n == 1
}

// callOperator says that & at this place runs what follows it.
func (p *psParser) callOperator() bool {
	return p.src[p.at] == '&' && p.at+1 < len(p.src) && p.src[p.at+1] != '&'
}

// skip passes blanks, line continuations and comments.
func (p *psParser) skip() {
	for p.at < len(p.src) {
		rest := p.src[p.at:]
		switch {
		case blank(rest[0]):
			p.at++
		case strings.HasPrefix(rest, "`\n"):
			p.at += 2
		case strings.HasPrefix(rest, "`\r\n"):
			p.at += 3
		case strings.HasPrefix(rest, "<#"):
			p.pass(2, "#>")
		case rest[0] == '#':
			p.at = run(p.src, p.at, len(p.src), func(c byte) bool { return c != '\n' })
		default:
			return
		}
	}
}

// pass goes behind the end mark, which must be there.
func (p *psParser) pass(lead int, end string) string {
	begin := p.at + lead
	i := strings.Index(p.src[min(begin, len(p.src)):], end)
	if i < 0 {
		p.bad, p.at = true, len(p.src)
		return ""
	}
	p.at = begin + i + len(end)
	return p.src[begin : begin+i]
}

func (p *psParser) command(piped bool, until byte) {
	var words []psWord
	index := len(p.commands)
	p.commands = append(p.commands, psCommand{piped: piped})
	for p.at < len(p.src) {
		p.skip()
		if p.at >= len(p.src) {
			break
		}
		c := p.src[p.at]
		if c == until && until != 0 || strings.IndexByte(";\n\r|})", c) >= 0 || c == '&' && len(words) > 0 {
			break
		}
		if c == ',' {
			p.at++
			continue
		}
		words = append(words, p.word())
		p.assign(words)
	}
	p.commands[index].words = words
}

// assign notes $name = 'literal'.
func (p *psParser) assign(words []psWord) {
	if len(words) != 3 || words[1].text != "=" || words[1].quoted || !strings.HasPrefix(words[0].text, "$") || words[0].sure != unknown {
		return
	}
	v := value{sure: unknown}
	if words[2].quoted || words[2].sure == unknown {
		v = words[2].value
	}
	p.vars[strings.ToLower(words[0].text[1:])] = v
}

// word reads one argument. Its text is kept for variables too, as $name.
func (p *psParser) word() psWord {
	var w psWord
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch {
		case c == '\'' || c == '"':
			w = w.join(p.quoted(c))
		case strings.HasPrefix(p.src[p.at:], "@'") || strings.HasPrefix(p.src[p.at:], "@\""):
			w = w.join(p.hereString())
		case c == '`' && p.at+1 < len(p.src):
			w = w.join(psWord{value: value{text: p.src[p.at+1 : p.at+2]}})
			p.at += 2
		case c == '$':
			w = w.join(p.variable())
		case c == '(' && strings.ContainsAny(w.raw, ".:"):
			return p.methodCall(w)
		case c == '(' && w.raw != "" && !w.quoted: // if(…), iex(…)
			return w
		case c == '(' || c == '{' || strings.HasPrefix(p.src[p.at:], "@(") || strings.HasPrefix(p.src[p.at:], "@{"):
			p.at += strings.IndexAny(p.src[p.at:], "({") + 1
			p.block(map[byte]byte{'(': ')', '{': '}'}[p.src[p.at-1]])
			w.block, w.sure = true, unknown
		case strings.IndexByte(" \t\r\n;|,})&", c) >= 0 && !(c == '&' && w.text == ""):
			return w
		default:
			end := run(p.src, p.at+1, len(p.src), psPlain)
			w = w.join(psWord{value: value{text: p.src[p.at:end]}})
			p.at = end
			if c == '&' {
				return w
			}
		}
	}
	return w
}

// psPlain are characters that end nothing and begin nothing inside of a word.
func psPlain(c byte) bool {
	return alnum(c) || strings.IndexByte("-_./\\:=<>[]*?#%+!~^", c) >= 0 || c >= 0x80
}

// join appends a part; behind a part that is not known only the beginning counts.
func (w psWord) join(part psWord) psWord {
	w.quoted, w.raw = w.quoted || part.quoted, w.raw+part.text
	switch {
	case w.text == "" && !w.block && w.sure == literal:
		w.value = part.value
	case w.sure != literal:
	case part.sure == literal:
		w.text += part.text
	case part.sure == prefix:
		w.sure, w.text = prefix, w.text+part.text
	default:
		w.sure = prefix
	}
	return w
}

// quoted reads '…' or "…", where a doubled quote stands for one.
func (p *psParser) quoted(q byte) psWord {
	w, text := psWord{quoted: true}, []byte(nil)
	for p.at++; p.at < len(p.src); p.at++ {
		c := p.src[p.at]
		switch {
		case c == q && p.at+1 < len(p.src) && p.src[p.at+1] == q:
			text = append(text, q)
			p.at++
		case c == q:
			p.at++
			return w.join(psWord{value: value{text: string(text)}})
		case c == '`' && q == '"' && p.at+1 < len(p.src):
			p.at++
			text = append(text, p.src[p.at])
		case c == '$' && q == '"' && p.expands():
			w = w.join(psWord{value: value{text: string(text)}}).join(p.variable())
			text = text[:0]
			p.at--
		default:
			text = append(text, p.src[p.at])
		}
	}
	p.bad = true
	return w
}

// expands says that the $ here begins a variable or an expression.
func (p *psParser) expands() bool {
	if p.at+1 >= len(p.src) {
		return false
	}
	c := p.src[p.at+1]
	return alnum(c) || c == '_' || c == '{' || c == '('
}

func (p *psParser) hereString() psWord {
	q := p.src[p.at+1 : p.at+2]
	text := p.pass(2, "\n"+q+"@")
	w := psWord{value: value{text: strings.TrimLeft(text, "\r\n")}, quoted: true}
	if q == `"` && strings.Contains(text, "$") {
		w.sure, w.text = prefix, text[:strings.IndexByte(text, '$')]
	}
	return w
}

// variable reads $name, ${name}, $env:NAME or $( … ).
func (p *psParser) variable() psWord {
	p.at++
	rest := p.src[p.at:]
	switch {
	case strings.HasPrefix(rest, "("):
		p.at++
		p.block(')')
		return psWord{value: value{sure: unknown}}
	case strings.HasPrefix(rest, "{"):
		return p.lookup(p.pass(1, "}"))
	}
	end := run(p.src, p.at, len(p.src), func(c byte) bool { return alnum(c) || c == '_' || c == ':' || c == '?' })
	name := strings.TrimRight(p.src[p.at:end], ":")
	p.at += len(name)
	return p.lookup(name)
}

func (p *psParser) lookup(name string) psWord {
	low := strings.ToLower(name)
	if v, ok := p.vars[low]; ok {
		return psWord{value: v}
	}
	known := map[string]string{"home": p.home, "env:home": p.home, "env:userprofile": p.home, "env:temp": "/tmp", "env:tmp": "/tmp", "env:systemdrive": "C:", "env:systemroot": "C:/Windows", "env:windir": "C:/Windows"}
	switch text := known[low]; {
	case text != "":
		return psWord{value: value{text: text}}
	case low == "pwd":
		return psWord{value: p.cwd}
	case low == "false" || low == "true" || low == "null":
		return psWord{value: value{text: "$" + low}}
	}
	return psWord{value: value{unknown, "$" + name}}
}

// methodCall reads the arguments of Name(…) and whatever hangs on to it.
func (p *psParser) methodCall(w psWord) psWord {
	p.at++
	first := len(p.commands)
	p.block(')')
	if first < len(p.commands) {
		w.call = p.commands[first].words
	}
	w.method, w.quoted = true, false
	p.at = run(p.src, p.at, len(p.src), func(c byte) bool { return strings.IndexByte(" \t\r\n;|,})(&", c) < 0 })
	return w
}
