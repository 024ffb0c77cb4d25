package bundles

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// mergeSettings joins the base layer's settings with those of the others. For each
// setting that is not the base layer's, it returns the layers that it comes from.
func mergeSettings(layers []*Bundle) (map[string]any, map[string][]string, error) {
	base, _ := layers[0].Data["reviewer"].(map[string]any)
	if base == nil {
		return nil, nil, errors.New("data.yaml: the base layer has no key reviewer")
	}
	if err := baseHasNoKinds(layers[0], base); err != nil {
		return nil, nil, err
	}
	if len(layers) == 1 && layers[0].checked {
		return maps.Clone(base), nil, nil // at no cost to a hook
	}
	tree, err := SettingsSchema()
	if err != nil {
		return nil, nil, err
	}
	if err := tree.validateAll(layers, base); err != nil {
		return nil, nil, err
	}
	m := newMerger(layers)
	merged := Normal(base).(map[string]any)
	for _, l := range layers[1:] {
		if l.Layer == Project {
			m.rising("", tree, merged)
		}
		m.layer = l
		m.object("", tree, merged, Normal(l.Settings).(map[string]any))
	}
	if layers[len(layers)-1].Layer != Project {
		m.rising("", tree, merged)
	}
	m.ascending("", tree, merged)
	m.kinds(merged)
	m.channels()
	return merged, m.sources, errors.Join(m.errs...)
}

// mergeFirst is the x-merge of settings without an order of strictness: the
// organisation's value applies, or the user's if it has none.
const mergeFirst = "first"

// merger joins one layer's settings into the result of the layers before it.
type merger struct {
	layers  []*Bundle
	layer   *Bundle             // the one that is being joined
	sources map[string][]string // path -> layers whose values are in it, where that is not base alone
	set     map[string]string   // path -> the first layer above base that has set it
	errs    []error
}

func newMerger(layers []*Bundle) *merger {
	return &merger{layers: layers, sources: map[string][]string{}, set: map[string]string{}}
}

func (m *merger) object(at string, s *SchemaNode, into, from map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		path := below(at, key)
		node := s.Child(key)
		if node == nil {
			node = &SchemaNode{}
		}
		if sub, ok := from[key].(map[string]any); ok && node.section() {
			next, ok := into[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				into[key] = next
			}
			m.object(path, node, next, sub)
			continue
		}
		m.value(path, node, into, key, from[key])
	}
}

// below is the path of a key in the section at a path.
func below(at, key string) string { return strings.TrimPrefix(at+"."+key, ".") }

func (m *merger) value(path string, s *SchemaNode, into map[string]any, key string, v any) {
	switch {
	case s.Merge == "":
		m.errs = append(m.errs, m.layer.where(path).as("settings.layer").wrong("%s: only the base layer may set this", path))
		return
	case s.Merge == mergeOrganisation && m.layer.Layer != Organisation:
		m.errs = append(m.errs, m.layer.where(path).as("settings.layer").wrong("%s: %s", path, notOrganisation(path)))
		return
	case slices.Contains([]string{"replace", "append", mergeFirst}, s.Merge) && m.layer.Layer == Project:
		m.errs = append(m.errs,
			m.layer.where(path).as("settings.layer").wrong("%s: the project layer may not set this, since the agent can write it", path))
		return
	}
	if s.Merge == mergeNarrow {
		v = CleanPlaces(list(v))
	}
	before, there := into[key]
	joined := m.joins(path, s)
	if !there && joined {
		before, there = m.shipped(path)
	}
	switch {
	case joined && there:
		v = s.combine(before, v)
	case joined && s.Within != "" && s.Rank(v) < s.Rank(s.Strictest()):
		return // milder than the value without it
	}
	if m.set[path] == "" {
		m.set[path] = m.layer.Layer
	}
	if !there || !reflect.DeepEqual(before, v) {
		m.sources[path] = m.from(path, s, before, joined)
		into[key] = v
	}
}

// shipped returns the bounds of a pattern's threshold, or of a rule's enforcement, if no setting names it:
// that of its row.
func (m *merger) shipped(path string) (any, bool) {
	threshold, isThreshold := strings.CutPrefix(path, "patterns.thresholds.")
	enforcement, isEnforcement := strings.CutPrefix(path, "rules.enforcement.")
	for _, l := range m.layers {
		for _, r := range l.Rules {
			switch {
			case isThreshold && r.ID == threshold && r.Threshold != nil:
				return *r.Threshold, true
			case isEnforcement && r.ID == enforcement && r.Enforcement != "":
				return r.Enforcement, true
			}
		}
	}
	return nil, false
}

