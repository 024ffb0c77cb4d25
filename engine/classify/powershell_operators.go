package classify

import (
	"regexp"
	"strconv"
	"strings"
)

// operate applies an operator to two values.
func (p *powerShell) operate(op string, a, b psValue) psValue {
	if !p.spend(len(a.one().text) + len(b.one().text)) {
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
	return psValue{items: []arg{unknownArg()}, kind: "bool"}
}

func psNumber(a arg) (int, bool) {
	text := strings.TrimSpace(a.text)
	n, err := strconv.ParseInt(strings.ToLower(text), 0, 32)
	return int(n), err == nil
}

func plusPS(a, b psValue) psValue {
	if a.kind == "number" {
		if x, ok := psNumber(a.one()); ok {
			if y, ok := psNumber(b.one()); ok {
				return psValue{items: []arg{word(strconv.Itoa(x + y))}, kind: "number"}
			}
		}
	}
	if a.list || a.kind == "null" {
		if a.kind == "null" {
			return b
		}
		return psValue{items: append(a.items[:len(a.items):len(a.items)], b.items...), list: true}
	}
	return psValue{items: []arg{concat(a.one(), b.one())}}
}

func rangePS(a, b arg) psValue {
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
		out.items = append(out.items, word(strconv.Itoa(i)))
		if i == y {
			return out
		}
	}
}

func arithmeticPS(op string, a, b arg) psValue {
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
	return psValue{items: []arg{word(strconv.Itoa(x))}, kind: "number"}
}

func repeatPS(a, b arg) psValue {
	n, ok := psNumber(b)
	if x, both := psNumber(a); ok && both {
		return psValue{items: []arg{word(strconv.Itoa(x * n))}, kind: "number"}
	}
	if !ok || n < 0 || n*len(a.text) > maxText {
		return unknownPS()
	}
	return textPS(a.with(strings.Repeat(a.text, n)))
}

// formatPS is 'a{0}' -f values.
func formatPS(format arg, values psValue) psValue {
	var out arg
	rest := format.text
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		out = concat(out, word(rest[:i]))
		if strings.HasPrefix(rest[i:], "{{") {
			out, rest = concat(out, word("{")), rest[i+2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if end < 0 {
			return unknownPS()
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest[i+1 : i+end]))
		if err == nil && n >= 0 && n < len(values.items) {
			out = concat(out, values.items[n])
		} else {
			out = concat(out, unknownArg())
		}
		rest = rest[i+end+1:]
	}
	out = concat(out, word(strings.ReplaceAll(rest, "}}", "}")))
	out.taint |= decoded
	return textPS(out)
}

func joinPS(list psValue, sep arg) psValue {
	out := joinBy(list.items, sep)
	if list.kind == "char" {
		out.taint |= decoded
	}
	return textPS(out)
}

func splitPS(text, sep arg) psValue {
	if !text.known() || !sep.known() || sep.text == "" {
		return psValue{items: []arg{{text: holeText, taint: text.taint}}, list: true}
	}
	out := psValue{list: true}
	re, err := regexp.Compile(sep.text)
	parts := []string{text.text}
	if err == nil {
		parts = re.Split(text.text, maxListed)
	}
	for _, part := range parts {
		out.items = append(out.items, text.with(part))
	}
	return out
}

func replacePS(text, with psValue) psValue {
	old, by := with.one(), arg{}
	if len(with.items) > 1 {
		old, by = with.items[0], with.items[1]
	} else if with.list && len(with.items) == 1 {
		old = with.items[0]
	}
	out := psValue{list: text.list, kind: text.kind}
	for _, a := range text.items {
		re, err := regexp.Compile("(?i)" + old.text)
		if !a.known() || !old.known() || !by.known() || err != nil {
			out.items = append(out.items, arg{text: holeText, taint: a.taint})
			continue
		}
		if changed := re.ReplaceAllString(a.text, by.text); len(changed) > maxText {
			a = unknownArg()
		} else if changed != a.text {
			a = a.with(changed)
		}
		out.items = append(out.items, a)
	}
	return out
}
