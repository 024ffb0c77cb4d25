package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Copilot is the name of Copilot CLI in command lines and records.
const Copilot = "copilot"

// The events of Copilot CLI. Hooks that are registered under Claude Code's names get those
// names, and documents in its form.
const (
	copilotStart  = "sessionStart"
	copilotPrompt = "userPromptSubmitted"
	copilotPre    = "preToolUse"
	copilotPost   = "postToolUse"
	copilotStop   = "agentStop"
	copilotEnd    = "sessionEnd"
)

// copilot describes the documents of Copilot CLI. They contain no name of the event, calls
// have no ids, and a command that failed is reported like one that worked. All calls of a turn
// are reported before the first of them runs.
func copilot() dialect {
	return dialect{agent: Copilot, looseInput: true,
		events: []reported{{name: copilotStart, phase: engine.PhaseStart}, {name: copilotPrompt, phase: engine.PhasePrompt},
			{name: copilotPre, phase: engine.PhasePre}, {name: copilotPost, phase: engine.PhasePost},
			{name: copilotStop, phase: engine.PhaseStop}, {name: copilotEnd, phase: engine.PhaseEnd}},
		others: append(ignored("errorOccurred", "subagentStart", "subagentStop", "preCompact", "notification"),
			reported{name: "permissionRequest", phase: engine.PhaseOther, asks: true},
			reported{name: "postToolUseFailure", phase: engine.PhasePost, failed: true}),
		keys: keys{session: "sessionId", cwd: "cwd", transcript: "transcriptPath", stamp: "timestamp", tool: "toolName", input: "toolArgs",
			result: "toolResult", failure: "error", prompt: "prompt", again: "stop_hook_active"},
		finish: finishCopilot("toolResult.resultType"),
	}
}

// copilotPascal describes the documents of hooks under Claude Code's names.
func copilotPascal() dialect {
	return dialect{agent: Copilot, looseInput: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, stop, sessionEnd),
		others: pascal(permissionRequest, PostToolUseFailure, subagentStart, subagentStop, "PreCompact", "Notification", "ErrorOccurred"),
		keys: keys{event: "hook_event_name", session: "session_id", cwd: "cwd", transcript: "transcript_path", stamp: "timestamp",
			tool: "tool_name", input: "tool_input", result: "tool_result", failure: "error", prompt: "prompt", again: "stop_hook_active"},
		finish: finishCopilot("tool_result.result_type"),
	}
}

// copilotForm returns the dialect of an event. A name that neither form has, and no
// name, is treated as the client's own form.
func copilotForm(event string) dialect {
	if copilotPascal().known(event) {
		return copilotPascal()
	}
	return copilot()
}

// finishCopilot returns a function that reads whether a call worked, and names tools of
// servers.
func finishCopilot(kind string) func(document, *engine.Event) error {
	return func(d document, e *engine.Event) error {
		e.Tool = copilotTool(e.Tool)
		said, err := d.text(kind)
		if err == nil && e.Result != nil && said != "" && said != "success" {
			e.Result.Failed = true
		}
		return err
	}
}

// copilotTool names the tool of a server as reviewer does. The client joins the two names with
// a hyphen, which only its own server's name is known to contain; its own tools contain none.
func copilotTool(name string) string {
	for _, server := range []string{"github-mcp-server"} {
		if tool, is := strings.CutPrefix(name, server+"-"); is && tool != "" {
			return serverTool(server, tool)
		}
	}
	if server, tool, is := strings.Cut(name, "-"); is && server != "" && tool != "" {
		return serverTool(server, tool)
	}
	return name
}

// decodeCopilot reads the input of a hook in either form, and refuses a mixture.
func decodeCopilot(event string, raw []byte, project string) (engine.Event, error) {
	form := copilotForm(event)
	if event == "" {
		form = copilotWritten(raw)
	}
	e, err := form.decode(event, raw, project)
	if err == nil {
		err = notMixed(raw)
	}
	if err != nil {
		return form.named(e.Name), err
	}
	return e, nil
}

// copilotWritten returns the dialect of a document, without an argument that names its event.
func copilotWritten(raw []byte) dialect {
	var said struct {
		Event string `json:"hook_event_name"`
	}
	if json.Unmarshal(raw, &said) == nil && said.Event != "" {
		return copilotPascal()
	}
	return copilot()
}

