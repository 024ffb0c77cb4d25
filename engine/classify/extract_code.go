package classify

import (
	"strings"
)

// codeValue is what an expression of embedded code evaluates to.
type codeValue struct {
	text   arg
	known  bool // text means something
	list   []codeValue
	isList bool
	alts   []codeValue // any one of them: a loop's variable
	name   string      // a module, function or constructor: shutil.rmtree
	path   bool        // an object that stands for the file in text
}

func unknownValue() codeValue { return codeValue{text: unknownArg()} }

func textValue(a arg) codeValue { return codeValue{text: a, known: true} }

// texts lists the strings that a value may be.
func (v codeValue) texts() []arg {
	switch {
	case len(v.alts) > 0:
		var out []arg
		for _, a := range v.alts {
			out = append(out, a.texts()...)
		}
		return out
	case v.isList:
		return []arg{unknownArg()}
	case v.known:
		return []arg{v.text}
	}
	return []arg{unknownArg()}
}

// codeReader evaluates expressions of languages that write calls alike. It
// sees names, strings, lists and calls; all else is skipped, so that no syntax
// can stop it.
type codeReader struct {
	c      *call
	tokens []token
	vars   map[string]codeValue
	depth  int
	call   func(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue
	attr   func(v codeValue, name string) codeValue
}

// maxCodeDepth bounds nested calls and lists.
const maxCodeDepth = 64

func (r *codeReader) at(i int) token {
	if i >= 0 && i < len(r.tokens) {
		return r.tokens[i]
	}
	return token{}
}

func (r *codeReader) punct(i int, text string) bool {
	t := r.at(i)
	return t.kind == tokenPunct && t.text == text
}

// run evaluates all of the code from token i to the token end.
func (r *codeReader) run(i, end int) {
	for i < end && r.c.s.spend(1) {
		i = r.statement(i)
	}
}

// statement evaluates what begins at i, at least one token.
func (r *codeReader) statement(i int) int {
	t := r.at(i)
	if t.kind == tokenName {
		if t.text == "for" {
			if n := r.loopVariable(i); n > i {
				return n
			}
		}
		if r.punct(i+1, "=") && !r.punct(i-1, ".") {
			v, n := r.expression(i + 2)
			r.vars[t.text] = v
			return max(n, i+2)
		}
	}
	if !startsValue(t) {
		return i + 1
	}
	_, n := r.expression(i)
	return max(n, i+1)
}

// loopVariable is for x in [..] and for (const x of [..]).
func (r *codeReader) loopVariable(i int) int {
	j := i + 1
	for r.punct(j, "(") || r.at(j).text == "const" || r.at(j).text == "let" || r.at(j).text == "var" {
		j++
	}
	if r.at(j).kind != tokenName || r.at(j+1).text != "in" && r.at(j+1).text != "of" {
		return i
	}
	v, n := r.expression(j + 2)
	item := unknownValue()
	switch {
	case v.isList && len(v.list) > 0:
		item = codeValue{alts: v.list}
	case v.known:
		item = v
	}
	r.vars[r.at(j).text] = item
	return n
}

func startsValue(t token) bool {
	switch t.kind {
	case tokenName, tokenString, tokenNumber:
		return true
	case tokenPunct:
		return t.text == "(" || t.text == "["
	}
	return false
}

// expression evaluates values joined by + or %.
func (r *codeReader) expression(i int) (codeValue, int) {
	v, n := r.postfix(i)
	for {
		switch {
		case r.punct(n, "+") || r.punct(n, "/") && (v.path || v.known):
			slash := r.punct(n, "/")
			w, k := r.postfix(n + 1)
			if k <= n+1 {
				return v, n + 1
			}
			v, n = plus(v, w, slash), k
		case r.punct(n, "%"):
			_, k := r.postfix(n + 1)
			if v.known {
				v = textValue(v.text.with(cutFormat(v.text.text)))
			}
			n = max(k, n+1)
		case r.at(n).kind == tokenString && v.known && !v.path && r.at(n-1).kind == tokenString:
			v = textValue(concat(v.text, word(r.at(n).text)))
			n++
		default:
			return v, n
		}
	}
}

func plus(a, b codeValue, slash bool) codeValue {
	switch {
	case a.isList && b.isList:
		return codeValue{isList: true, list: append(a.list[:len(a.list):len(a.list)], b.list...)}
	case a.isList:
		return codeValue{isList: true, list: append(a.list[:len(a.list):len(a.list)], unknownValue())}
	case slash:
		v := combine(a, b, joinPath)
		v.path = true
		return v
	}
	return combine(a, b, concat)
}

// combine applies f to all that a and b may be.
func combine(a, b codeValue, f func(a, b arg) arg) codeValue {
	var alts []codeValue
	for _, x := range a.texts() {
		for _, y := range b.texts() {
			if len(alts) < maxAlts {
				alts = append(alts, textValue(f(x, y)))
			}
		}
	}
	if len(a.texts())*len(b.texts()) > maxAlts {
		return unknownValue()
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return codeValue{alts: alts, known: true, text: unknownArg()}
}

// cutFormat makes holes of the conversions of a format.
func cutFormat(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	return s[:i] + holeText
}

func joinPath(a, b arg) arg {
	if b.hasPrefix("/") {
		return b
	}
	return concat(concat(arg{text: strings.TrimSuffix(a.text, "/"), taint: a.taint}, word("/")), b)
}

// postfix evaluates a value with what follows it: .name, (args), [index].
func (r *codeReader) postfix(i int) (codeValue, int) {
	if r.depth++; r.depth > maxCodeDepth || !r.c.s.spend(1) {
		r.depth--
		r.c.s.overBudget("code")
		return unknownValue(), len(r.tokens)
	}
	defer func() { r.depth-- }()
	for r.at(i).kind == tokenName && skipsName(r.at(i).text) || r.punct(i, "!") || r.punct(i, "-") {
		i++
	}
	v, n := r.primary(i)
	for n > i {
		switch {
		case r.punct(n, ".") || r.punct(n, "->") || r.punct(n, "::"):
			if r.at(n+1).kind != tokenName {
				return v, n + 1
			}
			v = r.attr(v, r.at(n+1).text)
			n += 2
		case r.punct(n, "?") && r.punct(n+1, "."):
			n++
		case r.punct(n, "("):
			args, named, k := r.arguments(n+1, ")")
			v = r.call(r, v, args, named)
			n = k
		case r.punct(n, "["):
			args, _, k := r.arguments(n+1, "]")
			v = r.index(v, args)
			n = k
		default:
			return v, n
		}
	}
	return v, n
}

func skipsName(name string) bool {
	switch name {
	case "await", "new", "return", "not", "const", "let", "var", "yield", "my":
		return true
	}
	return false
}

func (r *codeReader) index(v codeValue, args []codeValue) codeValue {
	if len(args) == 1 && (v.name == "os.environ" || v.name == "process.env" || v.name == "ENV") {
		return textValue(r.c.s.read(args[0].texts()[0].text))
	}
	if len(args) == 1 && args[0].known && v.name != "" {
		return codeValue{name: v.name + "." + args[0].text.text}
	}
	if v.isList && len(v.list) > 0 {
		return codeValue{alts: v.list}
	}
	return unknownValue()
}

func (r *codeReader) primary(i int) (codeValue, int) {
	t := r.at(i)
	switch {
	case t.kind == tokenString:
		v := textValue(word(t.text))
		return v, i + 1
	case t.kind == tokenNumber:
		return textValue(word(t.text)), i + 1
	case t.kind == tokenName:
		if strings.Trim(t.text, holes) == "" {
			return unknownValue(), i + 1
		}
		if v, ok := r.vars[t.text]; ok {
			return v, i + 1
		}
		return codeValue{name: t.text, text: unknownArg()}, i + 1
	case r.punct(i, "["):
		list, _, n := r.arguments(i+1, "]")
		return codeValue{isList: true, list: list}, n
	case r.punct(i, "("):
		list, _, n := r.arguments(i+1, ")")
		if len(list) == 1 {
			return list[0], n
		}
		return codeValue{isList: true, list: list}, n
	}
	return unknownValue(), i
}

// arguments evaluates a list up to its closing bracket and returns the token
// behind it.
func (r *codeReader) arguments(i int, end string) ([]codeValue, map[string]codeValue, int) {
	var list []codeValue
	named := map[string]codeValue{}
	for i < len(r.tokens) {
		switch {
		case r.punct(i, end):
			return list, named, i + 1
		case r.punct(i, ",") || r.at(i).kind == tokenLine:
			i++
			continue
		}
		if r.at(i).kind == tokenName && r.punct(i+1, "=") {
			v, n := r.expression(i + 2)
			named[r.at(i).text] = v
			i = max(n, i+2)
			continue
		}
		v, n := r.argument(i, named)
		if n <= i {
			n = i + 1
		} else {
			list = append(list, v)
		}
		i = r.skipRest(n, end)
	}
	return list, named, i
}

// argument evaluates one argument; {…} is an object, whose entries are named.
func (r *codeReader) argument(i int, named map[string]codeValue) (codeValue, int) {
	if !r.punct(i, "{") {
		return r.expression(i)
	}
	if r.depth++; r.depth > maxCodeDepth {
		r.depth--
		return unknownValue(), len(r.tokens)
	}
	defer func() { r.depth-- }()
	for i++; i < len(r.tokens) && !r.punct(i, "}"); {
		if (r.at(i).kind == tokenName || r.at(i).kind == tokenString) && r.punct(i+1, ":") {
			v, n := r.expression(i + 2)
			named[r.at(i).text] = v
			i = max(n, i+2)
			continue
		}
		if r.punct(i, "{") {
			_, n := r.argument(i, named)
			i = n
			continue
		}
		i = r.statement(i)
	}
	return unknownValue(), i + 1
}

// skipRest evaluates what is left of an argument, such as what follows an
// operator, up to the comma or bracket behind it.
func (r *codeReader) skipRest(i int, end string) int {
	for i < len(r.tokens) && !r.punct(i, ",") && !r.punct(i, end) {
		if r.punct(i, "{") {
			_, n := r.argument(i, map[string]codeValue{})
			i = n
			continue
		}
		i = r.statement(i)
	}
	return i
}
