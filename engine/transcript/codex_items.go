package transcript

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// codexScripts are the scripts of code mode in a rollout. Newer versions of Codex write an
// item about each call in a script that ran, with the id that hooks get. A call whose hook
// denied it has none.
type codexScripts struct {
	ids   map[string]bool   // of calls that are scripts
	named map[string]bool   // of them, those of versions that give nested calls ids of their own
	whole map[string]int    // id of a script -> the event of the script itself, if that counts
	last  string            // id of the latest
	open  map[string][]span // key of a nested call -> such calls without an item yet
	left  map[int]bool      // events that are left out: scripts whose calls are known
}

// span is the events of a nested call.
type span struct {
	script string
	at     []int
}

func newCodexScripts() codexScripts {
	return codexScripts{ids: map[string]bool{}, named: map[string]bool{}, whole: map[string]int{}, open: map[string][]span{},
		left: map[int]bool{}}
}

// script records the calls in a script.
func (c *codexReader) script(i codexItem, code string) {
	if _, twice := c.calls[i.Call]; twice && i.Call != "" {
		return
	}
	nested := scriptCalls(code)
	id := c.note(i.Call, flat(nested))
	c.scripts.ids[id], c.scripts.named[id], c.scripts.last = true, i.Namespace != "", id
	at := c.calls[id]
	for _, n := range nested {
		if len(at) < len(n.calls) {
			return // a derived id that was there before
		}
		own := slices.Clone(at[:len(n.calls)])
		at = at[len(n.calls):]
		if n.key == "" {
			c.scripts.whole[id] = own[0]
			continue
		}
		c.scripts.open[n.key] = append(c.scripts.open[n.key], span{id, own})
	}
}

// scriptResult is the result of a script for its calls that have none: they did not run if
// a hook denied one of them and the script ended there.
func (c *codexReader) scriptResult(id string, r engine.Result) engine.Result {
	if !r.Failed || !strings.Contains(r.Error, "blocked by PreToolUse hook: ") {
		return r
	}
	r.Refused = true
	if c.scripts.named[id] { // the log has other ids
		c.unasked(id)
	}
	return r
}

// completed reads what Codex writes when something has ended.
func (c *codexReader) completed(i codexItem) {
	var item codexItem
	if len(i.Item) == 0 || !c.decode(i.Item, &item) {
		return
	}
	switch item.Type {
	case "UserMessage":
		c.marked(item.Type, item.Content)
	case "CommandExecution", "FileChange", "McpToolCall":
		if _, known := c.calls[item.ID]; !known && !c.nested(i.Started, item) {
			return
		}
		_ = c.result(item.ID, codexEnd(item)) // the call is known
	}
}

// nested records the call of an item in a script. Other commands that have no call are
// those that a person ran.
func (c *codexReader) nested(started float64, item codexItem) bool {
	if !strings.HasPrefix(item.ID, "exec-") {
		return false
	}
	if at, whole := c.scripts.whole[c.scripts.last]; whole {
		c.leave(c.scripts.last, at)
	}
	key, calls := item.nestedCalls()
	if waiting := c.scripts.open[key]; len(waiting) > 0 {
		c.scripts.open[key] = waiting[1:]
		c.claim(waiting[0], item)
		return true
	}
	now := c.now
	c.millis(started)
	c.note(item.ID, inDir(calls, codexFolder(item.CWD)))
	c.now = now
	return true
}

// leave leaves out a script whose calls are known.
func (c *codexReader) leave(id string, at int) {
	c.without(id, at)
	c.scripts.left[at] = true
	delete(c.out.Unasked, c.out.Events[at].Call)
	if end, has := c.ends[at]; has {
		c.scripts.left[end] = true
	}
}

// without removes events from the calls that a script is equivalent to.
func (c *codexReader) without(script string, events ...int) {
	c.calls[script] = slices.DeleteFunc(slices.Clone(c.calls[script]), func(at int) bool { return slices.Contains(events, at) })
}

