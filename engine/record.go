package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// The choices of a person that are recorded as control records.
const (
	ControlStop         = "stop"
	ControlResume       = "resume"
	ControlAllowOnce    = "allow_once"    // this exact call, once
	ControlAllowSession = "allow_session" // this exact call, until the session ends
	ControlScope        = "scope"         // a path belongs to the session's scope
	ControlUnscope      = "unscope"       // it no longer does
	ControlLift         = "lift"          // a prohibition that a prompt said no longer holds: Control.Statement
	ControlAbort        = "abort"         // the session ends permanently
	ControlClose        = "close"         // an incident is closed: the id of its record is in Control.Record
	ControlRestore      = "restore"       // files were restored to Control.Checkpoint
	ControlApprove      = "approve"       // a call that waits for an answer may run: Control.Record, Control.Digest
	ControlDeny         = "deny"          // it does not run
	ControlKey          = "key"           // the key with which the person signs from now on: Control.Key; none: no earlier one counts, nor what it permitted
	ControlExpire       = "expire"        // what people wrote and allowed so far no longer makes policy milder: Control.Mode says how much of it
	ControlUsed         = "used"          // a permission for one call was used up: Control.Record is the id of the permission's record

	// Acts that concern the machine. Control.Digest is that of the whole act, and Control.Reason says it as it was shown.
	ControlTrust     = "trust"     // keys or files that sign policy are trusted
	ControlActivate  = "activate"  // a policy without trust, or an earlier one, is active
	ControlChannel   = "channel"   // notifications or seals go to another place
	ControlPurge     = "purge"     // saves, checkpoints or records are removed before their term
	ControlAccept    = "accept"    // the person's own policy, settings and definitions count as they are
	ControlUninstall = "uninstall" // the hooks are removed
	ControlMine      = "mine"      // clients that Control.Client started, or that it is, are the person's
)

// The conditions on which a person resumes a session.
const (
	ResumeLimits    = "limits"    // lower limits, fewer tools, patterns that are found sooner
	ResumeSupervise = "supervise" // a person is asked about every call that changes something
)

// What no longer makes policy milder after ControlExpire. Any other mode is as ExpireAll.
const (
	ExpireNothing = "nothing" // the record only names the client of a session that has no events yet
	ExpireWords   = "words"   // what people wrote to the agent
	ExpirePermits = "permits" // that, and their permissions, approvals and additions to the scope
	ExpireAll     = "all"     // that, and what the results of calls showed
)

// SessionKey identifies a session.
type SessionKey struct{ Harness, Session string }

// NewRecord makes the record of an event from its facts. It lacks the decision and the
// fields that only the chain has (number, previous hash, chain).
func NewRecord(e Event, f Facts, t int64) *Record {
	rec := &Record{
		Kind: kindOf(e.Phase), T: t, Session: e.Session, Agent: e.AgentName(), Call: e.Call,
		Harness: e.Harness, Phase: e.Phase, Event: &f.Event, Action: f.Action, Cut: f.Cut,
		Prompts: f.Prompts,
	}
	if e.Unverified != "" && rec.Kind == KindNote {
		rec.Note = &Note{What: "unverified", Detail: e.Unverified}
	}
	if f.Args != "" {
		rec.SHA = &SHA{Args: f.Args}
	}
	rec.Event.Usage = e.Usage
	return rec
}

func kindOf(p Phase) Kind {
	switch p {
	case PhasePre:
		return KindPre
	case PhasePost:
		return KindPost
	case PhasePrompt:
		return KindPrompt
	case PhaseStop:
		return KindStop
	}
	return KindNote
}

// ClampTime keeps time from running backwards within a chain, given the time of its
// latest record.
func (r *Record) ClampTime(latest int64) {
	if r.T < latest {
		r.Skew, r.T = latest-r.T, latest
	}
}

// ArgsMAC distinguishes calls with the same id, so that one is not answered
// with the answer to another.
func (r *Record) ArgsMAC() string {
	if r.SHA == nil {
		return ""
	}
	return r.SHA.Args
}

// FormatVersion is the version of the record format, the first field of every
// line.
const FormatVersion = 1

