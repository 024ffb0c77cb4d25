package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// Import makes an access list of settings, or of their permissions alone. personal
// reports whether they are a person's, not a project's; read, whether an expression can
// be used. An error begins with file:line and means that there are no permissions to
// read.
func Import(file string, raw []byte, personal bool, read foreign.Reader) (*foreign.Policy, error) {
	doc, err := foreign.Read(file, raw)
	if err != nil {
		return nil, err
	}
	o, err := permissionsOf(doc)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	m := &importer{policy: &foreign.Policy{}, personal: personal, read: read}
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
	m.allowCommands()
	if m.files {
		m.policy.Note("", 0, "rules for files also apply to shell commands of which reviewer knows that they touch the file; "+
			"they do not hold up a search of a whole folder (Grep, grep -r), "+
			"and Claude Code's own Grep leaves such files out: keep them in Claude Code's settings too")
	}
	if m.shell {
		m.policy.Note("", 0, "as in Claude Code, rules for Bash do not look into sudo, sh -c, docker exec or npx: "+
			"to match such commands too, write an access rule with a condition on action.commands")
	}
	if len(m.allowed) > 0 {
		m.policy.Note("", 0, "rules that allow Bash do not allow variables before a command, redirections to files and substitutions, "+
			"which Claude Code examines by itself, or asks about")
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
	policy   *foreign.Policy
	personal bool
	read     foreign.Reader
	files    bool                 // some rule denies or asks about files
	shell    bool                 // some rule denies or asks about commands
	allowed  []bundles.AccessRule // rules that allow commands
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
	text     string // as written
	tool     string
	spec     string // in parentheses; empty: the whole tool
	allow    bool
	personal bool // of a person's settings
}

var form = engine.Regexp(`(?s)^([^()\s]+)(?:\((.+)\))?$`)

// match is the conditions of an access rule, or why there are none.
type match struct {
	tools    []string
	commands []string
	when     string

	why  string // the rule cannot be converted exactly
	idle string // the rule decides nothing in Claude Code
}

func (m *importer) rule(key, text string, line int) {
	id := m.policy.ID(key + "_" + foreign.Word(text))
	original := key + " " + text
	parts := form().FindStringSubmatch(text)
	if parts == nil {
		m.policy.Leave(id, line, original, "it is not a rule: expected Tool or Tool(what)")
		return
	}
	r := rule{text: text, tool: parts[1], spec: parts[2], allow: key == "allow", personal: m.personal}
	got := r.match()
	if got.when != "" {
		if err := m.read(got.when); err != nil {
			got.why = fmt.Sprintf("it is too complex for one expression (%v)", err)
		}
	}
	access := bundles.AccessRule{ID: id, Effect: effects[key], Description: original, Tools: got.tools, Commands: got.commands, When: got.when}
	switch {
	case got.idle != "":
		m.policy.Idle(id, line, original, "%s", got.idle)
	case got.why != "":
		m.policy.Leave(id, line, original, "%s", got.why)
	case r.allow && got.commands != nil:
		if !m.policy.Shadowed(access, line, original) {
			m.allowed = append(m.allowed, access)
		}
	case m.policy.Add(access, line, original):
		m.shell = m.shell || got.commands != nil
		m.files = m.files || !r.allow && got.tools == nil && r.spec != ""
		if note := r.note(); note != "" {
			m.policy.Note(id, line, "%s", note)
		}
	}
}

// allowCommands adds one rule for all rules that allow commands: Claude Code runs a
// compound command if each part of it matches any of them.
func (m *importer) allowCommands() {
	if len(m.allowed) == 0 {
		return
	}
	r := m.allowed[0]
	if n := len(m.allowed); n > 1 {
		r.ID, r.Description = m.policy.ID("allow_bash_commands"), engine.Counted(n, "rule", "rules")+" that allow Bash commands"
		for _, o := range m.allowed[1:] {
			if slices.Contains(r.Commands, o.Commands[0]) {
				continue
			}
			r.Commands = append(slices.Clone(r.Commands), o.Commands[0])
		}
	}
	m.policy.List.Rules = append(m.policy.List.Rules, r)
	m.policy.Counts.Carried += len(m.allowed)
}

// match returns the conditions for a rule.
func (r rule) match() match {
	whole := r.spec == "" || r.spec == "*" && r.ruleTool() == ""
	switch {
	case strings.Contains(r.tool, "*"):
		return r.pattern(whole)
	case strings.HasPrefix(r.tool, "mcp__") && whole:
		return match{tools: r.server()}
	case whole:
		return match{tools: r.tools()}
	case r.ruleTool() != "":
		return r.path()
	}
	switch r.tool {
	case "Bash":
		return r.shell()
	case "WebFetch":
		return r.host()
	case "Agent", "Task":
		return r.agent()
	case "Skill":
		return r.skill()
	}
	return r.argument()
}

// note returns what to know about a converted rule.
func (r rule) note() string {
	if r.ruleTool() != "" && strings.HasPrefix(r.spec, ownDir) && !strings.HasPrefix(r.spec, rootDir) {
		return fmt.Sprintf("%s is relative to the project's folder; for the root of the disk write //", r.spec)
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
