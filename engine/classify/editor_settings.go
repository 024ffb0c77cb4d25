package classify

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
)

// looks begin the names of an editor's settings that say how it shows and lays
// out text: none of them approves, starts or allows anything.
var looks = []string{"editor.", "diffEditor.", "files.", "search.", "explorer.", "breadcrumbs.", "outline.", "zenMode.", "workbench.color",
	"workbench.icon", "workbench.tree"}

// onlyLooks says that a call changes the settings of an editor in which agents
// live, and of those settings only such as have nothing to do with agents.
func (r *reading) onlyLooks(res *place.Resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent ||
		!strings.HasSuffix(e.Target, "/.vscode/settings.json") && !strings.HasSuffix(e.Target, "/User/settings.json") ||
		e.Certainty != engine.CertaintyExact || e.Command >= 0 {
		return false
	}
	return r.changesOnly(res, e, func(name string) bool {
		return slices.ContainsFunc(looks, func(lead string) bool { return strings.HasPrefix(name, lead) })
	})
}

// onlyMinor says that a call changes settings of the client in the workspace, and
// of those only such as policy lists: what it looks like, and which model answers.
func (r *reading) onlyMinor(res *place.Resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent || e.Location != engine.LocationInside || e.Certainty != engine.CertaintyExact || e.Command >= 0 ||
		path.Base(path.Dir(e.Target)) == ".vscode" {
		return false
	}
	if settings, err := path.Match("settings*.json", path.Base(e.Target)); err != nil || !settings {
		return false
	}
	minor := r.in.Rows.Words("settings.minor")
	return r.changesOnly(res, e, func(name string) bool { return slices.Contains(minor, name) })
}

// changesOnly says that a call of Write or Edit changes settings of some names and
// no others. What the file holds now and then has to be known in full.
func (r *reading) changesOnly(res *place.Resolver, e *engine.Effect, may func(name string) bool) bool {
	before, known := res.Now(e)
	if !known {
		return false
	}
	after, known := r.then(before)
	if !known {
		return false
	}
	old, read := programs.SettingsIn(before)
	next, readNext := programs.SettingsIn(after)
	return read && readNext && changes(old, next, may)
}

// then is what a file holds after a call of Write or Edit.
func (r *reading) then(before string) (text string, known bool) {
	switch r.name {
	case "Write":
		text, known = r.args["content"].(string)
		return text, known
	case "Edit":
		old, found := r.args["old_string"].(string)
		text, known = r.args["new_string"].(string)
		return strings.Replace(before, old, text, 1), found && known && strings.Count(before, old) == 1
	}
	return "", false
}

// changes says that two settings differ in nothing but what may change.
func changes(old, next map[string]json.RawMessage, may func(name string) bool) bool {
	both := maps.Clone(old)
	maps.Copy(both, next)
	for name := range both {
		a, had := old[name]
		b, has := next[name]
		same := had && has && bytes.Equal(a, b)
		if !same && !may(name) {
			return false
		}
	}
	return true
}
