package safeclaw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// Import makes an access list of a policy. read reports whether an expression can
// be used. An error begins with file:line and means that this is not a policy.
func Import(file string, raw []byte, read foreign.Reader) (*foreign.Policy, error) {
	doc, err := foreign.Read(file, raw)
	if err != nil {
		return nil, err
	}
	top, ok := doc.Object()
	if !ok {
		return nil, fmt.Errorf("%s:%d: expected a policy of SafeClaw, an object with rules, got %s", file, doc.Line, doc.Kind())
	}
	rules, ok := top.Get("rules").List()
	if !ok {
		line := max(1, top.Get("rules").Line)
		return nil, fmt.Errorf("%s:%d: rules: expected a list of rules, got %s%s", file, line, top.Get("rules").Kind(),
			suggestion("rules", top.Keys()))
	}
	m := &importer{policy: &foreign.Policy{}, read: read}
	m.head(top)
	for n, r := range rules {
		o, ok := r.Object()
		if !ok {
			return nil, fmt.Errorf("%s:%d: rules[%d]: expected a rule, an object, got %s", file, r.Line, n, r.Kind())
		}
		m.rule(n, r, o)
	}
	m.finish()
	return m.policy, nil
}

// suggestion returns the most similar key, if there is one.
func suggestion(want string, keys []string) string {
	if near := engine.Nearest(want, keys); near != "" && near != want {
		return fmt.Sprintf("; is it %q?", near)
	}
	return ""
}

type importer struct {
	policy    *foreign.Policy
	read      foreign.Reader
	types     bool // some rule tests names of actions
	resources bool // some rule tests resources
	unknown   bool // some rule tests names that begin with unknown.
	deepMCP   bool // some rule names a tool of a server in parts
	wide      bool // some pattern counts characters
}

func (m *importer) head(top foreign.Object) {
	l := &m.policy.List
	m.ignored("", top, "id", "name", "version", "description", "defaultEffect", "rules", "createdAt", "updatedAt", "$schema")
	l.Rules = []bundles.AccessRule{}
	name, _ := top.Get("name").Text()
	id, _ := top.Get("id").Text()
	l.Title = name
	for _, candidate := range []string{id, name, "safeclaw"} {
		if l.ID == "" {
			l.ID = foreign.Word(candidate)
		}
	}
	v := top.Get("defaultEffect")
	l.Default = m.effect("", "defaultEffect", v)
}

// effect reads one of SafeClaw's three effects, or a synonym of its gateway.
func (m *importer) effect(rule, key string, v foreign.Value) string {
	switch word, _ := v.Text(); word {
	case "allow", "allowed":
		return bundles.EffectAllow
	case "deny", "denied":
		return bundles.EffectDeny
	case "require_approval":
		return bundles.EffectApprove
	default:
		hint := ""
		if near := engine.Nearest(word, bundles.Effects()); near != "" {
			hint = fmt.Sprintf("; write %q if that is meant", near)
		}
		m.policy.Note(rule, v.Line, "%s is %s, not one of %s: it denies, as in SafeClaw%s",
			key, given(v), strings.Join(bundles.Effects(), ", "), hint)
		return bundles.EffectDeny
	}
}

func given(v foreign.Value) string {
	if !v.There() {
		return "not given"
	}
	return v.JSON()
}

// ignored notes keys that SafeClaw does not read.
func (m *importer) ignored(rule string, o foreign.Object, known ...string) {
	for _, member := range o {
		if slices.Contains(known, member.Key) {
			continue
		}
		hint := "leave it out"
		if near := engine.Nearest(member.Key, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		m.policy.Note(rule, member.Line, "%s is not read, here and in SafeClaw: %s", member.Key, hint)
	}
}

// rule adds a rule to the list.
func (m *importer) rule(n int, v foreign.Value, o foreign.Object) {
	r := bundles.AccessRule{ID: m.name(n, v, o)}
	m.ignored(r.ID, o, "id", "effect", "description", "condition", "schedule", "expiresAt", "name", "createdAt", "updatedAt")
	r.Effect = m.effect(r.ID, "effect", o.Get("effect"))
	r.Description, _ = o.Get("description").Text()
	cond := m.condition(r.ID, o.Get("condition"))
	all := cond.and(m.schedule(&r, o.Get("schedule"))).and(m.expiry(&r, o.Get("expiresAt")))
	if len(all.why) > 0 {
		m.policy.Leave(r.ID, v.Line, v.JSON(), "%s; until an exact rule takes its place, the rules after it answer its calls",
			strings.Join(all.why, "; "))
		return
	}
	all.fill(&r)
	m.policy.Add(r, v.Line, v.JSON())
}

// name makes the rule's id, one that no other has.
func (m *importer) name(n int, v foreign.Value, o foreign.Object) string {
	given, ok := o.Get("id").Text()
	if !ok || given == "" {
		id := m.policy.ID("rule_" + strconv.Itoa(n+1))
		m.policy.Note(id, v.Line, "has no id and is called %s: give it a name of its own", id)
		return id
	}
	id := m.policy.ID(given)
	if id != given {
		m.policy.Note(id, v.Line, "is called %q in SafeClaw: ids are lower-case words joined by . _ or -, each used once", given)
	}
	return id
}

// finish adds remarks about the whole list.
func (m *importer) finish() {
	if m.types {
		m.policy.Note("", 0, "rules for names of actions also apply to tools that SafeClaw does not know; "+
			"to leave them out, add a condition on event.tool: %s", unknownTools("unknown."))
	}
	if m.resources {
		m.policy.Note("", 0, "action.resource differs from SafeClaw's: secrets are replaced by other words, "+
			"the text is cut at about 500 bytes instead of 200 characters, "+
			"for Grep it is the folder (there the pattern), for tools of servers the arguments in the order of their keys; "+
			"try the list on past sessions with `reviewer policy simulate`")
	}
	if m.deepMCP {
		m.policy.Note("", 0, "mcp__server__a__b is called mcp.server.a__b here, and mcp.server.a.b in SafeClaw: "+
			"rules for tools with __ in their names need the name used here")
	}
	if m.wide {
		m.policy.Note("", 0, "in patterns, characters beyond U+FFFF (emoji) count as one here and as two in SafeClaw")
	}
}
