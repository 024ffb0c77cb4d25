package harness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Cursor is the name of Cursor in command lines and records. Its client needs an account, so what
// is said here is from its published code and documentation, and no test has run it.
const Cursor = "cursor"

// The events of Cursor before a call.
const (
	cursorPre   = "preToolUse"
	cursorShell = "beforeShellExecution"
	cursorMCP   = "beforeMCPExecution"
	cursorRead  = "beforeReadFile"
	cursorTab   = "beforeTabFileRead"
)

// cursor describes the documents of Cursor. preToolUse covers each tool, so the events of single tools are not installed: a call
// would be reviewed twice.
func cursor() dialect {
	pre := func(name string) reported { return reported{name: name, phase: engine.PhasePre} }
	return dialect{agent: Cursor, looseInput: true,
		keys: keys{event: "hook_event_name", session: "conversation_id", cwd: "cwd", transcript: "transcript_path", tool: "tool_name",
			input: "tool_input", call: "tool_use_id", result: "tool_output", failure: "error_message", interrupted: "is_interrupt",
			duration: "duration", promptID: "generation_id", prompt: "prompt"},
		events: []reported{
			{name: "sessionStart", phase: engine.PhaseStart}, {name: "beforeSubmitPrompt", phase: engine.PhasePrompt},
			pre(cursorPre), {name: "postToolUse", phase: engine.PhasePost},
			{name: "postToolUseFailure", phase: engine.PhasePost, failed: true},
			{name: "subagentStart", phase: engine.PhaseAgentStart}, {name: "subagentStop", phase: engine.PhaseAgentStop},
			{name: "stop", phase: engine.PhaseStop}, {name: "sessionEnd", phase: engine.PhaseEnd},
		},
		others: append(ignored("afterShellExecution", "afterMCPExecution", "afterFileEdit", "afterTabFileEdit", "preCompact",
			"afterAgentResponse", "afterAgentThought", "workspaceOpen"), pre(cursorShell), pre(cursorMCP), pre(cursorRead), pre(cursorTab)),
		prepare: prepareCursor,
		finish:  finishCursor,
	}
}

// cursorCalls are the tools of the events that have one each, with the key of their argument.
func cursorCalls() map[string][2]string {
	return map[string][2]string{cursorShell: {"Shell", "command"}, cursorRead: {"Read", "file_path"}, cursorTab: {"Read", "file_path"}}
}

// prepareCursor gives a document about one tool the keys of a call.
func prepareCursor(d document) {
	name, _ := d.text("hook_event_name")
	call, ok := cursorCalls()[name]
	if !ok || d.has("tool_name") || d.has("tool_input") || !d.has(call[1]) {
		return
	}
	d["tool_name"], _ = json.Marshal(call[0])
	d["tool_input"], _ = json.Marshal(map[string]json.RawMessage{call[1]: d[call[1]]})
}

// finishCursor reads the folder, and names the tools of MCP servers as other agents do. The client
// does not name the server before a call.
func finishCursor(d document, e *engine.Event) error {
	var roots []string
	if err := d.decode(&roots, "workspace_roots", "a list of strings"); err != nil {
		return err
	}
	// The shell's folder follows cd, the roots of the workspace do not.
	e.Project = rootOf(e.CWD, roots)
	e.CWD = cmp.Or(e.CWD, e.Project)
	e.Roots = otherRoots(e.Phase, e.Project, roots)
	if tool, ok := strings.CutPrefix(e.Tool, "MCP:"); ok {
		e.Tool = serverTool(Cursor, tool)
	} else if e.Name == cursorMCP {
		e.Tool = serverTool(Cursor, e.Tool)
	}
	return nil
}

// rootOf returns the folder of a workspace that another folder is in, else the first one; "": there is none.
func rootOf(folder string, roots []string) string {
	for _, root := range roots {
		below, ok := strings.CutPrefix(folder, strings.TrimRight(root, `/\`))
		if ok && (below == "" || strings.ContainsAny(below[:1], `/\`)) {
			return root
		}
	}
	return cmp.Or(append(roots, "")...)
}

// otherRoots returns the folders of a workspace but one, with a prompt.
func otherRoots(p engine.Phase, one string, roots []string) []string {
	if p != engine.PhasePrompt {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(roots), func(root string) bool { return root == one || root == "" })
}

// cursorTimeout returns the time that the client gives a hook.
func cursorTimeout(event string) time.Duration {
	switch cursor().phase(event) {
	case engine.PhasePre, engine.PhasePost:
		return ClaudeCodeTimeout(PreToolUse)
	case engine.PhaseEnd:
		return ClaudeCodeTimeout(sessionEnd)
	}
	return ClaudeCodeTimeout(stop)
}

// cursorOutput is the document that the client reads from a hook's standard output.
type cursorOutput struct {
	Permission string          `json:"permission,omitempty"`
	ForUser    string          `json:"user_message,omitempty"`
	ForAgent   string          `json:"agent_message,omitempty"`
	Input      json.RawMessage `json:"updated_input,omitempty"`
	Context    string          `json:"additional_context,omitempty"`
	Follow     string          `json:"followup_message,omitempty"`
}

// cursorChannels states what the client does with a hook's answer, according to its code.
func cursorChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permission: deny` before the call; not verified with the client"},
		{Way: engine.WayAsk, Support: engine.SupportNone,
			How: "at `preToolUse` it is not certain that the client asks, so reviewer denies the call"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`updated_input` with `permission: allow`; not verified with the client"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePre, engine.PhasePost, engine.PhaseStop},
			How:    "`additional_context`, and `followup_message` at stop; not verified with the client"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportNone,
			How: "no answer ends the run; once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeCursor encodes an answer for the client. Before a call there always is an object: the
// client takes silence for a failure, and with `failClosed: true` for a denial.
func encodeCursor(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	a.Text = shorten(a.Text, maxText)
	if a.Stop && a.Effect.Strictness() < engine.Block.Strictness() {
		a.Effect, a.Text = engine.Block, cmp.Or(a.Text, stopText)
	}
	said := a.Effect != engine.Allow && a.Text != ""
	switch phase := cursor().phase(event); {
	case event == "" || phase == engine.PhasePre:
		return encodeCursorPre(a), "", 0
	case said && (phase == engine.PhaseStart || phase == engine.PhasePost):
		return encode(cursorOutput{Context: a.Text}), "", 0
	case said && a.GoOn && phase == engine.PhaseStop:
		return encode(cursorOutput{Follow: a.Text}), "", 0
	}
	return nil, "", 0
}

func encodeCursorPre(a engine.Answer) []byte {
	switch {
	case a.Effect == engine.Allow:
		return encode(cursorOutput{})
	case a.Effect == engine.Warn:
		return encode(cursorOutput{Context: a.Text})
	case a.Effect == engine.Modify && isObject(a.Args):
		return encode(cursorOutput{Permission: "allow", Input: a.Args, Context: a.Text})
	}
	text := cmp.Or(a.Text, denyText)
	return encode(cursorOutput{Permission: "deny", ForUser: text, ForAgent: text})
}

// cursorRow is the agent's row in Harnesses.
func cursorRow() Harness {
	return cursor().row(Harness{
		Encode:     encodeCursor,
		Timeout:    cursorTimeout,
		Channels:   cursorChannels(),
		Commands:   []string{".cursor/commands", ".cursor/skills"},
		Programs:   []string{"cursor-agent", "cursor", "Cursor", "Cursor.exe", "cursor.exe"},
		Marker:     "CURSOR_AGENT",
		Unverified: true,
	})
}
