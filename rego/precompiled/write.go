package precompiled

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Write writes the modules that were compiled from sources (file -> text). The same modules give
// the same bytes.
func Write(p Policy, sources map[string]string) ([]byte, error) {
	w := &writer{known: map[string]int{}, sources: sources}
	var modules [][]byte
	for _, name := range slices.Sorted(maps.Keys(p.Modules)) {
		m := &moduleWriter{writer: w, source: sources[name]}
		if m.module(name, p.Modules[name]); w.err != nil {
			return nil, fmt.Errorf("%s: %w", name, w.err)
		}
		var head out
		for _, n := range m.sizes.all() {
			head.number(*n)
		}
		modules = append(modules, slices.Concat(head.buf, m.buf))
	}
	var rewritten out
	rewritten.number(len(p.Rewritten))
	for _, v := range slices.Sorted(maps.Keys(p.Rewritten)) {
		rewritten.number(w.constant(v))
		rewritten.number(w.constant(p.Rewritten[v]))
	}
	sum := Sum(sources)
	all := out{buf: sum[:]}
	all.number(w.count)
	all.buf = append(all.buf, w.constants.buf...)
	all.buf = append(all.buf, rewritten.buf...)
	all.number(len(modules))
	for _, m := range modules {
		all.number(len(m))
		all.buf = append(all.buf, m...)
	}
	return all.buf, nil
}

// out is a growing text of numbers and strings.
type out struct{ buf []byte }

func (o *out) number(n int) { o.buf = binary.AppendUvarint(o.buf, uint64(n)) }

func (o *out) text(s string) {
	o.number(len(s))
	o.buf = append(o.buf, s...)
}

// writer collects the constants of all modules: each is written once.
type writer struct {
	constants out
	sources   map[string]string
	known     map[string]int // kind and text -> number
	count     int
	err       error
}

func (w *writer) fail(what any) {
	if w.err == nil {
		w.err = fmt.Errorf("cannot write %T %v", what, what)
	}
}

// constant returns the number of a constant.
func (w *writer) constant(v ast.Value) int {
	var o out
	switch v := v.(type) {
	case ast.Null:
		o.number(nullConstant)
	case ast.Boolean:
		o.number(falseConstant)
		if v {
			o.buf[0] = trueConstant
		}
	case ast.Number:
		o.number(numberConstant)
		o.text(string(v))
	case ast.String:
		o.number(stringConstant)
		o.text(string(v))
	case ast.Var:
		o.number(varConstant)
		o.text(string(v))
	default:
		w.fail(v)
	}
	n, there := w.known[string(o.buf)]
	if !there {
		n, w.count = w.count, w.count+1
		w.known[string(o.buf)] = n
		w.constants.buf = append(w.constants.buf, o.buf...)
	}
	return n
}

// moduleWriter writes one module.
type moduleWriter struct {
	*writer
	out
	source string
	sizes  counts
}

func (w *moduleWriter) module(name string, m *ast.Module) {
	w.number(w.constant(ast.String(name)))
	w.terms(m.Package.Path)
	w.location(m.Package.Location)
	w.number(len(m.Rules))
	for _, r := range m.Rules {
		w.number(w.constant(ast.String(r.Location.File)))
		w.source = w.sources[r.Location.File]
		w.rule(r)
	}
	if len(m.Imports) > 0 {
		w.fail(m.Imports[0])
	}
}

func (w *moduleWriter) rule(r *ast.Rule) {
	w.sizes.rules++
	w.bits(r.Default, r.Else != nil, r.Head.Assign)
	w.location(r.Location)
	w.head(r.Head)
	w.body(r.Body)
	if r.Else != nil {
		w.rule(r.Else)
	}
}

func (w *moduleWriter) head(h *ast.Head) {
	w.location(h.Location)
	w.number(w.constant(h.Name))
	w.terms(h.Reference)
	w.terms(h.Args)
	w.term(h.Key)
	w.term(h.Value)
}

