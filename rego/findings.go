package rego

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Where rules of each kind are defined: those of the base layer name a row, the others
// define findings and exceptions.
const (
	decisionPath   = "data/reviewer/decision"
	findingsName   = "findings"
	exceptionsName = "exceptions"
	laddersName    = "ladders"
)

// firesPaths are the sets of ids in built-in policies up to November 2026, of which stored ones are replayed.
// A policy may have one in place of families.
var firesPaths = []string{"data/reviewer/fired/fires", "data/reviewer/spoken/speaks"}

// Where modified forms are defined: by the base layer's rules and by those of the
// others.
const (
	offersPath     = "data/reviewer/rewriting/offers"
	operationsName = "operations"
)

// A finding is made from the head of its rule. If a part of that reads what a call does not have,
// Rego makes none, and the call would pass in silence: so each such rule gets a second one, with the
// same conditions, that makes a finding of the other parts if the first one cannot.

// completed adds these rules to what a compiler compiles.
func completed(c *ast.Compiler) *ast.Compiler {
	return c.WithStageAfterID(ast.StageResolveRefs, ast.CompilerStageDefinition{Name: "CompleteFindings",
		Stage: func(c *ast.Compiler) *ast.Error {
			for _, r := range misnamed(aboveBase(c.Modules)) {
				return ast.NewError(ast.CompileErr, r.rule.Location, "%s", r.text)
			}
			for name, m := range c.Modules {
				complete(name, m)
			}
			return nil
		}})
}

// complete adds these rules to a module.
func complete(name string, m *ast.Module) {
	layer, _, _ := strings.Cut(name, "/")
	var rules []*ast.Rule
	for _, r := range m.Rules {
		rules = append(rules, r)
		if f := findingOf(r, layer); f != nil && len(f.texts)+len(partsRead(ast.NewTerm(f.made))) > 0 {
			rules = append(rules, f.fallback())
		}
	}
	m.Rules = rules
}

// findingHead is a rule that makes a finding, taken apart.
type findingHead struct {
	rule       *ast.Rule
	layer      string
	made       ast.Object
	conditions []*ast.Expr
	texts      []*ast.Expr // assignments of the body that only the finding's texts need
	values     []*ast.Expr // those that only the finding needs, and that are conditions as well
}

// findingOf takes a rule apart; nil: it makes no finding that is written out.
func findingOf(r *ast.Rule, layer string) *findingHead {
	if layer == "base" || isTestFile(r.Location.File) || pathOf(r) != slashedRoot(layer)+"/"+findingsName || r.Head.Key == nil {
		return nil
	}
	f := &findingHead{rule: r, layer: layer, conditions: r.Body}
	made, written := r.Head.Key.Value.(ast.Object)
	if name, isVar := r.Head.Key.Value.(ast.Var); isVar { // f := {…} in the body
		f.conditions = nil
		for _, e := range r.Body {
			v, term := assigned(e)
			o, is := objectOf(term)
			if v != name || !is || written || f.used(name, e) {
				f.conditions = append(f.conditions, e)
				continue
			}
			made, written = o, true
		}
	}
	if !written {
		return nil
	}
	f.made = made
	f.split()
	return f
}

// used reports whether an expression of the body, other than these, names a variable.
func (f *findingHead) used(v ast.Var, but ...*ast.Expr) bool {
	return slices.ContainsFunc(f.rule.Body, func(e *ast.Expr) bool { return !slices.Contains(but, e) && names(e, v) })
}

func names(node any, v ast.Var) (found bool) {
	ast.WalkVars(node, func(w ast.Var) bool {
		found = found || v == w
		return found
	})
	return found
}

// assigned returns the sides of v := term.
func assigned(e *ast.Expr) (ast.Var, *ast.Term) {
	if !e.IsAssignment() || e.Negated || len(e.With) > 0 {
		return "", nil
	}
	v, ok := e.Operand(0).Value.(ast.Var)
	if !ok || v.IsWildcard() {
		return "", nil
	}
	return v, e.Operand(1)
}

// textFields are the fields of a finding that only people and agents read.
var textFields = []string{"message", "remediation"}

