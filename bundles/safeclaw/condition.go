package safeclaw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// condition reads {any: …}, {all: …} or a predicate, as JavaScript would: null, false,
// 0 and the empty string count as absent.
func (m *importer) condition(rule string, v foreign.Value) reading {
	o, ok := v.Object()
	if !ok {
		if v.Data == nil {
			return doubtful("without a condition SafeClaw may fail, or never match: give the rule one, or remove it")
		}
		m.policy.Note(rule, v.Line, "condition is %s and never matches, as in SafeClaw: expected any, all, or field, operator and value",
			v.Kind())
		return exactly(never)
	}
	r := m.parts(rule, o)
	if r.cel != "" {
		if err := m.read(r.cel); err != nil {
			return doubtful(fmt.Sprintf("the condition is too complex for one expression (%v): split the rule", err))
		}
	}
	return r
}

func (m *importer) parts(rule string, o foreign.Object) reading {
	if v := o.Get("any"); truthy(v) {
		m.ignored(rule, o, "any")
		return m.predicates(rule, "any", v, anyOf)
	}
	if v := o.Get("all"); truthy(v) {
		m.ignored(rule, o, "all", "any")
		return m.predicates(rule, "all", v, allOf)
	}
	return m.predicate(rule, o, 0)
}

func truthy(v foreign.Value) bool {
	switch d := v.Data.(type) {
	case nil:
		return false
	case bool:
		return d
	case string:
		return d != ""
	}
	n, isNumber := number(v)
	return !isNumber || n != 0
}

func (m *importer) predicates(rule, key string, v foreign.Value, f func([]expr) expr) reading {
	items, ok := v.List()
	if !ok {
		return doubtful(fmt.Sprintf("%s is %s, not a list, and SafeClaw fails on it: write a list", key, v.Kind()))
	}
	if len(items) == 0 {
		m.policy.Note(rule, v.Line, "%s is empty, so the rule %s applies, as in SafeClaw", key,
			map[string]string{"any": "never", "all": "always"}[key])
	}
	list := make([]reading, len(items))
	for i, item := range items {
		list[i] = m.item(rule, item)
	}
	return join(f, list)
}

func (m *importer) item(rule string, v foreign.Value) reading {
	if o, ok := v.Object(); ok {
		return m.predicate(rule, o, v.Line)
	}
	if v.Data == nil {
		return doubtful("a predicate is null, and SafeClaw fails on it: remove it")
	}
	m.policy.Note(rule, v.Line, "a predicate is %s and never matches, as in SafeClaw: expected field, operator and value", v.Kind())
	return exactly(never)
}

// fields maps the fields of predicates to their names here.
var fields = map[string]string{"action.type": "action.name", "action.resource": "action.resource"}

// operators are those of SafeClaw's predicates.
func operators() []string { return []string{"eq", "startsWith", "contains", "matches", "in"} }

func (m *importer) predicate(rule string, o foreign.Object, line int) reading {
	m.ignored(rule, o, "field", "operator", "value")
	word, _ := o.Get("field").Text()
	field, known := fields[word]
	operator, _ := o.Get("operator").Text()
	switch {
	case !known:
		m.nothing(rule, line, "field", o, []string{"action.type", "action.resource"})
		return exactly(never)
	case !slices.Contains(operators(), operator):
		m.nothing(rule, line, "operator", o, operators())
		return exactly(never)
	}
	m.resources = m.resources || word == "action.resource"
	p := predicate{field, o.Get("value")}
	if word == "action.type" {
		m.types = true
		m.names(rule, p.value)
	}
	switch operator {
	case "in":
		return p.in()
	case "eq":
		return p.eq()
	}
	text, ok := p.value.Text()
	if !ok {
		return doubtful(fmt.Sprintf("the value of %s is %s, not a string: quote it", operator, p.value.Kind()))
	}
	switch operator {
	case "startsWith":
		return exactly(p.startsWith(text))
	case "contains":
		return exactly(p.contains(text))
	}
	return m.matches(rule, p, text)
}

// nothing notes a predicate that is never true, since SafeClaw does not know the
// field or the operator.
func (m *importer) nothing(rule string, line int, key string, o foreign.Object, known []string) {
	v := o.Get(key)
	word, _ := v.Text()
	hint := "expected one of " + strings.Join(known, ", ")
	if near := engine.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	m.policy.Note(rule, max(line, v.Line), "%s is %s, so this predicate is never true, as in SafeClaw: %s", key, given(v), hint)
}

