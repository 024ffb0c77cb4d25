package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// toolCall is a call in Claude Code's language.
type toolCall struct {
	tool string
	args json.RawMessage // an object
	dir  string          // where it runs; empty: in the agent's directory
}

// alias is the tool of Claude Code that does what another agent's tool does.
type alias struct {
	tool  string
	names map[string][]string // argument of that tool -> its names in other agents, the most likely first
}

var (
	files = []string{"file_path", "absolute_path", "path", "filePath", "filepath", "file"}
	dirs  = []string{"path", "dir_path", "directory", "target_directory", "directory_path", "absolute_path"}

	aliasBash  = alias{"Bash", map[string][]string{"command": {"command", "cmd", "keystrokes", "script"}}}
	aliasRead  = alias{"Read", map[string][]string{"file_path": files}}
	aliasWrite = alias{"Write", map[string][]string{"file_path": files, "content": {"content", "contents", "file_text", "text", "new_text"}}}
	aliasEdit  = alias{"Edit", map[string][]string{
		"file_path": files, "old_string": {"old_string", "old_str", "oldString", "oldText", "old_text"}, "new_string": {"new_string", "new_str", "newString", "newText", "new_text"},
	}}
	aliasList   = alias{"LS", map[string][]string{"path": dirs}}
	aliasGlob   = alias{"Glob", map[string][]string{"pattern": {"pattern", "glob_pattern"}, "path": dirs}}
	aliasGrep   = alias{"Grep", map[string][]string{"pattern": {"pattern", "query", "regex"}, "path": dirs}}
	aliasFetch  = alias{"WebFetch", map[string][]string{"url": {"url", "uri"}}}
	aliasSearch = alias{"WebSearch", map[string][]string{"query": {"query", "search_term"}}}
	aliasAgent  = alias{"Agent", map[string][]string{"prompt": {"prompt", "message", "task", "objective"}}}
	aliasSkill  = alias{"Skill", map[string][]string{"skill": {"skill", "name"}}}
	aliasTodo   = alias{"TodoWrite", nil}
	aliasAsk    = alias{"AskUserQuestion", nil}
)

// aliases are the tools of other agents by name. A name that two agents use for the
// same tool is one row. A tool without a row keeps its name and is unknown to the
// policy.
var aliases = map[string]alias{
	"shell": aliasBash, "shell_command": aliasBash, "exec_command": aliasBash, "local_shell": aliasBash, "container.exec": aliasBash,
	"run_shell_command": aliasBash, "run_terminal_cmd": aliasBash, "execute_bash": aliasBash, "execute_command": aliasBash,
	"bash": aliasBash, "bash_command": aliasBash, "run_command": aliasBash, "Bash": aliasBash, "Execute": aliasBash,

	"powershell": {"PowerShell", aliasBash.names},

	"read_file": aliasRead, "view_image": aliasRead, "read": aliasRead, "view": aliasRead, "Read": aliasRead,
	"write_file": aliasWrite, "write_to_file": aliasWrite, "create_file": aliasWrite, "write": aliasWrite, "create": aliasWrite,
	"Create": aliasWrite, "Write": aliasWrite,
	"replace": aliasEdit, "edit": aliasEdit, "Edit": aliasEdit,
	"list_directory": aliasList, "list_dir": aliasList, "list_files": aliasList, "list": aliasList, "LS": aliasList,
	"glob": aliasGlob, "find_file": aliasGlob,
	"grep_search": aliasGrep, "search_file_content": aliasGrep, "grep_files": aliasGrep, "search_files": aliasGrep, "grep": aliasGrep,
	"search_codebase": aliasGrep,

	"webfetch": aliasFetch, "fetch_url": aliasFetch, "FetchURL": aliasFetch, "FetchUrl": aliasFetch,
	"google_web_search": aliasSearch, "web_search": aliasSearch, "websearch": aliasSearch,

	"update_plan": aliasTodo, "write_todos": aliasTodo, "todowrite": aliasTodo, "todo_write": aliasTodo, "update_topic": aliasTodo, "report_intent": aliasTodo,
	"request_user_input": aliasAsk, "ask_user": aliasAsk, "ask_followup_question": aliasAsk, "ask_user_question": aliasAsk,
	"question":        aliasAsk,
	"enter_plan_mode": {"EnterPlanMode", nil}, "exit_plan_mode": {"ExitPlanMode", nil},
	"plan_enter": {"EnterPlanMode", nil}, "plan_exit": {"ExitPlanMode", nil},
	"activate_skill": aliasSkill, "skill": aliasSkill,
	"tool_search":        {"ToolSearch", nil},
	"list_mcp_resources": {"ListMcpResourcesTool", nil}, "list_mcp_resource_templates": {"ListMcpResourcesTool", nil},
	"read_mcp_resource": {"ReadMcpResourceTool", nil},
	"spawn_agent":       aliasAgent, "task": aliasAgent, "new_task": aliasAgent, "agent": aliasAgent, "Task": aliasAgent,
	"collaboration__spawn_agent": aliasAgent,
}

