package classify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// toolArg is the part of a row about one argument.
type toolArg struct {
	name   string
	role   string
	must   bool     // the tool requires it
	others []string // names of which one is enough, if it is required
	list   bool     // the role is that of each item
}

// tool is the compiled form of a row, for reading calls.
type tool struct {
	action   string      // dotted name, as access rules match it
	typ      engine.Type // if effects do not determine it; empty: they do
	resource []string    // the first of these that is present; none: a summary of all arguments
	args     []toolArg   // arguments with a meaning
	contents []string    // names of nested arguments that are contents
	row      rows.Tool
	known    bool        // by a row of the base or the organisation's layer
	added    []rows.Tool // of layers that only make facts stricter
}

// toolOf returns what the rows say about a tool. Only tools with a row of exactly their name
// are cached: the number of names that match a pattern is unlimited.
func toolOf(set *rows.Set, name string) tool {
	if !set.HasRow(rows.ToolsFolder, name) {
		return findTool(set, name)
	}
	return rows.Once(set, "tool "+name, func() tool { return findTool(set, name) })
}

// findTool combines the rows of a tool. If a row cannot be parsed, the tool is unknown.
func findTool(set *rows.Set, name string) tool {
	var t tool
	entries, err := rows.Find[rows.Tool](set, rows.ToolsFolder, name)
	if err != nil {
		return t
	}
	for _, e := range entries {
		if e.Adds {
			t.added = append(t.added, e.Row)
			continue
		}
		t.row, t.known = t.row.Over(e.Row), true
	}
	t.action, t.typ, t.resource = t.row.Action, engine.Type(t.row.Type), strings.Fields(t.row.Resource)
	if t.known && t.action == "" && !strings.HasPrefix(name, "mcp__") {
		t.action = "unknown." + mask.DottedName(name)
	}
	t.args, t.contents = argsOf(t.row), strings.Fields(t.row.Contents)
	return t
}

// argsOf reads the arguments of a row: of two entries for one argument, the second applies.
func argsOf(row rows.Tool) []toolArg {
	var list []toolArg
	for _, text := range row.Args {
		arg, ok := rows.Arg(text)
		if !ok {
			continue
		}
		for _, name := range arg.Names {
			list = slices.DeleteFunc(list, func(a toolArg) bool { return a.name == name })
			list = append(list, toolArg{name, arg.Role, arg.Required, arg.Names, arg.List})
		}
	}
	return list
}

// follow applies the rows to a call: its arguments by their roles, then the effects that do
// not depend on arguments.
func (r *toolReader) follow() {
	r.table()
	r.does(r.tool.row)
	for _, row := range r.tool.added {
		for _, a := range argsOf(row) {
			if v := r.args[a.name]; v != nil && !rows.Hides(a.role) {
				r.argument(toolArg{name: a.name, role: a.role, list: a.list}, v)
			}
		}
		r.does(row)
	}
	r.startup()
}

// does applies the steps of a row.
func (r *toolReader) does(row rows.Tool) {
	r.steps(row.Do)
	for _, c := range row.Cases {
		if r.holds(c) {
			r.steps(c.Do)
			return
		}
	}
}

// holds reports whether the arguments meet all conditions of a case.
func (r *toolReader) holds(c rows.Case) bool {
	for names, want := range c.Value {
		if !slices.ContainsFunc(strings.Fields(names), func(name string) bool {
			text, ok := r.args[name].(string)
			return ok && rows.Fits(strings.Split(want, "|"), text)
		}) {
			return false
		}
	}
	return (c.Option == "" || r.given(c.Option)) && (c.Without == "" || !r.given(c.Without))
}

// given reports whether one of some arguments is present and not empty.
func (r *toolReader) given(names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool {
		v, there := r.args[name]
		return there && v != nil && v != false && v != ""
	})
}

// flag reads a key that is true, or the arguments that make it true.
func (r *toolReader) flag(value string) bool { return value == "true" || value != "" && r.given(value) }

