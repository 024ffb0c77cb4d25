package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

// FoldVersion is raised manually whenever the same records fold to a different
// state. Audits recorded with a different version are incomparable, not wrong.
const FoldVersion = 23

// Bounds of the fold's structures. They keep the state below MaxKeyframe for any records,
// and its cost per record constant; they belong to
// FoldVersion. The rings get what the other structures leave, which with names
// of usual length is room for ringTotal entries.
const (
	ringSize      = 200 // latest actions of an agent
	ringTotal     = 220 // over all agents
	maxAgents     = 24
	agentRest     = 256 // an agent that is idle for this many actions of the session can be dropped for another
	maxErrors     = 24  // error classes per agent
	totalErrors   = 32  // over all agents
	maxTools      = 24
	maxTypes      = 16
	maxLedger     = 160
	ledgerBytes   = 14 << 10
	ledgerFloor   = 2 << 10  // its minimum, if everything else has its maximum length
	ringFloor     = 12 << 10 // minimum of the rings, for which the ledger is shortened
	maxDenials    = 32
	maxAllowed    = 32 // calls that a person allowed; the oldest is forgotten, and asked about again
	maxApprovals  = 8  // questions whose outcome one record may show
	maxCalls      = 64
	callBytes     = 7 << 10
	maxChanges    = 24 // paths that one pending call may change
	typingBytes   = 4 << 10
	keyLength     = 64 // bytes of a path or target as a key
	digestLength  = 16 // hex digits kept of a digest: 64 bits
	argsLength    = 32 // of the arguments' MAC
	reasonLength  = 256
	repeatSpan    = 20 // how many actions ago the same call may have been made to count as repeated
	sketchSize    = 16
	errorClassLen = 80
)