type predicate struct {
	field string // in CEL
	value foreign.Value
}

var dotted = engine.Regexp(`^[A-Za-z0-9_.:/-]+$`)

func (p predicate) typed(text string) bool {
	return p.field == "action.name" && dotted().MatchString(text)
}

func (p predicate) is(text string) expr {
	if p.typed(text) {
		return expr{actions: []string{text}}
	}
	return expr{cel: p.field + " == " + foreign.Quote(text)}
}

// eq is never true for a value that is not text: JavaScript compares types too.
func (p predicate) eq() reading {
	text, ok := p.value.Text()
	if !ok {
		return exactly(never)
	}
	return exactly(p.is(text))
}

func (p predicate) startsWith(text string) expr {
	switch {
	case text == "":
		return always
	case p.typed(text):
		return expr{actions: []string{text + "*"}}
	}
	return expr{cel: p.field + ".startsWith(" + foreign.Quote(text) + ")"}
}

func (p predicate) contains(text string) expr {
	if text == "" {
		return always
	}
	return expr{cel: p.field + ".contains(" + foreign.Quote(text) + ")"}
}

// in is true for each text of a list, or of a string with commas. Whether white space
// around the commas counts there is unknown.
func (p predicate) in() reading {
	if text, ok := p.value.Text(); ok {
		return p.commas(strings.Split(text, ","))
	}
	items, ok := p.value.List()
	if !ok {
		return doubtful(fmt.Sprintf("the value of in is %s: expected a list of strings", p.value.Kind()))
	}
	var texts []string
	for _, v := range items {
		if text, ok := v.Text(); ok { // nothing else is equal to a string
			texts = append(texts, text)
		}
	}
	return exactly(p.oneOf(texts))
}

func (p predicate) commas(parts []string) reading {
	if slices.ContainsFunc(parts, func(s string) bool { return s == "" || strings.TrimSpace(s) != s }) {
		return doubtful("white space around the commas, or nothing between them, may count in SafeClaw: write a list")
	}
	return exactly(p.oneOf(parts))
}

func (p predicate) oneOf(texts []string) expr {
	texts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return p.field == "action.name" && s == "" })
	if !slices.ContainsFunc(texts, func(s string) bool { return !p.typed(s) }) {
		list := make([]expr, len(texts))
		for i, s := range texts {
			list[i] = p.is(s)
		}
		return anyOf(list)
	}
	return expr{cel: p.field + " in " + foreign.Quotes(texts)}
}

// matches converts a regular expression.
func (m *importer) matches(rule string, p predicate, source string) reading {
	if guarded().MatchString(source) {
		m.policy.Note(rule, p.value.Line, "the guard of SafeClaw refuses the pattern %s, so it never matched there, and does not here: "+
			"to turn it on, write a condition with the same meaning yourself, such as %s", source, m.hint(p, source))
		return exactly(never)
	}
	pattern, err := translate(source)
	if err != nil {
		return doubtful(fmt.Sprintf("the pattern %s cannot be converted: %v; write it in plain RE2, "+
			"or say it in CEL over what the call does (action.commands, action.effects)", source, err))
	}
	e := expr{cel: p.field + ".matches(" + foreign.Quote(pattern) + ")"}
	if err := m.read(e.cel); err != nil {
		return doubtful(fmt.Sprintf("the pattern %s cannot be converted: %v; write a shorter one", source, err))
	}
	m.wide = m.wide || counts().MatchString(pattern)
	if maybeGuarded().MatchString(source) {
		return doubtful(fmt.Sprintf("the guard of SafeClaw may refuse the pattern %s, and then it never matched there", source))
	}
	return exactly(e)
}

// counts finds classes that can match characters beyond U+FFFF.
var counts = engine.Regexp(`\[\^|\\[DW]`)

// hint returns the condition for a refused pattern.
func (m *importer) hint(p predicate, source string) string {
	pattern, err := translate(source)
	if err != nil {
		return p.field + ".contains(…)"
	}
	return "when: " + p.field + ".matches(" + foreign.Quote(pattern) + ")"
}
