package classify

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxSettings is how much of an editor's settings is read, in bytes.
const maxSettings = 64 << 10

// looks begin the names of an editor's settings that say how it shows and lays
// out text: none of them approves, starts or allows anything.
var looks = []string{"editor.", "diffEditor.", "files.", "search.", "explorer.", "breadcrumbs.", "outline.", "zenMode.", "workbench.color", "workbench.icon", "workbench.tree"}

// onlyLooks says that a call changes the settings of an editor in which agents
// live, and of those settings only such as have nothing to do with agents. What
// the file holds now and then has to be known in full.
func (r *reading) onlyLooks(res *resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent || !strings.HasSuffix(e.Target, "/.vscode/settings.json") && !strings.HasSuffix(e.Target, "/User/settings.json") || e.Certainty != engine.CertaintyExact || e.Command >= 0 {
		return false
	}
	before, known := res.now(e)
	if !known {
		return false
	}
	after, known := r.then(before)
	if !known {
		return false
	}
	old, read := settingsIn(before)
	next, readNext := settingsIn(after)
	return read && readNext && changeLooks(old, next)
}

// now is what a file holds; nothing where it is not there.
func (r *resolver) now(e *engine.Effect) (text string, known bool) {
	if e.Exists == "no" {
		return "{}", true
	}
	if e.Exists != "yes" || r.world.ReadFile == nil {
		return "", false
	}
	b, err := r.world.ReadFile(e.Target, maxSettings)
	return string(b), err == nil
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

// settingsIn reads an object of settings, each given once. Comments are not
// read, as is anything else behind which something could hide.
func settingsIn(text string) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if _, twice := all[name]; err != nil || !ok || twice {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		all[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return all, err == io.EOF
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