// State is the state that records fold to: bounded, the same whether it is kept in a running
// process, read from a snapshot, or recomputed from the log. It does not depend on any policy.
// The zero State is that of an empty chain.
//
// There are two levels. Limits, denials, labels, paths and stops belong to the session;
// windows, loops and errors belong to the agent, because the actions of sub-agents running at
// the same time would otherwise hide or imitate each other's.
//
// A full structure drops what makes policy milder (a path was created by the session) before
// what makes it stricter (a path was moved into, a call was denied). A permission that is
// dropped means that the person is asked again.
//
// At most maxAgents agents are known at a time, and the main agent always. An agent keeps its
// place as long as it acts: if the newest always replaced the one idle longest, none of 200
// agents that take turns would be recognised. Actions of further agents count for the session,
// but not for windows.
type State struct {
	Fold      int    `json:"fold"` // FoldVersion
	Chain     string `json:"chain"`
	Session   string `json:"session"`
	Harness   string `json:"harness"`
	Workspace string `json:"workspace"`
	N         int64  `json:"n"` // number of the last record
	T         int64  `json:"t"` // its time
	Started   int64  `json:"started"`
	Env       string `json:"env,omitempty"` // digest of the environment that opened the chain
	// Person is the key with which the person signs what makes policy milder. nil: nothing does.
	Person   *engine.PersonKey `json:"person,omitempty"`
	Keys     []string          `json:"keys,omitempty"`     // fingerprints of all keys that the chain named
	Unsigned int64             `json:"unsigned,omitempty"` // choices that changed nothing for lack of a signature
	Lenient  bool              `json:"-"`                  // choices count without a signature: in simulations, which no agent writes
	// Client is the process from which the session's events come. nil: none was recorded.
	Client   *engine.Client `json:"client,omitempty"`
	Stop     *Stopped       `json:"stop,omitempty"`
	Resumed  string         `json:"resumed,omitempty"`  // conditions, as in SessionFacts
	Restored bool           `json:"restored,omitempty"` // files, and the agent was not told yet
	Early    int64          `json:"early,omitempty"`    // record of a call that was answered and not reviewed yet
	Late     *lateEntry     `json:"late,omitempty"`     // what a review found after the answer, and the agent was not told yet
	Actions  int64          `json:"actions"`
	Prompts  int64          `json:"prompts"`
	FileOps  int64          `json:"file_ops"`         // since the last prompt, as for what is spent
	Before   int64          `json:"before,omitempty"` // as FileOps, of the prompts before
	spent
	Denied    int64                   `json:"denied"`
	DeniedRow int64                   `json:"denied_row"`
	DeniedBy  map[string]int64        `json:"denied_by,omitempty"` // by harm
	ByType    map[string]int64        `json:"by_type"`
	ByVerdict map[string]int64        `json:"by_verdict"`
	ByTool    map[string]int64        `json:"by_tool"`
	Labels    map[string]int64        `json:"labels"` // label -> number of the record that first had it
	Agents    []*agentState           `json:"agents"` // most recent last
	Paths     []pathEntry             `json:"paths"`  // most recent last
	Denials   []denial                `json:"denials"`
	Forgiven  []denial                `json:"forgiven,omitempty"` // because of what a person wrote, most recent last
	Allowed   []allowance             `json:"allowed"`            // most recent last
	Asked     int64                   `json:"asked"`              // see AnswerCounts
	Approved  int64                   `json:"approved"`
	Refused   int64                   `json:"refused"`
	Overruled int64                   `json:"overruled"`
	Questions approval.Questions      `json:"questions,omitempty"` // that wait outside the agent, and their outcomes
	Calls     []callEntry             `json:"calls"`               // most recent last
	Goals     goalState               `json:"goals"`
	Terminals *engine.Terminals       `json:"terminals,omitempty"` // text that was typed and may not have run
	Typing    *typing                 `json:"typing,omitempty"`    // what the latest call in a terminal leaves there if it runs
	Trees     []string                `json:"trees,omitempty"`     // working trees that git made for the session, most recent last
	Marks     map[engine.Label]string `json:"marks"`               // of what was read, 8 digits each, most recent last
	Hosts     string                  `json:"hosts"`               // digests of those that were contacted, 8 digits each, most recent last
	Bins      []bin                   `json:"bins"`                // use of resources, most recent last
	Spawned   int64                   `json:"spawned"`
	Deleted   int64                   `json:"deleted"`              // paths that the session did not make
	Committed bool                    `json:"committed,omitempty"`  // part of a secret is in a commit that was not pushed
	Fired     map[string]int64        `json:"fired"`                // finding with a level -> how many events had it
	Code      []writtenCode           `json:"code,omitempty"`       // that policy objected to, most recent last
	Dropped   []writtenCode           `json:"dropped,omitempty"`    // that is gone, as results of calls showed
	Running   []startedEntry          `json:"running,omitempty"`    // processes, most recent last
	Made      []engine.Made           `json:"made,omitempty"`       // containers and databases, most recent last
	Taken     []takenFrom             `json:"taken,omitempty"`      // how far other sessions were read, most recent last
	Forms     []formEntry             `json:"forms,omitempty"`      // answers of people by the form of the call, most recent last
	FormsLost bool                    `json:"forms_lost,omitempty"` // some refusals were forgotten
	DeniedAt  int64                   `json:"denied_at,omitempty"`  // actions so far when a call was last denied or refused
	Remotes   []string                `json:"remotes,omitempty"`    // names of remotes that were added, most recent last
	// Made by policy, most recent last.
	Interventions []intervention `json:"interventions,omitempty"`
	// Of the session's calls, most recent last; the first one stays.
	Checkpoints []checkpoint `json:"checkpoints,omitempty"`
	Rolled      *rollback    `json:"rolled,omitempty"` // the latest rollback

	// Actions so far when something last happened, for SinceFacts.
	SecretAt    int64 `json:"secret_at,omitempty"`
	UntrustedAt int64 `json:"untrusted_at,omitempty"`
	PromptAt    int64 `json:"prompt_at,omitempty"`
	PromptN     int64 `json:"prompt_n,omitempty"` // record of the latest prompt
}

