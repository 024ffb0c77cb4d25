package engine

import (
	"encoding/json"
	"strings"
)

// Phase is the point of a run at which an event happened. This vocabulary is
// shared by all agents; Event.Name keeps the agent's own name of the event.
type Phase string

// The phases. Only PhasePre can keep a call from running.
const (
	PhasePre        Phase = "pre"         // before a tool call
	PhaseRequest    Phase = "request"     // the agent is about to ask a person about a call
	PhasePost       Phase = "post"        // after a tool call, whether it worked or not
	PhaseBatch      Phase = "batch"       // after all calls of one model turn
	PhasePrompt     Phase = "prompt"      // a person's prompt
	PhaseStart      Phase = "start"       // a session starts or resumes
	PhaseStop       Phase = "stop"        // the agent wants to stop
	PhaseEnd        Phase = "end"         // the session ends
	PhaseAgentStart Phase = "agent_start" // a sub-agent starts
	PhaseAgentStop  Phase = "agent_stop"  // a sub-agent ends
	PhaseOther      Phase = "other"       // anything else that the agent reports
)

// Phases lists every Phase, in the order of a run.
func Phases() []string {
	return []string{
		string(PhaseStart), string(PhasePrompt), string(PhasePre), string(PhaseRequest), string(PhasePost), string(PhaseBatch),
		string(PhaseAgentStart), string(PhaseAgentStop), string(PhaseStop), string(PhaseEnd), string(PhaseOther),
	}
}

// Event is what an agent reported, normalised but not interpreted. It is raw:
// it may contain secrets, lives in memory only, and leaves the process only as
// the masked EventFacts that a Classifier makes of it.
type Event struct {
	Harness     string // the agent's kind, such as "claude-code"
	Name        string // the agent's own name of the event, such as "PreToolUse"
	Phase       Phase
	Session     string // the agent's session id
	Agent       string // the sub-agent's id; empty for the main agent
	Call        string // the agent's id of the tool call, the same before and after it; empty: it gives none
	Tool        string
	Args        json.RawMessage // the tool's input: a JSON object, exactly as received
	CWD         string          // the agent's working directory; follows `cd`
	Project     string          // the project folder, where the agent names one
	Roots       []string        // PhasePrompt: other folders that the person has open in the client
	Mode        string          // the agent's permission mode
	PromptID    string
	Prompt      string    // PhasePrompt: the person's text; with Unverified: somebody else's, which can only forbid
	Typed       bool      // PhasePrompt: the client says that a person typed it
	Asked       *Question // PhasePre and PhasePost: what the client's own tool asks the person; nil: nothing, or it is not known who answers
	Result      *Result   // PhasePost only
	LastMessage string    // the agent's last message, PhaseStop only
	Again       bool      // PhaseStop: a hook answered an earlier stop, so the agent continued
	// Path of the agent's own record of the session, where it names one. It is
	// read to count tokens, and to quote the person's words in a reminder.
	Transcript string
	// The agent's own time of the event, as it wrote it: where the agent gives calls no ids, it
	// distinguishes equal ones. Two hooks that are told the same event get the same time.
	Stamp string
	Began int64 // when the session's chain was opened, Unix milliseconds; 0: unknown, or not opened yet
	Time  int64 // Unix milliseconds; 0: set by the caller on receipt

	// Unverified is the reason why the event cannot be attributed to the
	// client; empty: it can. Such an event is recorded, but does not count as a
	// person's statement.
	Unverified string

	// Client is the process from which the event comes; nil: no process sent it, as in a simulation.
	Client *Client

	// How the policy configures the reading of the event; the agent has no influence on it.
	Redact []string // those of PersonalKinds that are masked in addition to secrets
	Rows   Rows     // knowledge about programs; nil: none

	// What the session typed into terminals before, from its history.
	Terminals *Terminals

	Usage  *Usage // of tokens, if they can be counted
	Spoken int64  // tokens that the model wrote in the session so far, where the agent says so; 0: unknown

	Instructions bool // the instruction files of the workspace are to be read; with PhaseStart
}

