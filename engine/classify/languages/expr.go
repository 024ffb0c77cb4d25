package languages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// expression evaluates values joined by operators.
func (r *codeReader) expression(i int) (codeValue, int) {
	v, n := r.postfix(i)
	for n > i {
		before := n
		v, n = r.operator(v, n)
		if n == before || !r.c.Shell.Spend(v.size()) {
			break
		}
	}
	return v, n
}

// operator applies the operator at n, if there is one, to v and the value after it.
func (r *codeReader) operator(v codeValue, n int) (codeValue, int) {
	n = r.overLines(n)
	t := r.at(n)
	switch {
	case t.Kind == TokenString && v.known && !v.path && r.at(n-1).Kind == TokenString:
		w, k := r.primary(n)
		return combine(v, w, abstract.Concat), k
	case t.Kind == TokenName:
		return r.wordOperator(v, n)
	case t.Kind != tokenPunct:
		return v, n
	}
	switch t.Text {
	case "+":
		return r.binary(v, n, 1, func(a, b codeValue) codeValue { return plus(a, b, false) })
	case "/":
		if v.path || v.known && r.lang == "python" {
			return r.binary(v, n, 1, func(a, b codeValue) codeValue { return plus(a, b, true) })
		}
	case ".":
		switch {
		case r.lexis.joins:
			return r.binary(v, n, 1, func(a, b codeValue) codeValue { return combine(a, b, abstract.Concat) })
		case r.lang == "lua" && r.punct(n+1, "."):
			return r.binary(v, n, 2, func(a, b codeValue) codeValue { return combine(a, b, abstract.Concat) })
		}
	case "%":
		if v.known && r.lang == "python" {
			return r.binary(v, n, 1, percent)
		}
	case "*":
		return r.binary(v, n, 1, repeated)
	case "||":
		return r.binary(v, n, 1, either)
	case "?":
		if r.punct(n+1, "?") {
			return r.binary(v, n, 2, either)
		}
		return r.choice(v, n)
	case "==", "!=", "<", ">", "<=", ">=", "-", "&", "^", "|", "**", "&&":
		if r.lang != "ruby" || t.Text != "|" {
			return r.binary(v, n, 1, func(codeValue, codeValue) codeValue { return unknownValue() })
		}
	}
	return v, n
}

// overLines skips line ends that do not end a statement.
func (r *codeReader) overLines(n int) int {
	k := n
	for r.at(k).Kind == tokenLine {
		k++
	}
	if k == n || r.inside > 0 || r.lang == "node" && (r.punct(k, ".") || r.punct(k, "+") || r.punct(k, "?")) {
		return k
	}
	return n
}

func (r *codeReader) binary(v codeValue, n, size int, f func(a, b codeValue) codeValue) (codeValue, int) {
	k := n + size
	for r.at(k).Kind == tokenLine {
		k++
	}
	if !r.starts(k) && !r.punct(k, "{") && !r.punct(k, "-") && !r.punct(k, "!") {
		return v, n + size
	}
	w, end := r.postfix(k)
	return f(v, w), max(end, n+size)
}

// wordOperator evaluates Python's a if c else b, a or b, a in b.
func (r *codeReader) wordOperator(v codeValue, n int) (codeValue, int) {
	switch r.at(n).Text {
	case "if":
		if r.lang != "python" {
			return v, n
		}
		_, k := r.expression(n + 1)
		k = r.overLines(k)
		if !r.named(k, "else") {
			return v, n
		}
		w, end := r.expression(k + 1)
		return either(v, w), max(end, k+1)
	case "or":
		return r.binary(v, n, 1, either)
	case "and", "in", "is", "instanceof":
		return r.binary(v, n, 1, func(codeValue, codeValue) codeValue { return unknownValue() })
	}
	return v, n
}

// choice evaluates c ? a : b and c ?: b.
func (r *codeReader) choice(v codeValue, n int) (codeValue, int) {
	if r.punct(n+1, ":") {
		return r.binary(v, n, 2, either)
	}
	a, k := r.expression(n + 1)
	k = r.overLines(k)
	if !r.punct(k, ":") {
		return unknownValue(), max(k, n+1)
	}
	b, end := r.expression(k + 1)
	return either(a, b), max(end, k+1)
}

