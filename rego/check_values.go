package rego

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// patternArgument reports which argument of a function of regex is the pattern.
func patternArgument(function string) (at int, known bool) {
	switch function {
	case "regex.match", "regex.split", "regex.find_n", "regex.find_all_string_submatch_n":
		return 0, true
	case "regex.replace":
		return 1, true
	}
	return 0, false
}

// patterns reports regular expressions that are written out and do not compile.
func (c *checker) patterns(m *ast.Module) {
	check := func(terms []*ast.Term) {
		at, known := patternArgument(terms[0].Value.String())
		if !known || len(terms) <= at+1 {
			return
		}
		pattern, fixed := terms[at+1].Value.(ast.String)
		if !fixed {
			return
		}
		if _, err := syntax.Parse(string(pattern), syntax.Perl); err != nil {
			c.wrong(terms[at+1].Location, "rego.regex", "the pattern is not a regular expression (RE2): %v",
				engine.ExplainRegexp(err))
		}
	}
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, isCall := e.Terms.([]*ast.Term); isCall {
			check(terms)
		}
		return false
	})
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if call, isCall := t.Value.(ast.Call); isCall {
			check(call)
		}
		return false
	})
}

// lists warns about long lists of names that are written out: sets, arrays and the alternatives of a regular
// expression, unless all are words of facts or ids of rules.
func (c *checker) lists(m *ast.Module) {
	ast.WalkTerms(m, func(t *ast.Term) bool {
		var items []*ast.Term
		names := 0
		switch v := t.Value.(type) {
		case ast.String:
			names = engine.NamesIn(string(v))
		case ast.Set:
			items = v.Slice()
		case *ast.Array:
			v.Foreach(func(item *ast.Term) { items = append(items, item) })
		}
		if !slices.ContainsFunc(items, notText) && slices.ContainsFunc(items, c.notWord) {
			names = len(items)
		}
		if names > engine.MaxNames {
			c.remark(t.Location, "rego.list", "a list of more than %d names in a rule: no other layer can add to it. Write it in data.yaml",
				engine.MaxNames)
		}
		return false
	})
}

func notText(t *ast.Term) bool {
	_, ok := t.Value.(ast.String)
	return !ok
}

func (c *checker) notWord(t *ast.Term) bool { return !c.words[string(t.Value.(ast.String))] }

// wordsOf are the words that a schema lists for its values.
func wordsOf(schema any, words map[string]bool) map[string]bool {
	switch v := schema.(type) {
	case map[string]any:
		for key, part := range v {
			if key != "enum" {
				wordsOf(part, words)
				continue
			}
			for _, word := range part.([]string) {
				words[word] = true
			}
		}
	case []any:
		for _, part := range v {
			wordsOf(part, words)
		}
	}
	return words
}

// conflicts reports complete rules that are true at the same time with different
// values.
func (c *checker) conflicts(m *ast.Module) {
	first := map[string]*ast.Rule{}
	for _, r := range m.Rules {
		if r.Default || r.Else != nil || len(r.Head.Args) > 0 || r.Head.Key != nil || r.Head.Value == nil ||
			!r.Head.Value.IsGround() || !r.Head.Ref().IsGround() || !ast.IsScalar(r.Head.Value.Value) {
			continue
		}
		key := pathOf(r) + "|" + r.Body.String()
		other := first[key]
		if other == nil {
			first[key] = r
			continue
		}
		if !other.Head.Value.Equal(r.Head.Value) {
			c.wrong(r.Location, "rego.conflict",
				"%s is %s here and %s in line %d, at the same time: this conflict at run time blocks the call; "+
					"keep one, or give each a condition that excludes the other", last(pathOf(r)), r.Head.Value,
				other.Head.Value, other.Location.Row)
		}
	}
}

// operations reports operations that are written out and do not exist.
func (c *checker) operations(r *ast.Rule) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		if o, isObject := t.Value.(ast.Object); isObject {
			c.vocabulary(o, "op", engine.Operations())
		}
		return false
	})
}

// form records for which rule a definition offers a modified form, and reports whether
// it does.
func (s RuleSet) form(r *ast.Rule, layer string) bool {
	prefix := slashedRoot(layer) + "/" + operationsName
	if layer == "base" {
		prefix = offersPath
	}
	path := pathOf(r)
	switch {
	case path == prefix:
		s.Forms[layer+"/"] = true // ids that are not written out
	case above(path) == prefix:
		s.Forms[layer+"/"+last(path)] = true
	default:
		return false
	}
	return true
}

