package classify

import (
	"bytes"
	"encoding/json"
	"maps"
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
// live, and of those settings only such as have nothing to do with agents. What
// the file holds now and then has to be known in full.
func (r *reading) onlyLooks(res *place.Resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent ||
		!strings.HasSuffix(e.Target, "/.vscode/settings.json") && !strings.HasSuffix(e.Target, "/User/settings.json") ||
		e.Certainty != engine.CertaintyExact || e.Command >= 0 {
		return false
	}
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
	return read && readNext && changeLooks(old, next)
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

func changeLooks(old, next map[string]json.RawMessage) bool {
	both := maps.Clone(old)
	maps.Copy(both, next)
	for name := range both {
		a, had := old[name]
		b, has := next[name]
		same := had && has && bytes.Equal(a, b)
		if !same && !slices.ContainsFunc(looks, func(lead string) bool { return strings.HasPrefix(name, lead) }) {
			return false
		}
	}
	return true
}