func (w *moduleWriter) body(b ast.Body) {
	w.number(len(b))
	w.sizes.exprPointers += len(b)
	for _, e := range b {
		w.expr(e)
	}
}

func (w *moduleWriter) expr(e *ast.Expr) {
	w.sizes.exprs++
	w.bits(e.Negated, e.Generated)
	w.number(e.Index)
	w.location(e.Location)
	switch t := e.Terms.(type) {
	case *ast.Term:
		w.number(oneTerm)
		w.term(t)
	case []*ast.Term:
		w.number(severalTerms)
		w.terms(t)
	case *ast.Every:
		w.number(everyTerm)
		w.every(t)
	default:
		w.fail(t)
	}
	w.number(len(e.With))
	for _, with := range e.With {
		w.location(with.Location)
		w.term(with.Target)
		w.term(with.Value)
	}
}

// every also writes the place of the domain: errors name it.
func (w *moduleWriter) every(e *ast.Every) {
	w.location(e.Location)
	w.term(e.Key)
	w.term(e.Value)
	w.term(e.Domain)
	w.location(e.Domain.Location)
	w.body(e.Body)
}

func (w *moduleWriter) terms(list []*ast.Term) {
	w.number(len(list))
	w.sizes.pointers += len(list)
	for _, t := range list {
		w.term(t)
	}
}

func (w *moduleWriter) term(t *ast.Term) {
	if t == nil {
		w.kind(absent)
		return
	}
	w.sizes.terms++
	switch v := t.Value.(type) {
	case ast.Ref:
		w.kind(reference)
		w.terms(v)
	case ast.Call:
		w.kind(call)
		w.terms(v)
	case *ast.Array:
		w.kind(array)
		w.collection(v.Len(), v.Foreach)
	case ast.Set:
		w.kind(set)
		w.collection(v.Len(), v.Foreach)
	case ast.Object:
		w.kind(object)
		w.object(v)
	default:
		w.comprehension(v)
	}
}

func (w *moduleWriter) collection(n int, foreach func(func(*ast.Term))) {
	w.number(n)
	w.sizes.pointers += n
	foreach(w.term)
}

func (w *moduleWriter) object(o ast.Object) {
	w.number(o.Len())
	o.Foreach(func(k, v *ast.Term) {
		w.term(k)
		w.term(v)
	})
}

// comprehension writes a comprehension or a constant. Errors name the place of the key of an
// object.
func (w *moduleWriter) comprehension(v ast.Value) {
	switch v := v.(type) {
	case *ast.ArrayComprehension:
		w.kind(arrayOf)
		w.term(v.Term)
		w.body(v.Body)
	case *ast.SetComprehension:
		w.kind(setOf)
		w.term(v.Term)
		w.body(v.Body)
	case *ast.ObjectComprehension:
		w.kind(objectOf)
		w.term(v.Key)
		w.location(v.Key.Location)
		w.term(v.Value)
		w.body(v.Body)
	default:
		w.kind(constant)
		w.number(w.constant(v))
	}
}

// location writes a place and its text, which is in the source in all places but a few: OPA writes
// the text of some expressions.
func (w *moduleWriter) location(l *ast.Location) {
	if l == nil {
		w.number(0)
		return
	}
	w.sizes.locations++
	w.number(l.Row)
	w.number(l.Col)
	w.number(l.Offset)
	if end := l.Offset + len(l.Text); end <= len(w.source) && string(l.Text) == w.source[l.Offset:end] {
		w.number(len(l.Text) << 1)
		return
	}
	w.number(w.constant(ast.String(l.Text))<<1 | ownText)
}

func (w *moduleWriter) kind(k kind) { w.buf = append(w.buf, byte(k)) }

func (w *moduleWriter) bits(set ...bool) {
	n := 0
	for i, is := range set {
		if is {
			n |= 1 << i
		}
	}
	w.number(n)
}