// joins reports whether a layer's value may only tighten the one so far: the
// first value that a person's layer gives replaces the default.
func (m *merger) joins(path string, s *SchemaNode) bool {
	limit := m.set[s.Within] // empty if there is no limit: no setting has an empty path
	return m.layer.Layer == Project || m.set[path] != "" || s.Merge == "union" || s.Merge == "append" ||
		limit != "" && limit != m.layer.Layer || m.firm(path)
}

// firm reports whether a setting is about a rule of the organisation to which this layer may make no exception.
func (m *merger) firm(path string) bool {
	id, ok := strings.CutPrefix(path, "rules.enforcement.")
	if !ok || m.layer.Layer == Organisation {
		return false
	}
	return slices.ContainsFunc(m.layers, func(l *Bundle) bool {
		return l.Layer == Organisation && slices.ContainsFunc(l.Rules, func(r Rule) bool {
			return r.ID == id && !slices.Contains(r.Overridable, m.layer.Layer)
		})
	})
}

// from lists the layers that a value comes from after the layer has set it.
func (m *merger) from(path string, s *SchemaNode, before any, joined bool) []string {
	if !joined || s.Merge != "union" && s.Merge != "append" && s.Merge != "extend" && s.Merge != "intersect" {
		return []string{m.layer.Layer}
	}
	so := m.sources[path]
	if so == nil && len(list(before)) > 0 {
		so = []string{Base}
	}
	return append(slices.Clone(so), m.layer.Layer)
}

// combine merges the value so far with a layer's, keeping the stricter.
func (s *SchemaNode) combine(a, b any) any {
	switch s.Merge {
	case "min":
		return min(number(a), number(b))
	case "max":
		return max(number(a), number(b))
	case "union", "append", "extend":
		return union(list(a), list(b))
	case "intersect":
		return slices.DeleteFunc(slices.Clone(list(a)), func(v any) bool { return !slices.Contains(list(b), v) })
	case mergeNarrow:
		return narrow(list(a), list(b))
	case "strictest":
		if s.Rank(b) > s.Rank(a) {
			return b
		}
		return a
	case mergeFirst:
		return a
	}
	return b
}

// settingAt is a value of a setting.
type settingAt struct {
	keys  []string
	value any
}

// stricterSettings compares the result of a layer's settings with that of another version of them, and returns the values
// with which the version makes the result stricter.
func stricterSettings(below []*Bundle, b, version *Bundle) ([]settingAt, error) {
	now, _, err := mergeSettings(append(slices.Clip(below), b))
	if err != nil {
		return nil, err
	}
	other, _, err := mergeSettings(append(slices.Clip(below), version))
	if err != nil {
		return nil, err
	}
	tree, err := SettingsSchema()
	if err != nil {
		return nil, err
	}
	m := newMerger(append(slices.Clip(below), b))
	return m.stricter(nil, tree, Normal(now).(map[string]any), Normal(other).(map[string]any)), nil
}

func (m *merger) stricter(at []string, s *SchemaNode, now, other map[string]any) (list []settingAt) {
	for _, key := range slices.Sorted(maps.Keys(other)) {
		node, keys := s.Child(key), append(slices.Clip(at), key)
		if node == nil {
			continue
		}
		if sub, ok := other[key].(map[string]any); ok && node.section() {
			before, _ := now[key].(map[string]any)
			list = append(list, m.stricter(keys, node, before, sub)...)
			continue
		}
		before, there := now[key]
		if !there {
			before, there = m.unset(strings.Join(keys, "."), node)
		}
		if !there || !slices.Contains([]string{"min", "max", "strictest", "union", "extend", "intersect", mergeNarrow}, node.Merge) {
			continue // whether this is stricter is unknown
		}
		if v := node.combine(before, other[key]); !reflect.DeepEqual(v, before) {
			list = append(list, settingAt{keys, v})
		}
	}
	return list
}

// unset returns the value in whose place an entry of a map counts.
func (m *merger) unset(path string, s *SchemaNode) (any, bool) {
	switch ranks := s.ranking(); {
	case s.Merge == "union":
		return []any{}, true
	case s.Within != "" && len(ranks) > 1: // only the strictest value is certainly stricter than none
		return ranks[len(ranks)-2], true
	}
	return m.shipped(path)
}

// ranking lists the values of a strictest setting, mildest first.
func (s *SchemaNode) ranking() []any {
	if s.Order != nil {
		return s.Order
	}
	return s.Enum
}

// Rank is the place of a value among those of a strictest setting; -1: none.
func (s *SchemaNode) Rank(v any) int { return slices.Index(s.ranking(), v) }