// Stopped records that a person or policy stopped the session. It stays until a
// person resumes it.
type Stopped struct {
	N      int64  `json:"n"`
	T      int64  `json:"t,omitempty"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	Final  bool   `json:"final,omitempty"`  // nobody can resume it
	Anyone bool   `json:"anyone,omitempty"` // nobody signed it: no agent reads the reason or the name
	Rule   string `json:"rule,omitempty"`   // as SessionFacts.StopRule
	Harm   string `json:"harm,omitempty"`   // as SessionFacts.StopHarm
	Taken  bool   `json:"taken,omitempty"`  // it was taken from another session
}

// Told returns the reason of the stop as an agent may read it: anybody can write one that nobody signed.
func (s *Stopped) Told() string {
	if s.Anyone {
		return ""
	}
	return s.Reason
}

// New returns the state of an empty chain.
func New() *State {
	return &State{
		Fold: FoldVersion, ByType: map[string]int64{}, ByVerdict: map[string]int64{},
		ByTool: map[string]int64{}, Labels: map[string]int64{}, Marks: map[engine.Label]string{}, Fired: map[string]int64{},
	}
}

// Check repairs or rejects states that no fold produces and that later code
// could not handle: a history is read from files that others may have written
// to.
func (h *State) Check() error {
	for _, m := range []*map[string]int64{&h.ByType, &h.ByVerdict, &h.ByTool, &h.Labels, &h.Fired} {
		if *m == nil {
			*m = map[string]int64{}
		}
	}
	if h.Marks == nil {
		h.Marks = map[engine.Label]string{}
	}
	for _, a := range h.Agents {
		if a == nil || a.Errors == nil {
			return errors.New("the history contains an agent without its counts")
		}
	}
	return nil
}

// Encode returns the state in the form of a keyframe.
func (h *State) Encode() (json.RawMessage, error) {
	raw, err := engine.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode history: %w", err)
	}
	return raw, nil
}

// Decode reads the state of a keyframe, and refuses one that no fold
// produces.
func Decode(raw json.RawMessage) (*State, error) {
	h := &State{}
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, fmt.Errorf("decode history: %w", err)
	}
	return h, h.Check()
}

// DecodeLine is engine.DecodeLine for callers that use the state of a keyframe: it refuses a
// line whose state cannot be read. Unknown fields of the state are dropped too.
func DecodeLine(line []byte) (*engine.Record, error) {
	r, err := engine.DecodeLine(line)
	if err != nil || r.State == nil {
		return r, err
	}
	h, err := Decode(r.State)
	if err == nil {
		r.State, err = h.Encode()
	}
	if err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}

// Empty reports whether nothing was folded yet.
func (h *State) Empty() bool { return h.N == 0 }

// Recorded returns the number of the record that answers (agent, call, phase),
// or 0. An empty call id is never found: such events are all different.
func (h *State) Recorded(agent, call string, p engine.Phase) int64 {
	c := h.call(agent, call)
	switch {
	case c == nil:
		return 0
	case p == engine.PhasePre:
		return c.Pre
	case p == engine.PhasePost:
		return c.Post
	}
	return 0
}

func (h *State) call(agent, id string) *callEntry {
	if id == "" {
		return nil
	}
	agent, id = truncateKey(agent), truncateKey(id)
	for i := len(h.Calls) - 1; i >= 0; i-- {
		if c := &h.Calls[i]; c.ID == id && c.Agent == agent {
			return c
		}
	}
	return nil
}

// MadeID returns the start of the ids that are made for equal calls of an agent that gives none.
// What distinguishes them follows. The digest of the arguments is keyed.
func MadeID(tool, args string) string {
	return "made:" + engine.HexSum([]byte(tool))[:8] + ":" + prefix(args, digestLength) + ":"
}

// Unanswered returns the made id of the call to which a result belongs: of the earliest equal
// call that waits for its result, else of the latest one that was not expected to run, else of
// the latest one that had a result, which is reported again. Empty: there is none. A call
// whose arguments were changed has its result with the changed ones.
func (h *State) Unanswered(agent, tool, args string) string {
	made, best, rank := MadeID(tool, args), "", 0
	for _, c := range h.Calls {
		if c.Agent != truncateKey(agent) || !strings.HasPrefix(c.ID, made[:len("made:")+9]) {
			continue
		}
		equal := c.Args == prefix(args, argsLength) || strings.HasPrefix(c.ID, made)
		if r := c.waits(); equal && (r > rank || r == rank && r < waitsForResult) {
			best, rank = c.ID, r
		}
	}
	return best
}

// waitsForResult is the rank of a call that has no result yet.
const waitsForResult = 3

func (c *callEntry) waits() int {
	switch {
	case c.Post > 0:
		return 1
	case c.Outcome != engine.OutcomePending:
		return 2
	}
	return waitsForResult
}

func (h *State) agent(name string) *agentState {
	for i := len(h.Agents) - 1; i >= 0; i-- {
		if h.Agents[i].Name == name {
			return h.Agents[i]
		}
	}
	return nil
}

func (h *State) path(key string) *pathEntry {
	for i := len(h.Paths) - 1; i >= 0; i-- {
		if h.Paths[i].Key == key {
			return &h.Paths[i]
		}
	}
	return nil
}

func agentOf(r *engine.Record) string {
	if r.Agent == "" {
		return engine.MainAgent
	}
	return truncateKey(r.Agent)
}

// After returns the state after one more record, and leaves h unchanged.
func (h *State) After(r *engine.Record) (*State, error) {
	own, err := h.Clone()
	if err == nil {
		own.Append(r)
	}
	return own, err
}

// Assuming returns the state after a choice that the person is about to sign, and leaves h unchanged.
func (h *State) Assuming(c engine.Control) (*State, error) {
	own, err := h.Clone()
	if err == nil {
		own.Lenient = true
		own.Append(&engine.Record{Kind: engine.KindControl, N: h.N + 1, T: h.T, Control: &c})
	}
	return own, err
}

// Clone returns a copy that shares nothing with h.
func (h *State) Clone() (*State, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("copy history: %w", err)
	}
	own := New()
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, fmt.Errorf("copy history: %w", err)
	}
	own.Lenient = h.Lenient
	return own, nil
}