// split separates the conditions of the body from the assignments that only the finding needs.
// An assignment is a condition as well: that its value exists. One that only prepares a text, from
// fields and with built-in functions, is none, if the rule has others.
func (f *findingHead) split() {
	texts, fields := ast.NewObject(), ast.NewObject()
	f.made.Foreach(func(k, v *ast.Term) {
		if key, _ := stringOf(k); slices.Contains(textFields, key) {
			texts.Insert(k, v)
		} else {
			fields.Insert(k, v)
		}
	})
	feeding := func(only func(e *ast.Expr, v ast.Var, term *ast.Term) bool) []*ast.Expr {
		var feeds []*ast.Expr
		for found := true; found; { // what feeds an assignment found before
			found = false
			for _, e := range f.conditions {
				v, term := assigned(e)
				if v == "" || slices.Contains(feeds, e) || f.used(v, slices.Concat(feeds, f.texts, []*ast.Expr{e})...) || !only(e, v, term) {
					continue
				}
				feeds, found = append(feeds, e), true
			}
		}
		return slices.DeleteFunc(slices.Clone(f.conditions), func(e *ast.Expr) bool { return !slices.Contains(feeds, e) })
	}
	prepares := feeding(func(_ *ast.Expr, v ast.Var, term *ast.Term) bool {
		return !names(fields, v) && preparation(term)
	})
	rest := allBut(f.conditions, prepares)
	if slices.ContainsFunc(rest, func(e *ast.Expr) bool { return !e.IsAssignment() && !declares(e) }) {
		f.conditions, f.texts = rest, prepares
	}
	f.values = feeding(func(*ast.Expr, ast.Var, *ast.Term) bool { return true })
}

// declares reports whether an expression is `some x`, which is true for every call.
func declares(e *ast.Expr) bool {
	d, is := e.Terms.(*ast.SomeDecl)
	return is && !slices.ContainsFunc(d.Symbols, func(t *ast.Term) bool { _, isVar := t.Value.(ast.Var); return !isVar })
}

func allBut(list, others []*ast.Expr) []*ast.Expr {
	return slices.DeleteFunc(slices.Clone(list), func(e *ast.Expr) bool { return slices.Contains(others, e) })
}

// preparation reports whether a term has one value, made by built-in functions from fields of the input
// and of variables.
func preparation(t *ast.Term) bool {
	all := true
	see := func(t *ast.Term) { all = all && preparation(t) }
	switch v := t.Value.(type) {
	case ast.Var:
		return !v.IsWildcard()
	case ast.Ref:
		head, isVar := v[0].Value.(ast.Var)
		return isVar && head != ast.DefaultRootDocument.Value.(ast.Var) && v.IsGround()
	case ast.Call:
		b := ast.BuiltinMap[v[0].String()]
		if b == nil || b.Relation {
			return false
		}
		for _, a := range v[1:] {
			see(a)
		}
	case *ast.Array:
		v.Foreach(see)
	case ast.Set:
		v.Foreach(see)
	case ast.Object:
		v.Foreach(func(k, item *ast.Term) { see(k); see(item) })
	}
	return all
}

// partsRead lists the fields and the rules that a term reads, and the functions of the policy that it
// calls: what may have no value. A comprehension always has one.
func partsRead(t *ast.Term) (list []*ast.Term) {
	each := func(t *ast.Term) { list = append(list, partsRead(t)...) }
	switch v := t.Value.(type) {
	case ast.Ref:
		if len(v) > 1 {
			list = append(list, t)
		}
		if _, isVar := v[0].Value.(ast.Var); !isVar {
			each(v[0])
		}
	case ast.Call:
		if ast.BuiltinMap[v[0].String()] == nil {
			list = append(list, t)
		}
		for _, a := range v[1:] {
			each(a)
		}
	case *ast.Array:
		v.Foreach(each)
	case ast.Set:
		v.Foreach(each)
	case ast.Object:
		v.Foreach(func(k, item *ast.Term) { each(k); each(item) })
	}
	return list
}

// strictest are the values of fields that cannot be made.
var strictest = map[string]*ast.Term{
	"decision": ast.StringTerm(string(engine.Block)), "severity": ast.StringTerm("critical"), "harm": ast.StringTerm(engine.HarmPolicy), "limit": ast.BooleanTerm(false),
	"remediation": ast.StringTerm(""), "enforcement": ast.StringTerm(""), "unattended": ast.StringTerm(""), "overridable": ast.ArrayTerm(),
}

// Findings lists the ids of the rules that modules (layer/path -> source) of layers above the base
// write out; open: there are others.
func Findings(modules map[string]string) (ids []string, open bool) {
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		layer, _, _ := strings.Cut(name, "/")
		if layer == "base" {
			continue
		}
		m, err := ast.ParseModuleWithOpts(name, modules[name], ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil || m == nil {
			return ids, true
		}
		for _, r := range m.Rules {
			if pathOf(r) != slashedRoot(layer)+"/"+findingsName {
				continue
			}
			id := memberOf(r)
			if f := findingOf(r, layer); f != nil {
				id, _ = stringOf(f.made.Get(ast.InternedTerm("id")))
			}
			if id != "" {
				ids = append(ids, id)
			} else {
				open = true
			}
		}
	}
	return ids, open
}

