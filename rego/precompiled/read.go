package precompiled

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ErrOther means that the bytes were written for other sources, or by another version.
var ErrOther = errors.New("the compiled modules are those of other sources")

// Read reads what Write wrote for sources, all modules at the same time.
func Read(raw []byte, sources map[string]string) (p Policy, err error) {
	defer damaged(&err)
	if sum := Sum(sources); len(raw) < SumSize || sum != [SumSize]byte(raw) {
		return p, ErrOther
	}
	in := &in{raw: raw[SumSize:]}
	constants := in.constants()
	p.Rewritten = make(map[ast.Var]ast.Var)
	for range in.number() {
		from, to := constants[in.number()], constants[in.number()]
		p.Rewritten[from.(ast.Var)] = to.(ast.Var)
	}
	modules := make([]moduleReader, in.number())
	errs := make([]error, len(modules))
	var all sync.WaitGroup
	for i := range modules {
		modules[i].raw, modules[i].consts = in.take(in.number()), constants
		all.Go(func() { errs[i] = modules[i].read(sources) })
	}
	all.Wait()
	p.Modules = make(map[string]*ast.Module, len(modules))
	for _, m := range modules {
		p.Modules[m.name] = m.module
	}
	return p, errors.Join(append(errs, in.err)...)
}

// damaged makes an error of reading beyond the end.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the compiled modules are damaged: %v", p)
	}
}

// in reads numbers and strings.
type in struct {
	raw []byte
	err error // the first error: something that Write never writes
}

func (r *in) unknown(what string, n int) {
	if r.err == nil {
		r.err = fmt.Errorf("the compiled modules are damaged: unknown %s %d", what, n)
	}
}

func (r *in) number() int {
	if r.raw[0] < 0x80 { // most are small
		n := r.raw[0]
		r.raw = r.raw[1:]
		return int(n)
	}
	n, size := binary.Uvarint(r.raw)
	if size <= 0 {
		r.unknown("number", int(r.raw[0]))
	}
	r.raw = r.raw[max(size, 1):]
	return int(n)
}

func (r *in) take(n int) []byte {
	part := r.raw[:n:n]
	r.raw = r.raw[n:]
	return part
}

// constants reads the values that all modules share.
func (r *in) constants() []ast.Value {
	list := make([]ast.Value, r.number())
	for i := range list {
		list[i] = r.constant()
	}
	return list
}

func (r *in) constant() ast.Value {
	switch k := r.number(); k {
	case nullConstant:
		return ast.NullValue
	case trueConstant, falseConstant:
		return ast.InternedTerm(k == trueConstant).Value
	case numberConstant:
		return ast.Number(json.Number(r.take(r.number())))
	case stringConstant:
		return ast.String(r.take(r.number()))
	case varConstant:
		return ast.Var(r.take(r.number()))
	default:
		r.unknown("constant", k)
		return ast.NullValue
	}
}

// moduleReader reads one module. Objects that occur many times are allocated together.
type moduleReader struct {
	in
	consts []ast.Value
	module *ast.Module
	name   string
	file   string // of the rule that is read: a compiled module can have rules of other files
	source []byte // of this file

	newTerms     []ast.Term
	pointers     []*ast.Term
	newExprs     []ast.Expr
	exprPointers []*ast.Expr
	locations    []ast.Location
	rules        []ast.Rule
}

func (r *moduleReader) read(sources map[string]string) (err error) {
	defer damaged(&err)
	var c counts
	for _, n := range c.all() {
		*n = r.number()
	}
	r.newTerms, r.pointers = make([]ast.Term, c.terms), make([]*ast.Term, c.pointers)
	r.newExprs, r.exprPointers = make([]ast.Expr, c.exprs), make([]*ast.Expr, c.exprPointers)
	r.locations, r.rules = make([]ast.Location, c.locations), make([]ast.Rule, c.rules)
	r.name = string(r.consts[r.number()].(ast.String))
	r.file, r.source = r.name, []byte(sources[r.name])
	r.module = &ast.Module{Package: &ast.Package{Path: r.terms(), Location: r.location()}}
	r.module.SetRegoVersionSpan(ast.RegoVersionSpanOf(ast.RegoV1))
	r.module.Rules = make([]*ast.Rule, r.number())
	for i := range r.module.Rules {
		if file := string(r.consts[r.number()].(ast.String)); file != r.file {
			r.file, r.source = file, []byte(sources[file])
		}
		r.module.Rules[i] = r.rule()
	}
	return r.err
}