// postfix evaluates a value with its suffixes: .name, (args), [index].
func (r *codeReader) postfix(i int) (codeValue, int) {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return unknownValue(), len(r.tokens)
	}
	for r.at(i).Kind == TokenName && skipsName(r.at(i).Text) && !r.punct(i+1, ".") || r.punct(i, "!") || r.punct(i, "~") ||
		r.lexis.sigils && (r.punct(i, "$") || r.punct(i, "@")) {
		i++
	}
	if r.punct(i, "-") {
		return r.negative(i)
	}
	v, n := r.primary(i)
	for n > i {
		k := r.overLines(n)
		switch {
		case r.punct(k, ".") && !r.lexis.joins || r.punct(k, "->") || r.punct(k, "::"):
			if r.at(k+1).Kind != TokenName {
				if r.lang == "node" && r.punct(k+1, "$") && r.at(k+2).raw {
					return r.shellString(k + 2)
				}
				return v, n
			}
			v, n = r.member(v, k+1), k+2
		case r.punct(k, "?") && r.punct(k+1, ".") && r.at(k+2).Kind == TokenName:
			v, n = r.member(v, k+2), k+3
		case r.punct(n, "("):
			v, n = r.callAt(v, n)
		case r.punct(n, "["):
			v, n = r.index(v, n)
		case r.bare(v, n):
			args, k := r.bareArguments(n)
			v, n = r.invoke(v, args, map[string]codeValue{}), k
		default:
			if k, ok := r.block(v, n); ok {
				return v, k
			}
			return v, n
		}
	}
	return v, n
}

// shellString runs the string in backquotes at i as a command line.
func (r *codeReader) shellString(i int) (codeValue, int) {
	v := textValue(abstract.Word(r.at(i).Text))
	if p := r.at(i).pieces; len(p) > 0 {
		v = r.interpolated(p)
	}
	for _, code := range v.texts() {
		r.c.Shell.Embed(code, r.lang, false)
	}
	return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Substituted}, known: true}, i + 1
}

func (r *codeReader) negative(i int) (codeValue, int) {
	v, n := r.postfix(i + 1)
	if text, ok := v.one(); ok && v.known && strings.Trim(text, "0123456789") == "" {
		return textValue(abstract.Word("-" + text)), n
	}
	return unknownValue(), n
}

// member evaluates v.name, where name is the token at i; it may be a field that was set
// before.
func (r *codeReader) member(v codeValue, i int) codeValue {
	name := r.at(i).Text
	if f, ok := v.fields[name]; ok {
		return f
	}
	if v.name == "process.env" {
		return textValue(r.c.Shell.Read(name))
	}
	out := r.attr(v, name)
	out.from = v.from
	if r.lang == "ruby" && (out.name == "Dir.home" || out.name == "Dir.pwd" || out.name == "Dir.tmpdir") && !r.punct(i+1, "(") {
		return r.call(r, out, nil, nil)
	}
	if set, ok := r.vars[out.name]; ok && strings.Contains(out.name, ".") && out.name[0] != '.' {
		return set
	}
	return out
}

// callAt calls v with the arguments in the brackets at n.
func (r *codeReader) callAt(v codeValue, n int) (codeValue, int) {
	args, named, k := r.arguments(n+1, ")")
	if r.lang == "node" {
		for _, a := range args {
			for name, f := range a.fields {
				named[name] = f
			}
		}
	}
	return r.invoke(v, args, named), k
}

// index evaluates v[…].
func (r *codeReader) index(v codeValue, n int) (codeValue, int) {
	end := r.close[n]
	if out, ok := r.sliced(v, n, end); ok {
		return out, end + 1
	}
	args, _, k := r.arguments(n+1, "]")
	key, known := argAt(args, 0).one()
	switch {
	case strings.HasPrefix(v.name, "plumbum.local.") || strings.HasPrefix(v.name, "plumbum.cmd."):
		v.list = slices.Concat(v.list, args)
		return v, k
	case len(args) != 1:
	case v.name == "os.environ" || v.name == "process.env" || v.name == "ENV" || v.name == "_ENV":
		return textValue(r.c.Shell.Read(key)), k
	case v.fields != nil:
		if f, ok := v.fields[key]; ok && known {
			return f, k
		}
	case known && argAt(args, 0).known && v.name != "":
		return r.member(v, n+1).orName(v.name + "." + key), k
	}
	if v.isList && len(v.list) > 0 {
		return v.element(), k
	}
	if v.name == "Dir" && len(args) > 0 { // Ruby's Dir["*.json"]
		v = argAt(args, 0).each(func(a abstract.Arg) abstract.Arg { a.Glob = true; return a })
	}
	if slices.ContainsFunc(v.texts(), func(a abstract.Arg) bool { return a.Glob && a.Known() }) {
		return v, k // one of the names that match the pattern
	}
	return codeValue{text: abstract.UnknownArg(), origin: v.origin}, k
}

