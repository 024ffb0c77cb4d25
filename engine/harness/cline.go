package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// Cline is the name of Cline in command lines and records.
const Cline = "cline"

// The events of Cline that have names of their own.
const (
	clineStart    = "TaskStart"
	clineComplete = "TaskComplete"
)

// cline describes the documents of Cline. They contain a call twice: it is read where its
// types are kept (tool_call), not where each value is a string (preToolUse). No event is installed for the end of a session.
func cline() dialect {
	return dialect{agent: Cline, ids: true,
		keys: keys{event: "hookName", session: "taskId", agent: "agent_id", stamp: "timestamp", tool: "tool_call.name",
			input: "tool_call.input", call: "tool_call.id", result: "tool_call.output", duration: "tool_call.durationMs",
			prompt: "userPromptSubmit.prompt", message: "turn.outputText"},
		events: []reported{
			{name: clineStart, phase: engine.PhaseStart, said: "agent_start"},
			{name: UserPromptSubmit, phase: engine.PhasePrompt, said: "prompt_submit"},
			{name: PreToolUse, phase: engine.PhasePre, said: "tool_call"},
			{name: PostToolUse, phase: engine.PhasePost, said: "tool_result"},
			{name: clineComplete, phase: engine.PhaseStop, said: "agent_end"},
		},
		others: append(ignored("PreCompact"), reported{name: "TaskResume", phase: engine.PhaseStart, said: "agent_resume"},
			reported{name: "TaskCancel", phase: engine.PhaseEnd, said: "agent_abort"}),
		prepare: prepareCline,
		finish:  finishCline,
	}
}

// prepareCline reads the result of a call under the keys of a call.
func prepareCline(d document) {
	if said, _ := d.text("hookName"); said == "tool_result" && d.has("tool_result") {
		d["tool_call"] = d["tool_result"]
	}
}

// finishCline reads what is not under a key of its own: the session of sub-agents, the folder,
// and whether a call failed.
func finishCline(d document, e *engine.Event) error {
	var roots []string
	err := errors.Join(d.set(&e.Session, "sessionContext.rootSessionId"), d.decode(&roots, "workspaceRoots", "a list of strings"))
	if err != nil {
		return err
	}
	if len(roots) > 0 {
		e.CWD = roots[0]
		e.Roots = otherRoots(e.Phase, roots[0], roots)
	}
	if !d.has("parent_agent_id") {
		e.Agent = ""
	}
	e.Phase = ofAgent(e.Phase, e.Agent)
	e.Tool = clineTool(e.Tool)
	if e.Result != nil {
		fillClineResult(d, e)
	}
	return nil
}

// ofAgent returns the phase for a sub-agent.
func ofAgent(p engine.Phase, agent string) engine.Phase {
	switch {
	case agent == "":
	case p == engine.PhaseStart:
		return engine.PhaseAgentStart
	case p == engine.PhaseStop:
		return engine.PhaseAgentStop
	case p == engine.PhasePrompt:
		return engine.PhaseOther
	}
	return p
}

// clineTool names the tool of a server as reviewer does. The client joins the two names with two
// underscores.
func clineTool(name string) string {
	if server, tool, ok := strings.Cut(name, "__"); ok && server != "" && tool != "" && server != "mcp" {
		return serverTool(server, tool)
	}
	return name
}

// fillClineResult reports a call as failed if one of its commands failed, and as refused if
// what ran is the command that stands for a denial.
func fillClineResult(d document, e *engine.Event) {
	var items []struct {
		Result  string `json:"result"`
		Success *bool  `json:"success"`
	}
	worked := true
	_ = d.decode(&worked, "postToolUse.success", "true or false")
	_ = d.decode(&items, "tool_call.output", "a list of results") // other tools have another shape
	e.Result.Failed = !worked
	for _, item := range items {
		if item.Success != nil && !*item.Success {
			e.Result.Failed, e.Result.Error = true, item.Result
		}
	}
	e.Result.Refused = e.Tool == clineShell && isDenial(e.Args)
}

// ClineTimeout returns the time that a hook has. The client waits for at least 40 s.
func ClineTimeout(event string) time.Duration { return min(ClaudeCodeTimeout(event), 40*time.Second) }

// clineShell is the tool whose calls can be replaced by a command that prints text.
const clineShell = "run_commands"

