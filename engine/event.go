package engine

import "encoding/json"

// Phase says at which point of a run an event happened. It is the vocabulary
// that all agents share; Event.Name keeps the agent's own word.
type Phase string

// The phases. Only PhasePre can keep a call from running.
const (
	PhasePre        Phase = "pre"         // before a tool call
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
		string(PhaseStart), string(PhasePrompt), string(PhasePre), string(PhasePost), string(PhaseBatch),
		string(PhaseAgentStart), string(PhaseAgentStop), string(PhaseStop), string(PhaseEnd), string(PhaseOther),
	}
}

// Event is what an agent said, normalised and not interpreted. It is raw: it
// may hold secrets, lives in memory only, and leaves the process only as the
// masked EventFacts that a Classifier makes of it.
type Event struct {
	Harness  string // the agent's kind, such as "claude-code"
	Name     string // the agent's own name of the event, such as "PreToolUse"
	Phase    Phase
	Session  string // the agent's session id
	Agent    string // the sub-agent's id; empty for the main agent
	Call     string // the agent's id of the tool call, the same before and after it
	Tool     string
	Args     json.RawMessage // the tool's input: a JSON object, exactly as received
	CWD      string          // where the agent stands now; follows `cd`
	Project  string          // the project folder, where the agent names one
	Mode     string          // the agent's permission mode
	PromptID string
	Prompt   string  // the person's text, PhasePrompt only
	Result   *Result // PhasePost only
	Began    int64   // when the session's chain was opened, Unix milliseconds; 0: not known, or it is not open yet
	Time     int64   // Unix milliseconds; 0: the shell stamps it on receipt

	// Unverified says why nobody can tell that the client sent the event; empty: it
	// did. Such an event is noted, and says nothing for a person.
	Unverified string

	// What policy says of how the event is read; the agent has no say in it.
	Redact []string // of PersonalKinds, what is replaced beside secrets
	Rows   Rows     // what is known of programs; nil: nothing

	// What the session has typed into terminals before, from its history.
	Terminals *Terminals
}

// Rows is what a policy's rows say of programs, for a Classifier to read.
type Rows interface {
	RowsDigest() string // of all rows; empty: there are none
}

// PersonalKinds lists the kinds of personal data that a Classifier can replace
// as it does secrets.
func PersonalKinds() []string { return []string{"card", "email", "iban", "phone", "ssn"} }

// Result is what a tool call came to, raw.
type Result struct {
	Failed      bool
	Interrupted bool
	Refused     bool            // the call did not run: a hook, rule or person refused it (transcripts only)
	Error       string          // the agent's error text, where Failed
	Output      json.RawMessage // the tool's response in its own shape
	DurationMS  int64
}

// MainAgent is the name under which the calls of the main agent are folded and recorded.
const MainAgent = "main"

// AgentName returns the sub-agent's id, or MainAgent.
func (e Event) AgentName() string {
	if e.Agent == "" {
		return MainAgent
	}
	return e.Agent
}

// EventFacts is an Event as it may leave the process: every string masked,
// contents replaced by ContentFacts, everything shortened to fit a record.
type EventFacts struct {
	Name     string         `json:"name,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	CWD      string         `json:"cwd,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	PromptID string         `json:"prompt_id,omitempty"`
	Args     map[string]any `json:"args,omitempty"` // strings, integers, booleans, lists and objects; contents as ContentFacts
	Prompt   *ContentFacts  `json:"prompt,omitempty"`
	Goal     *Goal          `json:"goal,omitempty"` // what the prompt says of what is wanted
	Result   *ResultFacts   `json:"result,omitempty"`
}

// ContentFacts stands for a text that is not stored: a file's content, a
// tool's output, a prompt.
type ContentFacts struct {
	Bytes   int64          `json:"bytes"`
	Lines   int64          `json:"lines"`
	MAC     string         `json:"mac,omitempty"`     // keyed digest, hex: equality without guessing
	Secrets map[string]int `json:"secrets,omitempty"` // kind of secret -> how many were masked
}

// Outcome says what became of a call.
type Outcome string

// The outcomes. For every fact that makes policy stricter, pending and unknown
// count as run.
const (
	OutcomePending Outcome = "pending" // answered, no word since
	OutcomeRan     Outcome = "ran"
	OutcomeFailed  Outcome = "failed"
	OutcomeDenied  Outcome = "denied"
	OutcomeUnknown Outcome = "unknown" // no post by the next prompt or stop
)

// Outcomes lists every Outcome.
func Outcomes() []string {
	return []string{string(OutcomePending), string(OutcomeRan), string(OutcomeFailed), string(OutcomeDenied), string(OutcomeUnknown)}
}

// ResultFacts is a Result as it may leave the process.
type ResultFacts struct {
	Outcome     Outcome       `json:"outcome"` // ran or failed (denied in imported transcripts)
	Interrupted bool          `json:"interrupted,omitempty"`
	Class       string        `json:"class,omitempty"`   // error class: the first line of the error without paths, numbers, quotes; at most 80 bytes
	Trouble     Trouble       `json:"trouble,omitempty"` // what kind of error it is; absent: none, or none that is known
	MS          int64         `json:"ms,omitempty"`
	Content     *ContentFacts `json:"content,omitempty"`
	Marks       []string      `json:"marks,omitempty"`   // of the output; see Action.Marks
	Names       []string      `json:"names,omitempty"`   // marks of what an answer from elsewhere only names: ids and paths; of a service of the repository also its own addresses
	Secrets     []string      `json:"secrets,omitempty"` // marks of the secrets in it
}

// Trouble is a kind of error that every agent meets, whatever tool reports it.
type Trouble string

// The kinds of trouble.
const (
	TroubleMissing Trouble = "missing"      // a file, a package or an address is not there
	TroubleCommand Trouble = "command"      // no such program
	TroubleUsage   Trouble = "usage"        // the program has no such option or subcommand
	TroubleAuth    Trouble = "auth"         // who asked is not known, or not allowed to: 401, 403, an expired token
	TroubleDenied  Trouble = "permission"   // the system's own permissions
	TroubleSyntax  Trouble = "syntax"       // code or a configuration does not parse
	TroubleImport  Trouble = "import"       // a module or a symbol is not found
	TroubleTime    Trouble = "time_out"     // it took too long
	TroubleRate    Trouble = "rate_limit"   // too many requests
	TroubleNetwork Trouble = "network"      // no connection
	TroubleCheck   Trouble = "check_failed" // a test, a linter or another check says no
)

// Troubles lists every Trouble.
func Troubles() []string {
	return []string{
		string(TroubleMissing), string(TroubleCommand), string(TroubleUsage), string(TroubleAuth), string(TroubleDenied),
		string(TroubleSyntax), string(TroubleImport), string(TroubleTime), string(TroubleRate), string(TroubleNetwork),
		string(TroubleCheck),
	}
}

// Reviewed says whether policy is asked about a phase.
func (p Phase) Reviewed() bool {
	return p == PhasePre || p == PhasePost || p == PhaseBatch || p == PhasePrompt || p == PhaseStop
}