// sliced evaluates v[1], v[-1], v[1:] and v[::-1] with numbers.
func (r *codeReader) sliced(v codeValue, n, end int) (codeValue, bool) {
	var b strings.Builder
	for i := n + 1; i < end && i < n+8; i++ {
		if t := r.at(i); t.Kind == tokenNumber || t.Kind == tokenPunct {
			b.WriteString(t.Text)
		} else {
			return v, false
		}
	}
	from, to, colon := strings.Cut(b.String(), ":")
	at, err := strconv.Atoi(from)
	switch {
	case end <= n:
		return v, false
	case b.String() == "::-1" && v.known && !v.isList:
		return v.each(backwards), true
	case !colon && err == nil && v.isList:
		return v.at(at), true
	case colon && to == "" && err == nil && v.isList && at >= 0 && at <= len(v.list):
		return listValue(v.list[at:]), true
	}
	return v, false
}

func (r *codeReader) primary(i int) (codeValue, int) {
	t := r.at(i)
	switch {
	case t.raw && r.lang != "node":
		return r.shellString(i)
	case r.punct(i, "$") && r.at(i+1).raw:
		return r.shellString(i + 1)
	case t.glob:
		return textValue(abstract.Arg{Text: t.Text, Glob: true}), i + 1
	case t.Kind == TokenString && len(t.pieces) > 0:
		return r.interpolated(t.pieces), i + 1
	case t.Kind == TokenString, t.Kind == tokenNumber:
		return textValue(abstract.Word(t.Text)), i + 1
	case t.Kind == TokenName:
		return r.nameAt(i)
	case r.lang == "ruby" && r.punct(i, ":") && r.at(i+1).Kind == TokenName: // a symbol
		return textValue(abstract.Word(r.at(i + 1).Text)), i + 2
	case r.lang == "ruby" && r.punct(i, "&") && r.at(i+1).Kind == TokenName: // a function that is passed on
		return r.postfix(i + 1)
	case r.punct(i, "["):
		list, _, n := r.arguments(i+1, "]")
		v := listValue(list)
		v.more = v.more || r.more
		return v, n
	case r.punct(i, "("):
		if f, n := r.arrow(i); n > i {
			return f, n
		}
		list, _, n := r.arguments(i+1, ")")
		v := listValue(list)
		v.more = v.more || r.more
		if len(list) == 1 && !r.punct(n-2, ",") && !v.more {
			v = list[0]
		}
		return v, n
	case r.punct(i, "{"):
		fields, n := r.object(i)
		return codeValue{text: abstract.UnknownArg(), fields: fields}, n
	}
	return unknownValue(), i
}

func (r *codeReader) nameAt(i int) (codeValue, int) {
	t := r.at(i)
	if strings.Trim(t.Text, abstract.Holes) == "" {
		return unknownValue(), i + 1
	}
	if f, n := r.anonymous(i); n > i {
		return f, n
	}
	if v, ok := r.vars[t.Text]; ok {
		v.from = t.Text
		return v, i + 1
	}
	return codeValue{name: t.Text, from: t.Text, text: abstract.UnknownArg()}, i + 1
}

// interpolated evaluates a string with embedded expressions.
func (r *codeReader) interpolated(pieces []piece) codeValue {
	out := textValue(abstract.Arg{})
	for _, p := range pieces {
		v := textValue(abstract.Word(p.text))
		if p.code != "" {
			v = r.inserted(p.code)
		}
		out = combine(out, v, abstract.Concat)
		r.c.Shell.Spend(out.size())
	}
	return out
}

func (r *codeReader) inserted(code string) codeValue {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return unknownValue()
	}
	tokens, closing, inside := r.tokens, r.close, r.inside
	defer func() { r.tokens, r.close, r.inside = tokens, closing, inside }()
	r.load(Tokenize(code, r.lexis))
	if !r.c.Shell.Spend(len(code)) {
		return unknownValue()
	}
	v, _ := r.expression(0)
	if v.isList {
		return unknownValue()
	}
	return v
}

func percent(v, args codeValue) codeValue {
	list := []codeValue{args}
	if args.isList {
		list = args.list
	}
	if len(v.texts()) > 1 {
		return unknownValue()
	}
	return fillPercent(v.text, list)
}

// orName returns v itself if it is a value, else the name.
func (v codeValue) orName(name string) codeValue {
	if v.known || v.isList {
		return v
	}
	return nameValue(name)
}