// fallback is the rule that fires if the conditions are true and the finding has no value.
func (f *findingHead) fallback() *ast.Rule {
	r := f.rule.Copy()
	r.Annotations, r.Module, r.Body = nil, f.rule.Module, ast.NewBody()
	for _, e := range f.conditions {
		r.Body.Append(e.Copy())
	}
	pairs, missing := internalVar("pairs"), internalVar("missing")
	r.Body.Append(ast.Equality.Expr(f.valuesOf(ast.NewTerm(f.made)), ast.ArrayTerm()))
	r.Body.Append(ast.Equality.Expr(pairs, f.readings()))
	name := internalVar("name")
	r.Body.Append(ast.Equality.Expr(missing, ast.ArrayComprehensionTerm(name, ast.NewBody(ast.Equality.Expr(
		ast.ArrayTerm(name, ast.ArrayTerm()), ast.NewTerm(ast.Ref{pairs, internalVar("pair")}))))))

	made := ast.NewObject()
	f.made.Foreach(func(k, v *ast.Term) {
		key, _ := stringOf(k)
		instead := strictest[key]
		if key == "id" {
			instead = ast.StringTerm(f.layer + ".unnamed")
		}
		switch {
		case len(partsRead(v))+len(f.needed(v)) == 0:
			made.Insert(k.Copy(), v.Copy())
		case instead != nil:
			either := ast.ArrayConcat.Call(f.valuesOf(v), ast.ArrayTerm(instead))
			made.Insert(k.Copy(), ast.NewTerm(ast.Ref{either, ast.IntNumberTerm(0)}))
		}
	})
	named := ast.ArraySlice.Call(ast.ArrayConcat.Call(missing, ast.ArrayTerm(ast.StringTerm("what it computes"))),
		ast.IntNumberTerm(0), ast.Max.Call(ast.ArrayTerm(ast.IntNumberTerm(1), ast.Count.Call(missing))))
	made.Insert(ast.StringTerm("message"), ast.Concat.Call(ast.StringTerm(""), ast.ArrayTerm(
		ast.StringTerm(fmt.Sprintf("%s fired, but its message could not be made, because this is absent: ", f.called())),
		ast.Concat.Call(ast.StringTerm(", "), named))))
	r.Head.Key = ast.NewTerm(made)
	r = r.Copy() // the compiler changes terms in place, so each must occur once
	for _, node := range []any{r.Head.Key, r.Body} {
		ast.WalkTerms(node, func(t *ast.Term) bool {
			t.SetLocation(r.Location)
			return false
		})
		ast.WalkExprs(node, func(e *ast.Expr) bool {
			e.SetLocation(cmp.Or(e.Location, r.Location))
			return false
		})
	}
	return r
}

// internalVar is a variable that no policy can name.
func internalVar(name string) *ast.Term { return ast.VarTerm(ast.WildcardPrefix + "finding_" + name) }

// called is the rule's name in its message.
func (f *findingHead) called() string {
	if id, _ := stringOf(f.made.Get(ast.InternedTerm("id"))); id != "" {
		return "Rule " + id
	}
	return "A rule of the " + f.layer + " layer"
}

// valuesOf lists the values of a term: at most one, except of one that iterates.
func (f *findingHead) valuesOf(t *ast.Term) *ast.Term {
	body := ast.NewBody()
	for _, e := range f.needed(t) {
		body.Append(e.Copy())
	}
	value := internalVar("value")
	body.Append(ast.Equality.Expr(value, t.Copy()))
	return ast.ArrayComprehensionTerm(value, body)
}

// needed lists the texts that a term is made of.
func (f *findingHead) needed(t *ast.Term) []*ast.Expr {
	var list []*ast.Expr
	for _, e := range slices.Backward(f.texts) {
		v, _ := assigned(e)
		if names(t, v) || slices.ContainsFunc(list, func(later *ast.Expr) bool { return names(later, v) }) {
			list = append([]*ast.Expr{e}, list...)
		}
	}
	return list
}

// readings pairs what the finding reads with its values.
func (f *findingHead) readings() *ast.Term {
	all := partsRead(ast.NewTerm(f.made))
	for _, e := range f.texts {
		_, term := assigned(e)
		all = append(all, partsRead(term)...)
	}
	var pairs []*ast.Term
	seen := map[string]bool{}
	for _, t := range all {
		if name := t.String(); len(f.needed(t)) == 0 && !seen[name] {
			seen[name] = true
			pairs = append(pairs, ast.ArrayTerm(ast.StringTerm(name), f.valuesOf(t)))
		}
	}
	return ast.ArrayTerm(pairs...)
}

// misnamedRule is a rule that nothing reads, but a name like its would be read.
type misnamedRule struct {
	rule *ast.Rule
	text string
}

