package harness

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Gemini is the name of Gemini CLI in command lines and records.
const Gemini = "gemini"

// The events of Gemini CLI.
const (
	beforeAgent = "BeforeAgent"
	beforeTool  = "BeforeTool"
	afterTool   = "AfterTool"
	afterAgent  = "AfterAgent"
)

// gemini describes the documents of Gemini CLI. It gives calls no ids, and reports a command
// that failed like one that worked. The events about the model contain the conversation, so
// reviewer is not installed for them.
func gemini() dialect {
	return dialect{agent: Gemini,
		events: []reported{{name: sessionStart, phase: engine.PhaseStart}, {name: beforeAgent, phase: engine.PhasePrompt},
			{name: beforeTool, phase: engine.PhasePre}, {name: afterTool, phase: engine.PhasePost},
			{name: afterAgent, phase: engine.PhaseStop}, {name: sessionEnd, phase: engine.PhaseEnd}},
		others: ignored("BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress", "Notification"),
		keys: keys{event: "hook_event_name", session: "session_id", cwd: "cwd", transcript: "transcript_path", stamp: "timestamp",
			tool: "tool_name", input: "tool_input", result: "tool_response", prompt: "prompt",
			message: "prompt_response", again: "stop_hook_active"},
		finish: finishGemini,
	}
}

// finishGemini names the tool of a server as reviewer does: the client joins the two names
// with an underscore, which either of them may contain, and gives both separately.
func finishGemini(d document, e *engine.Event) error {
	server, tool := "", ""
	if err := d.set(&server, "mcp_context.server_name"); err != nil {
		return err
	}
	if err := d.set(&tool, "mcp_context.tool_name"); err != nil {
		return err
	}
	if e.Tool != "" && server != "" && tool != "" {
		e.Tool = serverTool(server, tool)
	}
	return nil
}

// serverTool is the name of a tool of an MCP server, as used in policies.
func serverTool(server, tool string) string { return "mcp__" + server + "__" + tool }

// geminiTimeout returns the time that the client gives a hook, for the same reasons as
// ClaudeCodeTimeout. Its settings give it in milliseconds.
func geminiTimeout(event string) time.Duration {
	switch gemini().phase(event) {
	case engine.PhasePre, engine.PhasePost:
		return 60 * time.Second
	case engine.PhaseEnd:
		return 5 * time.Second
	}
	return 30 * time.Second
}

// geminiChannels states what the client does with a hook's answer.
func geminiChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`decision: deny` with a reason, before the call"},
		{Way: engine.WayAsk, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`decision: ask`; where nobody can be asked, the call does not run and the client ends its run"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`tool_input`, without a decision; the client tells the model that the input was changed"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePrompt, engine.PhasePost, engine.PhaseStop},
			How:    "`additionalContext`, and `decision: deny` at AfterAgent; before a call the client drops it"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client could (`decision: deny` after the call), but reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre, engine.PhasePost},
			How: "`continue: false` before and after the call; in every later turn, each call is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// geminiOutput is the document that the client reads from a hook's standard output.
type geminiOutput struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event   string          `json:"hookEventName"`
	Input   json.RawMessage `json:"tool_input,omitempty"`
	Context string          `json:"additionalContext,omitempty"`
}

// encodeGemini encodes an answer for the client, which ignores a document after other text:
// the call runs. A decision in the document counts, whatever the exit status is, so exit
// status 2 is only for failures.
func encodeGemini(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	a.Text, a.Notice = shorten(a.Text, maxText), shorten(a.Notice, maxText)
	switch event {
	case "", beforeTool:
		return encodeGeminiPre(a), "", 0
	case afterTool:
		if a.Stop {
			return encode(geminiStop(a)), "", 0
		}
		return encodeGeminiContext(event, a), "", 0
	case sessionStart, beforeAgent:
		return encodeGeminiContext(event, a), "", 0
	case afterAgent:
		return encodeGeminiEnd(a), "", 0
	}
	return nil, "", 0
}

func encodeGeminiPre(a engine.Answer) []byte {
	switch {
	case a.Stop:
		out := geminiStop(a)
		out.Decision, out.Reason = "deny", out.StopReason
		return encode(out)
	case a.Effect == engine.Allow:
		return nil
	case a.Effect == engine.Warn:
		return encodePerson(a) // the client does not pass text on to the model here
	case a.Effect == engine.Modify && isObject(a.Args):
		return encode(geminiOutput{SystemMessage: a.Text, Specific: &geminiSpecific{Event: beforeTool, Input: a.Args}})
	case a.Effect == engine.Modify, a.Effect == engine.Ask:
		return encode(geminiOutput{Decision: "ask", Reason: cmp.Or(a.Text, askText)})
	}
	return encode(geminiOutput{Decision: "deny", Reason: cmp.Or(a.Text, denyText)})
}

// geminiStop ends the run.
func geminiStop(a engine.Answer) geminiOutput {
	no := false
	return geminiOutput{Continue: &no, StopReason: cmp.Or(a.Text, stopText)}
}

func encodeGeminiContext(event string, a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return notice(a.Person)
	}
	return encode(geminiOutput{SystemMessage: forPerson(a), Specific: &geminiSpecific{Event: event, Context: a.Text}})
}

// encodeGeminiEnd addresses the person, unless the agent is expected to continue.
func encodeGeminiEnd(a engine.Answer) []byte {
	if a.GoOn && a.Effect != engine.Allow && a.Text != "" {
		return encode(geminiOutput{Decision: "deny", Reason: a.Text})
	}
	return encodePerson(a)
}

// encodePerson addresses only the person.
func encodePerson(a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return nil
	}
	return encode(geminiOutput{SystemMessage: a.Text})
}

// geminiRow is the agent's row in Harnesses.
func geminiRow() Harness {
	return gemini().row(Harness{
		Encode:   encodeGemini,
		Timeout:  geminiTimeout,
		Unit:     time.Millisecond,
		Channels: geminiChannels(),
		Project:  "GEMINI_PROJECT_DIR",
		Commands: []string{".gemini/commands", ".gemini/skills", ".agents/skills"},
		Programs: []string{"gemini", "gemini-cli", "gemini.exe"},
		Marker:   "GEMINI_CLI",
	})
}
