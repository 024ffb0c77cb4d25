package rego

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// walker follows values through the compiled rules: from input and data through
// variables, arguments of functions and what rules return, to where a field is
// taken from them or they are compared with a word.
type walker struct {
	*checker
	input  *shape
	data   *shape
	rules  map[string]*defined // data/x/y -> what is defined there
	inTree map[string]bool     // every path of a package or rule, and those above
	report bool                // the last round, in which problems are reported
	silent bool                // in a test, whose values are arbitrary
	env    map[ast.Var]*shape
	rows   map[string]row // of all layers

	replaced map[string]bool // paths of rules that an expression evaluates with another value
}

// defined is what is known about all rules with one path.
type defined struct {
	rules  []*ast.Rule
	value  *shape
	params []*shape
}

// maxPasses bounds the rounds until nothing new is found. Calls nest less deep.
const maxPasses = 20

// walk visits all rules until nothing new is learnt about any, and then reports
// problems.
func (c *checker) walk(compiled *ast.Compiler) {
	w := &walker{checker: c, input: shapeOfSchema(c.schema), data: shapeOfData(c.Data, []string{}), rules: map[string]*defined{},
		rows: c.catalogue()}
	w.collect(compiled)
	for range maxPasses {
		if !w.pass(compiled) {
			w.report = true
			break
		}
	}
	w.pass(compiled)
}

func (w *walker) collect(compiled *ast.Compiler) {
	w.inTree, w.replaced = map[string]bool{}, map[string]bool{}
	for _, m := range compiled.Modules {
		ast.WalkWiths(m, func(with *ast.With) bool {
			if ref, ok := with.Target.Value.(ast.Ref); ok {
				w.replaced[slashed(ref)] = true
			}
			return false
		})
		for _, r := range m.Rules {
			path := pathOf(r)
			d := w.rules[path]
			if d == nil {
				d = &defined{value: nothingYet()}
				w.rules[path] = d
			}
			d.rules = append(d.rules, r)
			for len(d.params) < len(r.Head.Args) {
				d.params = append(d.params, nothingYet())
			}
		}
	}
	for path := range w.known {
		w.inTree[path] = true
	}
}

// pass visits each rule once, and reports whether anything new was found.
func (w *walker) pass(compiled *ast.Compiler) bool {
	changed := false
	for _, name := range slices.Sorted(maps.Keys(compiled.Modules)) {
		w.silent = isTestFile(name)
		for _, r := range compiled.Modules[name].Rules {
			if name := last(pathOf(r)); w.report && w.silent && strings.HasSuffix(name, "_test") && !strings.HasPrefix(name, "_") {
				w.remark(r.Location, "rego.test_name", "%s never runs: the name of a test begins with test_; write test_%s", name,
					strings.TrimSuffix(name, "_test"))
			}
			changed = w.rule(r) || changed
		}
	}
	return changed
}

func (w *walker) rule(r *ast.Rule) bool {
	d := w.rules[pathOf(r)]
	before := append(slices.Clone(d.params), d.value)
	for at := r; at != nil; at = at.Else {
		w.env = map[ast.Var]*shape{}
		for i, arg := range at.Head.Args {
			if v, ok := arg.Value.(ast.Var); ok {
				w.env[v] = d.params[i]
			}
		}
		w.body(at.Body)
		if w.report && !w.silent {
			w.cannotHold(at)
		}
		value := w.headOf(at)
		if w.replaced[pathOf(r)] && value != nil && value.kind == object && len(value.fields) == 0 {
			value = &shape{kind: object, open: true} // {}, for tests to replace
		}
		d.value = either(d.value, value)
	}
	return !slices.EqualFunc(before, append(slices.Clone(d.params), d.value), same)
}

// headOf returns the contribution of a rule to the value that it defines.
func (w *walker) headOf(r *ast.Rule) *shape {
	value := w.term(r.Head.Value)
	if r.Head.RuleKind() == ast.MultiValue {
		member := w.term(r.Head.Key)
		w.noObject(r, member)
		return &shape{kind: array, items: member}
	}
	path := strings.Count(pathOf(r), "/") + 1
	if n := len(r.Module.Package.Path) + len(r.Head.Ref()) - path; n > 0 {
		for range n {
			value = &shape{kind: object, open: true, rest: value}
		}
	}
	return value
}

// noObject reports a member of findings or exceptions that is none of what the policy reads.
func (w *walker) noObject(r *ast.Rule, is *shape) {
	layer, _, _ := strings.Cut(r.Location.File, "/")
	form := map[string]string{findingsName: `{"id": %s}`, exceptionsName: `{"rule": %s, "reason": "…"}`}[last(pathOf(r))]
	if !w.report || w.silent || form == "" || above(pathOf(r)) != slashedRoot(layer) || is == nil || is.kind == object || is.kind == never {
		return
	}
	name := `"…"`
	if _, isText := r.Head.Key.Value.(ast.String); isText {
		name = r.Head.Key.String()
	}
	w.wrong(r.Head.Key.Location, "rego.type", "each of the %s is an object: write "+form, last(pathOf(r)), name)
}