// Limits of a line, from the record format: a verifier may reject longer ones.
const (
	MaxLine     = 8 << 10  // bytes of a line with its newline
	MaxKeyframe = 64 << 10 // bytes of a keyframe's line with its newline
	MaxFacts    = 17 << 8  // bytes of event and action together, as a Classifier must shorten them; detected and rewritten come on top
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	KindOpen     Kind = "open"     // line 1 of a chain
	KindPrompt   Kind = "prompt"   // a person's prompt
	KindPre      Kind = "pre"      // before a tool call
	KindPost     Kind = "post"     // after it
	KindStop     Kind = "stop"     // the agent's stop
	KindAct      Kind = "act"      // an executed intervention, or a checkpoint
	KindControl  Kind = "control"  // a person's choice
	KindKeyframe Kind = "keyframe" // the whole state of the fold
	KindSeal     Kind = "seal"     // covers everything before it
	KindNote     Kind = "note"     // all other events
)

// Kinds lists every Kind.
func Kinds() []string {
	return []string{
		string(KindOpen), string(KindPrompt), string(KindPre), string(KindPost), string(KindStop),
		string(KindAct), string(KindControl), string(KindKeyframe), string(KindSeal), string(KindNote),
	}
}

// Record is one line of a chain: one replayable fact. The order of the fields
// is part of the format: a line starts with {"v":1,"prev":"…","n":17,"kind":…
type Record struct {
	V         int          `json:"v"`
	Prev      string       `json:"prev"` // SHA-256 of the previous line, newline included; for line 1: ChainSeed
	N         int64        `json:"n"`    // number of the line in the chain, from 1
	Kind      Kind         `json:"kind"`
	T         int64        `json:"t"` // Unix milliseconds, never less than in the previous line
	Chain     string       `json:"chain"`
	Session   string       `json:"session,omitempty"`
	Agent     string       `json:"agent,omitempty"`
	Call      string       `json:"call,omitempty"`
	Harness   string       `json:"harness,omitempty"`
	Phase     Phase        `json:"phase,omitempty"`
	Skew      int64        `json:"skew,omitempty"` // milliseconds by which the clock was behind the previous line
	Event     *EventFacts  `json:"event,omitempty"`
	Action    *Action      `json:"action,omitempty"`
	Findings  []Finding    `json:"findings,omitempty"`
	Decision  *Decision    `json:"decision,omitempty"`
	Answer    *AnswerFacts `json:"answer,omitempty"`
	By        *By          `json:"by,omitempty"`
	SHA       *SHA         `json:"sha,omitempty"`
	Rewritten *Rewritten   `json:"rewritten,omitempty"` // the decision was to modify
	Cut       []Cut        `json:"cut,omitempty"`
	Source    string       `json:"source,omitempty"` // prefilter, async, transcript; empty: a hook
	Open      *Open        `json:"open,omitempty"`
	Control   *Control     `json:"control,omitempty"`
	Act       *Act         `json:"act,omitempty"`
	Seal      *Seal        `json:"seal,omitempty"`
	Note      *Note        `json:"note,omitempty"`
	// State is the state of the fold before this line, in keyframes only. Its
	// form is internal to the fold.
	State json.RawMessage `json:"state,omitempty"`

	Prompts *PromptTexts `json:"-"` // of a call, until the ledger has them
}

// By identifies what decided: digests that replay looks up.
type By struct {
	Policy    string `json:"policy"`              // digest of the effective policy (layers and settings)
	Config    string `json:"config,omitempty"`    // digest of the merged settings
	Env       string `json:"env"`                 // digest of Env
	Detectors string `json:"detectors,omitempty"` // digest of the policy's detectors, if any
	Rows      string `json:"rows,omitempty"`      // digest of its rows about programs, if any
}

// Env is what, apart from policy, could change the facts. The numbers are raised manually;
// it is written in full once per chain, in the open record.
type Env struct {
	Engine     int    `json:"engine"`
	Classifier int    `json:"classifier"`
	Fold       int    `json:"fold"`
	OPA        string `json:"opa"`
	CEL        string `json:"cel"`
}

// Digest returns the digest of the environment in the form of by.env.
func (e Env) Digest() string {
	d, err := Digest(e)
	if err != nil {
		return "" // not reached: Env holds integers and strings only
	}
	return d
}

// SHA contains digests in hexadecimal.
type SHA struct {
	Input string `json:"input,omitempty"` // SHA-256 of the canonical Input
	State string `json:"state,omitempty"` // SHA-256 of the canonical part of Input that comes from history
	Args  string `json:"args,omitempty"`  // MAC of the raw arguments' canonical bytes
}

// Open is the content of a chain's first record.
type Open struct {
	Workspace string `json:"workspace,omitempty"` // the agent's project folder, else the first working directory; pinned
	Env       *Env   `json:"env,omitempty"`
	Of        string `json:"of,omitempty"` // in the ledger: the chain that was opened

	Client *Client `json:"client,omitempty"` // from which the session's events come
}

