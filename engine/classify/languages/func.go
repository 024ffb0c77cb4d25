package languages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// codeFunc is a function that the code itself defines.
type codeFunc struct {
	params     []string
	start, end int // its body
	tokens     []Token
	close      []int
	value      bool // the body is one expression: x => f(x)
	calls      int
	active     int // calls of it in progress
	returns    []codeValue
}

// maxCalls limits the calls of one function that are evaluated individually. One call
// with unknown arguments covers all further ones.
const maxCalls = 32

// maxRecursion limits nested calls of the same function.
const maxRecursion = 2

// definition records a named function, which is evaluated where it is called, and the name
// of a class.
func (r *codeReader) definition(i int) int {
	switch {
	case r.lang == "python" && r.named(i, "def") && r.at(i+1).Kind == TokenName && r.punct(i+2, "("):
		return r.pythonFunction(i)
	case r.lang == "python" && r.named(i, "class") && r.at(i+1).Kind == TokenName:
		r.vars["class"] = nameValue(r.at(i + 1).Text)
		return r.indented(i+2, r.at(i).indent, true)
	case r.braces() && (r.named(i, "function") || r.named(i, "sub")) && r.at(i+1).Kind == TokenName:
		if body := r.bodyBraces(i + 2); body > 0 {
			r.define(r.at(i+1).Text, r.parameters(i+2), body+1, r.close[body])
			return r.close[body] + 1
		}
	}
	return i
}

func (r *codeReader) braces() bool { return r.lang == "node" || r.lang == "php" || r.lang == "perl" }

// bodyBraces finds the opening brace of a function's body; the parameters, if any, start at
// i. It returns 0 if there is none.
func (r *codeReader) bodyBraces(i int) int {
	if r.punct(i, "(") {
		i = r.behind(i)
	}
	for ; i < len(r.tokens) && (r.at(i).Kind == tokenLine || r.at(i).Kind == TokenName || r.punct(i, ":") ||
		r.punct(i, "<") || r.punct(i, ">")); i++ {
	}
	if r.punct(i, "{") && r.close[i] > i {
		return i
	}
	return 0
}

// parameters returns the names in the brackets at i.
func (r *codeReader) parameters(i int) []string {
	var names []string
	if !r.punct(i, "(") {
		return nil
	}
	first := true
	for j := i + 1; j < r.close[i]; j = r.behind(j) {
		if first && r.at(j).Kind == TokenName {
			names, first = append(names, r.at(j).Text), false
		}
		first = first || r.punct(j, ",")
	}
	return names
}

func (r *codeReader) define(name string, params []string, start, end int) *codeFunc {
	f := &codeFunc{params: params, start: start, end: end, tokens: r.tokens, close: r.close}
	r.funcs[name] = f
	r.order = append(r.order, f)
	delete(r.vars, name)
	return f
}

// pythonFunction records def NAME(…): with its body, on the same line or indented.
func (r *codeReader) pythonFunction(i int) int {
	name, params := r.at(i+1).Text, r.parameters(i+2)
	start := r.behind(i + 2)
	for start < len(r.tokens) && !r.punct(start, ":") && r.at(start).Kind != tokenLine {
		start = r.behind(start)
	}
	end := r.indented(start+1, r.at(i).indent, false)
	method := len(params) > 0 && (params[0] == "self" || params[0] == "cls")
	if method {
		params = params[1:]
	}
	class, inClass := r.vars["class"]
	switch {
	case inClass && name == "__init__":
		name = class.name
	case method:
		name = "." + name
	}
	r.define(name, params, start+1, end)
	return end
}

// indented returns the end of the block that starts at i after a line with the
// given indentation; with head, only the end of its head, up to the colon.
func (r *codeReader) indented(i, indent int, head bool) int {
	for line := false; i < len(r.tokens); i = r.behind(i) {
		t := r.at(i)
		switch {
		case head && (r.punct(i, ":") || t.Kind == tokenLine):
			return i + 1
		case t.Kind == tokenLine:
			line = true
		case line && t.indent <= indent:
			return i
		}
	}
	return len(r.tokens)
}