// Strictest is the last value of a strictest setting.
func (s *SchemaNode) Strictest() any { return s.ranking()[len(s.ranking())-1] }

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func union(a, b []any) []any {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.ContainsFunc(out, func(w any) bool { return reflect.DeepEqual(v, w) }) { // items may be objects
			out = append(out, v)
		}
	}
	return out
}

// ascending checks that thresholds are in order after everything is merged.
func (m *merger) ascending(at string, s *SchemaNode, doc map[string]any) {
	for i := 1; i < len(s.Ascending); i++ {
		low, high := s.Ascending[i-1], s.Ascending[i]
		if number(doc[low]) > number(doc[high]) {
			m.errs = append(m.errs, m.place(below(at, low), below(at,
				high)).wrong("%s.%s (%v) is above %s.%s (%v); levels must increase",
				at, low, doc[low], at, high, doc[high]))
		}
	}
	for key, node := range s.Properties {
		if sub, ok := doc[key].(map[string]any); ok {
			m.ascending(below(at, key), node, sub)
		}
	}
}

// rising checks that no cell of a table is milder than one for less risk or more
// rationality. It is checked before the project's layer, which can only make cells
// stricter.
func (m *merger) rising(at string, s *SchemaNode, doc map[string]any) {
	for key, node := range s.Properties {
		if sub, ok := doc[key].(map[string]any); ok {
			m.rising(below(at, key), node, sub)
		}
	}
	if s.Rising == nil {
		return
	}
	rows, columns := s.Rising.Rows, s.Rising.Columns
	for r := range rows {
		for c := range columns {
			if r > 0 {
				m.notMilder(at, s, doc, [2]string{rows[r-1], columns[c]}, [2]string{rows[r], columns[c]})
			}
			if c > 0 {
				m.notMilder(at, s, doc, [2]string{rows[r], columns[c-1]}, [2]string{rows[r], columns[c]})
			}
		}
	}
}

// notMilder compares two cells (row, column) of a table.
func (m *merger) notMilder(at string, s *SchemaNode, doc map[string]any, a, b [2]string) {
	cell := func(c [2]string) (string, any) {
		row, _ := doc[c[0]].(map[string]any)
		return below(below(at, c[0]), c[1]), row[c[1]]
	}
	first, was := cell(a)
	second, is := cell(b)
	node := s.Properties[a[0]].Properties[a[1]]
	if was != nil && is != nil && node.Rank(is) < node.Rank(was) {
		m.errs = append(m.errs, m.place(second, first).wrong(
			"%s (%v) is milder than %s (%v): a higher risk or lower rationality must not get a milder answer", second, is, first, was))
	}
}

// place returns the position of the last layer's change to one of several settings.
func (m *merger) place(paths ...string) position {
	for _, l := range slices.Backward(m.layers) {
		for _, path := range paths {
			if slices.Contains(m.sources[path], l.Layer) {
				return l.where(path)
			}
		}
	}
	return m.layers[0].where(paths[0])
}

// mergeNarrow is the x-merge of a list of places in the workspace: the intersection of
// two such lists.
const mergeNarrow = "narrow"

// CleanPlaces normalises the places of a list to the form in effects: . for the
// workspace, ./src for a folder in it. src/** is the folder src.
func CleanPlaces(list []any) []any {
	out := []any{}
	for _, v := range list {
		text, _ := v.(string)
		text = path.Clean(text)
		for text == "**" || strings.HasSuffix(text, "/**") {
			text = path.Clean(strings.TrimSuffix(text, "**"))
		}
		if text != "." {
			text = "./" + text
		}
		out = union(out, []any{text})
	}
	return out
}

// narrow returns the places of two lists that are inside a place of the other list.
func narrow(a, b []any) []any {
	within := func(all []any) func(any) bool {
		return func(v any) bool { return slices.ContainsFunc(all, func(o any) bool { return ContainsPlace(o, v) }) }
	}
	inA, inB := within(CleanPlaces(a)), within(CleanPlaces(b))
	out := []any{}
	for _, v := range union(CleanPlaces(b), CleanPlaces(a)) {
		if inA(v) && inB(v) {
			out = append(out, v)
		}
	}
	return out
}

// ContainsPlace reports whether a place is or contains another one. Of two patterns, only those
// of which one begins with the other are compared.
func ContainsPlace(outer, inner any) bool {
	o, _ := outer.(string)
	i, _ := inner.(string)
	if o == "." || i == o || strings.HasPrefix(i, o+"/") {
		return true
	}
	if !strings.ContainsAny(o, "*?") || strings.ContainsAny(i, "*?") {
		return false
	}
	pattern := strings.Split(strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(o), "/")
	parts := strings.Split(i, "/")
	for n := range parts {
		if wildcard.Path(pattern, parts[:n+1]) {
			return true
		}
	}
	return false
}

