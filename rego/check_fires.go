package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// row is a rule's row in a layer's catalogue.
type row struct {
	layer       string
	overridable []any
	always      bool
}

// catalogue collects the rows of all layers by id.
func (c *checker) catalogue() map[string]row {
	rows := map[string]row{}
	base, _ := c.Data["reviewer"].(map[string]any)
	addRows(rows, "base", base)
	layers, _ := c.Data["policies"].(map[string]any)
	for layer, data := range layers {
		m, _ := data.(map[string]any)
		addRows(rows, layer, m)
	}
	for _, id := range c.Broken {
		rows[id] = row{layer: "", overridable: []any{"organisation", "user", "project"}}
	}
	return rows
}

func addRows(rows map[string]row, layer string, data map[string]any) {
	list, _ := data["catalog"].(map[string]any)
	for id, v := range list {
		m, _ := v.(map[string]any)
		r := row{layer: layer}
		r.overridable, _ = m["overridable"].([]any)
		r.always, _ = m["always"].(bool)
		rows[id] = r
	}
}

// ruleHeads checks the heads of rules that decide about an action.
func (c *checker) ruleHeads() RuleSet {
	s := RuleSet{IDs: map[string]bool{}, Open: map[string]bool{}, Forms: map[string]bool{}}
	rows := c.catalogue()
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		if isTestFile(name) {
			continue
		}
		layer, _, _ := strings.Cut(name, "/")
		c.patterns(c.trees[name])
		c.lists(c.trees[name])
		c.conflicts(c.trees[name])
		for _, r := range c.trees[name].Rules {
			c.elements(r)
			if s.form(r, layer) {
				c.operations(r)
			}
			if id := familyRule(r); id != "" {
				c.family(r, id, rows, s)
			}
			switch pathOf(r) {
			case firesPaths[0], firesPaths[1]:
				c.fires(r, layer, rows, s)
			case slashedRoot(layer) + "/" + findingsName:
				c.finding(r, layer, rows, s)
			case slashedRoot(layer) + "/" + exceptionsName:
				c.exception(r, layer, rows)
			}
		}
	}
	c.withoutForm(s)
	if len(c.broken) > 0 {
		for _, name := range slices.Sorted(maps.Keys(c.Modules)) {
			layer, _, _ := strings.Cut(name, "/")
			s.Open[layer] = s.Open[layer] || c.trees[name] == nil && !isTestFile(name)
		}
	}
	return s
}

// withoutForm warns about findings with modify or allow that have no effect.
func (c *checker) withoutForm(s RuleSet) {
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range c.trees[name].Rules {
			o, isObject := objectOf(r.Head.Key)
			if isTestFile(name) || layer == "base" || !isObject || pathOf(r) != slashedRoot(layer)+"/"+findingsName {
				continue
			}
			id, _ := stringOf(o.Get(ast.InternedTerm("id")))
			switch decision, at := stringOf(o.Get(ast.InternedTerm("decision"))); {
			case decision == string(engine.Modify) && id != "" && !s.HasForm(layer, id):
				c.remark(at, "rule.no_form", "%s", NoForm(layer, id))
			case decision == string(engine.Allow):
				c.remark(at, "rule.allow", "%s", Allows)
			}
		}
	}
}

// Allows explains why a rule whose decision is allow has no effect.
const Allows = "decision: allow has no effect, since the strictest rule wins; disable the rule that holds the call up, " +
	"make an exception to it, or remove this one"

func (c *checker) fires(r *ast.Rule, layer string, rows map[string]row, s RuleSet) {
	id, at := stringOf(r.Head.Key)
	if id == "" {
		s.Open[layer] = true
		return
	}
	s.IDs[id] = true
	if rows[id].layer != layer && !slices.Contains(c.Broken, id) {
		p := c.wrong(at, "rule.unknown", "no row of rules/**.yaml has the id %q, so this has no effect", id)
		p.Suggestion, p.About = engine.Nearest(id, idsOf(rows, layer)), id
	}
	c.sameID(r, id)
}

