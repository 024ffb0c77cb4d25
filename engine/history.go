package engine

import (
	"encoding/json"
	"errors"
	"fmt"
)

// FoldVersion is raised by hand whenever the same records fold to another
// state. Audits recorded under another one are incomparable, not wrong.
const FoldVersion = 3

// Bounds of the fold's structures. They keep the state below MaxKeyframe
// whatever the records hold, and its cost per record constant; they belong to
// FoldVersion. The rings get what the other structures leave, which with names
// of usual length is room for ringTotal entries.
const (
	ringSize      = 200 // last actions per agent, spec/patterns: "ring, default 200"
	ringTotal     = 220 // over all agents
	maxAgents     = 24
	agentRest     = 256 // actions of the session after which an agent's place is free
	maxErrors     = 24  // error classes per agent
	totalErrors   = 32  // over all agents
	maxTools      = 24
	maxTypes      = 16
	maxLedger     = 160
	ledgerBytes   = 14 << 10
	ledgerFloor   = 2 << 10  // the least of it, where everything else is as long as it can be
	ringFloor     = 12 << 10 // of the rings, for which the ledger makes room
	maxDenials    = 32
	maxAllowed    = 32 // calls that a person allowed; the oldest is forgotten, and asked about again
	maxApprovals  = 8  // questions whose outcome one record may tell
	maxCalls      = 64
	callBytes     = 7 << 10
	maxCreates    = 8  // paths that one pending call may create
	keyLength     = 64 // bytes of a path or target as a key
	digestLength  = 16 // hex digits kept of a digest: 64 bits
	argsLength    = 32 // of the arguments' MAC
	reasonLength  = 256
	repeatSpan    = 20 // actions back within which the same call counts as repeated
	similarShare  = 0.85
	sketchSize    = 16
	errorClassLen = 80
)

// History is the state that records fold to: bounded, the same whether it is
// kept in a running process, read from a snapshot, or computed again from the
// log. It does not depend on any policy. The zero History is that of an empty
// chain.
//
// There are two levels. Limits, denials, labels, paths and stops belong to the
// session; windows, loops and errors belong to the agent, since interleaved
// sub-agents would otherwise hide or fake each other's.
//
// Bounded structures forget towards strictness: what makes policy milder (a
// path was created by the session) is forgotten before what makes it stricter
// (a path was moved into, a call was denied), and what a person allowed is asked
// about again.
//
// At most maxAgents agents are known at a time, and the main agent always. Who
// came first stays as long as it acts: had the newest always taken the place of
// the one longest silent, none of 200 agents that take turns would be seen twice.
// What an agent does beyond them counts for the session, and not for windows.
type History struct {
	Fold      int              `json:"fold"` // FoldVersion
	Chain     string           `json:"chain"`
	Session   string           `json:"session"`
	Harness   string           `json:"harness"`
	Workspace string           `json:"workspace"`
	N         int64            `json:"n"` // number of the last record
	T         int64            `json:"t"` // its time
	Started   int64            `json:"started"`
	Env       string           `json:"env,omitempty"` // digest of the environment that opened the chain
	Stop      *Stopped         `json:"stop,omitempty"`
	Actions   int64            `json:"actions"`
	Prompts   int64            `json:"prompts"`
	FileOps   int64            `json:"file_ops"` // since the last prompt
	Denied    int64            `json:"denied"`
	DeniedRow int64            `json:"denied_row"`
	ByType    map[string]int64 `json:"by_type"`
	ByVerdict map[string]int64 `json:"by_verdict"`
	ByTool    map[string]int64 `json:"by_tool"`
	Labels    map[string]int64 `json:"labels"` // label -> number of the record that first earned it
	Agents    []*agentHistory  `json:"agents"` // most recent last
	Paths     []pathEntry      `json:"paths"`  // most recent last
	Denials   []denial         `json:"denials"`
	Allowed   []allowed        `json:"allowed"` // most recent last
	Asked     int64            `json:"asked"`   // see AnswerCounts
	Approved  int64            `json:"approved"`
	Refused   int64            `json:"refused"`
	Overruled int64            `json:"overruled"`
	Calls     []callEntry      `json:"calls"` // most recent last
	Goals     goalState        `json:"goals"`
	Marks     map[Label]string `json:"marks"` // of what was read, 8 digits each, most recent last
	Hosts     string           `json:"hosts"` // digests of those that were contacted, 8 digits each, most recent last
	Bins      []bin            `json:"bins"`  // use of resources, most recent last
	Spawned   int64            `json:"spawned"`
	Deleted   int64            `json:"deleted"`             // paths that the session did not make
	Committed bool             `json:"committed,omitempty"` // something of a secret is in a commit that was not pushed
	Fired     map[string]int64 `json:"fired"`               // finding with a level -> how many events had it

	// Actions so far when something was last, for SinceFacts.
	SecretAt    int64 `json:"secret_at,omitempty"`
	UntrustedAt int64 `json:"untrusted_at,omitempty"`
	PromptAt    int64 `json:"prompt_at,omitempty"`
	PromptN     int64 `json:"prompt_n,omitempty"` // record of the latest prompt
}