// HasForm reports whether a layer offers a modified form of the calls for which one of
// its rules fires.
func (s RuleSet) HasForm(layer, id string) bool {
	return layer != "project" && (s.Forms[layer+"/"] || s.Forms[layer+"/"+id] || s.Open[layer])
}

// NoForm explains what happens to calls of a rule with modify but without a modified
// form.
func NoForm(layer, id string) string {
	const asks = "the call is asked about, and blocked where nobody can be asked; "
	switch layer {
	case "project":
		return "rule " + id + " says modify, but a project's layer cannot define how to modify a call: " + asks + "write decision: ask"
	case "base":
		return "rule " + id + " says modify, but nothing defines how to modify its calls: " + asks +
			`define offers["` + id + `"] in package reviewer.rewriting, or write decision: ask`
	}
	return "rule " + id + " says modify, but nothing defines how to modify its calls: " + asks +
		`define operations["` + id + `"] in package policies.` + layer + ", or write decision: ask"
}

// findings notes what each finding is made of, and reports rules whose names are nearly those of
// findings and the like. References must be resolved.
func (c *checker) findings(modules map[string]*ast.Module) {
	for _, m := range misnamed(modules) {
		c.wrong(m.rule.Location, "rego.unread", "%s", m.text)
	}
	c.parts = map[string]findingPart{}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range modules[name].Rules {
			f := findingOf(r.Copy(), layer)
			if f == nil {
				continue
			}
			note := func(t *ast.Term, decides bool) {
				for _, part := range partsRead(t) {
					c.parts[part.Location.String()] = findingPart{f, decides}
				}
			}
			note(ast.NewTerm(f.made), false)
			for _, e := range f.texts {
				note(e.Operand(1), false)
			}
			for _, e := range f.values {
				note(e.Operand(1), true)
			}
		}
	}
}

// findingPart is a value that a finding is made of.
type findingPart struct {
	*findingHead
	decides bool // without it, the rule does not fire
}

// mayLack warns about a part of a finding that reads a field which a call may not have.
func (w *walker) mayLack(t *ast.Term) {
	f, is := w.parts[fmt.Sprint(t.Location)]
	ref, isRef := t.Value.(ast.Ref)
	if !is || !isRef || !w.report || w.silent || !w.optional(ref) {
		return
	}
	written := string(t.Location.Text)
	if f.asksFor(written) {
		return
	}
	instead := "object.get"
	if keys := ref[1:]; keys.IsGround() && strings.Count(written, ".") == len(keys) {
		names := strings.Split(written, ".")
		path := `"` + strings.Join(names[1:], `", "`) + `"`
		if len(keys) > 1 {
			path = "[" + path + "]"
		}
		instead = fmt.Sprintf(`object.get(%s, %s, "")`, names[0], path)
	}
	if f.decides {
		w.remark(t.Location, "rego.absent", "%s may be absent, and then %s does not fire, although only its finding needs the value: "+
			"read it by %s; or, if its presence is a condition, write it as one in a line of its own", written, ruleName(f.rule), instead)
		return
	}
	w.remark(t.Location, "rego.absent", "%s may be absent, and then the finding of %s has a message that only reports that: "+
		"read it by %s, or ask for it in a condition", written, ruleName(f.rule), instead)
}

// asksFor reports whether a condition is true only if a field is there.
func (f *findingHead) asksFor(field string) bool {
	for _, e := range allBut(f.conditions, f.values) {
		var terms []*ast.Term
		switch t := e.Terms.(type) {
		case *ast.Term:
			terms = []*ast.Term{t}
		case []*ast.Term:
			terms = t[1:]
		case *ast.SomeDecl:
			terms = t.Symbols
		}
		for _, part := range terms {
			for _, read := range partsRead(part) {
				text := string(read.Location.Text)
				if !e.Negated && (text == field || strings.HasPrefix(text, field+".") || strings.HasPrefix(text, field+"[")) {
					return true
				}
			}
		}
	}
	return false
}

// optional reports whether a step of a reference is a field that an object may not have.
func (w *walker) optional(ref ast.Ref) bool {
	head, _ := ref[0].Value.(ast.Var)
	s := w.env[head]
	if ref[0].Equal(ast.InputRootDocument) {
		s = w.input
	}
	for _, t := range ref[1:] {
		key, fixed := t.Value.(ast.String)
		switch {
		case s == nil:
			return false
		case !fixed || s.kind != object:
			s = s.each()
			continue
		case s.optional[string(key)] || s.fields[string(key)] == nil && s.open:
			return true
		}
		s = s.fields[string(key)]
	}
	return false
}