// translate expresses a call in Claude Code's terms: one call, or one for each
// file or address that it touches.
func translate(tool string, args map[string]any) []toolCall {
	switch tool {
	case "apply_patch":
		return patchCalls(args)
	case "read_many_files":
		return each("Read", "file_path", texts(args, "include", "paths"), tool, args)
	case "web_fetch":
		text, _ := args["prompt"].(string)
		return each("WebFetch", "url", append(texts(args, "url"), addresses(text)...), tool, args)
	case "str_replace_editor", "str_replace_based_edit_tool":
		return []toolCall{editorCall(tool, args)}
	case "write_stdin":
		return []toolCall{typedCall(args)}
	case "read_bash":
		return []toolCall{encoded("BashOutput", map[string]any{"bash_id": args["shellId"]})}
	case "stop_bash":
		return []toolCall{encoded("KillShell", map[string]any{"shell_id": args["shellId"]})}
	case "rg":
		return searches(args)
	case "run_commands":
		return each("Bash", "command", listed(args["commands"], "command"), tool, args)
	case "read_files":
		return each("Read", "file_path", listed(args["files"], "path"), tool, args)
	case "editor":
		return []toolCall{editCall(args)}
	}
	to, known := aliases[tool]
	switch {
	case !known:
		return []toolCall{encoded(tool, args)}
	case to.tool == "Bash":
		return shellCalls(tool, args)
	}
	return []toolCall{encoded(to.tool, to.renamed(args))}
}

// maxTouched limits the number of calls that one call is split into.
const maxTouched = 256

var webAddress = engine.Regexp(`https?://[^\s"'<>()\x60]+`)

// addresses returns the URLs in a string, without its punctuation.
func addresses(text string) []string {
	found := webAddress().FindAllString(text, maxTouched+1)
	for i := range found {
		found[i] = strings.TrimRight(found[i], ".,;:!?")
	}
	return found
}

// each returns one call for each of the values. Without values, or with too many, the
// call stays unchanged.
func each(as, name string, values []string, tool string, args map[string]any) []toolCall {
	if len(values) == 0 || len(values) > maxTouched {
		return []toolCall{encoded(tool, args)}
	}
	var calls []toolCall
	for _, v := range values {
		calls = append(calls, encoded(as, map[string]any{name: v}))
	}
	return calls
}

// searches is a search in one place or in several: then a call for each.
func searches(args map[string]any) []toolCall {
	places := texts(args, "paths", "path")
	if len(places) == 0 || len(places) > maxTouched {
		return []toolCall{encoded("Grep", aliasGrep.renamed(args))}
	}
	var calls []toolCall
	for _, place := range places {
		one := aliasGrep.renamed(args)
		delete(one, "paths")
		one["path"] = place
		calls = append(calls, encoded("Grep", one))
	}
	return calls
}