// cut returns the first n elements of a list, and takes them from it.
func cut[T any](from *[]T, n int) []T {
	part := (*from)[:n:n]
	*from = (*from)[n:]
	return part
}

func (r *moduleReader) rule() *ast.Rule {
	rule, bits := &cut(&r.rules, 1)[0], r.number()
	rule.Module, rule.Default = r.module, bits&isDefault != 0
	rule.Location = r.location()
	rule.Head = r.head()
	rule.Head.Assign = bits&isAssigned != 0
	rule.Body = r.body()
	if bits&hasElse != 0 {
		rule.Else = r.rule()
	}
	return rule
}

func (r *moduleReader) head() *ast.Head {
	h := &ast.Head{Location: r.location()}
	h.Name = r.consts[r.number()].(ast.Var)
	h.Reference, h.Args = r.terms(), r.terms()
	h.Key, h.Value = r.term(), r.term()
	return h
}

func (r *moduleReader) body() ast.Body {
	n := r.number()
	if n == 0 {
		return nil
	}
	body := cut(&r.exprPointers, n)
	for i := range body {
		body[i] = r.expr()
	}
	return body
}

func (r *moduleReader) expr() *ast.Expr {
	e, bits := &cut(&r.newExprs, 1)[0], r.number()
	e.Negated, e.Generated = bits&isNegated != 0, bits&isGenerated != 0
	e.Index = r.number()
	e.Location = r.location()
	switch k := r.number(); k {
	case oneTerm:
		e.Terms = r.term()
	case severalTerms:
		e.Terms = r.terms()
	case everyTerm:
		e.Terms = r.every()
	default:
		r.unknown("expression", k)
	}
	for range r.number() {
		with := &ast.With{Location: r.location()}
		with.Target, with.Value = r.term(), r.term()
		e.With = append(e.With, with)
	}
	return e
}

func (r *moduleReader) every() *ast.Every {
	e := &ast.Every{Location: r.location()}
	e.Key, e.Value, e.Domain = r.term(), r.term(), r.term()
	e.Domain.Location = r.location()
	e.Body = r.body()
	return e
}

func (r *moduleReader) terms() []*ast.Term {
	n := r.number()
	if n == 0 {
		return nil
	}
	list := cut(&r.pointers, n)
	for i := range list {
		list[i] = r.term()
	}
	return list
}

func (r *moduleReader) term() *ast.Term {
	k := kind(r.take(1)[0])
	if k == absent {
		return nil
	}
	t := &cut(&r.newTerms, 1)[0]
	t.Value = r.value(k)
	return t
}

func (r *moduleReader) value(k kind) ast.Value {
	switch k {
	case constant:
		return r.consts[r.number()]
	case reference:
		return ast.Ref(r.terms())
	case call:
		return ast.Call(r.terms())
	case array:
		return ast.NewArray(r.terms()...)
	case set:
		return ast.NewSet(r.terms()...)
	case object:
		return r.object()
	default:
		return r.comprehension(k)
	}
}

func (r *moduleReader) object() ast.Value {
	pairs := make([][2]*ast.Term, r.number())
	for i := range pairs {
		pairs[i] = [2]*ast.Term{r.term(), r.term()}
	}
	return ast.NewObject(pairs...)
}

func (r *moduleReader) comprehension(k kind) ast.Value {
	switch k {
	case arrayOf:
		return &ast.ArrayComprehension{Term: r.term(), Body: r.body()}
	case setOf:
		return &ast.SetComprehension{Term: r.term(), Body: r.body()}
	case objectOf:
		key := r.term()
		key.Location = r.location()
		return &ast.ObjectComprehension{Key: key, Value: r.term(), Body: r.body()}
	default:
		r.unknown("value", int(k))
		return ast.NullValue
	}
}

func (r *moduleReader) location() *ast.Location {
	row := r.number()
	if row == 0 {
		return nil
	}
	l := &cut(&r.locations, 1)[0]
	l.File, l.Row, l.Col, l.Offset = r.file, row, r.number(), r.number()
	if text := r.number(); text&ownText == 0 {
		l.Text = r.source[l.Offset : l.Offset+text>>1]
	} else {
		l.Text = []byte(r.consts[text>>1].(ast.String))
	}
	return l
}
