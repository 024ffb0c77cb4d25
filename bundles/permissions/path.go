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

func (r rule) path() match {
	p := placeOf(r.spec)
	switch {
	case r.tool != r.ruleTool() && r.spec == "*":
		return match{why: "write " + r.tool + " for all calls of the tool"}
	case r.tool != r.ruleTool():
		return match{idle: "Claude Code ignores a rule for " + r.tool + " with a path; write one for " + r.ruleTool()}
	case strings.HasPrefix(r.spec, "!"):
		return match{why: "a pattern that begins with ! is not converted"}
	case slices.Contains(p.parts, ".."):
		return match{why: "a path with .. is not converted: write it from its root, with // or ~/"}
	case p.base == ownDir && r.personal:
		return match{why: "in a person's settings, it is unknown which folder / is; write the path from its root, with // or ~/"}
	case !r.allow:
		return match{when: p.touched(r.kinds())}
	case r.tool == "Read":
		return match{tools: []string{"Read"}, when: p.only(r.spec)}
	}
	return match{tools: editing, when: p.only(r.spec)}
}

// ruleTool returns the tool whose rules also apply to the rule's tool; empty: it is not
// a tool for files.
func (r rule) ruleTool() string {
	switch {
	case slices.Contains(editing, r.tool):
		return "Edit"
	case slices.Contains([]string{"Read", "Grep", "Glob", "LS", "NotebookRead"}, r.tool):
		return "Read"
	}
	return ""
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
	kind := "e.kind in " + foreign.Quotes(kinds) + ` && e.host == ""`
	test := p.test(false)
	if whole := p.test(true); whole != test { // with its folder, all of it is read or deleted
		test += " || e.recursive && (" + whole + ")"
	}
	return "action.effects.exists(e, " + kind + " && [e.target, e.short].exists(p, " + test + ")) || " +
		`action.name != "code.exec" && action.effects.exists(e, ` + kind + ") && [action.resource].exists(p, " + p.written() + ")"
}

// test returns a condition on a path p, in full or with the workspace as . and the home
// directory as ~. folder: also on the folder of which the place is everything.
func (p place) test(folder bool) string {
	body := p.body(folder)
	switch p.base {
	case whereCWD: // a folder of the workspace, or another one
		within := `(event.cwd == session.workspace || event.cwd.startsWith(session.workspace + "/"))`
		short := `"." + event.cwd.substring(size(session.workspace))`
		return below("event.cwd", p.depth()+body) + " || " + within + " && " + below(short, p.depth()+body)
	case ownDir:
		return "p.matches(" + foreign.Quote(`(?i)^\.`+body+"$") + ") || " + below("session.workspace", body)
	case homeDir:
		return "p.matches(" + foreign.Quote("(?i)^~"+body+"$") + ")"
	}
	return "p.matches(" + foreign.Quote("(?i)^"+body+"$") + ")"
}

// written returns a condition on the path p that a tool was given. Of a link in the home
// directory, only this path is there.
func (p place) written() string {
	if p.base == homeDir {
		return "!action.effects.exists(e, e.target == p) && p.matches(" + foreign.Quote("(?i)^"+homes+p.body(false)+"$") + ")"
	}
	return p.test(false)
}

// below returns a condition on the part of a path p after a folder.
func below(dir, re string) string {
	return dir + ` != "" && p.startsWith(` + dir + ` + "/") && p.substring(size(` + dir + ")).matches(" + foreign.Quote("(?i)^"+re+"$") + ")"
}

// homes matches home directories: which of them is the user's is unknown here.
const homes = `(?:~|/root|/home/[^/]+|/Users/[^/]+)`

// depth matches the folders between the folder and the place.
func (p place) depth() string {
	if p.deep {
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
			re(p.depth()) + ")"
	}
	return `size(action.effects) > 0 && action.effects.all(e, e.certainty == "exact" && e.target == action.resource && ` + test + ")"
}

// body makes a regular expression from the pattern, from its first slash on. Paths
// below a match belong to it; folder: so does the folder of which it is everything.
func (p place) body(folder bool) string {
	var b strings.Builder
	for i, part := range p.parts {
		switch last := i == len(p.parts)-1; {
		case part != "**":
			b.WriteString("/" + wildcard.Regexp(part))
		case last && !folder:
			b.WriteString("/.*")
		case !last:
			b.WriteString("(?:/.*)?")
		}
	}
	return b.String() + "(?:/.*)?"
}