// family checks a rule of a family, whose row is its METADATA.
func (c *checker) family(r *ast.Rule, id string, rows map[string]row, s RuleSet) {
	s.IDs[id] = true
	if rows[id].layer != "base" && !slices.Contains(c.Broken, id) {
		c.wrong(r.Location, "rule.unknown", "the rule %s has no row, so it has no effect: write severity, decision and message under custom "+
			"in its METADATA; or begin its name with _ if it is a helper", id)
	}
}

func idsOf(rows map[string]row, layer string) []string {
	var ids []string
	for id, r := range rows {
		if r.layer == layer || layer == "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// finding checks a finding of another layer: the id of a row, or a complete rule.
func (c *checker) finding(r *ast.Rule, layer string, rows map[string]row, s RuleSet) {
	o, isObject := objectOf(r.Head.Key)
	if !isObject {
		s.Open[layer] = true
		return
	}
	id, at := stringOf(o.Get(ast.InternedTerm("id")))
	switch {
	case o.Get(ast.InternedTerm("id")) == nil:
		c.wrong(r.Head.Key.Location, "rule.unknown", "the finding has no id; give it one of its own, or that of a row")
		return
	case id == "":
		s.Open[layer] = true
		return
	}
	s.IDs[id] = true
	known, there := rows[id]
	switch {
	case there && known.layer != layer && known.layer != "":
		c.wrong(at, "rule.unknown", "%q is a rule of the %s layer; give this finding another id", id, known.layer)
	case !there && o.Get(ast.InternedTerm("decision")) == nil:
		p := c.remark(at, "rule.unknown", "no row has the id %q and the finding has no decision, so it blocks", id)
		p.Suggestion, p.About = engine.Nearest(id, idsOf(rows, layer)), id
	}
	c.vocabulary(o, "decision", engine.Verdicts())
	c.vocabulary(o, "severity", engine.Severities())
	for _, key := range o.Keys() {
		if word, at := stringOf(key); word != "" && !slices.Contains(findingFields, word) {
			c.remark(at, "rego.unused", "nothing reads %q of a finding", word).Suggestion = engine.Nearest(word, findingFields)
		}
	}
	c.sameID(r, id)
	c.lifted(r, id)
}

// findingFields are the fields of a finding that policy reads.
var findingFields = []string{"id", "title", "description", "decision", "severity", "harm", "limit", "message", "remediation",
	"references", "tags", "enforcement", "unattended", "overridable", "always", "details"}

func (c *checker) vocabulary(o ast.Object, key string, known []string) {
	if word, at := stringOf(o.Get(ast.InternedTerm(key))); word != "" && !slices.Contains(known, word) {
		c.wrong(at, "rego.word", "%s is not a valid %s", fmt.Sprintf("%q", word), key).ExpectOneOf(word, known).Found = ""
	}
}

// NoException ends the message about an exception to a rule that does not exist.
const NoException = " to make an exception to"

// exception checks an exception of a layer.
func (c *checker) exception(r *ast.Rule, layer string, rows map[string]row) {
	o, isObject := objectOf(r.Head.Key)
	if !isObject {
		return
	}
	c.exceptionKeys(o)
	id, at := stringOf(o.Get(ast.InternedTerm("rule")))
	if id == "" {
		return
	}
	known, there := rows[id]
	switch {
	case !there:
		p := c.wrong(at, "rule.unknown", "there is no rule %q%s", id, NoException)
		p.Suggestion, p.About = engine.Nearest(id, idsOf(rows, "")), id
	case known.always:
		c.wrong(at, "rule.always", "rule %s allows no exceptions, so this has no effect", id)
	case !slices.Contains(known.overridable, any(layer)):
		c.wrong(at, "rule.firm", "rule %s does not let the %s layer make exceptions, so this has no effect", id, layer)
	}
}

// exceptionKeys checks the keys of an exception, and its end.
func (c *checker) exceptionKeys(o ast.Object) {
	known := []string{"rule", "reason", "owner", "expires_at"}
	for _, key := range o.Keys() {
		if word, at := stringOf(key); word != "" && !slices.Contains(known, word) {
			c.wrong(at, "rego.word", "an exception has no %q", word).ExpectOneOf(word, known).Found = ""
		}
	}
	end := o.Get(ast.InternedTerm("expires_at"))
	if end == nil || !ast.IsConstant(end.Value) {
		return
	}
	if text, isText := end.Value.(ast.String); !isText {
		c.wrong(end.Location, "row.date", "expires_at: expected a date in quotes such as \"2027-01-31\", got %s; "+
			"an exception whose end cannot be read has ended", end)
	} else if _, err := engine.Moment(string(text)); err != nil {
		c.wrong(end.Location, "row.date", "expires_at: %v; an exception whose end cannot be read has ended", err)
	}
}

// sameID compares the id in a rule's METADATA with the one that it reports.
func (c *checker) sameID(r *ast.Rule, id string) {
	for _, a := range r.Annotations {
		if said, ok := a.Custom["id"].(string); ok && said != id {
			c.wrong(a.Location, "rule.metadata", "METADATA names rule %q, but the definition is for %q", said, id)
		}
	}
}

// annotated warns about rules without a title in METADATA. Private ones, whose names
// begin with _, need none.
func (c *checker) annotated() {
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		if isTestFile(name) {
			continue
		}
		titled := map[string]bool{}
		for _, r := range c.trees[name].Rules {
			path := pathOf(r)
			own := slices.ContainsFunc(r.Annotations, func(a *ast.Annotations) bool { return a.Title != "" })
			if own || strings.HasPrefix(string(r.Head.Ref()[0].Value.(ast.Var)), "_") {
				titled[path] = true
			}
			if !titled[path] && !r.Default {
				titled[path] = true
				c.remark(r.Location, "rule.metadata",
					"%s has no METADATA with a title above it: describe its purpose, or start its name with _",
					last(path))
			}
		}
	}
}

// unused warns about private rules to which nothing refers: those whose names begin with _.
func (c *checker) unused() {
	read := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		for _, r := range c.trees[name].Rules {
			ast.WalkTerms(r, func(t *ast.Term) bool {
				switch v := t.Value.(type) {
				case ast.Var:
					read[string(v)] = read[string(v)] || t != r.Head.Reference[0]
				case ast.String:
					read[string(v)] = true
				}
				return false
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		for _, r := range c.trees[name].Rules {
			own, isVar := r.Head.Ref()[0].Value.(ast.Var)
			if isVar && strings.HasPrefix(string(own), "_") && !read[string(own)] && !isTestFile(name) {
				read[string(own)] = true // said once
				c.remark(r.Location, "rego.unused", "nothing reads %s", own)
			}
		}
	}
}

// lifted warns about a finding that any other command of the call can lift: its rule requires that a rule without
// arguments is not true, which is about all commands.
func (c *checker) lifted(r *ast.Rule, id string) {
	for _, e := range r.Body {
		term, isTerm := e.Terms.(*ast.Term)
		if !e.Negated || !isTerm {
			continue
		}
		helper := ""
		switch v := term.Value.(type) {
		case ast.Var:
			helper = above(pathOf(r)) + "/" + string(v)
		case ast.Ref:
			helper = slashed(v)
		}
		for _, name := range slices.Sorted(maps.Keys(c.trees)) {
			for _, other := range c.trees[name].Rules {
				if len(other.Head.Args) == 0 && other.Head.RuleKind() != ast.MultiValue && pathOf(other) == helper && iteratesCommands(other) {
					c.remark(e.Location, "rego.lifted", "any other command in the same call lifts rule %s: ask for it about the command that the rule is "+
						"about, in a function such as not %s(c)", id, last(pathOf(other)))
					return
				}
			}
		}
	}
}

// iteratesCommands reports whether a rule reads the commands of a call, one after another.
func iteratesCommands(r *ast.Rule) bool {
	found := false
	ast.WalkRefs(r.Body, func(ref ast.Ref) bool {
		found = found || strings.HasPrefix(ref.String(), "input.action.commands")
		return found
	})
	return found
}
