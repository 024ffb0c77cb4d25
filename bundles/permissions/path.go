package permissions

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// place is the pattern of a rule for files, as in .gitignore, under a folder.
type place struct {
	base  string // one of the bases
	parts []string
	deep  bool // it can be at any depth under the folder
}

// The folders that patterns are relative to.
const (
	rootDir  = "//" // of the disk
	homeDir  = "~"
	ownDir   = "/" // of the settings: a project's folder, or a person's
	whereCWD = "." // the agent's directory
)

func placeOf(spec string) place {
	base := whereCWD
	for _, b := range []string{rootDir, homeDir + "/", ownDir, "./"} {
		if rest, ok := strings.CutPrefix(spec, b); ok {
			base, spec = strings.TrimSuffix(b, "/"), rest
			if b == rootDir || b == ownDir {
				base = b
			}
			break
		}
	}
	if spec == homeDir || spec == whereCWD {
		base, spec = spec, ""
	}
	spec = strings.TrimSuffix(spec, "/")
	p := place{base: base, deep: base == whereCWD && !strings.Contains(spec, "/") && spec != ""}
	if spec != "" {
		p.parts = strings.Split(spec, "/")
	}
	return p
}

func (r rule) path() (match, string) {
	if strings.HasPrefix(r.spec, "!") {
		return match{}, "a pattern that begins with ! is not converted"
	}
	p := placeOf(r.spec)
	if slices.Contains(p.parts, "..") {
		return match{}, "a path with .. is not converted: write it from its root, with // or ~/"
	}
	switch {
	case !r.allow:
		return match{when: p.touched(r.kinds())}, ""
	case r.tool == "Read":
		return match{[]string{"Read"}, p.only(r.spec)}, ""
	case r.tool == "Edit":
		return match{editing, p.only(r.spec)}, ""
	}
	return match{}, "Claude Code ignores a rule for " + r.tool + " with a path; write one for " + r.ruleTool()
}

// ruleTool returns the tool whose rules also apply to the rule's tool.
func (r rule) ruleTool() string {
	if slices.Contains(editing, r.tool) {
		return "Edit"
	}
	return "Read"
}

// kinds are the effects to which a rule applies: a file that must not be read must not
// be changed either.
func (r rule) kinds() []string {
	if r.ruleTool() == "Edit" {
		return []string{"file_write", "file_delete"}
	}
	return []string{"file_read", "file_write", "file_delete"}
}

// touched returns a condition that any tool has such an effect on the place, as
// written or through links.
func (p place) touched(kinds []string) string {
	test := "p.matches(" + foreign.Quote("(?i)^"+p.anywhere()+p.body(true)+"$") + ")"
	switch p.base {
	case whereCWD:
		test += " || " + below("event.cwd", p.depth(true)+p.body(true))
	case ownDir: // a link in the workspace has no short name
		test += " || " + below("session.workspace", p.body(true))
	}
	kind := "e.kind in " + foreign.Quotes(kinds)
	effects := func(field string) string {
		return "action.effects.exists(e, " + kind + " && [e.target, e.short].exists(p, " + field + "))"
	}
	return effects(test) + " || action.effects.exists(e, " + kind + ") && [action.resource].exists(p, " + test + ")"
}

// below returns a condition on the part of a path after a folder.
func below(dir, re string) string {
	return "p.startsWith(" + dir + ` + "/") && p.substring(size(` + dir + ")).matches(" + foreign.Quote("(?i)^"+re+"$") + ")"
}

// anywhere returns the forms of the folder, in full or shortened.
func (p place) anywhere() string {
	switch p.base {
	case rootDir:
		return ""
	case homeDir:
		return homes
	case ownDir:
		return `(?:\.|~|~/\.claude|` + homes + `(?:/\.claude)?)`
	}
	return `\.` + p.depth(true)
}

// homes matches home directories: which of them is the user's is unknown here.
const homes = `(?:~|/root|/home/[^/]+|/Users/[^/]+)`

// depth matches the folders between the folder and the place.
func (p place) depth(strict bool) string {
	if p.deep || strict {
		return "(?:/.*)?"
	}
	return ""
}

// only returns a condition that the call touches only the place, without links.
func (p place) only(spec string) string {
	re := func(lead string) string { return foreign.Quote("^" + lead + p.body(false) + "$") }
	var test string
	switch p.base {
	case rootDir:
		test = "e.target.matches(" + re("") + ")"
	case homeDir:
		test = "e.short.matches(" + re("~") + ")"
	case ownDir:
		test = "e.short.matches(" + re(`\.`) + ")"
	default:
		p.deep = p.deep && !strings.HasPrefix(spec, "./")
		test = `event.cwd != "" && e.target.startsWith(event.cwd + "/") && e.target.substring(size(event.cwd)).matches(` +
			re(p.depth(false)) + ")"
	}
	return `size(action.effects) > 0 && action.effects.all(e, e.certainty == "exact" && e.target == action.resource && ` + test + ")"
}

// body makes a regular expression from the pattern, from its first slash on. Paths
// below a match belong to it.
func (p place) body(wide bool) string {
	var b strings.Builder
	for i, part := range p.parts {
		switch last := i == len(p.parts)-1; {
		case part != "**":
			b.WriteString("/" + wildcard.Regexp(part))
		case last && !wide:
			b.WriteString("/.*") // not the folder itself
		case !last:
			b.WriteString("(?:/.*)?")
		}
	}
	return b.String() + "(?:/.*)?"
}
