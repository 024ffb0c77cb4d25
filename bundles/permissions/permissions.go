package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// Import makes an access list of settings, or of their permissions alone. read
// reports whether an expression can be used. An error begins with file:line and
// means that there are no permissions to read.
func Import(file string, raw []byte, read foreign.Reader) (*foreign.Policy, error) {
	doc, err := foreign.Read(file, raw)
	if err != nil {
		return nil, err
	}
	o, err := permissionsOf(doc)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	m := &importer{policy: &foreign.Policy{}, read: read, seen: map[string]bool{}}
	m.policy.List = bundles.AccessList{ID: "claude_permissions", Title: "Permission rules of Claude Code", Default: bundles.EffectAllow,
		Rules: []bundles.AccessRule{}}
	m.policy.Note("", 0,
		"calls that no rule matches are left to Claude Code's own prompts (default: allow decides nothing), "+
			"and so are calls that a rule allows; to hold up everything that no rule allows, set default: deny or default: require_approval")
	for _, key := range lists {
		if err := m.list(file, key, o.Get(key)); err != nil {
			return nil, err
		}
	}
	if m.files {
		m.policy.Note("", 0, "rules for files do not hold up a search of a whole folder (Grep, grep -r), "+
			"and Claude Code's own Grep leaves such files out: keep them in Claude Code's settings too")
	}
	m.others(o)
	return m.policy, nil
}

// lists are the keys of rules, in the order in which they are examined.
var lists = []string{"deny", "ask", "allow"}

// permissionsOf finds the object that contains the rules.
func permissionsOf(doc foreign.Value) (foreign.Object, error) {
	top, ok := doc.Object()
	if !ok {
		return nil, fmt.Errorf("%d: expected settings of Claude Code, an object, got %s", doc.Line, doc.Kind())
	}
	if v := top.Get("permissions"); v.There() {
		o, ok := v.Object()
		if !ok {
			return nil, fmt.Errorf("%d: permissions: expected an object with allow, ask and deny, got %s", v.Line, v.Kind())
		}
		return o, nil
	}
	if !slices.ContainsFunc(lists, func(key string) bool { return top.Get(key).There() }) {
		hint := ""
		for _, want := range append([]string{"permissions"}, lists...) {
			if near := engine.Nearest(want, top.Keys()); near != "" {
				hint = fmt.Sprintf("; is %q meant to be %q?", near, want)
			}
		}
		return nil, fmt.Errorf("%d: there are no permissions: expected the key permissions, or allow, ask or deny%s", doc.Line, hint)
	}
	return top, nil
}

type importer struct {
	policy *foreign.Policy
	read   foreign.Reader
	seen   map[string]bool // effect and text of rules
	always string          // id of a rule that matches every call
	files  bool            // some rule denies or asks about files
}

// effects are the words of access rules.
var effects = map[string]string{"deny": bundles.EffectDeny, "ask": bundles.EffectApprove, "allow": bundles.EffectAllow}

func (m *importer) list(file, key string, v foreign.Value) error {
	if !v.There() {
		return nil
	}
	items, ok := v.List()
	if !ok {
		return fmt.Errorf("%s:%d: %s: expected a list of rules such as \"Bash(git push *)\", got %s", file, v.Line, key, v.Kind())
	}
	for i, item := range items {
		text, ok := item.Text()
		if !ok {
			return fmt.Errorf("%s:%d: %s[%d]: expected a rule such as \"Bash(git push *)\", got %s", file, item.Line, key, i, item.Kind())
		}
		m.rule(key, text, item.Line)
	}
	return nil
}

// rule is a parsed permission rule.
type rule struct {
	text  string // as written
	tool  string
	spec  string // in parentheses; empty: the whole tool
	allow bool   // it must not match more than the original; otherwise not less
}

var form = engine.Regexp(`(?s)^([^()\s]+)(?:\((.*)\))?$`)

// match is the conditions of an access rule.
type match struct {
	tools []string
	when  string
}