func (w *walker) body(b ast.Body) {
	report := w.report
	w.report = false
	w.exprs(b) // a name may be used above where it gets its value
	if w.report = report; report {
		w.exprs(b)
	}
}

func (w *walker) exprs(b ast.Body) {
	for _, e := range b {
		w.expr(e)
	}
}

func (w *walker) expr(e *ast.Expr) {
	for _, with := range e.With {
		if ref, ok := with.Target.Value.(ast.Ref); ok && ref.HasPrefix(ast.InputRootRef) {
			w.term(with.Target)
		}
		w.term(with.Value)
	}
	switch t := e.Terms.(type) {
	case *ast.Term:
		w.term(t)
		w.condition(e, t)
	case []*ast.Term:
		w.call(t[0], t[1:])
		w.condition(e, nil)
	case *ast.Every:
		w.every(t)
	}
}

func (w *walker) every(e *ast.Every) {
	domain := w.term(e.Domain)
	w.scoped(func() {
		if v, ok := e.Value.Value.(ast.Var); ok {
			w.env[v] = domain.each()
		}
		w.body(e.Body)
	})
}

// scoped runs fn with a copy of what is known about the variables.
func (w *walker) scoped(fn func()) {
	outer := w.env
	w.env = maps.Clone(outer)
	fn()
	w.env = outer
}

// call visits a call: an operator, a built-in, or a function of the policy.
func (w *walker) call(op *ast.Term, args []*ast.Term) *shape {
	known := make([]*shape, len(args))
	for i, a := range args {
		known[i] = w.term(a)
	}
	ref, _ := op.Value.(ast.Ref)
	name := ref.String()
	switch {
	case (name == "eq" || name == "neq" || name == "equal" || name == "assign") && len(args) == 2:
		w.compare(args[0], known[0], args[1], known[1])
		if name != "neq" {
			w.bind(args[0], known[1])
			w.bind(args[1], known[0])
		}
	case name == "internal.member_2" && len(args) >= 2:
		w.member(args[0], known[0], args[1], known[1])
	case name == "internal.member_3" && len(args) >= 3:
		w.bind(args[1], known[2].each())
		w.hasKey(args[0], known[2])
	case name == "object.get" && len(args) >= 3:
		out := either(w.get(known[0], args[1]), known[2])
		if len(args) == 4 {
			w.bind(args[3], out)
		}
		return out
	case ref.HasPrefix(ast.DefaultRootRef):
		return w.function(ref, args, known)
	default:
		return w.builtin(name, args, known)
	}
	return &shape{kind: other}
}

// builtin returns the shape for built-ins that return their argument.
func (w *walker) builtin(name string, args []*ast.Term, known []*shape) *shape {
	if w.report && !w.silent {
		w.texts(name, args, known)
	}
	var out *shape
	switch name {
	case "sort", "array.reverse", "array.slice", "minus":
		out = known[0]
	case "or", "and", "array.concat", "union":
		if len(known) > 1 {
			out = either(known[0], known[1])
		}
	case "min", "max":
		out = known[0].each()
	case "concat", "sprintf":
		out = &shape{kind: text}
	case "count", "sum", "plus", "mul", "div", "rem", "round", "abs", "to_number":
		out = &shape{kind: number}
	}
	if b := ast.BuiltinMap[name]; b != nil && len(args) == b.Decl.Arity()+1 {
		w.bind(args[len(args)-1], out)
	}
	return out
}

// function records the arguments of a function of the policy. Calls in tests do not
// count.
func (w *walker) function(ref ast.Ref, args []*ast.Term, known []*shape) *shape {
	d := w.rules[slashed(ref)]
	if d == nil {
		return nil
	}
	for i := range min(len(d.params), len(args)) {
		if !w.silent {
			d.params[i] = either(d.params[i], known[i])
		}
	}
	if len(args) > len(d.params) {
		w.bind(args[len(args)-1], d.value)
	}
	return d.value
}

// bind records the shape of a new variable.
func (w *walker) bind(t *ast.Term, is *shape) {
	switch v := t.Value.(type) {
	case ast.Var:
		if w.env[v] == nil && is != nil {
			w.env[v] = is
		}
	case *ast.Array:
		v.Foreach(func(item *ast.Term) {
			if is != nil && is.kind == array {
				w.bind(item, is.items)
			}
		})
	}
}