// notMixed refuses a document with a call in both forms: it is unclear which of them runs.
func notMixed(raw []byte) error {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("read hook input: %w", err)
	}
	one, other := copilot().keys, copilotPascal().keys
	both := func(a, b string) bool { return doc.has(a) && doc.has(b) }
	if both(one.tool, other.tool) || both(one.input, other.input) || both(one.session, other.session) {
		return errors.New("read hook input: it has the keys of both forms of the client's events")
	}
	return nil
}

// copilotTimeout returns the time that the client gives a hook, for the same reasons as
// ClaudeCodeTimeout.
func copilotTimeout(event string) time.Duration {
	switch copilotForm(event).phase(event) {
	case engine.PhasePre, engine.PhasePost:
		return 60 * time.Second
	case engine.PhaseEnd:
		return 5 * time.Second
	}
	return 30 * time.Second
}

// copilotChannels states what the client does with a hook's answer.
func copilotChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` with a reason, before the call"},
		{Way: engine.WayAsk, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: ask`; where nobody can be asked, the client denies"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`modifiedArgs`, without a decision"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhasePre, engine.PhasePost, engine.PhaseStop},
			How:    "`additionalContext`, and `decision: block` at agentStop, after which the agent continues once"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client could (`modifiedResult`), but reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportNone,
			How: "`continue: false` has no effect; once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// copilotOutput is the document that the client reads from a hook's standard output.
type copilotOutput struct {
	Permission string          `json:"permissionDecision,omitempty"`
	Why        string          `json:"permissionDecisionReason,omitempty"`
	Args       json.RawMessage `json:"modifiedArgs,omitempty"`
	Context    string          `json:"additionalContext,omitempty"`
	Decision   string          `json:"decision,omitempty"` // agentStop only
	Reason     string          `json:"reason,omitempty"`
}

// encodeCopilot encodes an answer for the client. Its own documents and those under Claude
// Code's names are both answered in the flat form, since the client ignores the nested one in
// its own. Under Claude Code's names only denials were seen to work, so anything that may not
// run unchanged is denied there.
func encodeCopilot(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	a.Text = shorten(a.Text, maxText)
	phase := copilotForm(event).phase(event)
	if event == "" {
		phase = engine.PhasePre
	}
	switch phase {
	case engine.PhasePre:
		return encodeCopilotPre(event, a), "", 0
	case engine.PhasePost:
		if a.Stop {
			a.Effect, a.Text = engine.Block, cmp.Or(a.Text, stopText)
		}
		return encodeCopilotContext(a), "", 0
	case engine.PhaseStop:
		if a.GoOn && a.Effect != engine.Allow && a.Text != "" {
			return encode(copilotOutput{Decision: "block", Reason: a.Text}), "", 0
		}
	}
	return nil, "", 0
}

// failCopilot encodes a failure to answer. The client blocks a call for any exit status but 0,
// but tells the model only a reason on standard output.
func failCopilot(event, text string) (stdout []byte, stderr string, exit int) {
	if _, stderr, exit = copilotForm(event).fail(event, text); exit == 0 {
		return nil, "", 0
	}
	return encode(copilotOutput{Permission: "deny", Why: strings.TrimSpace(stderr)}), stderr, exit
}

func encodeCopilotPre(event string, a engine.Answer) []byte {
	own := event == "" || event == copilotPre
	switch {
	case a.Effect == engine.Allow:
		return nil
	case a.Effect == engine.Warn:
		return encodeCopilotContext(a)
	case a.Effect == engine.Modify && own && isObject(a.Args):
		return encode(copilotOutput{Args: a.Args, Context: a.Text})
	case own && (a.Effect == engine.Modify || a.Effect == engine.Ask):
		return encode(copilotOutput{Permission: "ask", Why: cmp.Or(a.Text, askText)})
	}
	return encode(copilotOutput{Permission: "deny", Why: cmp.Or(a.Text, denyText)})
}

func encodeCopilotContext(a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return nil
	}
	return encode(copilotOutput{Context: a.Text})
}

// copilotRow is the agent's row in Harnesses.
func copilotRow() Harness {
	return Harness{
		Name:     Copilot,
		Decode:   decodeCopilot,
		Encode:   encodeCopilot,
		Failure:  failCopilot,
		Events:   eventNames(copilot().events),
		Phase:    func(event string) engine.Phase { return copilotForm(event).phase(event) },
		Timeout:  copilotTimeout,
		Unit:     time.Second,
		Channels: copilotChannels(),
		Project:  "CLAUDE_PROJECT_DIR",
		Commands: []string{".github/prompts", ".github/skills", ".copilot/skills"},
		Programs: []string{"copilot", "copilot.exe"},
		Marker:   "COPILOT_CLI",
	}
}