// firedEntry is the latest event of an agent that had a finding with a level, and
// the latest at which a rule said so.
type firedEntry struct {
	At        int64  `json:"a"` // the agent's actions so far
	Level     string `json:"l"`
	Told      int64  `json:"t,omitempty"`  // as At
	ToldLevel string `json:"tl,omitempty"` // empty: never
}

// Stopped says that a person or policy stopped the session. It stays until a
// person resumes it.
type Stopped struct {
	N      int64  `json:"n"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

type agentHistory struct {
	Name   string                `json:"name"`
	Events int64                 `json:"events"`
	At     int64                 `json:"at"`   // actions of the session at its latest
	Ring   []past                `json:"ring"` // oldest first
	Errors map[string]int64      `json:"errors"`
	Checks []checkRun            `json:"checks,omitempty"` // most recent last
	Fired  map[string]firedEntry `json:"fired,omitempty"`  // by the finding's id

	// Its actions so far when it last read something with a label.
	SecretAt    int64 `json:"secret_at,omitempty"`
	UntrustedAt int64 `json:"untrusted_at,omitempty"`
}

// past is one earlier action in the ring.
type past struct {
	N       int64      `json:"n"`
	T       int64      `json:"t"`
	Types   typeSet    `json:"y"`
	Target  string     `json:"p,omitempty"` // key of the first target
	Class   string     `json:"k,omitempty"` // target class: location and file class, or "host"
	Print   string     `json:"f"`           // fingerprint
	Sketch  string     `json:"s,omitempty"` // token sketch; kept only while the outcome is not 'ran'
	Result  string     `json:"r,omitempty"` // MAC of the result, shortened
	Error   string     `json:"e,omitempty"` // error class
	Outcome Outcome    `json:"o"`
	Alters  alteration `json:"A,omitempty"` // "w" was a bool, and is in older logs
	Tool    string     `json:"l,omitempty"`
	Kind    EffectKind `json:"a,omitempty"` // of its first effect
	Verb    string     `json:"v,omitempty"` // see Effect.act
	Dir     string     `json:"d,omitempty"` // digest of the folder or host that it was mostly about
	Trouble Trouble    `json:"b,omitempty"`
	Rank    int64      `json:"q,omitempty"` // reversibility of its worst effect, 0 to 5
	Missing int64      `json:"m,omitempty"` // references to what is not there
	Goal    bool       `json:"g,omitempty"` // a goal was known
	Named   bool       `json:"j,omitempty"` // it touched what a person named
	Words   int64      `json:"u,omitempty"` // share of its words that people used, in percent
	News    bool       `json:"z,omitempty"` // it brought something that was not known
	Check   bool       `json:"c,omitempty"`
	Waits   bool       `json:"x,omitempty"`
	Into    string     `json:"i,omitempty"` // what it made of its target, shortened MAC; see undoes
	From    string     `json:"h,omitempty"` // what the target held there before, where the call says so
}

// pathEntry is what the session did to one path.
type pathEntry struct {
	Key    string  `json:"p"`
	State  string  `json:"s"` // one of LedgerStates
	N      int64   `json:"n"` // record of the latest change of state
	Used   bool    `json:"u,omitempty"`
	Where  string  `json:"w,omitempty"` // location, once it was written or deleted; "named" for what a person named
	Labels []Label `json:"l,omitempty"` // of what it holds
	Apart  bool    `json:"k,omitempty"` // it is for secrets, or git leaves it alone; known of files with labels
}

// ledgerPending is the state of a path of which only the place is known, until
// the call that makes it ran.
const ledgerPending = ""

// The states of a path in the ledger, mildest first: of two, the later wins.
const (
	ledgerRead    = "read"
	ledgerCreated = "created"
	ledgerWritten = "written"
	ledgerDeleted = "deleted"
	ledgerMoved   = "moved_into"
)

// LedgerStates lists what Effect.Ledger may say.
func LedgerStates() []string {
	return []string{ledgerRead, ledgerCreated, ledgerWritten, ledgerDeleted, ledgerMoved}
}

// denial is one effect of a call that did not run because policy or a person
// said no; a call has at most maxDeniedEffects of them.
type denial struct {
	N      int64  `json:"n"`
	At     int64  `json:"a"` // actions so far
	Print  string `json:"f"`
	Kind   string `json:"k,omitempty"`
	Verb   string `json:"v,omitempty"` // where the target alone does not say what is done to it
	Target string `json:"p,omitempty"`
	Person bool   `json:"q,omitempty"` // a person said no, and may have said what else they want
}

// allowed is a call that a person allowed, by its CallKey. Of one call there is
// one entry.
type allowed struct {
	N     int64  `json:"n"` // of the control record
	Print string `json:"f"`
	Dir   string `json:"d,omitempty"`
	Once  bool   `json:"o,omitempty"` // until such a call is let through; else until the session ends
	By    string `json:"b,omitempty"`
}

// callEntry is a call that was answered, until its fate is old enough to forget.
type callEntry struct {
	ID       string   `json:"id"` // the agent's id of the call
	Agent    string   `json:"a"`
	Pre      int64    `json:"pre,omitempty"`  // number of the pre record
	Post     int64    `json:"post,omitempty"` // number of the post record
	Decision Verdict  `json:"d,omitempty"`
	Enforced Verdict  `json:"v,omitempty"`
	Args     string   `json:"m,omitempty"` // MAC of the approved arguments, shortened; like d, v and c only until the post record
	Creates  []string `json:"c,omitempty"` // path keys that exist only once it ran
	Outcome  Outcome  `json:"o"`
}

// NewHistory returns the state of an empty chain.
func NewHistory() *History {
	return &History{
		Fold: FoldVersion, ByType: map[string]int64{}, ByVerdict: map[string]int64{},
		ByTool: map[string]int64{}, Labels: map[string]int64{}, Marks: map[Label]string{}, Fired: map[string]int64{},
	}
}

// Check mends and refuses what no fold produces and would not stand: a history
// is read from files that others may have written to.
func (h *History) Check() error {
	for _, m := range []*map[string]int64{&h.ByType, &h.ByVerdict, &h.ByTool, &h.Labels, &h.Fired} {
		if *m == nil {
			*m = map[string]int64{}
		}
	}
	if h.Marks == nil {
		h.Marks = map[Label]string{}
	}
	for _, a := range h.Agents {
		if a == nil || a.Errors == nil {
			return errors.New("history holds an agent without its counts")
		}
	}
	return nil
}

// Encode returns the state as a keyframe holds it.
func (h *History) Encode() (json.RawMessage, error) {
	raw, err := marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode history: %w", err)
	}
	return raw, nil
}

// DecodeHistory reads the state of a keyframe, and refuses one that no fold
// produces.
func DecodeHistory(raw json.RawMessage) (*History, error) {
	h := &History{}
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, fmt.Errorf("decode history: %w", err)
	}
	return h, h.Check()
}

// DecodeLineState is DecodeLine for those who rely on the state of a keyframe:
// it refuses a line whose state cannot be read. Of the state too, unknown fields
// are kept out.
func DecodeLineState(line []byte) (*Record, error) {
	r, err := DecodeLine(line)
	if err != nil || r.State == nil {
		return r, err
	}
	h, err := DecodeHistory(r.State)
	if err == nil {
		r.State, err = h.Encode()
	}
	if err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}

// Empty says that nothing was folded yet.
func (h *History) Empty() bool { return h.N == 0 }

// Recorded returns the number of the record that answers (agent, call, phase),
// or 0. An empty call id is never found: such events are all different.
func (h *History) Recorded(agent, call string, p Phase) int64 {
	c := h.call(agent, call)
	switch {
	case c == nil:
		return 0
	case p == PhasePre:
		return c.Pre
	case p == PhasePost:
		return c.Post
	}
	return 0
}

// After returns the state as it would be after one more record, and leaves h
// as it is.
func (h *History) After(r *Record) (*History, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("copy history: %w", err)
	}
	own := NewHistory()
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, fmt.Errorf("copy history: %w", err)
	}
	own.Append(r)
	return own, nil
}

func (h *History) call(agent, id string) *callEntry {
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

func (h *History) agent(name string) *agentHistory {
	for i := len(h.Agents) - 1; i >= 0; i-- {
		if h.Agents[i].Name == name {
			return h.Agents[i]
		}
	}
	return nil
}

func (h *History) path(key string) *pathEntry {
	for i := len(h.Paths) - 1; i >= 0; i-- {
		if h.Paths[i].Key == key {
			return &h.Paths[i]
		}
	}
	return nil
}

func agentOf(r *Record) string {
	if r.Agent == "" {
		return MainAgent
	}
	return truncateKey(r.Agent)
}