// term returns the shape of a term, and visits all its parts.
func (w *walker) term(t *ast.Term) *shape {
	if t == nil {
		return nil
	}
	switch v := t.Value.(type) {
	case ast.Var:
		return w.env[v]
	case ast.Ref:
		w.mayLack(t)
		return w.ref(v)
	case ast.String:
		if c := engine.ControlIn(string(v)); c != "" && w.report && t.Location != nil {
			w.remark(t.Location, "text.control", engine.ControlMessage, c, "the expression in backquotes")
		}
		return &shape{kind: text, words: []string{string(v)}}
	case ast.Number:
		return &shape{kind: number}
	case ast.Boolean:
		return &shape{kind: other}
	case ast.Object:
		return w.literalObject(v)
	case *ast.Array:
		return w.literalList(v.Foreach)
	case ast.Set:
		return w.literalList(v.Foreach)
	case ast.Call:
		return w.call(v[0], v[1:])
	}
	return w.comprehension(t)
}

func (w *walker) comprehension(t *ast.Term) (out *shape) {
	w.scoped(func() {
		switch v := t.Value.(type) {
		case *ast.ArrayComprehension:
			w.body(v.Body)
			out = &shape{kind: array, items: w.term(v.Term)}
		case *ast.SetComprehension:
			w.body(v.Body)
			out = &shape{kind: array, items: w.term(v.Term)}
		case *ast.ObjectComprehension:
			w.body(v.Body)
			w.term(v.Key)
			out = &shape{kind: object, open: true, rest: w.term(v.Value)}
		}
	})
	return out
}

func (w *walker) literalObject(o ast.Object) *shape {
	out := &shape{kind: object, fields: map[string]*shape{}}
	o.Foreach(func(k, v *ast.Term) {
		is := w.term(v)
		if key, ok := k.Value.(ast.String); ok {
			out.fields[string(key)] = is
			return
		}
		w.term(k)
		if out.open {
			is = either(out.rest, is)
		}
		out.open, out.rest = true, is
	})
	return out
}

func (w *walker) literalList(each func(func(*ast.Term))) *shape {
	items := nothingYet()
	each(func(t *ast.Term) { items = either(items, w.term(t)) })
	return &shape{kind: array, items: items}
}

// ref follows a reference as far as its shape is known.
func (w *walker) ref(ref ast.Ref) *shape {
	head, _ := ref[0].Value.(ast.Var)
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		return w.follow(w.input, ref[1:])
	case ref[0].Equal(ast.DefaultRootDocument):
		return w.document(ref)
	case head != "":
		return w.follow(w.env[head], ref[1:])
	}
	w.follow(w.term(ref[0]), ref[1:])
	return nil
}

// document follows a reference into data: to a rule, or into the data document.
func (w *walker) document(ref ast.Ref) *shape {
	path, at := "data", w.data
	for i, t := range ref[1:] {
		key, fixed := t.Value.(ast.String)
		if !fixed {
			if w.inTree[path] && len(w.below(path)) > 0 && at == nil {
				return w.rest(ref[i+1:])
			}
			return w.follow(at, ref[i+1:])
		}
		path += "/" + string(key)
		if d := w.rules[path]; d != nil {
			return named(w.follow(d.value, ref[i+2:]), path)
		}
		next, there := at.field(string(key))
		if !there && w.missing(path) {
			w.absent(t, at, path)
			return w.rest(ref[i+2:])
		}
		at = next
	}
	return at
}

// named adds a rule's name to its values, for messages.
func named(s *shape, path string) *shape {
	if s == nil || s.words == nil || s.name != "" {
		return s
	}
	out := *s
	out.name = strings.ReplaceAll(strings.TrimPrefix(path, "data/"), "/", ".")
	return &out
}

func (s *shape) field(key string) (*shape, bool) {
	if s == nil || s.kind != object {
		return nil, false
	}
	f, there := s.fields[key]
	return f, there
}

// absent reports that a path of data does not exist, unless it may.
func (w *walker) absent(t *ast.Term, at *shape, path string) {
	keys := strings.Split(path, "/")[1:]
	if at == nil && w.inTree[above(path)] && !w.MayContain(keys[:len(keys)-1]) || !w.MayContain(keys) {
		w.noSuch(t, dotted(strings.ReplaceAll(above(path), "/", ".")+"."), w.below(above(path)))
	}
}

// rest visits the indexes of a reference with an unknown shape.
func (w *walker) rest(terms []*ast.Term) *shape {
	for _, t := range terms {
		if _, isVar := t.Value.(ast.Var); !isVar {
			w.term(t)
		}
	}
	return nil
}

// follow takes one step of a reference after the other.
func (w *walker) follow(s *shape, steps []*ast.Term) *shape {
	for i, t := range steps {
		if s == nil || s.kind == never {
			return w.rest(steps[i:])
		}
		s = w.step(s, t)
	}
	return s
}

