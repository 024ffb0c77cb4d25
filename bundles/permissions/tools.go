package permissions

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// editing are the tools to which a rule for Edit applies.
var editing = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// tools lists the tools of a rule without a specifier.
func (r rule) tools() []string {
	switch r.tool {
	case "Bash":
		if !r.allow {
			return []string{"Bash", "Monitor"} // runs commands too
		}
	case "Read":
		if !r.allow {
			return []string{"Read", "NotebookRead", "Grep", "Glob", "LS"}
		}
	case "Edit":
		return editing
	case "Agent", "Task":
		return []string{"Agent", "Task"} // one tool that was renamed
	}
	return []string{r.tool}
}

// server reads mcp__server, which matches all tools of a server, and
// mcp__server__tool.
func (r rule) server() []string {
	if name := strings.TrimPrefix(r.tool, "mcp__"); name != "" && !strings.Contains(name, "__") {
		return []string{r.tool, r.tool + "__*"}
	}
	return []string{r.tool}
}

var ofServer = engine.Regexp(`^mcp__[^*]+?__`)

// pattern reads a * in a tool's name. One that allows must name the server.
func (r rule) pattern(whole bool) match {
	switch {
	case !whole:
		return match{why: "a * in the name cannot be combined with parentheses"}
	case r.allow && !ofServer().MatchString(r.tool):
		return match{idle: "Claude Code ignores a * in a tool's name in allow rules, except after mcp__server__"}
	case strings.Index(r.tool, "*") == len(r.tool)-1:
		return match{tools: []string{r.tool}}
	}
	return match{when: "event.tool.matches(" + foreign.Quote("^"+stars(r.tool)+"$") + ")"}
}

// stars makes a regular expression from a string in which * matches anything.
func stars(text string) string {
	parts := strings.Split(text, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return strings.Join(parts, "(?s:.*)")
}

// host reads domain:name.
func (r rule) host() match {
	name, ok := strings.CutPrefix(r.spec, "domain:")
	name = strings.ToLower(strings.TrimSpace(name))
	if !ok || name == "" {
		return match{why: "expected WebFetch(domain:example.com)"}
	}
	test := "h == " + foreign.Quote(name)
	if strings.Contains(name, "*") {
		test = "h.matches(" + foreign.Quote("^"+stars(name)+"$") + ")"
	}
	if r.allow {
		return match{tools: []string{"WebFetch"}, when: "size(action.hosts) > 0 && action.hosts.all(h, " + test + ")"}
	}
	return match{tools: []string{"WebFetch"}, when: "action.hosts.exists(h, " + test + ")"}
}

// agent reads the type of a sub-agent.
func (r rule) agent() match {
	test := argument("subagent_type", r.spec)
	if r.spec == "general-purpose" && !r.allow {
		test = `!("subagent_type" in event.args) || ` + test // the default type
	}
	return match{tools: []string{"Agent", "Task"}, when: test}
}

// skill reads a skill's name, or name * for the name with anything after it.
func (r rule) skill() match {
	name := strings.TrimSuffix(r.spec, " *")
	switch {
	case strings.Contains(name, "*"):
		return match{why: "expected the name of a skill, or the name with a space and *"}
	case r.allow && name != r.spec:
		return match{why: "what follows the skill's name is not checked here"}
	}
	return match{tools: []string{"Skill"}, when: argument("skill", name) + " || " + argument("command", name)}
}

var parameter = engine.Regexp(`(?s)^([A-Za-z_]\w*):\s?(.+)$`)

// argument reads Tool(argument:value), which can only deny and ask.
func (r rule) argument() match {
	p := parameter().FindStringSubmatch(r.spec)
	switch {
	case p == nil:
		return match{why: "the meaning of the parentheses is unknown for this tool"}
	case r.allow:
		return match{idle: "Claude Code has no allow rules for the value of an argument"}
	}
	return match{tools: []string{r.tool}, when: argument(p[1], p[2])}
}

// argument is a condition on an argument of the call.
func argument(name, value string) string {
	arg := "event.args[" + foreign.Quote(name) + "]"
	there := foreign.Quote(name) + " in event.args && "
	if strings.Contains(value, "*") {
		return fmt.Sprintf("(%stype(%s) == string && %s.matches(%s))", there, arg, arg, foreign.Quote("^"+stars(value)+"$"))
	}
	test := arg + " == " + foreign.Quote(value)
	if plain(value) {
		test = "(" + test + " || " + arg + " == " + value + ")"
	}
	return "(" + there + test + ")"
}

// plain reports whether a string is also a number or a truth value of CEL.
func plain(text string) bool {
	_, err := strconv.ParseInt(text, 10, 32)
	return text == "true" || text == "false" || err == nil && text == strings.TrimLeft(text, "+0") || text == "0"
}