// anonymous evaluates a function without a name at i: lambda x: …, x => …, function (x)
// {…}. The function is evaluated where it is called or passed on.
func (r *codeReader) anonymous(i int) (codeValue, int) {
	switch {
	case r.lang == "python" && r.named(i, "lambda"):
		return r.lambda(i)
	case r.lang == "node":
		return r.arrow(i)
	}
	return codeValue{}, i
}

// arrow handles JavaScript's x => …, (x, y) => … and function (x) {…}.
func (r *codeReader) arrow(i int) (codeValue, int) {
	head := i
	if r.named(i, "function") {
		for i++; r.at(i).Kind == TokenName || r.punct(i, "*"); i++ {
		}
		if body := r.bodyBraces(i); body > 0 && r.punct(i, "(") {
			return r.unnamed(r.parameters(i), body+1, r.close[body], false), r.close[body] + 1
		}
		return codeValue{}, head
	}
	params := []string{r.at(i).Text}
	if r.punct(i, "(") {
		params = r.parameters(i)
	} else if r.at(i).Kind != TokenName {
		return codeValue{}, head
	}
	i = r.behind(i)
	if r.lang != "node" || !r.punct(i, "=>") {
		return codeValue{}, head
	}
	if i++; r.punct(i, "{") && r.close[i] > i {
		return r.unnamed(params, i+1, r.close[i], false), r.close[i] + 1
	}
	end := r.expressionEnd(i)
	return r.unnamed(params, i, end, true), end
}

// unnamed defines a function without a name.
func (r *codeReader) unnamed(params []string, start, end int, value bool) codeValue {
	name := "function " + strconv.Itoa(len(r.order))
	r.define(name, params, start, end).value = value
	return nameValue(name)
}

// expressionEnd returns the latest possible end of an expression.
func (r *codeReader) expressionEnd(i int) int {
	for ; i < len(r.tokens); i = r.behind(i) {
		switch t := r.at(i); {
		case t.Kind == tokenLine && r.inside == 0 && r.overLines(i) == i:
			return i
		case t.Kind == tokenPunct && (t.Text == "," || t.Text == ";" || t.Text == ")" || t.Text == "]" || t.Text == "}"):
			return i
		}
	}
	return len(r.tokens)
}

// lambda handles Python's lambda, whose body follows the colon.
func (r *codeReader) lambda(i int) (codeValue, int) {
	var params []string
	j := i + 1
	for ; j < len(r.tokens) && !r.punct(j, ":"); j = r.behind(j) {
		if r.at(j).Kind == TokenName {
			params = append(params, r.at(j).Text)
		}
	}
	end := r.expressionEnd(j + 1)
	return r.unnamed(params, j+1, end, true), end
}

// handsElements reports whether a method calls its argument with the elements of its
// object.
func handsElements(name string) bool {
	return slices.Contains([]string{".forEach", ".map", ".filter", ".each", ".flatMap", ".some", ".every", ".each_with_index",
		".find"}, name)
}

// receiver returns the value whose method a value is.
func (v codeValue) receiver() codeValue {
	v.name = ""
	return v
}

// invoke calls a value: a function of the code itself, or a known one.
func (r *codeReader) invoke(fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	if sleepCall(fn.name, args) {
		r.c.Shell.Out.Waits = true
	}
	if f, ok := r.funcs[fn.name]; ok {
		out := r.enter(f, args, named)
		if fn.name[0] == '.' {
			r.call(r, fn, args, named) // it may also be a method of another object
		}
		return out
	}
	if fn.name == "" && len(fn.alts) > 0 {
		for _, f := range fn.alts {
			r.invoke(f, args, named)
		}
		return unknownValue()
	}
	out := r.mutated(fn, args)
	if out == nil {
		v := r.call(r, fn, args, named)
		out = &v
		for _, module := range r.stars {
			if v.empty() && !strings.Contains(fn.name, ".") {
				*out = r.call(r, nameValue(module+"."+fn.name), args, named)
			}
		}
		r.handedOver(fn, args, named)
	}
	if out.empty() && out.origin == "" {
		out.origin = fn.origin
		if fn.name != "" && fn.name[0] != '.' {
			out.origin = fn.name
		}
		if fn.origin != "" && !out.text.Known() {
			out.text = abstract.UnknownArg()
		}
	}
	return *out
}