func (w *walker) step(s *shape, t *ast.Term) *shape {
	key, fixed := t.Value.(ast.String)
	switch {
	case !fixed:
		w.term(t)
		if v, isVar := t.Value.(ast.Var); isVar {
			w.bindKey(v, s)
		}
		return s.each()
	case s.kind == array:
		w.compare(t, &shape{kind: text, words: []string{string(key)}}, t, s.items) // the member of a set
		return s.items
	case s.kind != object:
		return nil // the type checker reports it
	}
	f, there := s.fields[string(key)]
	if !there && s.open {
		return s.rest
	}
	if !there {
		w.noField(s, t, string(key))
	}
	return f
}

// bindKey records the keys of an object with fixed keys.
func (w *walker) bindKey(v ast.Var, s *shape) {
	if s.kind == object && !s.open && s.data == nil && w.env[v] == nil {
		w.env[v] = &shape{kind: text, words: slices.Sorted(maps.Keys(s.fields)), name: s.name}
	}
}

// get follows object.get, whose path is a key or a list of them.
func (w *walker) get(s *shape, path *ast.Term) *shape {
	steps := []*ast.Term{path}
	if list, ok := path.Value.(*ast.Array); ok {
		steps = nil
		list.Foreach(func(t *ast.Term) { steps = append(steps, t) })
	}
	return w.follow(s, steps)
}

func (w *walker) hasKey(key *ast.Term, s *shape) {
	if _, fixed := key.Value.(ast.String); fixed && s != nil && s.kind == object {
		w.step(s, key)
	}
}

func (w *walker) noField(s *shape, t *ast.Term, key string) {
	if s.data != nil {
		path := append(slices.Clone(s.data), key)
		if w.missing("data/"+strings.Join(path, "/")) && !w.MayContain(path) {
			w.noSuch(t, strings.Join(s.data, ".")+".", slices.Sorted(maps.Keys(s.fields)))
		}
		return
	}
	of := ""
	if s.name != "" {
		of = s.name + "."
	}
	w.noSuch(t, of, slices.Sorted(maps.Keys(s.fields)))
}

// noSuch reports an unknown name.
func (w *walker) noSuch(t *ast.Term, of string, known []string) {
	if !w.report || w.silent || t.Location == nil {
		return
	}
	key, _ := t.Value.(ast.String)
	code := "rego.field"
	if strings.HasPrefix(of, "reviewer") || strings.HasPrefix(of, "policies") {
		code = "rego.data"
	}
	p := w.wrong(t.Location, code, "unknown name %s%s", strings.TrimPrefix(of, "data."), string(key))
	p.ExpectOneOf(string(key), known)
	p.Found = ""
}

// compare refuses a word that a value can never be.
func (w *walker) compare(a *ast.Term, known *shape, b *ast.Term, other *shape) {
	w.word(a, other)
	w.word(b, known)
}

// formed refuses a value of another form than all values of a field have.
func (w *walker) formed(t *ast.Term, word string, of *shape) {
	if of.form == nil || of.form.Fits(word) || !w.report || w.silent || t.Location == nil {
		return
	}
	p := w.wrong(t.Location, "rego.word", "%q is never a value of %s, since %s", word, of.name, of.form.Says)
	if of.form.Advice != nil {
		p.Suggestion = of.form.Advice(word)
	}
}

func (w *walker) word(t *ast.Term, of *shape) {
	word, ok := t.Value.(ast.String)
	if ok && of != nil {
		w.formed(t, string(word), of)
	}
	if !ok || !w.report || w.silent || of == nil || of.kind != text || of.words == nil || slices.Contains(of.words, string(word)) ||
		t.Location == nil {
		return
	}
	if slices.Contains(w.Broken, string(word)) {
		return
	}
	if of.name == "" && len(of.words) == 1 && of.words[0] == string(word) {
		return
	}
	if id := string(word); of.name == "findings" && w.rows[id].layer != "" {
		w.wrong(t.Location, "rego.word", "rule %s is never among the findings: its row has no match, when or measure", id)
		return
	}
	name := cmp.Or(of.name, "what it is compared with")
	p := w.wrong(t.Location, "rego.word", "%q is not a value of %s", string(word), name)
	p.ExpectOneOf(string(word), of.words)
	p.Found = ""
}

// member checks `x in list`.
func (w *walker) member(x *ast.Term, is *shape, list *ast.Term, of *shape) {
	if of != nil && of.kind == array {
		w.word(x, of.items)
		w.bind(x, of.items)
	}
	if of != nil && of.kind == object {
		w.bind(x, of.each())
	}
	each := func(t *ast.Term) { w.word(t, is) }
	switch l := list.Value.(type) {
	case ast.Set:
		l.Foreach(each)
	case *ast.Array:
		l.Foreach(each)
	}
}