func (r *toolReader) steps(list []rows.Step) {
	for _, s := range list {
		if (s.If == "" || r.given(s.If)) && (s.Unless == "" || !r.given(s.Unless)) {
			r.step(s)
		}
	}
}

// step applies one step of a row.
func (r *toolReader) step(s rows.Step) {
	key, value := s.Op()
	e := abstract.RawEffect{Verb: s.Verb, Object: s.Object, Recursive: r.flag(s.Recursive), Forced: r.flag(s.Forced), Egress: s.Egress,
		Contents: s.Contents, Persistence: s.Persistence, Privileged: s.Privileged, Reversible: engine.Reversibility(s.Reversible), Dir: r.in.Cwd}
	if s.Confirmed != "" && r.flag(s.Confirmed) {
		e.Forced = true
		r.script.Signals[engine.SignalUnconfirmed] = true
	}
	switch key {
	case "signal":
		for _, id := range strings.Fields(value) {
			r.script.Signals[engine.Signal(id)] = true
		}
	case "code":
		for _, text := range r.selected(value) {
			r.run(shell.Interpret(text.Text, r.in))
		}
	case "run":
		r.templated(value)
	case "read", "write", "delete", "fetch", "send":
		r.onTargets(key, value, e)
	default:
		r.at(key, value, s.On, e)
	}
}

// onTargets applies a step whose value selects its targets.
func (r *toolReader) onTargets(key, value string, e abstract.RawEffect) {
	kind := map[string]engine.EffectKind{"read": engine.EffectFileRead, "write": engine.EffectFileWrite, "delete": engine.EffectFileDelete,
		"fetch": engine.EffectNetwork, "send": engine.EffectNetwork}
	e.Kind, e.Egress = kind[key], e.Egress || key == "send"
	if e.Verb == "" {
		e.Verb = key
	}
	for _, target := range r.selected(value) {
		e.Target = target
		r.add(e)
	}
}

// at applies a step whose value is a verb: for the targets, or for the tool's service.
func (r *toolReader) at(key, verb, on string, e abstract.RawEffect) {
	e.Verb = verb
	targets := []abstract.Value{{Text: r.server()}}
	if on != "" {
		targets = r.selected(on)
	}
	switch key {
	case "network":
		e.Kind, e.Egress = engine.EffectNetwork, e.Egress || verb == "send"
	case "system":
		e.Kind = engine.EffectSystemCall
	case "process":
		e.Kind = engine.EffectProcess
	case "end":
		if known, _ := operation.WordsOf(r.in.Rows).Ending(verb); known != "" {
			e.Verb = known // for policy, purge is delete
		}
		e.Kind, e.Egress, e.Reversible = engine.EffectNetwork, true, engine.R5
	}
	for _, target := range targets {
		e.Target = target
		if key == "end" && !place.Loopback(place.HostOf(target)) {
			r.script.Signals[engine.SignalInfraDelete] = true
		}
		r.add(e)
	}
}

// server returns the service of a tool: the server's name, or its own.
func (r *toolReader) server() string {
	if server, _, ok := strings.Cut(strings.TrimPrefix(r.name, "mcp__"), "__"); ok && strings.HasPrefix(r.name, "mcp__") {
		return strings.ToLower(server)
	}
	return strings.ToLower(r.name)
}

// selected returns the texts of the arguments that a step names, a string of the row, or an
// unknown text.
func (r *toolReader) selected(names string) []abstract.Value {
	if text, ok := strings.CutPrefix(names, "="); ok {
		return []abstract.Value{{Text: text}}
	}
	var list []abstract.Value
	for _, name := range strings.Fields(names) {
		if name == rows.SelectUnknown {
			list = append(list, abstract.Value{Sure: abstract.Unknown})
			continue
		}
		list = append(list, textsOf(r.args[name])...)
	}
	return list
}

