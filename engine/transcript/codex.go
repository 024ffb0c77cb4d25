package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// codexLine is a line of a rollout, which Codex writes about a session.
type codexLine struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Payload   json.RawMessage `json:"payload"`
}

// codexItem is the contents of a line: what the model and its tools said
// (response_item), what was displayed (event_msg), and the state of a turn.
type codexItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"` // of a server's tool
	Call      string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"` // JSON in a string
	Input     json.RawMessage `json:"input"`     // of a tool that takes a string
	Action    json.RawMessage `json:"action"`    // of the tools that run on the model's servers
	Output    json.RawMessage `json:"output"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Message   json.RawMessage `json:"message"` // of a person
	Reason    string          `json:"reason"`  // why a turn ended early
	Status    string          `json:"status"`  // of a call that ended: declined, if a person said no

	CWD      string          `json:"cwd"`
	Approval json.RawMessage `json:"approval_policy"`
	Version  string          `json:"cli_version"`
	Source   json.RawMessage `json:"source"`

	Exit     *int            `json:"exit_code"`
	Shown    string          `json:"aggregated_output"`
	Stdout   string          `json:"stdout"`
	Stderr   string          `json:"stderr"`
	Success  *bool           `json:"success"`
	Result   json.RawMessage `json:"result"`   // of a server's tool: Ok or Err
	Duration json.RawMessage `json:"duration"` // secs and nanos

	Item    json.RawMessage `json:"item"`          // of item_completed: what ended, in this form too
	Started float64         `json:"started_at_ms"` // when it began
	Command json.RawMessage `json:"command"`       // words
	Changes json.RawMessage `json:"changes"`       // files, by path
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Error   json.RawMessage `json:"error"`
}

// isCodexRollout reports whether a file begins as a rollout does.
func isCodexRollout(head []byte) bool {
	for i, line := range bytes.SplitN(head, []byte("\n"), 20) {
		keys := topLevel(line)
		_, payload := keys["payload"]
		_, instructions := keys["instructions"]
		_, typed := keys["type"]
		switch {
		case payload && slices.Contains([]string{"session_meta", "turn_context", "response_item", "event_msg", "compacted"}, keys["type"]):
			return true
		case i == 0 && instructions && !typed && keys["id"] != "" && keys["timestamp"] != "":
			return true // the first rollouts had no envelope
		}
	}
	return false
}

// codexReader reads a rollout. Codex reports what it ran twice; the first
// report counts.
type codexReader struct {
	*translator
	open    []string     // ids of calls of this turn
	marks   string       // the type of lines or items that mark a person's messages as such; empty: none
	guessed map[int]bool // events of messages in a person's name, some of which Codex itself writes
	scripts codexScripts // of code mode
}

// readCodexRollout reads the JSON Lines that Codex keeps of a session. History
// that a resumed session repeats at its head is read once per file.
func readCodexRollout(r io.Reader) (Transcript, error) {
	c := codexReader{translator: newScribe(Codex), guessed: map[int]bool{}, scripts: newCodexScripts()}
	err := eachLine(r, maxTranscriptLine, c.line)
	at := -1
	c.out.Events = slices.DeleteFunc(c.out.Events, func(engine.Event) bool {
		at++
		return c.marks != "" && c.guessed[at] || c.scripts.left[at]
	})
	return c.close(), err
}

func (c *codexReader) line(n int, line []byte) {
	c.at = n
	c.out.Lines++
	var l codexLine
	if !c.decode(line, &l) {
		return
	}
	c.clock(l.Timestamp)
	if l.Payload == nil { // the first rollouts had no envelope
		l.Payload = line
		if l.Type == "" {
			l.Type = "session_meta"
		}
	}
	var known struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(l.Payload, &known)
	read := c.kind(l.Type, known.Type)
	var item codexItem
	switch {
	case err != nil:
		c.bad(fmt.Errorf("payload: %w", err))
	case read != nil && c.decode(l.Payload, &item):
		read(item)
	}
}

// kind returns the function that reads an item; nil: the item is not about
// calls.
func (c *codexReader) kind(line, item string) func(codexItem) {
	switch line {
	case "session_meta":
		return c.meta
	case "turn_context":
		return c.turn
	case "event_msg":
		switch item {
		case "item_completed":
			return c.completed
		case "user_message", "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "turn_aborted", "task_complete":
			return c.shown
		}
		return nil
	case "compacted":
		return nil // it repeats an earlier item
	}
	switch item {
	case "message":
		return c.personMessage
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		return c.returned
	}
	if strings.HasSuffix(item, "_call") {
		return c.called
	}
	return nil
}

func (c *codexReader) turn(i codexItem) {
	c.cwd = cmp.Or(i.CWD, c.cwd)
	c.approval(i.Approval)
}

func (c *codexReader) returned(i codexItem) {
	r := codexResult(i)
	if c.scripts.ids[i.Call] {
		r = c.scriptResult(i.Call, r)
	}
	if err := c.result(i.Call, r); err != nil {
		c.bad(err)
	}
	if strings.HasPrefix(r.Error, codexUnknown) {
		c.unasked(i.Call)
	}
}

// meta starts a session. The rollout of a sub-agent names the session that
// started it; that of a fork repeats its origin's after its own.
func (c *codexReader) meta(i codexItem) {
	if c.out.Session != "" || i.ID == "" {
		return
	}
	var source struct {
		Sub struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	c.out.Session, c.out.Version, c.cwd = i.ID, i.Version, cmp.Or(i.CWD, c.cwd)
	if json.Unmarshal(orNull(i.Source), &source) == nil && source.Sub.Spawn.Parent != "" {
		c.out.Session, c.agent = source.Sub.Spawn.Parent, i.ID
	}
}

// approval describes whether a person is asked. Codex tells its hooks the same.
func (c *codexReader) approval(raw json.RawMessage) {
	var policy string
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &policy) == nil && policy == "never":
		c.mode = "bypassPermissions"
	default:
		c.mode = "default"
	}
}

// personMessage reads a message in a person's name. Where Codex marks a person's
// messages as such, only those count; the first rollouts have no marks.
func (c *codexReader) personMessage(i codexItem) {
	text := contentText(i.Content)
	if i.Role != "user" || c.marks != "" || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "# AGENTS.md instructions") {
		return
	}
	before := len(c.out.Events)
	if c.prompt(text); len(c.out.Events) > before {
		c.guessed[before] = true
	}
}

func (c *codexReader) called(i codexItem) {
	if i.Call != "" {
		c.open = append(c.open, i.Call)
	}
	switch i.Type {
	case "function_call":
		if i.Name == "wait" { // for a script that runs
			c.note(i.Call, []toolCall{encoded("BashOutput", map[string]any{"bash_id": cellOf(i.Arguments)})})
			return
		}
		c.call(i.Call, codexTool(i), i.Arguments)
	case "tool_search_call":
		c.call(i.Call, "tool_search", i.Arguments)
	case "custom_tool_call":
		var text string
		if json.Unmarshal(orNull(i.Input), &text) != nil {
			text = string(i.Input)
		}
		if i.Name == "exec" && (i.Namespace == "" || i.Namespace == "functions") {
			c.script(i, text)
			return
		}
		c.note(i.Call, translate(codexTool(i), map[string]any{"input": text}))
	case "local_shell_call":
		c.call(cmp.Or(i.Call, i.ID), "local_shell", i.Action)
	case "web_search_call":
		c.searched(i)
	default: // a newer tool
		c.call(cmp.Or(i.Call, i.ID), i.Type, i.Action)
	}
}

// cellOf returns the id of the script that a call waits for.
func cellOf(raw json.RawMessage) any {
	args, _ := arguments(raw) // unreadable arguments name none
	return args["cell_id"]
}

// codexTool returns the name of a function in Claude Code's notation. The name of a
// server's tool follows the server's name.
func codexTool(i codexItem) string {
	space := strings.TrimRight(i.Namespace, "_")
	_, named, _ := strings.Cut(strings.TrimPrefix(space, "mcp__"), "__")
	switch {
	case i.Name == "":
		return "unnamed"
	case space == "" || strings.HasPrefix(i.Name, space):
		return i.Name
	case named != "" && strings.HasPrefix(i.Name, "_"):
		return space + i.Name
	}
	return space + "__" + strings.TrimLeft(i.Name, "_")
}

// searched reads a search or a fetch that runs on the model's servers.
func (c *codexReader) searched(i codexItem) {
	var action struct {
		Query string `json:"query"`
		URL   string `json:"url"`
	}
	if json.Unmarshal(orNull(i.Action), &action) != nil {
		c.bad(errors.New("web_search_call: action is of an unknown shape"))
	}
	call := encoded("WebSearch", map[string]any{"query": action.Query})
	if action.URL != "" {
		call = encoded("WebFetch", map[string]any{"url": action.URL})
	}
	id := c.note(cmp.Or(i.Call, i.ID), []toolCall{call})
	if i.Status == "completed" {
		_ = c.result(id, ended("", "")) // only the model gets the results
	}
}

// shown reads an event for display: prompts, and the ends of calls and turns. Commands
// that a person ran are included, but are not calls.
func (c *codexReader) shown(i codexItem) {
	switch i.Type {
	case "user_message":
		c.marked(i.Type, i.Message)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		if _, known := c.calls[i.Call]; known {
			_ = c.result(i.Call, codexEnd(i)) // the call is known
		}
	case "task_complete":
		c.open = nil
	case "turn_aborted":
		c.aborted(i.Reason)
	}
}

// marked reads a message that is marked as a person's. Some versions have two marks for a
// message; the first kind counts.
func (c *codexReader) marked(mark string, content json.RawMessage) {
	if c.marks == "" {
		c.marks = mark
	}
	if c.marks == mark {
		c.prompt(contentText(content))
	}
}

// aborted ends the calls of the turn that wait for a result.
func (c *codexReader) aborted(reason string) {
	for _, id := range c.open {
		r := ended("", "turn aborted: "+cmp.Or(reason, "interrupted"))
		r.Interrupted = true
		_ = c.result(id, r) // the call is known
	}
	c.open = nil
}

// spokenInCodex: an event repeats the total with the last response's tokens, also when only something else has changed.
func spokenInCodex(line []byte) (string, int64, bool) {
	type tokens struct {
		Output int64 `json:"output_tokens"`
		Total  int64 `json:"total_tokens"`
	}
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Type string `json:"type"`
			Info *struct {
				Total tokens `json:"total_token_usage"`
				Last  tokens `json:"last_token_usage"`
			} `json:"info"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "event_msg" || l.Payload.Type != "token_count" || l.Payload.Info == nil {
		return "", 0, false
	}
	return strconv.FormatInt(l.Payload.Info.Total.Total, 10), l.Payload.Info.Last.Output, true
}