// Rows is what a policy's rows say about programs, for a Classifier to read.
type Rows interface {
	RowsDigest() string // digest of all rows; empty: there are none
}

// Question is what a tool of the client asks the person for the agent.
type Question struct {
	Parts []QuestionPart
	Plan  string // the plan that the person is to approve; empty: it is a question
}

// QuestionPart is one question.
type QuestionPart struct {
	Text    string
	Options []string // labels, without descriptions
	Answer  string   // PhasePost: a label, or what the person wrote instead
}

// PersonalKinds lists the kinds of personal data that a Classifier can mask as
// it does secrets.
func PersonalKinds() []string { return []string{"card", "email", "iban", "phone", "ssn"} }

// Result is the raw result of a tool call.
type Result struct {
	Failed      bool
	Interrupted bool
	Refused     bool            // the call did not run: a hook, rule or person refused it (transcripts only)
	Error       string          // the agent's error text, where Failed
	Output      json.RawMessage // the tool's response in its own shape
	DurationMS  int64
	Changed     []string // paths that the call changed according to the agent: optional, and never complete
}

// MainAgent is the name under which calls of the main agent are recorded.
const MainAgent = "main"

// AgentName returns the sub-agent's id, or MainAgent.
func (e Event) AgentName() string {
	if e.Agent == "" {
		return MainAgent
	}
	return e.Agent
}

// EventFacts is the form of an Event that may leave the process: every string
// masked, contents replaced by ContentFacts, everything shortened to fit a
// record.
type EventFacts struct {
	Name     string         `json:"name,omitempty"`      // name that the agent gives the event
	Tool     string         `json:"tool,omitempty"`      // name of the tool, as the agent calls it
	CWD      string         `json:"cwd,omitempty"`       // working directory of the agent
	Mode     string         `json:"mode,omitempty"`      // permission mode of the agent
	PromptID string         `json:"prompt_id,omitempty"` // agent's id of the prompt that led to the event
	Args     map[string]any `json:"args,omitempty"`      // arguments of the tool, masked; long texts are replaced by facts about them, as in `action.contents`
	Prompt   *ContentFacts  `json:"prompt,omitempty"`    // facts about the prompt's text, which itself is not stored
	Goal     *Goal          `json:"goal,omitempty"`      // what the prompt asks for, or the answer to a question of the client's
	Asked    *Asked         `json:"asked,omitempty"`     // question or plan that the client put before the person
	Standing *Standing      `json:"standing,omitempty"`  // what instruction files forbid; when a session starts only
	Result   *ResultFacts   `json:"result,omitempty"`    // result of the call; phase post only
	Says     *LastMessage   `json:"says,omitempty"`      // what the agent's last message claims; phase stop only
	Usage    *Usage         `json:"usage,omitempty"`     // tokens since the previous event, if the agent's own record has them
}

// ContentFacts stands for a string that is not stored: a file's content, a
// tool's output, a prompt.
type ContentFacts struct {
	Bytes   int64          `json:"bytes"`             // length in bytes
	Lines   int64          `json:"lines"`             // number of lines
	MAC     string         `json:"mac,omitempty"`     // keyed digest in hexadecimal: equal texts have equal digests
	Secrets map[string]int `json:"secrets,omitempty"` // number of secrets that were masked, by kind
}

// Outcome is how a call ended.
type Outcome string

// The outcomes. For all facts that make policy stricter, pending and unknown
// count as ran.
const (
	OutcomePending Outcome = "pending" // answered, no result reported since
	OutcomeRan     Outcome = "ran"
	OutcomeFailed  Outcome = "failed"
	OutcomeDenied  Outcome = "denied"
	OutcomeUnknown Outcome = "unknown" // no post by the next prompt or stop
)

