package classify

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// editorClass returns the class of a change to an editor's settings: ClassAgent if
// it may change what agents are allowed to do (the words of settings.agents) or is
// not known in full, none if only the display, layout or checking of text changes
// (settings.looks), else ClassStartup, since the editor may run what is named.
func (r *toolReader) editorClass(res *place.Resolver, e *engine.Effect) engine.Class {
	if e.Class != engine.ClassAgent ||
		!strings.HasSuffix(e.Target, "/.vscode/settings.json") && !strings.HasSuffix(e.Target, "/User/settings.json") ||
		e.Certainty != engine.CertaintyExact || e.Command >= 0 {
		return e.Class
	}
	begins := func(list string) func(name string) bool {
		leads := r.in.Rows.Words(list)
		return func(name string) bool {
			return slices.ContainsFunc(leads, func(lead string) bool { return strings.HasPrefix(name, lead) })
		}
	}
	agents := begins("settings.agents")
	before, known := res.Now(e)
	if !known && r.name == "Write" && res.World.ReadFile == nil { // in a transcript, only the written text is known
		before, known = "{}", true
	}
	switch {
	case !known || !r.changesOnly(before, func(name string) bool { return !agents(name) }):
		return e.Class
	case r.changesOnly(before, begins("settings.looks")):
		return ""
	}
	return engine.ClassStartup
}

// onlyMinor reports whether a call changes only those settings of the client in the
// workspace that the policy lists as minor, such as its appearance or the model.
func (r *toolReader) onlyMinor(res *place.Resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent || e.Location != engine.LocationInside || e.Certainty != engine.CertaintyExact || e.Command >= 0 ||
		path.Base(path.Dir(e.Target)) == ".vscode" || res.Elsewhere(e.Target) {
		return false
	}
	if settings, err := path.Match("settings*.json", path.Base(e.Target)); err != nil || !settings {
		return false
	}
	minor := r.in.Rows.Words("settings.minor")
	return r.minorIn(res, e, func(name string) bool { return slices.Contains(minor, name) })
}

// onlyWidens reports whether a call adds servers, permissions or a status line to the settings of a client, and changes nothing else
// that decides anything (the words of settings.widening): a person can be asked about that.
func (r *toolReader) onlyWidens(res *place.Resolver, e *engine.Effect) bool {
	if e.Class != engine.ClassAgent || e.Certainty != engine.CertaintyExact || e.Command >= 0 || e.Host != "" ||
		!strings.HasSuffix(e.Target, ".json") {
		return false
	}
	before, known := res.Now(e)
	after, knownAfter := r.then(before)
	old, read := programs.SettingsIn(before)
	next, readNext := programs.SettingsIn(after)
	return known && knownAfter && read && readNext && r.widens(old, next)
}

// widens reports whether the second version of settings only adds to the first.
func (r *toolReader) widens(old, next map[string]json.RawMessage) bool {
	minor, widening, adds := r.in.Rows.Words("settings.minor"), r.in.Rows.Words("settings.widening"), false
	return changes(old, next, func(name string) bool {
		switch {
		case slices.Contains(minor, name):
			return true
		case !slices.Contains(widening, name):
			return false
		}
		adds = true
		var was, is map[string]json.RawMessage
		if !decodes(old[name], &was) || !decodes(next[name], &is) {
			return false
		}
		if name == "permissions" {
			return changes(was, is, func(kind string) bool { return r.permits(kind, was[kind], is[kind]) })
		}
		return !slices.ContainsFunc(slices.Collect(maps.Keys(was)), func(entry string) bool { return is[entry] == nil }) &&
			!slices.ContainsFunc(slices.Collect(maps.Values(is)), r.trusts)
	}) && adds
}

// decodes reports whether a value of settings, if there is one, has the form of v, and sets v.
func decodes(value json.RawMessage, v any) bool {
	return value == nil || json.Unmarshal(value, v) == nil
}

