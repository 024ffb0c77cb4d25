package rego

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Probe changes an input so that one rule is as close to true as its comparisons show.
// A rule that is wrongly skipped is only noticed where it would be true.
type Probe struct {
	Rule string // the rule's name for messages
	File string // layer/path
	Line int
	sets []setting
	nth  int // of the values of each setting
}

// maxValues bounds the probes of one rule.
const maxValues = 3

// Probes makes probes of the rules of all modules, those of the base layer last.
// Functions are left out, because their arguments are not in the input.
func (h *Host) Probes() []Probe {
	var all []Probe
	files := slices.SortedFunc(maps.Keys(h.compiler.Modules), func(a, b string) int {
		return cmp.Or(layerRank(a)-layerRank(b), strings.Compare(a, b))
	})
	for _, file := range files {
		for _, r := range h.compiler.Modules[file].Rules {
			if len(r.Head.Args) > 0 {
				continue
			}
			all = append(all, h.probesOf(r, file)...)
		}
	}
	return all
}

func layerRank(file string) int {
	if strings.HasPrefix(file, "base/") {
		return 1
	}
	return 0
}

func (h *Host) probesOf(r *ast.Rule, file string) []Probe {
	b := body{alias: map[ast.Var]ast.Ref{}, data: h.data}
	for _, e := range r.Body {
		b.read(e)
	}
	n := 0
	for _, s := range b.sets {
		n = max(n, len(s.values))
	}
	var all []Probe
	for i := range min(n, maxValues) {
		all = append(all, Probe{ruleName(r), file, r.Location.Row, b.sets, i})
	}
	return all
}

// setting is a place in the input, and the values that a rule requires there.
type setting struct {
	at     inputPath
	values []any // constants as encoding/json has them; or the inputPath of another place
	member bool  // the place is a list that has the value
}

// inputPath leads to a value in a document: by strings to members of objects, by ints
// to elements of lists.
type inputPath []any

// body is the state while a rule's body is read.
type body struct {
	alias map[ast.Var]ast.Ref // variables that the compiler introduced
	data  topdown.BaseCache
	sets  []setting
}

// read records what one expression requires of the input. Other expressions are
// ignored.
func (b *body) read(e *ast.Expr) {
	if t, ok := e.Terms.(*ast.Term); ok && !e.Negated {
		b.set(t, ast.InternedTerm(true))
		return
	}
	t, ok := e.Terms.([]*ast.Term)
	if !ok || len(t) != 3 || e.Negated || len(e.With) > 0 {
		return
	}
	switch operator(t[0]) {
	case "eq", "equal", "assign":
		if v, isVar := t[1].Value.(ast.Var); isVar && b.alias[v] == nil {
			if ref, isRef := t[2].Value.(ast.Ref); isRef {
				b.alias[v] = b.whole(ref)
				return
			}
		}
		b.set(t[1], t[2])
		b.set(t[2], t[1])
	case "internal.member_2":
		b.isMember(t[1], t[2])
	case "startswith", "endswith", "contains":
		b.set(t[1], t[2])
	case "gt", "gte":
		b.set(t[1], moved(t[2], 1))
	case "lt", "lte":
		b.set(t[1], moved(t[2], -1))
	}
}

// moved is a number next to another one.
func moved(t *ast.Term, by int) *ast.Term {
	if n, ok := t.Value.(ast.Number); ok {
		if i, whole := n.Int(); whole {
			return ast.InternedTerm(i + by)
		}
	}
	return t
}

// whole replaces the variable at the beginning of a reference by its value.
func (b *body) whole(ref ast.Ref) ast.Ref {
	head, ok := ref[0].Value.(ast.Var)
	if ok && b.alias[head] != nil {
		return b.alias[head].Concat(ref[1:])
	}
	return ref
}

// place returns the place in the input to which a term refers; nil: none.
func (b *body) place(t *ast.Term) inputPath {
	var ref ast.Ref
	switch v := t.Value.(type) {
	case ast.Var:
		ref = b.alias[v]
	case ast.Ref:
		ref = b.whole(v)
	}
	if len(ref) < 2 || !ref[0].Equal(ast.InputRootDocument) {
		return nil
	}
	var p inputPath
	for _, step := range ref[1:] {
		switch v := step.Value.(type) {
		case ast.String:
			p = append(p, string(v))
		case ast.Var:
			p = append(p, 0) // of several, the first
		case ast.Number:
			n, whole := v.Int()
			if !whole || n < 0 || n > maxIndex {
				return nil
			}
			p = append(p, n)
		default:
			return nil
		}
	}
	return p
}

// maxIndex bounds the lists that a probe makes.
const maxIndex = 16

