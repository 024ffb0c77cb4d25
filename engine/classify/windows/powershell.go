package windows

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// InterpretPowerShell reports what a PowerShell script would do.
func InterpretPowerShell(src string, in shell.Input) abstract.Script {
	w := newWindows(in)
	w.power(src)
	return w.Out
}

// power runs PowerShell code in its own scope.
func (w *interpreter) power(src string) {
	p := &powerShell{interpreter: w, scope: newPSScope(), src: typographic(w.checked(src))}
	p.all()
}

// typographic replaces the typographic dashes and quotes that PowerShell treats as
// plain ones.
func typographic(src string) string {
	return strings.NewReplacer("–", "-", "—", "-", "―", "-", "‘", "'", "’", "'", "‚", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`).Replace(src)
}

// powerShell reads PowerShell code and runs it abstractly as it reads.
type powerShell struct {
	*interpreter
	scope   *psScope
	src     string
	at      int
	nesting int
	bad     bool
}

// psScope contains variables and functions.
type psScope struct {
	vars    map[string]psValue
	funcs   map[string]psFunction
	aliases map[string]string
	fetches bool // something was fetched
}

type psFunction struct {
	params []string
	body   string
}

func newPSScope() *psScope {
	return &psScope{vars: map[string]psValue{}, funcs: map[string]psFunction{}, aliases: map[string]string{}}
}

func (s *psScope) child() *psScope {
	return &psScope{vars: maps.Clone(s.vars), funcs: s.funcs, aliases: s.aliases, fetches: s.fetches}
}

// all runs the whole text.
func (p *powerShell) all() psValue {
	out := p.statements()
	if p.bad {
		p.Opaque("syntax", p.src)
		p.signal(engine.SignalUnknownCommand)
	}
	return out
}

// eval runs a part of the code, in this scope.
func (p *powerShell) eval(code string) psValue { return p.evalIn(code, p.scope) }

func (p *powerShell) evalIn(code string, scope *psScope) psValue {
	if p.nesting >= shell.MaxNesting/2 || !p.Spend(len(code)/16) {
		p.OverBudget("nesting")
		return unknownPS()
	}
	sub := &powerShell{interpreter: p.interpreter, scope: scope, src: code, nesting: p.nesting + 1}
	out := sub.statements()
	p.bad = p.bad || sub.bad
	return out
}

// with runs code where $_ is item.
func (p *powerShell) with(code string, item psValue) psValue {
	saved, had := p.scope.vars["_"]
	p.scope.vars["_"] = item
	out := p.eval(code)
	if delete(p.scope.vars, "_"); had {
		p.scope.vars["_"] = saved
	}
	return out
}

// embedHere runs code in this scope, as Invoke-Expression does.
func (p *powerShell) embedHere(code abstract.Arg, via string) psValue {
	out := unknownPS()
	p.embed(code, via, func(src string) {
		sub := &powerShell{interpreter: p.interpreter, scope: p.scope, src: typographic(p.checked(src))}
		out = sub.all()
	})
	return out
}

// function runs a function with its arguments.
func (p *powerShell) function(f psFunction, c *psCall) psValue {
	if p.frame.depth >= shell.MaxDepth {
		p.OverBudget(c.name)
		return unknownPS()
	}
	scope := p.scope.child()
	rest := psValue{list: true}
	for i, v := range c.operands {
		if i < len(f.params) {
			scope.vars[f.params[i]] = v
		} else {
			rest.items = append(rest.items, v.items...)
		}
	}
	for i, name := range f.params {
		if v, ok := c.given[name]; ok {
			scope.vars[name] = v
		} else if _, set := scope.vars[name]; i >= len(c.operands) && !set {
			scope.vars[name] = unknownPS()
		}
	}
	scope.vars["args"], scope.vars["_"], scope.vars["input"] = rest, c.input(), c.input()
	if len(f.params) == 0 {
		scope.vars["args"] = joinedPS(c.operands)
	}
	p.frame.depth++
	out := p.evalIn(f.body, scope)
	p.frame.depth--
	return out
}

// powershellValued are options of powershell.exe that take a value, abbreviations included.
var powershellValued = []string{"ex", "ep", "exec", "executionpolicy", "exe", "execu", "execut", "executi", "executio",
	"executionp", "executionpo", "w", "windowstyle", "wi", "win", "wind", "windo", "window", "windows", "windowst", "windowsty",
	"windowstyl", "v", "version", "ver", "inputformat", "outputformat", "o", "of", "if", "psconsolefile", "configurationname",
	"config", "settingsfile", "workingdirectory", "wd", "wo", "custompipename"}

// powershellProgram runs powershell.exe with -Command, -EncodedCommand or
// -File.
func powershellProgram(c *winCall) {
	w := c.w
	run := func(code abstract.Arg, via string) { w.process(func() { w.embed(code, via, w.power) }) }
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if a.Is("-") {
			break
		}
		if len(a.Text) < 2 || a.Text[0] != '-' && a.Text[0] != '/' {
			run(joinPlain(c.args[i:]), c.name+"-c")
			return
		}
		option, rest := strings.ToLower(a.Text[1:]), c.args[i+1:]
		switch {
		case option == "-" || len(rest) == 0:
		case option == "c" || len(option) > 2 && strings.HasPrefix("command", option) || option == "co" || option == "commandwithargs" || option == "cwa":
			if rest[0].Is("-") && w.frame.stdin != nil {
				run(*w.frame.stdin, "pipe")
			} else {
				run(joinPlain(rest), c.name+"-c")
			}
			return
		case option == "ec" || strings.HasPrefix("encodedcommand", option):
			w.signal(engine.SignalObfuscated)
			run(decodeUTF16(rest[0]), c.name+"-enc")
			return
		case strings.HasPrefix("file", option):
			c.powershellFile(rest[0])
			return
		case slices.Contains(powershellValued, option):
			i++
		}
	}
	if in := w.frame.stdin; in != nil {
		run(*in, "pipe")
		return
	}
	c.execs()
}

func (c *winCall) powershellFile(file abstract.Arg) {
	w := c.w
	if file.Is("-") && w.frame.stdin != nil {
		w.process(func() { w.embed(*w.frame.stdin, "pipe", w.power) })
		return
	}
	if text, ok := w.written(file); ok {
		w.process(func() { w.embed(text, "file", w.power) })
		return
	}
	c.reads(file)
	c.runsCode(file)
}

// joinPlain puts words together as PowerShell does after -Command.
func joinPlain(words []abstract.Arg) abstract.Arg { return joinBy(words, abstract.Word(" ")) }

// decodeUTF16 is the text of -EncodedCommand: base64 of UTF-16.
func decodeUTF16(a abstract.Arg) abstract.Arg {
	b, err := base64.StdEncoding.DecodeString(a.Text)
	if err != nil || len(b)%2 != 0 {
		return abstract.Arg{Text: abstract.HoleText, Taint: abstract.Decoded}
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return abstract.Arg{Text: string(utf16.Decode(units)), Taint: abstract.Decoded}
}

// operate applies an operator to two values.
func (p *powerShell) operate(op string, a, b psValue) psValue {
	if !p.Spend(len(a.one().Text) + len(b.one().Text)) {
		return unknownPS()
	}
	switch strings.TrimPrefix(strings.TrimPrefix(op, "-i"), "-c") {
	case "+":
		return plusPS(a, b)
	case ",":
		return psValue{items: append(a.items[:len(a.items):len(a.items)], b.items...), list: true, kind: a.kind}
	case "..":
		return rangePS(a.one(), b.one())
	case "-f":
		return formatPS(a.one(), b)
	case "*":
		return repeatPS(a.one(), b.one())
	case "-", "/", "%":
		return arithmeticPS(op, a.one(), b.one())
	case "-join", "join", "oin":
		return joinPS(a, b.one())
	case "-split", "split", "plit":
		return splitPS(a.one(), b.one())
	case "-replace", "replace", "eplace":
		return replacePS(a, b)
	case "??", "-as":
		return a
	}
	return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "bool"}
}

func psNumber(a abstract.Arg) (int, bool) {
	text := strings.TrimSpace(a.Text)
	n, err := strconv.ParseInt(strings.ToLower(text), 0, 32)
	return int(n), err == nil
}

func plusPS(a, b psValue) psValue {
	if a.kind == "number" {
		if x, ok := psNumber(a.one()); ok {
			if y, ok := psNumber(b.one()); ok {
				return psValue{items: []abstract.Arg{abstract.Word(strconv.Itoa(x + y))}, kind: "number"}
			}
		}
	}
	if a.list || a.kind == "null" {
		if a.kind == "null" {
			return b
		}
		return psValue{items: append(a.items[:len(a.items):len(a.items)], b.items...), list: true}
	}
	return psValue{items: []abstract.Arg{abstract.Concat(a.one(), b.one())}}
}

func rangePS(a, b abstract.Arg) psValue {
	x, ok := psNumber(a)
	y, ok2 := psNumber(b)
	if !ok || !ok2 || max(x, y)-min(x, y) > 512 {
		return unknownPS()
	}
	out := psValue{list: true, kind: "number"}
	step := 1
	if y < x {
		step = -1
	}
	for i := x; ; i += step {
		out.items = append(out.items, abstract.Word(strconv.Itoa(i)))
		if i == y {
			return out
		}
	}
}

func arithmeticPS(op string, a, b abstract.Arg) psValue {
	x, ok := psNumber(a)
	y, ok2 := psNumber(b)
	if !ok || !ok2 || op != "-" && y == 0 {
		return unknownPS()
	}
	switch op {
	case "-":
		x -= y
	case "/":
		x /= y
	default:
		x %= y
	}
	return psValue{items: []abstract.Arg{abstract.Word(strconv.Itoa(x))}, kind: "number"}
}

func repeatPS(a, b abstract.Arg) psValue {
	n, ok := psNumber(b)
	if x, both := psNumber(a); ok && both {
		return psValue{items: []abstract.Arg{abstract.Word(strconv.Itoa(x * n))}, kind: "number"}
	}
	if !ok || n < 0 || n*len(a.Text) > abstract.MaxText {
		return unknownPS()
	}
	return textPS(a.With(strings.Repeat(a.Text, n)))
}

// formatPS is 'a{0}' -f values.
func formatPS(format abstract.Arg, values psValue) psValue {
	var out abstract.Arg
	rest := format.Text
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		out = abstract.Concat(out, abstract.Word(rest[:i]))
		if strings.HasPrefix(rest[i:], "{{") {
			out, rest = abstract.Concat(out, abstract.Word("{")), rest[i+2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if end < 0 {
			return unknownPS()
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest[i+1 : i+end]))
		if err == nil && n >= 0 && n < len(values.items) {
			out = abstract.Concat(out, values.items[n])
		} else {
			out = abstract.Concat(out, abstract.UnknownArg())
		}
		rest = rest[i+end+1:]
	}
	out = abstract.Concat(out, abstract.Word(strings.ReplaceAll(rest, "}}", "}")))
	out.Taint |= abstract.Decoded
	return textPS(out)
}

func joinPS(list psValue, sep abstract.Arg) psValue {
	out := joinBy(list.items, sep)
	if list.kind == "char" {
		out.Taint |= abstract.Decoded
	}
	return textPS(out)
}

func splitPS(text, sep abstract.Arg) psValue {
	if !text.Known() || !sep.Known() || sep.Text == "" {
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: text.Taint}}, list: true}
	}
	out := psValue{list: true}
	re, err := regexp.Compile(sep.Text)
	parts := []string{text.Text}
	if err == nil {
		parts = re.Split(text.Text, maxListed)
	}
	for _, part := range parts {
		out.items = append(out.items, text.With(part))
	}
	return out
}

func replacePS(text, with psValue) psValue {
	old, by := with.one(), abstract.Arg{}
	if len(with.items) > 1 {
		old, by = with.items[0], with.items[1]
	} else if with.list && len(with.items) == 1 {
		old = with.items[0]
	}
	out := psValue{list: text.list, kind: text.kind}
	for _, a := range text.items {
		re, err := regexp.Compile("(?i)" + old.Text)
		if !a.Known() || !old.Known() || !by.Known() || err != nil {
			out.items = append(out.items, abstract.Arg{Text: abstract.HoleText, Taint: a.Taint})
			continue
		}
		if changed := re.ReplaceAllString(a.Text, by.Text); len(changed) > abstract.MaxText {
			a = abstract.UnknownArg()
		} else if changed != a.Text {
			a = a.With(changed)
		}
		out.items = append(out.items, a)
	}
	return out
}