// claim gives a call that was found in a script the id, place and result of its item. The
// script's own result can be there already, if it did not wait for the call.
func (c *codexReader) claim(s span, item codexItem) {
	c.without(s.script, s.at...)
	c.calls[item.ID] = s.at
	for n, at := range s.at {
		e := &c.out.Events[at]
		delete(c.out.Unasked, e.Call)
		e.Call = item.ID
		if n > 0 {
			e.Call += "#" + strconv.Itoa(n+1)
		}
		for c.taken[e.Call] {
			e.Call += "+"
		}
		c.taken[e.Call] = true
		e.CWD = cmp.Or(codexFolder(item.CWD), e.CWD)
		if end, has := c.ends[at]; has {
			c.done[item.ID] = true
			now, agent := c.now, c.agent
			c.now = c.out.Events[end].Time
			c.out.Events[end] = c.end(*e, partResult([]engine.Result{codexEnd(item)}, n, len(s.at)))
			c.now, c.agent = now, agent
		}
	}
}

// nestedCalls returns an item's calls in Claude Code's terms, and the key of the call in
// the script.
func (i codexItem) nestedCalls() (key string, calls []toolCall) {
	tool, args := "", map[string]any{}
	switch i.Type {
	case "CommandExecution":
		var words []any
		_ = json.Unmarshal(orNull(i.Command), &words) // a command without words is an unknown one
		tool, args["command"] = "exec_command", words
	case "FileChange":
		changes := codexChanges(i.Changes)
		return patchKey(slices.Sorted(maps.Keys(changes))), changedCalls(changes)
	default:
		tool = "mcp__" + i.Server + "__" + i.Tool
		args, _ = arguments(i.Arguments) // unreadable ones are kept as a string
	}
	return nestedKey(tool, args), translate(tool, args)
}

// nestedKey identifies a call in a script by what is the same in its item.
func nestedKey(tool string, args map[string]any) string {
	switch {
	case tool == "apply_patch":
		var names []string
		files, _ := patched(cmp.Or(word(args, "input"), word(args, "patch")))
		for _, f := range files {
			names = append(names, f.name)
		}
		return patchKey(names)
	case aliases[tool].tool == "Bash":
		for _, name := range aliasBash.names["command"] {
			if words, ok := argv(args[name]); ok {
				return "run " + commandLine(words, nil)
			}
			if text := word(args, name); text != "" {
				return "run " + text
			}
		}
	}
	return "call " + tool + " " + string(encoded(tool, args).args)
}

// patchKey returns the key of a patch: the base names of its files, whose folders are
// relative in the script only.
func patchKey(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, path.Base(strings.ReplaceAll(name, `\`, "/")))
	}
	slices.Sort(list)
	return "patch " + strings.Join(slices.Compact(list), "/")
}

// codexChange is a change of a file.
type codexChange struct {
	Type    string `json:"type"` // add, delete, update
	Content string `json:"content"`
	Diff    string `json:"unified_diff"`
	To      string `json:"move_path"`
}

func codexChanges(raw json.RawMessage) map[string]codexChange {
	var changes map[string]codexChange
	_ = json.Unmarshal(orNull(raw), &changes) // changes that can be read are kept
	return changes
}

// changedCalls returns the calls that are equivalent to changes of files, in order of path.
func changedCalls(changes map[string]codexChange) []toolCall {
	var calls []toolCall
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		calls = append(calls, changes[name].of(name).calls()...)
	}
	if len(calls) == 0 || len(calls) > maxTouched {
		return []toolCall{encoded("apply_patch", map[string]any{"changes": changes})}
	}
	return calls
}

func (c codexChange) of(name string) patchedFile {
	f := patchedFile{mark: patchUpdate, name: name, to: c.To}
	switch c.Type {
	case "add":
		f.mark, f.added = patchAdd, strings.Split(strings.TrimSuffix(c.Content, "\n"), "\n")
	case "delete":
		f.mark = patchDelete
	default:
		for line := range strings.SplitSeq(strings.TrimSuffix(c.Diff, "\n"), "\n") {
			f.line(line)
		}
	}
	return f
}

// codexFolder returns the folder of a file URL, or of a path.
func codexFolder(place string) string {
	rest, is := strings.CutPrefix(place, "file://")
	if !is {
		return place
	}
	name, err := url.PathUnescape(rest)
	if err != nil {
		return ""
	}
	if len(name) > 2 && name[0] == '/' && name[2] == ':' { // /C:/src
		return name[1:]
	}
	return name
}