// editorCall translates the editor that several agents share: one tool with several
// commands.
func editorCall(tool string, args map[string]any) toolCall {
	aliases := map[string]alias{"view": aliasRead, "create": aliasWrite, "str_replace": aliasEdit, "insert": aliasEdit}
	to, known := aliases[word(args, "command")]
	if !known {
		return encoded(tool, args)
	}
	args = to.renamed(args)
	if delete(args, "command"); to.tool == "Edit" && args["old_string"] == nil {
		args["old_string"] = ""
	}
	return encoded(to.tool, args)
}

// listed returns the texts of a list whose elements are texts, or objects that have one
// below key; nil if some have another form.
func listed(v any, key string) []string {
	if list, ok := argv(v); ok {
		return list
	}
	list, _ := v.([]any)
	if found := parts(v, key); len(found) == len(list) {
		return found
	}
	return nil
}

// parts are the texts that the objects of a list have below key.
func parts(v any, key string) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if object, ok := item.(map[string]any); ok && word(object, key) != "" {
			out = append(out, word(object, key))
		}
	}
	return out
}

// editCall translates an editor whose command follows from its arguments: what it replaces,
// where it inserts, or else the contents of a whole file.
func editCall(args map[string]any) toolCall {
	as := aliasWrite
	if args["old_text"] != nil || args["insert_line"] != nil {
		as = aliasEdit
	}
	args = as.renamed(args)
	if as.tool == "Edit" && args["old_string"] == nil {
		args["old_string"] = ""
	}
	return encoded(as.tool, args)
}

// typedCall is text typed into a running program. Empty text only reads its
// output; the meaning of any other text depends on the program.
func typedCall(args map[string]any) toolCall {
	id := map[string]any{"bash_id": args["session_id"]}
	switch args["chars"] {
	case "", nil:
		return encoded("BashOutput", id)
	case "\x03":
		return encoded("KillShell", map[string]any{"shell_id": args["session_id"]})
	}
	return encoded("write_stdin", args)
}

// renamed gives the arguments the names that Claude Code has for them. All of
// them are kept.
func (a alias) renamed(args map[string]any) map[string]any {
	out := maps.Clone(args)
	for name, others := range a.names {
		for _, other := range others {
			if v, there := args[other]; there {
				delete(out, other)
				out[name] = v
				break
			}
		}
	}
	return out
}

func encoded(tool string, args map[string]any) toolCall {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if args == nil || e.Encode(args) != nil { // decoded values can be encoded
		return toolCall{tool: tool, args: json.RawMessage("{}")}
	}
	return toolCall{tool: tool, args: bytes.TrimSpace(b.Bytes())}
}

// arguments reads the arguments of a call: an object, or one in a string, even
// twice. Anything else is kept as a string, next to the error.
func arguments(raw json.RawMessage) (map[string]any, error) {
	for range 3 {
		raw = bytes.TrimSpace(raw)
		var text string
		switch {
		case len(raw) == 0 || string(raw) == "null":
			return map[string]any{}, nil
		case raw[0] == '{':
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			var args map[string]any
			if err := d.Decode(&args); err != nil {
				return map[string]any{"_raw": string(raw)}, err
			}
			if d.More() {
				return map[string]any{"_raw": string(raw)}, errors.New("more than one object")
			}
			return args, nil
		case raw[0] != '"' || json.Unmarshal(raw, &text) != nil:
			return map[string]any{"_raw": string(raw)}, errors.New("not an object")
		}
		raw = json.RawMessage(text)
	}
	return map[string]any{"_raw": string(raw)}, errors.New("not an object")
}

func word(args map[string]any, name string) string {
	text, _ := args[name].(string)
	return text
}

// texts are the strings below the first of the names that exists: one, or a
// list of them.
func texts(args map[string]any, names ...string) []string {
	for _, name := range names {
		switch v := args[name].(type) {
		case string:
			return []string{v}
		case []any:
			list, _ := argv(v)
			return list
		}
	}
	return nil
}

// argv is a list of strings, if it is one.
func argv(v any) ([]string, bool) {
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		text, isText := item.(string)
		ok = ok && isText
		out = append(out, text)
	}
	return out, ok && len(out) > 0
}

// shellQuote writes a string as one word of a shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+") == "" {
		return s
	}
	return harness.QuoteShell(s)
}