// textsOf returns the texts of an argument; values that are not text are unknown.
func textsOf(v any) []abstract.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []abstract.Value{{Text: v}}
	case []any:
		var list []abstract.Value
		for _, item := range v {
			list = append(list, textsOf(item)...)
		}
		return list
	}
	return []abstract.Value{{Sure: abstract.Unknown}}
}

// planOf reads the part of a call about the agent's list of sub-tasks.
func planOf(row *rows.Plan, args map[string]any) *engine.Plan {
	if row == nil {
		return nil
	}
	p := &engine.Plan{Whole: row.List != ""}
	if id, ok := args[row.ID].(string); ok {
		sum := sha256.Sum256([]byte(id))
		p.Task = hex.EncodeToString(sum[:4])
	} else if row.ID != "" {
		return nil
	}
	for _, item := range planItems(row, args) {
		switch state, ok := item[row.State].(string); {
		case !ok && row.ID != "":
			return nil // its state stays
		case rows.Has(row.Done, state):
			p.Done++
		case !rows.Has(row.Gone, state):
			p.Open++
		}
	}
	return p
}

// planItems returns the sub-tasks that a call names: those of its list, or the call itself.
func planItems(row *rows.Plan, args map[string]any) []map[string]any {
	if row.List == "" {
		return []map[string]any{args}
	}
	var items []map[string]any
	list, _ := args[row.List].([]any)
	for _, v := range list {
		if item, ok := v.(map[string]any); ok {
			items = append(items, item)
		}
	}
	return items
}

// SubTasks returns the agent's list of sub-tasks after some events, by the rows of its tools.
// The id of a new sub-task is in the answer to its call.
func SubTasks(known engine.Rows, events []engine.Event) []engine.SubTask {
	set, ok := known.(*rows.Set)
	if !ok {
		return nil
	}
	var list []listedTask
	for _, e := range events {
		list = listed(set, list, e)
	}
	var tasks []engine.SubTask
	for _, t := range list {
		if !t.gone && t.Title != "" {
			tasks = append(tasks, t.SubTask)
		}
	}
	return tasks
}

// listedTask is a sub-task with the call that created it, and the id in the answer.
type listedTask struct {
	engine.SubTask
	call, id string
	gone     bool
}

// taskID is the first id in the answer to a call that makes a sub-task.
var taskID = engine.Regexp(`(?:#|"id": ?"?)([A-Za-z0-9_-]+)`)

func listed(set *rows.Set, list []listedTask, e engine.Event) []listedTask {
	row := toolOf(set, e.Tool).row.Plan
	var args map[string]any
	switch {
	case row == nil:
		return list
	case e.Phase == engine.PhasePost:
		return answeredTask(list, e)
	case e.Phase != engine.PhasePre || json.Unmarshal(e.Args, &args) != nil:
		return list
	case row.List != "":
		list = nil
	}
	for _, item := range planItems(row, args) {
		title, _ := item[row.Title].(string)
		state, said := item[row.State].(string)
		t := listedTask{engine.SubTask{Title: title, Done: rows.Has(row.Done, state)}, e.Call, "", rows.Has(row.Gone, state)}
		if row.ID == "" {
			list = append(list, t)
			continue
		}
		for i := range list {
			if list[i].id != "" && list[i].id == item[row.ID] && said {
				list[i].Done, list[i].gone = t.Done, t.gone
			}
		}
	}
	return list
}

// answeredTask records the id of a new sub-task; one whose call was refused is removed.
func answeredTask(list []listedTask, e engine.Event) []listedTask {
	for i := range list {
		if t := &list[i]; e.Call != "" && t.call == e.Call && e.Result != nil {
			t.gone = t.gone || e.Result.Failed || e.Result.Refused
			if m := taskID().FindSubmatch(e.Result.Output); m != nil {
				t.id = string(m[1])
			}
		}
	}
	return list
}