// value returns the value of a term: a constant, or the path to a place in the input.
func (b *body) value(t *ast.Term) (any, bool) {
	if ast.IsScalar(t.Value) {
		v, err := ast.JSON(t.Value)
		return v, err == nil && v != nil
	}
	p := b.place(t)
	return p, p != nil
}

// set requires one value.
func (b *body) set(at, to *ast.Term) {
	p := b.place(at)
	if v, ok := b.value(to); ok && p != nil {
		b.sets = append(b.sets, setting{at: p, values: []any{v}})
	}
}

// isMember requires one of several values, or a list that has one.
func (b *body) isMember(x, list *ast.Term) {
	if p := b.place(list); p != nil {
		if v, ok := b.value(x); ok {
			b.sets = append(b.sets, setting{at: p, values: []any{v}, member: true})
		}
		return
	}
	p := b.place(x)
	if p == nil {
		return
	}
	var copies, constants []any
	b.each(list, func(t *ast.Term) {
		switch v, ok := b.value(t); {
		case !ok:
		case ast.IsScalar(t.Value):
			constants = append(constants, v)
		default:
			copies = append(copies, v)
		}
	})
	if values := append(copies, constants...); len(values) > 0 {
		b.sets = append(b.sets, setting{at: p, values: values})
	}
}

// each calls f with the members of a list or set that is written out, or is in
// the data.
func (b *body) each(list *ast.Term, f func(*ast.Term)) {
	v := list.Value
	if name, ok := v.(ast.Var); ok && b.alias[name] != nil {
		v = b.alias[name]
	}
	if ref, ok := v.(ast.Ref); ok && ref.IsGround() && ref[0].Equal(ast.DefaultRootDocument) {
		v = b.data.Get(ref)
	}
	switch v := v.(type) {
	case *ast.Array:
		v.Foreach(f)
	case ast.Set:
		v.Foreach(f)
	}
}

// On returns an input with findings, changed by the probe. It is false if no input can
// have what the rule requires.
func (p *Probe) On(in *engine.Input, findings []engine.Finding) (*engine.Input, []engine.Finding, bool) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, nil, false
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, nil, false
	}
	ids := []any{}
	for _, f := range findings {
		ids = append(ids, f.ID)
	}
	doc = put(doc, inputPath{"findings"}, ids)
	for _, s := range p.sets {
		doc = s.apply(doc, p.nth)
	}
	return decoded(doc, findings)
}

func (s setting) apply(doc any, nth int) any {
	v := s.values[nth%len(s.values)]
	if from, isPath := v.(inputPath); isPath {
		if v = get(doc, from); v == nil || v == "" {
			v = "probe"
			doc = put(doc, from, v)
		}
	}
	if s.member {
		list, _ := get(doc, s.at).([]any)
		if slices.ContainsFunc(list, func(have any) bool { return fmt.Sprint(have) == fmt.Sprint(v) }) {
			return doc
		}
		v = append(slices.Clone(list), v)
	}
	doc = put(doc, s.at, v)
	return doc
}

// decoded converts a document back to an input.
func decoded(doc any, findings []engine.Finding) (*engine.Input, []engine.Finding, bool) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, nil, false
	}
	var with struct {
		engine.Input
		Findings []string `json:"findings"`
	}
	if err := json.Unmarshal(raw, &with); err != nil {
		return nil, nil, false
	}
	var found []engine.Finding
	for _, id := range with.Findings {
		i := slices.IndexFunc(findings, func(f engine.Finding) bool { return f.ID == id })
		if i < 0 {
			found = append(found, engine.Finding{ID: id})
			continue
		}
		found = append(found, findings[i])
	}
	return &with.Input, found, true
}

// get returns what is at a place in a document; nil: nothing is.
func get(doc any, at inputPath) any {
	for _, step := range at {
		switch step := step.(type) {
		case string:
			m, _ := doc.(map[string]any)
			doc = m[step]
		case int:
			list, _ := doc.([]any)
			if step >= len(list) {
				return nil
			}
			doc = list[step]
		}
	}
	return doc
}

// put sets a value in a document, and creates its parents. If something else is in the
// way, the document stays unchanged.
func put(doc any, at inputPath, value any) any {
	if len(at) == 0 {
		return value
	}
	switch step := at[0].(type) {
	case string:
		if m, ok := doc.(map[string]any); ok || doc == nil {
			changed := map[string]any{}
			maps.Copy(changed, m)
			changed[step] = put(m[step], at[1:], value)
			return changed
		}
	case int:
		if list, ok := doc.([]any); ok || doc == nil {
			changed := make([]any, max(len(list), step+1))
			copy(changed, list)
			changed[step] = put(changed[step], at[1:], value)
			return changed
		}
	}
	return doc
}