// Outcomes lists every Outcome.
func Outcomes() []string {
	return []string{string(OutcomePending), string(OutcomeRan), string(OutcomeFailed), string(OutcomeDenied), string(OutcomeUnknown)}
}

// ResultFacts is the form of a Result that may leave the process.
type ResultFacts struct {
	Outcome     Outcome `json:"outcome"`               // ran or failed; denied in imported transcripts
	Interrupted bool    `json:"interrupted,omitempty"` // a person interrupted the call
	// Error class: first line of the error without paths, numbers and quotes, at most 80 bytes.
	Class   string        `json:"class,omitempty"`
	Trouble Trouble       `json:"trouble,omitempty"` // kind of error; absent: none or unknown
	MS      int64         `json:"ms,omitempty"`      // how long the call took, in milliseconds
	Content *ContentFacts `json:"content,omitempty"` // facts about the output's text
	Marks   []string      `json:"marks,omitempty"`   // marks of the output, as in `action.marks`
	// Marks of what a response from outside only mentions: ids, paths, a service's own
	// addresses.
	Names   []string `json:"names,omitempty"`
	Secrets []string `json:"secrets,omitempty"` // marks of the secrets in the output
	// Process ids in the output of a call that starts or lists processes; at
	// most 8.
	Processes []string `json:"processes,omitempty"`
	Ports     []string `json:"ports,omitempty"` // local ports in the output of a call that starts or lists processes; at most 4
}

// Trouble is a kind of error that any agent can encounter, regardless of the tool that reports it.
type Trouble string

// The kinds of trouble.
const (
	TroubleMissing Trouble = "missing"      // a file, a package or an address does not exist
	TroubleCommand Trouble = "command"      // no such program
	TroubleUsage   Trouble = "usage"        // the program has no such option or subcommand
	TroubleAuth    Trouble = "auth"         // authentication or authorisation failed: 401, 403, an expired token
	TroubleDenied  Trouble = "permission"   // the system's own permissions do not allow it
	TroubleSyntax  Trouble = "syntax"       // code or a configuration does not parse
	TroubleImport  Trouble = "import"       // a module or a symbol is not found
	TroubleTime    Trouble = "time_out"     // it took too long
	TroubleRate    Trouble = "rate_limit"   // too many requests
	TroubleNetwork Trouble = "network"      // no connection
	TroubleCheck   Trouble = "check_failed" // a test, a linter or another check failed
)

// Troubles lists every Trouble.
func Troubles() []string {
	return []string{
		string(TroubleMissing), string(TroubleCommand), string(TroubleUsage), string(TroubleAuth), string(TroubleDenied),
		string(TroubleSyntax), string(TroubleImport), string(TroubleTime), string(TroubleRate), string(TroubleNetwork),
		string(TroubleCheck),
	}
}

// Reviewed reports whether policy decides about a phase.
func (p Phase) Reviewed() bool {
	return p == PhasePre || p == PhasePost || p == PhaseBatch || p == PhasePrompt || p == PhaseStop
}

// Usage is the token usage according to the agent's own record of the session. Each event's review
// reads the part that was added since the previous event; a replay never reads it.
type Usage struct {
	Tokens  int64 `json:"tokens"`            // tokens that the model wrote since the previous event
	Skipped int64 `json:"skipped,omitempty"` // bytes of the agent's record that were not read, since there were too many
	To      int64 `json:"to"`                // offset in the agent's record up to which it was read, in bytes; or all tokens, if the agent counts itself
	// Digest of the id of the last message that was read, more of which may follow.
	Message string `json:"message,omitempty"`
	Counted int64  `json:"counted,omitempty"` // tokens of the last message read that were counted so far
}

// RunMessage begins what `reviewer run` tells an agent through the client's protocol, where it would otherwise look like a
// person's prompt. A person who begins a prompt with it only gives up what prompts permit.
const RunMessage = "[reviewer run] "

// FromRun reports whether a prompt comes from `reviewer run`.
func FromRun(prompt string) bool { return strings.HasPrefix(prompt, RunMessage) }