// checkNames refuses words of settings that mean nothing (x-names of the schema): a list of
// patterns with a misspelt id would switch the others off. An id may be of any layer, and of a
// rule that is disabled.
func (e *Effective) checkNames() error {
	tree, err := SettingsSchema()
	if err != nil {
		return err
	}
	n := namesCheck{policy: e, words: map[string][]string{}}
	for _, l := range e.Layers {
		if n.layer = l; !l.checked {
			n.visit("", tree, l.ownSettings())
		}
	}
	return errors.Join(n.errs...)
}

// ownSettings returns the settings of one layer.
func (b *Bundle) ownSettings() map[string]any {
	if b.Layer == Base {
		return objectAt(b.Data, "reviewer")
	}
	return b.Settings
}

// namesCheck is a search for unknown names in the settings of a layer.
type namesCheck struct {
	policy *Effective
	layer  *Bundle
	words  map[string][]string // by vocabulary
	errs   []error
}

func (n *namesCheck) visit(path string, s *SchemaNode, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.name(path, below(path, key), key, s.Names)
			if node := s.Child(key); node != nil {
				n.visit(below(path, key), node, v[key])
			}
		}
	case []any:
		for i, item := range v {
			at := below(path, strconv.Itoa(i))
			if word, ok := item.(string); ok {
				n.name(path, at, word, s.Names)
			}
			if s.Items != nil {
				n.visit(at, s.Items, item)
			}
		}
	}
}

// name checks one word of the setting at a path: a vocabulary, or the word itself, must be among
// the names.
func (n *namesCheck) name(path, at, word string, names []string) {
	var known, kinds []string
	for _, name := range names {
		if v, is := vocabularies[name]; is {
			if n.words[name] == nil {
				n.words[name] = v.words(n.policy)
			}
			known, kinds = append(known, n.words[name]...), append(kinds, v.kind)
		} else {
			known = append(known, name)
		}
	}
	if len(names) == 0 || slices.Contains(known, word) || slices.Contains(names, "rules") && n.policy.namedInRego(word) {
		return
	}
	near := engine.Nearest(word, known)
	switch ofRules := strings.HasPrefix(path, "rules.") || strings.HasPrefix(path, "patterns."); {
	case len(known) == 0: // a policy without such rules
		return
	case n.layer.Layer == Base && near == "" && !ofRules: // what another base leaves out, its lists may still name
		return
	}
	what := fmt.Sprintf("%s: no %s has the name %q", path, strings.Join(kinds, " or "), word)
	switch {
	case near != "":
		what += fmt.Sprintf("; did you mean %q?", near)
	case slices.Contains(kinds, "rule"):
		what += "; `reviewer policy show default` lists the built-in ones"
	default:
		what += "; expected one of " + strings.Join(known, ", ")
	}
	n.errs = append(n.errs, n.layer.where(at).in(n.layer.Layer).as("rule.unknown").wrong("%s", what))
}

// vocabularies are the names that x-names of the schema can refer to.
var vocabularies = map[string]struct {
	kind  string
	words func(e *Effective) []string
}{
	"classes":   {"class of files", func(*Effective) []string { return engine.Classes() }},
	"locations": {"location", func(*Effective) []string { return engine.Locations() }},
	"signals":   {"signal", func(*Effective) []string { return append(engine.Signals(), engine.LegacySignals()...) }},
	"patterns": {"pattern", func(e *Effective) []string {
		var ids []string
		for _, r := range e.Rules() {
			if r.Pattern() {
				ids = append(ids, r.ID)
			}
		}
		if ids == nil {
			return nil
		}
		return append(ids, e.Broken()...)
	}},
	"rows": {"rule", (*Effective).rowIDs},
	"rules": {"rule", func(e *Effective) []string {
		ids := e.rowIDs()
		for _, l := range e.Access() {
			ids = append(ids, l.FindingIDs()...)
		}
		return ids
	}},
}

func (e *Effective) rowIDs() []string {
	ids := e.Broken()
	for _, r := range e.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// namedInRego reports whether the Rego of a layer above the base may fire a rule with an id that
// has no row.
func (e *Effective) namedInRego(id string) bool {
	return slices.ContainsFunc(e.Layers, func(l *Bundle) bool {
		for _, source := range l.Modules {
			if l.Layer != Base && (id == l.Layer+".unnamed" || strings.Contains(source, strconv.Quote(id))) {
				return true
			}
		}
		return false
	})
}