// entries are the names under which the policy reads the rules of a layer.
func entries(layer string) []string {
	if layer == "base" {
		return append([]string{decisionPath, idsPath, offersPath}, firesPaths...)
	}
	root := slashedRoot(layer) + "/"
	return []string{root + findingsName, root + exceptionsName, root + operationsName, root + laddersName}
}

// misnamed finds rules whose name, or package, is nearly that of an entry, and that nothing in
// their layer reads. Their references must be resolved.
func misnamed(modules map[string]*ast.Module) []misnamedRule {
	read := map[string][]string{} // by layer
	var all []misnamedRule
	for name, m := range modules {
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range m.Rules {
			ast.WalkRefs(r, func(ref ast.Ref) bool {
				if ref.HasPrefix(ast.DefaultRootRef) && !isTestFile(name) {
					read[layer] = append(read[layer], slashed(ref.GroundPrefix()))
				}
				return false
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range modules[name].Rules {
			path := slashed(r.Module.Package.Path) + "/" + string(r.Head.Ref()[0].Value.(ast.Var))
			if isTestFile(name) || len(r.Head.Args) > 0 || slices.Contains(entries(layer), path) {
				continue
			}
			hint := meantBy(path, entries(layer))
			if hint != "" && !slices.ContainsFunc(read[layer], func(p string) bool { return below(p, path) || below(path, p) }) {
				all = append(all, misnamedRule{r, "nothing reads " + last(path) + ", so it has no effect; " + hint})
			}
		}
	}
	return all
}

// below reports whether a path is another one, or is below it.
func below(path, other string) bool { return strings.HasPrefix(path+"/", other+"/") }

// aboveBase returns the modules of layers above the base, whose tests compile it.
func aboveBase(modules map[string]*ast.Module) map[string]*ast.Module {
	others := maps.Clone(modules)
	maps.DeleteFunc(others, func(name string, _ *ast.Module) bool { return strings.HasPrefix(name, "base/") })
	return others
}

// denials are names under which the built-in policy, and other tools, read what findings are here.
var denials = []string{"fires", "deny", "denials", "violation", "violations"}

// meantBy explains which entry a path probably stands for: its last name is nearly the entry's,
// or is the entry's in a package below. Empty: none.
func meantBy(path string, entries []string) string {
	for _, entry := range entries {
		name := last(entry)
		inPlace := above(path) == above(entry)
		switch {
		case inPlace && name == findingsName && slices.Contains(denials, last(path)),
			inPlace && engine.Nearest(last(path), []string{name}) != "":
			return fmt.Sprintf("did you mean %q?", name)
		case strings.HasPrefix(entry, "data/policies/") && below(path, above(entry)) && last(path) == name:
			return fmt.Sprintf("only those of package %s count: write it there, or add its members to that one",
				strings.ReplaceAll(strings.TrimPrefix(above(entry), "data/"), "/", "."))
		}
	}
	return ""
}

// memberOf returns the id of the rule of the policy that a rule in Rego decides about; empty: none.
func memberOf(r *ast.Rule) string {
	if r.Head.Key == nil {
		return familyRule(r)
	}
	key := r.Head.Key
	if o, isObject := objectOf(key); isObject {
		key = o.Get(ast.InternedTerm("id"))
	}
	id, _ := stringOf(key)
	return id
}

func rootOf(layer string) string {
	if layer == "base" {
		return "data.reviewer"
	}
	return "data.policies." + layer
}

// pathOf returns the fixed part of a rule's path, as data/x/y.
func pathOf(r *ast.Rule) string {
	ref := r.Module.Package.Path.Extend(r.Head.Ref())
	path := []string{"data"}
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if v, isVar := t.Value.(ast.Var); isVar && len(path) == len(r.Module.Package.Path) {
			s, ok = ast.String(v), true // the rule's own name
		}
		if !ok {
			break
		}
		path = append(path, string(s))
	}
	return strings.Join(path, "/")
}

func isTestFile(name string) bool { return strings.HasSuffix(path.Base(name), "_test.rego") }

func slashedRoot(layer string) string { return strings.ReplaceAll(rootOf(layer), ".", "/") }

func stringOf(t *ast.Term) (string, *ast.Location) {
	if t == nil {
		return "", nil
	}
	s, _ := t.Value.(ast.String)
	return string(s), t.Location
}

func objectOf(t *ast.Term) (ast.Object, bool) {
	if t == nil {
		return nil, false
	}
	o, ok := t.Value.(ast.Object)
	return o, ok
}

func slashed(ref ast.Ref) string {
	parts := make([]string, len(ref))
	for i, t := range ref {
		switch v := t.Value.(type) {
		case ast.Var:
			parts[i] = string(v)
		case ast.String:
			parts[i] = string(v)
		}
	}
	return strings.Join(parts, "/")
}

func above(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