// clineOutput is the document that the client reads from a hook's standard output.
type clineOutput struct {
	Cancel  bool            `json:"cancel"`
	Error   string          `json:"errorMessage,omitempty"`
	Input   json.RawMessage `json:"overrideInput,omitempty"`
	Context string          `json:"contextModification,omitempty"`
}

// clineChannels states what the client does with a hook's answer.
func clineChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "a shell command is replaced by one that prints the reason; any other call is denied with `cancel: true`, which ends the run"},
		{Way: engine.WayAsk, Support: engine.SupportNone,
			How: "the client runs a call that a hook asks about, so reviewer denies it"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`overrideInput`"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory, Phases: []engine.Phase{engine.PhasePre},
			How: "`contextModification`; the model reads it, and nothing makes it comply"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client keeps the result"},
		{Way: engine.WayStop, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`cancel: true` before the call; in every later run, each call is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeCline encodes an answer for the client. It ignores exit statuses, and its only denial ends
// the run before the model reads why. So a shell command is replaced by one that prints the reason.
func encodeCline(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	if event != "" && event != PreToolUse {
		return nil, "", 0
	}
	a.Text = shorten(a.Text, maxText)
	switch {
	case a.Stop:
		return clineCancel(a.Text, stopText), "", 0
	case a.Effect == engine.Allow || a.Effect == engine.Warn && a.Text == "":
		return nil, "", 0
	case a.Effect == engine.Warn:
		return encode(clineOutput{Context: a.Text}), "", 0
	case a.Effect == engine.Modify && isObject(a.Args):
		return encode(clineOutput{Input: a.Args, Context: a.Text}), "", 0
	case a.Tool == clineShell:
		return encode(clineOutput{Input: clineDenial(a.Text)}), "", 0
	}
	return clineCancel(a.Text, denyText), "", 0
}

// failCline encodes a failure to answer: before a tool call, and where the event is
// unknown, the run ends. Nothing else keeps the call from running.
func failCline(event, text string) (stdout []byte, stderr string, exit int) {
	phase := cline().answerPhase(event)
	if phase != engine.PhasePre {
		return nil, "", 0
	}
	return clineCancel(shorten(engine.Degraded(phase, text).Text, maxText), ""), "", 0
}

func clineCancel(text, otherwise string) []byte {
	return encode(clineOutput{Cancel: true, Error: cmp.Or(text, otherwise)})
}

// The command that stands for a denial: it prints text, the same way in each shell.
const (
	denialStart = "echo 'reviewer: this call was denied and did not run. "
	denialEnd   = "'"
	maxDenial   = 4000 // bytes: cmd accepts lines of about 8,000
)

// clineDenial returns the arguments of a call that prints why another one did not run.
func clineDenial(text string) json.RawMessage {
	raw, _ := json.Marshal(map[string][]string{"commands": {denialStart + harmless(shorten(text, maxDenial)) + denialEnd}})
	return raw
}

// isDenial reports whether arguments are those of clineDenial.
func isDenial(args json.RawMessage) bool {
	var in struct {
		Commands []string `json:"commands"`
	}
	if json.Unmarshal(args, &in) != nil || len(in.Commands) != 1 {
		return false
	}
	text, starts := strings.CutPrefix(in.Commands[0], denialStart)
	text, ends := strings.CutSuffix(text, denialEnd)
	return starts && ends && text == harmless(text)
}

// harmless returns a string without characters that have a meaning between single quotes in sh
// or PowerShell, or anywhere in cmd, which does not know these quotes.
func harmless(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(" .,:;/_()[]{}=+@#~*?-`$", r), unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return r
		case strings.ContainsRune("'\"\u2018\u2019\u201a\u201b\u201c\u201d", r):
			return '`'
		case r == '\\':
			return '/'
		}
		return ' '
	}, text)), " ")
}

// clineRow is the agent's row in Harnesses.
func clineRow() Harness {
	return cline().row(Harness{
		Encode:   encodeCline,
		Failure:  failCline,
		Timeout:  ClineTimeout,
		Channels: clineChannels(),
		Commands: []string{".clinerules/workflows", ".cline/skills", "Documents/Cline/Workflows"},
		Programs: []string{"cline", "cline.exe"},
		Marker:   "CLINE_ACTIVE",
	})
}
