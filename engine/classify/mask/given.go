package mask

import (
	"strings"
)

// property reads the value of an XML property whose name is an attribute: <entry
// key="mail.password">x</entry>, <property name="password" value="x"/>.
func (w namedSecret) property(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name, quoted: true}
	begin := w.begin
	for begin > 0 && w.begin-begin < maxName && dotted(s[begin-1]) {
		begin--
	}
	lead := t.low[max(0, begin-len(`name="`)):begin]
	if !strings.HasSuffix(lead, `name="`) && !strings.HasSuffix(lead, `key="`) || w.end >= len(s) || s[w.end] != '"' {
		return a, false
	}
	if tag := t.low[max(0, begin-judged/4):begin]; strings.HasPrefix(tag[strings.LastIndexByte(tag, '<')+1:], "input ") {
		return a, false // a form that anyone can request
	}
	at := Run(s, w.end+1, min(len(s), w.end+maxName), spacing)
	if strings.HasPrefix(t.low[at:], `value="`) {
		return a.readValue(s, at+len(`value=`))
	}
	if at >= len(s) || s[at] != '>' {
		return a, false
	}
	a.start = at + 1
	a.end = Run(s, a.start, min(len(s), a.start+judged), func(c byte) bool { return c != '<' && c != '\n' })
	a.value = s[a.start:a.end]
	return a, a.value != "" && strings.HasPrefix(s[a.end:], "</")
}

// declared reads the value in the block of a name, as in Terraform's variables and
// outputs, and the result of its random passwords.
func (w namedSecret) declared(t scanned) (assignment, bool) {
	a := assignment{name: w.name}
	open := Run(t.raw, w.end, min(len(t.raw), w.end+maxName), func(c byte) bool { return spacing(c) || c == '"' || c == '\'' || c == ':' })
	block := t.low[open:min(len(t.low), open+judged)]
	words := []string{"default", "value"}
	switch {
	case w.name == "random_password":
		words = []string{`"result"`}
	case open == w.end || !strings.HasPrefix(block, "{"):
		return a, false
	default:
		block, _, _ = strings.Cut(block, "}")
	}
	for _, word := range words {
		i := strings.Index(block, word)
		if i < 0 || i > 0 && Alnum(block[i-1]) {
			continue
		}
		at := open + i + len(word)
		v := Run(t.raw, at, min(len(t.raw), at+8), func(c byte) bool { return Blank(c) || strings.IndexByte(`":=`, c) >= 0 })
		if v > at && t.raw[v-1] == '"' {
			return a.readValue(t.raw, v-1)
		}
	}
	return a, false
}

// fallback reads a literal that is the default value: = getpass() or "x", = env.X ||
// "x", ${TOKEN:-x}.
func (w namedSecret) fallback(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name, random: true}
	if w.before == '{' && (strings.HasPrefix(s[w.end:], ":-") || strings.HasPrefix(s[w.end:], ":=")) {
		return a.readValue(s, w.end+2)
	}
	line, _, _ := strings.Cut(s[w.end:min(len(s), w.end+2*maxName)], "\n")
	if strings.IndexByte(line, '=') < 0 && strings.IndexByte(line, ':') < 0 {
		return a, false
	}
	line, _, _ = strings.Cut(line, ";")
	end := w.end + len(line)
	for _, sign := range []string{" or ", "|| ", "?? "} {
		if i := strings.Index(line, sign); i > 0 && strings.ContainsAny(line[:i], "=:]") {
			a, ok := a.readValue(s[:end], Run(s, w.end+i+len(sign), end, Blank))
			return a, ok && a.quoted
		}
	}
	return a, false
}

// makers are functions that return a literal unchanged as a value of a type.
var makers = " byte bytes string str from secretstr some encode chars securestring "

// wrapped reads a literal in a call that converts it: token := []byte("x"), =
// String::from("x").
func (w namedSecret) wrapped(t scanned) (assignment, bool) {
	a := assignment{name: w.name, random: true}
	limit := min(len(t.low), w.end+maxName)
	sign := Run(t.low, w.end, limit, func(c byte) bool { return Blank(c) || c == ':' || c == '=' })
	open := Run(t.low, sign, limit, func(c byte) bool { return dotted(c) || strings.IndexByte("[]:& ", c) >= 0 })
	if sign == w.end || open == limit || t.low[open] != '(' {
		return a, false
	}
	call := t.low[sign:open]
	if word := call[strings.LastIndexAny(call, "[]:&. ")+1:]; word == "" || !strings.Contains(makers, " "+word+" ") {
		return a, false
	}
	a, ok := a.readValue(t.raw, open+1)
	return a, ok && a.quoted
}

// sent reads a script's answer to a password prompt: expect "password:"; send "x\r".
func (w namedSecret) sent(t scanned) (assignment, bool) {
	a := assignment{name: w.name, sure: true}
	limit := min(len(t.low), w.end+maxName)
	i := strings.Index(t.low[w.end:limit], "send")
	if i < 0 || !strings.ContainsAny(t.low[w.end:w.end+i], "\"'}") {
		return a, false
	}
	at := Run(t.low, w.end+i, limit, Alnum)
	a, ok := a.readValue(t.raw, Run(t.low, at, limit, func(c byte) bool { return strings.IndexByte(" (-", c) >= 0 }))
	return a, ok && a.quoted
}