// mutated changes the list in a variable: cmd.append(x), cmd.push(x).
func (r *codeReader) mutated(fn codeValue, args []codeValue) *codeValue {
	list, ok := r.vars[fn.from]
	if !ok || !list.isList || fn.from == "" {
		return nil
	}
	switch fn.name {
	case ".append", ".push", ".add":
		list = listValue(append(list.list[:len(list.list):len(list.list)], args...))
	case ".extend":
		list = plus(list, argAt(args, 0), false)
	case ".insert", ".unshift":
		list = listValue(append(args[max(0, len(args)-1):len(args):len(args)], list.list...))
	default:
		return nil
	}
	r.c.Shell.Spend(list.size())
	r.vars[fn.from] = list
	return &list
}

// handedOver calls functions that are arguments, with the arguments after them or with the
// elements of the object.
func (r *codeReader) handedOver(fn codeValue, args []codeValue, named map[string]codeValue) {
	for i, a := range args {
		if a.name == "" || a.known || !r.callable(a.name) {
			continue
		}
		var with []codeValue
		others := slices.Concat(args[:i], args[i+1:])
		if i+1 < len(args) {
			others = args[i+1:] // enter(0, 1, os.system, ("x",))
		}
		for _, other := range others {
			with = append(with, other.element())
		}
		if len(with) == 0 && handsElements(fn.name) {
			with = []codeValue{fn.receiver().element()}
		}
		r.invoke(a, with, nil)
	}
	for _, key := range []string{"target", "func", "callback"} {
		if f, ok := named[key]; ok && f.name != "" && r.callable(f.name) {
			r.invoke(f, named["args"].list, nil)
		}
	}
}

// callable reports whether a name may be that of a function, of the code or of a module.
func (r *codeReader) callable(name string) bool {
	_, own := r.funcs[name]
	return own || strings.Contains(name, ".")
}

// enter evaluates the body of a function with its parameters set.
func (r *codeReader) enter(f *codeFunc, args []codeValue, named map[string]codeValue) codeValue {
	defer func() { r.depth-- }()
	if !r.deeper() || f.active > maxRecursion || f.calls > maxCalls {
		return unknownValue()
	}
	if f.calls++; f.calls > maxCalls || f.active == maxRecursion {
		args, named = nil, nil
	}
	saved := map[string]codeValue{}
	for i, p := range f.params {
		if old, ok := r.vars[p]; ok {
			saved[p] = old
		}
		v, ok := named[p]
		if !ok {
			v = argAt(args, i)
		}
		r.vars[p] = v
	}
	out := r.body(f)
	for _, p := range f.params {
		delete(r.vars, p)
	}
	for p, v := range saved {
		r.vars[p] = v
	}
	return out
}

func (r *codeReader) body(f *codeFunc) codeValue {
	tokens, closing, inside, current := r.tokens, r.close, r.inside, r.current
	r.tokens, r.close, r.inside, r.current = f.tokens, f.close, 0, f
	f.active++
	f.returns = nil
	defer func() {
		f.active--
		r.tokens, r.close, r.inside, r.current = tokens, closing, inside, current
	}()
	if f.value {
		r.inside = 1
		v, _ := r.expression(f.start)
		return v
	}
	r.run(f.start, f.end)
	if len(f.returns) == 0 {
		return unknownValue()
	}
	out := f.returns[0]
	for _, v := range f.returns[1:] {
		out = either(out, v)
	}
	return out
}

// returning records what a function returns.
func (r *codeReader) returning(i int) int {
	if r.current == nil || !r.named(i, "return") || r.at(i+1).Kind == tokenLine {
		return i
	}
	v, n := r.values(i+1, true)
	r.current.returns = append(r.current.returns, v)
	return max(n, i+1)
}
