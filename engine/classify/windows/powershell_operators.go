package windows

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

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