// Control is a person's choice.
type Control struct {
	Do     string `json:"do"`             // stop, resume, abort, allow_once, allow_session, scope, unscope, lift, close, restore, approve, deny, key, used, or an act that concerns the machine
	Mode   string `json:"mode,omitempty"` // resume: limits or supervise; absent: as before the stop
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`     // user, as far as the system knows
	Of     string `json:"of,omitempty"`     // in the ledger: the chain that it concerns
	Record string `json:"record,omitempty"` // allow_*, approve, deny: id of the record of the call; close: id of the incident
	Print  string `json:"print,omitempty"`  // allow_*: its fingerprint: the same tool with the same arguments
	CWD    string `json:"cwd,omitempty"`    // allow_*: the working directory in which the permission applies
	Path   string `json:"path,omitempty"`   // scope, unscope: as Effect.Short spells it

	Statement *Statement `json:"statement,omitempty"` // lift: the prohibition

	Checkpoint string `json:"checkpoint,omitempty"` // restore: id of the checkpoint to which files were restored
	Undo       string `json:"undo,omitempty"`       // restore: id of the checkpoint that undoes it

	Digest  string   `json:"digest,omitempty"`     // approve, deny: of the question, as in Pending
	Decided *Decided `json:"decided_by,omitempty"` // approve, deny: who answered the question

	Client *Client `json:"client,omitempty"` // expire: from which the session's events come from now on; mine: the program that is the person's

	Key    *PersonKey `json:"key,omitempty"`    // key
	Signed *Signature `json:"signed,omitempty"` // a choice that makes policy milder counts only with it
}

// Decided names who answered a question that waited.
type Decided struct {
	Who     string `json:"who"`               // one of the values below
	Channel string `json:"channel,omitempty"` // person: how they answered, such as terminal or http
}

// Who can answer a question that waits.
const (
	DecidedPerson  = "person"
	DecidedTimeout = "timeout" // nobody answered in time
	DecidedStop    = "stop"    // the session was stopped
	DecidedRule    = "rule"    // the policy or a file changed after the question, so an approval does not apply
)

// Act is an executed intervention, or an action on the files of a call.
type Act struct {
	Kind       string           `json:"kind"`
	Of         string           `json:"of,omitempty"` // id of the record whose decision asked for it
	Result     string           `json:"result,omitempty"`
	Checkpoint *CheckpointFacts `json:"checkpoint,omitempty"` // kinds checkpoint and observed
	Observed   *Observed        `json:"observed,omitempty"`   // kind observed
	Rollback   *RollbackFacts   `json:"rollback,omitempty"`   // kind checkpoint_rollback
	Late       *LateReview      `json:"late,omitempty"`       // kind late_review
	Taken      *Taken           `json:"taken,omitempty"`      // kind taken, and a stop of another session
}

// Seal covers all lines before it. In the ledger it covers another chain up to
// its head.
type Seal struct {
	Chain string `json:"chain,omitempty"`
	N     int64  `json:"n"`             // lines covered
	Head  string `json:"head"`          // hash of line N
	Sig   string `json:"sig,omitempty"` // ed25519 over chain, n and head, hex; in the ledger and in exported seals
	Key   string `json:"key,omitempty"` // public key of sig, hex: claims a signer, proves nothing
}

// Note is any other recorded fact.
type Note struct {
	What    string   `json:"what"` // recovered, undecodable, unverified, duplicate, executed_differs, duty_failed, purge, policy, request, prompt_texts, of `reviewer run`: unreviewed, connection, refused, denied, unexpected, run; or an agent's event
	Detail  string   `json:"detail,omitempty"`
	Request *Request `json:"request,omitempty"` // what: request

	Prompts *PromptTexts `json:"prompts,omitempty"` // what: prompt_texts
	Hooks   *Hooks       `json:"hooks,omitempty"`   // what: installation_hooks
}

// Hooks are those of an agent in one file, as they were installed.
type Hooks struct {
	Agent    string   `json:"agent"`
	Layer    string   `json:"layer"`
	File     string   `json:"file"`
	Program  string   `json:"program"`            // that they start
	Events   []string `json:"events"`             // at which every tool calls it
	Digest   string   `json:"digest"`             // of all entries, or of a file that has nothing else
	Problems []string `json:"problems,omitempty"` // of the entries, that were there from the start
}

// NotePromptTexts is the kind of a note of the ledger about texts that can become prompts.
const NotePromptTexts = "prompt_texts"

// NoteDutyFailed is the kind of a note about a call that was denied because a duty of its decision could not be carried out. The
// record of the call has the answer that its decision asked for.
const NoteDutyFailed = "duty_failed"

// NoteRequest is the kind of a note about a call that the agent is about to ask a person about.
const NoteRequest = "request"

// ID returns the record's id: the first 8 digits of its chain, and its number.
func (r *Record) ID() string { return RecordID(r.Chain, r.N) }

// RecordID returns the id of line n of a chain.
func RecordID(chain string, n int64) string {
	return chain[:min(8, len(chain))] + "-" + strconv.FormatInt(n, 10)
}

// ChainSeed returns the prev of a chain's first line.
func ChainSeed(chain string) string {
	return HexSum([]byte("reviewer audit v1\n" + chain))
}

// LineHash returns the hash of a raw line, newline included.
func LineHash(line []byte) string { return HexSum(line) }

// HexSum returns the SHA-256 of some bytes as 64 hex digits.
func HexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ErrTooLong means that a record does not fit a line.
var ErrTooLong = errors.New("record is too long for a line")

// EncodeLine returns the record as a line with its newline. It rejects a line
// longer than the format allows.
func EncodeLine(r *Record) ([]byte, error) {
	b, err := Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	b = append(b, '\n')
	limit := MaxLine
	if r.Kind == KindKeyframe {
		limit = MaxKeyframe
	}
	if len(b) > limit {
		return nil, fmt.Errorf("%w: %s of %d bytes, at most %d", ErrTooLong, r.Kind, len(b), limit)
	}
	return b, nil
}

// DecodeLine reads one line. Unknown fields are ignored, so that an older
// reader can show what a newer one wrote; unknown versions are rejected. The
// state in a keyframe is not examined: see package history.
func DecodeLine(line []byte) (*Record, error) {
	if len(line) > MaxKeyframe {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(line))
	}
	var r Record
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("decode record: unexpected text after the record")
	}
	if r.V > FormatVersion {
		return nil, NewerFormat(r.V)
	}
	if r.V != FormatVersion {
		return nil, fmt.Errorf("record has format version %d; this reviewer reads %d", r.V, FormatVersion)
	}
	if string(r.State) == "null" {
		r.State = nil
	}
	return &r, nil
}

// NewerFormat is the error of a record with a later format version than this one.
type NewerFormat int

func (v NewerFormat) Error() string {
	return fmt.Sprintf("the record was written by a newer reviewer (format %d, this one reads up to %d); install that version again", int(v),
		FormatVersion)
}

// Version is the version of the deciding core, raised manually whenever the same
// facts and policy could give a different decision.
const Version = 7

// AsModified returns a record as if the call had been made in its modified form;
// nil if it has none.
func (r *Record) AsModified() *Record {
	if r.Rewritten == nil || r.Rewritten.Action == nil || r.Rewritten.SHA == nil || r.Event == nil {
		return nil
	}
	form, event := *r, *r.Event
	event.Args = r.Rewritten.Args
	form.Event, form.Action, form.SHA = &event, r.Rewritten.Action, r.Rewritten.SHA
	return &form
}

// ExecutedAction returns what a record's call does when it runs: its modified form,
// where that was the answer.
func (r *Record) ExecutedAction() *Action {
	if r.Rewritten != nil && r.Answer != nil && r.Answer.Effect == Modify {
		return r.Rewritten.Action
	}
	return r.Action
}

// ApprovedArgs returns the MAC of the arguments with which a call may run.
func (r *Record) ApprovedArgs() string {
	if r.Rewritten != nil && r.Rewritten.SHA != nil && r.Answer != nil && r.Answer.Effect == Modify {
		return r.Rewritten.SHA.Args
	}
	return r.ArgsMAC()
}

// CallKey identifies a repeated call: the same arguments to the same tool in
// the same directory, since relative names mean something else elsewhere.
type CallKey struct {
	Print string // the action's fingerprint
	CWD   string
}

// CallKey returns the key of a record's call; false where the call cannot be
// distinguished from others.
func (r *Record) CallKey() (CallKey, bool) {
	if r.Action == nil || r.Event == nil || r.Action.Fingerprint == "" {
		return CallKey{}, false
	}
	whole := !slices.ContainsFunc(r.Cut, func(c Cut) bool { return c.Field == "event.cwd" })
	return CallKey{r.Action.Fingerprint, r.Event.CWD}, whole
}