func (m *importer) rule(key, text string, line int) {
	if m.seen[key+text] {
		return // a duplicate
	}
	m.seen[key+text] = true
	id := m.policy.ID(key + "_" + foreign.Word(text))
	if m.always != "" {
		m.policy.Note(id, line, "%s %s is left out, since rule %s before it matches every call", key, text, m.always)
		return
	}
	r := rule{text: text, allow: key == "allow"}
	parts := form().FindStringSubmatch(text)
	if parts == nil {
		m.drop(id, key, r, line, "it is not a rule: expected Tool or Tool(what)")
		return
	}
	r.tool, r.spec = parts[1], parts[2]
	got, why := r.match()
	if why == "" && got.when != "" {
		if err := m.read(got.when); err != nil {
			why = fmt.Sprintf("it is too complex for one expression (%v)", err)
		}
	}
	if why != "" {
		m.drop(id, key, r, line, why)
		return
	}
	m.add(bundles.AccessRule{ID: id, Effect: effects[key], Description: key + " " + text, Tools: got.tools, When: got.when}, r, line)
}

func (m *importer) add(r bundles.AccessRule, from rule, line int) {
	m.policy.List.Rules = append(m.policy.List.Rules, r)
	if r.When == "" && slices.Contains(r.Tools, "*") {
		m.always = r.ID
	}
	m.files = m.files || !from.allow && r.Tools == nil && from.spec != ""
	if note := from.note(); note != "" {
		m.policy.Note(r.ID, line, "%s", note)
	}
}

// drop leaves a rule out. One that allows has not decided anything here.
func (m *importer) drop(id, key string, r rule, line int, why string) {
	if !r.allow {
		m.policy.Drop(id, line, key+" "+r.text, "%s %s is left out: %s; write an access rule with the same meaning", key, r.text, why)
		return
	}
	m.policy.Note(id, line, "%s %s is left out: %s", key, r.text, why)
	m.policy.Comment(id, "left out: "+why, key+" "+r.text)
}

// match returns the conditions for a rule; why is the reason if it cannot be
// converted.
func (r rule) match() (got match, why string) {
	whole := r.spec == "" || r.spec == "*" || r.spec == ":*"
	switch {
	case strings.Contains(r.tool, "*"):
		return r.pattern(whole)
	case strings.HasPrefix(r.tool, "mcp__") && whole:
		return match{tools: r.server()}, ""
	case whole:
		return match{tools: r.tools()}, ""
	}
	switch r.tool {
	case "Bash":
		return r.shell()
	case "Read", "Grep", "Glob", "LS", "NotebookRead", "Edit", "Write", "MultiEdit", "NotebookEdit":
		return r.path()
	case "WebFetch":
		return r.host()
	case "Agent", "Task":
		return r.agent()
	case "Skill":
		return r.skill()
	}
	return r.argument()
}

// note returns how a converted rule differs from the original.
func (r rule) note() string {
	switch {
	case r.spec == "" || r.allow:
		return ""
	case slices.Contains([]string{"Write", "MultiEdit", "NotebookEdit", "Grep", "Glob", "LS", "NotebookRead"}, r.tool):
		return fmt.Sprintf("Claude Code ignores rules such as %s; here it applies, like one for %s", r.text, r.ruleTool())
	case strings.HasPrefix(r.spec, "/") && !strings.HasPrefix(r.spec, "//") && slices.Contains([]string{"Read", "Edit"}, r.tool):
		return fmt.Sprintf("%s is applied both in the workspace and in the home directory, since the settings "+
			"may be a project's or a person's; for the root of the disk write //", r.spec)
	}
	return ""
}

// others notes settings that are not rules.
func (m *importer) others(o foreign.Object) {
	for _, member := range o {
		switch member.Key {
		case "allow", "ask", "deny", "$schema":
		case "defaultMode":
			m.policy.Note("", member.Line, "defaultMode %s stays with Claude Code%s", member.Value.JSON(), modeHint(member.Value))
		case "additionalDirectories":
			m.policy.Note("", member.Line,
				"additionalDirectories stays with Claude Code: it is not a rule; here, the setting scope lists the folders that may be written")
		default:
			m.policy.Note("", member.Line, "%s is not converted: it is not a rule, and stays with Claude Code", member.Key)
		}
	}
}

func modeHint(v foreign.Value) string {
	if mode, _ := v.Text(); mode == "dontAsk" {
		return ": it denies what no rule allows, which default: deny would do here"
	}
	return ""
}