// trusts reports whether an entry of settings has an option with which nobody is asked about what it does.
func (r *toolReader) trusts(entry json.RawMessage) bool {
	var options map[string]json.RawMessage
	return json.Unmarshal(entry, &options) == nil && slices.ContainsFunc(r.in.Rows.Words("settings.trusting"), func(name string) bool {
		return options[name] != nil && string(options[name]) != "false" && string(options[name]) != "[]"
	})
}

// permits reports whether a list of permissions gets only new entries, none of which permits a whole shell or everything.
func (r *toolReader) permits(kind string, old, next json.RawMessage) bool {
	var was, is []string
	if !slices.Contains([]string{"allow", "ask", "deny"}, kind) || !decodes(old, &was) || !decodes(next, &is) {
		return false
	}
	return !slices.ContainsFunc(was, func(rule string) bool { return !slices.Contains(is, rule) }) &&
		(kind != "allow" || !slices.ContainsFunc(is, func(rule string) bool { return !slices.Contains(was, rule) && r.permitsAll(rule) }))
}

// permitsAll reports whether a permission is for every tool, for each command of a shell, or for a program that runs any other.
func (r *toolReader) permitsAll(rule string) bool {
	tool, argument, _ := strings.Cut(strings.ToLower(strings.TrimSpace(rule)), "(")
	words := strings.FieldsFunc(argument, func(c rune) bool { return strings.ContainsRune(" \t:*)", c) })
	switch {
	case strings.Trim(tool, "* ") == "":
		return true
	case !slices.Contains(r.in.Rows.Words("settings.shells"), tool):
		return false
	case len(words) == 0:
		return true
	}
	known, _, err := r.in.Rows.Program(path.Base(words[0]))
	return err != nil || known.Wraps != nil && known.Wraps.Sub == "" || shell.Language(path.Base(words[0])) != ""
}

// elsewhere sets the relation to the guard of changes to settings that apply in other folders than the session's. Where the new
// contents are known, they must not do more than what the policy lists as minor.
func (r *toolReader) elsewhere(effects []engine.Effect, res *place.Resolver) {
	minor := r.in.Rows.Words("settings.minor")
	may := func(name string) bool { return slices.Contains(minor, name) }
	for i := range effects {
		e := &effects[i]
		switch {
		case e.Guard != "is" || e.Class != engine.ClassAgent || !res.Elsewhere(e.Target):
		case !place.Gone(e) && e.Command < 0 && !r.minorIn(res, e, may), !place.Gone(e) && r.sets(e, may):
			if strings.Contains(e.Target, "/.") { // others may be a client's own, of the person
				e.Guard = place.GuardUnsafe
			}
		default:
			e.Guard = place.GuardElsewhere
		}
	}
}

// minorIn reports whether Write or Edit changes only certain settings of a file.
func (r *toolReader) minorIn(res *place.Resolver, e *engine.Effect, may func(name string) bool) bool {
	before, known := res.Now(e)
	return known && r.changesOnly(before, may)
}

// sets reports whether code writes a text into a file of settings that sets more than some of them, or that is not settings.
func (r *toolReader) sets(e *engine.Effect, may func(name string) bool) bool {
	return slices.ContainsFunc(r.script.Written, func(w abstract.Text) bool {
		if path.Base(w.Path) != path.Base(e.Target) {
			return false
		}
		next, read := programs.SettingsIn(w.Text)
		return !read || !changes(map[string]json.RawMessage{}, next, may)
	})
}

// changesOnly reports whether a call of Write or Edit changes only settings with certain
// names. The resulting contents of the file must be completely known.
func (r *toolReader) changesOnly(before string, may func(name string) bool) bool {
	after, known := r.then(before)
	if !known {
		return false
	}
	old, read := programs.SettingsIn(before)
	next, readNext := programs.SettingsIn(after)
	return read && readNext && changes(old, next, may)
}

// then returns the contents of a file after a call of Write or Edit.
func (r *toolReader) then(before string) (text string, known bool) {
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

// changes reports whether two versions of settings differ only in what may change.
func changes(old, next map[string]json.RawMessage, may func(name string) bool) bool {
	both := map[string]json.RawMessage{}
	maps.Copy(both, old)
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
