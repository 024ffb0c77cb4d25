package history

import "github.com/agent-reviewer/reviewer/engine"

// checkRun is a check that the agent ran, and the edits since then.
type checkRun struct {
	Print  string           `json:"f"`
	Reads  string           `json:"r,omitempty"` // digests of the files that its call names, 8 digits each
	Passed bool             `json:"p,omitempty"` // it is known to have succeeded
	Source bool             `json:"s,omitempty"` // the work that it is about was changed since
	Edited [editKinds]bool  `json:"e,omitzero"`  // what the check judges by was changed since, by the kinds of edits
	Times  [editKinds]int64 `json:"t,omitzero"`  // it was run again after such an edit and none of the work
}

// The kinds of edits of what a check judges by.
const (
	editOther   = iota // of existing inputs, while the check failed or its result was unknown
	editPassing        // of tests, while it passed
	editOwn            // of inputs that the session made itself
	editKinds
)

// heldStatement is a statement of a prompt, and what prompts asked for since.
type heldStatement struct {
	engine.Statement
	Prompt int64           `json:"n"`               // number of the prompt in the session
	Later  []engine.Intent `json:"later,omitempty"` // sorted
	Used   int64           `json:"used,omitempty"`  // record of the call that used a permission for one act
}

// goalState contains what people said so far.
type goalState struct {
	Intents   []engine.Intent `json:"i,omitempty"` // of the latest prompt that has any
	Names     []string        `json:"n,omitempty"` // most recent last
	Words     string          `json:"w,omitempty"` // 8 digits each, most recent last
	Mentions  []string        `json:"m,omitempty"` // digests of names in prompts that ask for work, most recent last
	Forbidden []heldStatement `json:"f,omitempty"` // most recent last
	Standing  []heldStatement `json:"t,omitempty"` // what instruction files forbid, in their order
	Permitted []heldStatement `json:"p,omitempty"` // ordered or permitted; most recent last
	Lifted    []heldStatement `json:"l,omitempty"` // most recent last
	Scope     []string        `json:"s,omitempty"` // paths that a person added by hand
	Asked     *askedEntry     `json:"q,omitempty"` // what the client asked last, until the next prompt

	StandingMAC string `json:"tm,omitempty"` // digest of the instruction files when they were read last
}

// askedEntry is a question or a plan that the client put before the person.
type askedEntry struct {
	Call   string         `json:"c"`
	MAC    string         `json:"m"`
	Offers []engine.Offer `json:"o,omitempty"`
}

// findingEntry is the latest event of an agent that had a finding with a level, and
// the latest at which the agent was told.
type findingEntry struct {
	At        int64  `json:"a"` // the agent's actions so far
	Level     string `json:"l"`
	Told      int64  `json:"t,omitempty"`  // as At
	ToldLevel string `json:"tl,omitempty"` // empty: never
	Asked     int64  `json:"q,omitempty"`  // record of the call that a person was asked about because of it; told when that has run
}

type agentState struct {
	Name   string                  `json:"name"`
	Events int64                   `json:"events"`
	At     int64                   `json:"at"`   // actions of the session at its latest
	Ring   []ringEntry             `json:"ring"` // oldest first
	Errors map[string]int64        `json:"errors"`
	Checks []checkRun              `json:"checks,omitempty"` // most recent last
	Fired  map[string]findingEntry `json:"fired,omitempty"`  // by the finding's id

	Turn  int64 `json:"turn,omitempty"`  // calls in its current turn that were not denied
	Turns bool  `json:"turns,omitempty"` // it reports the end of turns
	Ended int64 `json:"ended,omitempty"` // record that ended its turn before the current one

	// Its actions so far when it last read something with a label.
	SecretAt    int64 `json:"secret_at,omitempty"`
	UntrustedAt int64 `json:"untrusted_at,omitempty"`
}

// ringEntry is one earlier action in the ring.
type ringEntry struct {
	N       int64             `json:"n"`
	T       int64             `json:"t"`
	Types   typeSet           `json:"y"`
	Target  string            `json:"p,omitempty"` // key of the first target
	Class   string            `json:"k,omitempty"` // target class: location and file class, or "host"
	Print   string            `json:"f"`           // fingerprint
	Deed    string            `json:"D,omitempty"` // digest of what it does to a target that is not a path; see actionDigest
	Sketch  string            `json:"s,omitempty"` // token sketch; kept only while the outcome is not 'ran'
	Result  string            `json:"r,omitempty"` // MAC of the result, shortened
	Error   string            `json:"e,omitempty"` // error class
	Outcome engine.Outcome    `json:"o"`
	Alters  changeSet         `json:"A,omitempty"` // "w" was a bool, and is in older logs
	Tool    string            `json:"l,omitempty"`
	Kind    engine.EffectKind `json:"a,omitempty"` // of its first effect
	Verb    string            `json:"v,omitempty"` // see actOf
	Dir     string            `json:"d,omitempty"` // digest of the folder or host that it was mostly about
	Trouble engine.Trouble    `json:"b,omitempty"`
	Rank    int64             `json:"q,omitempty"` // reversibility of its worst effect, 0 to 5
	Missing int64             `json:"m,omitempty"` // references to what is not there
	Goal    bool              `json:"g,omitempty"` // a goal was known
	Named   bool              `json:"j,omitempty"` // it touched what a person named
	Words   int64             `json:"u,omitempty"` // share of its words that people used, in percent
	News    bool              `json:"z,omitempty"` // it brought something that was unknown
	Check   bool              `json:"c,omitempty"`
	Waits   bool              `json:"x,omitempty"`
	Runs    bool              `json:"R,omitempty"` // it runs programs
	Into    string            `json:"i,omitempty"` // content that it gave its target, shortened MAC; see undoes
	From    string            `json:"h,omitempty"` // content that the target had there before, if the call contains it
	Report  int64             `json:"P,omitempty"` // record of a failure; see attempts
	Turn    int64             `json:"U,omitempty"` // of a failure: record that ended the turn before, where turns are known
}

// pathEntry records what the session did to one path.
type pathEntry struct {
	Key    string         `json:"p"`
	State  string         `json:"s"` // one of LedgerStates
	N      int64          `json:"n"` // record of the latest change of state
	Used   bool           `json:"u,omitempty"`
	Where  string         `json:"w,omitempty"` // location, once it was written or deleted; "named" for what a person named
	Labels []engine.Label `json:"l,omitempty"` // of its contents
	Agreed bool           `json:"g,omitempty"` // a person approved a call that wrote it, and it ran
	Apart  bool           `json:"k,omitempty"` // it is for secrets, or ignored by git; known of files with labels
	// What a call without a result may have done to the path: moved something there, deleted it, or
	// written it after it was deleted. Until that is known, the state shows nothing.
	Maybe string `json:"m,omitempty"`
}

// ledgerPending is the state of a path of which only the place is known, until
// the result of a call shows its outcome.
const ledgerPending = ""

// known reports whether the result of a call shows what the session did to a path.
func (p *pathEntry) known() bool { return p.State != ledgerPending && p.Maybe == "" }

// pathChange is what a call does to a path if it runs.
type pathChange struct {
	State string `json:"s"` // one of LedgerStates
	Key   string `json:"p"`
}

// typing is what a call leaves in terminals if it runs.
type typing struct {
	Pre   int64             `json:"n"`
	After *engine.Terminals `json:"t"`
}

// denial is one effect of a call that did not run because policy or a person
// denied it; a call has at most maxDeniedEffects of them.
type denial struct {
	N      int64  `json:"n"`
	At     int64  `json:"a"` // actions so far
	Print  string `json:"f"`
	Kind   string `json:"k,omitempty"`
	Verb   string `json:"v,omitempty"` // where the target alone does not say what is done to it
	Target string `json:"p,omitempty"`
	Person bool   `json:"q,omitempty"` // a person refused it, and may have said what they want instead
	Harm   string `json:"h,omitempty"` // harm named by the denying rule; empty: none
	Taken  bool   `json:"o,omitempty"` // it was denied in another session
}

// allowance is a call that a person allowed, by its CallKey. There is one entry
// per call.
type allowance struct {
	N     int64  `json:"n"` // of the control record
	Print string `json:"f"`
	Dir   string `json:"d,omitempty"`
	Once  bool   `json:"o,omitempty"` // until such a call is allowed; else until the session ends
	By    string `json:"b,omitempty"`
	Ends  int64  `json:"e,omitempty"` // Unix milliseconds of the log's time after which it permits nothing; 0: see Once
}

// callEntry is a call that was answered, until its outcome is old enough to
// forget.
type callEntry struct {
	ID       string         `json:"id"` // the agent's id of the call
	Agent    string         `json:"a"`
	Pre      int64          `json:"pre,omitempty"`  // number of the pre record
	Post     int64          `json:"post,omitempty"` // number of the post record
	Decision engine.Verdict `json:"d,omitempty"`
	Enforced engine.Verdict `json:"v,omitempty"`
	Args     string         `json:"m,omitempty"`  // MAC of the approved arguments, shortened; like d, v and x only until the post record
	Changes  []pathChange   `json:"x,omitempty"`  // what it does to paths once it has run, in order
	Trees    []string       `json:"ts,omitempty"` // keys of the working trees that exist only once it has run
	Agreed   bool           `json:"y,omitempty"`  // a person approved it outside the agent, and that is counted
	Outcome  engine.Outcome `json:"o"`
	Form     string         `json:"f,omitempty"` // form of the call, if a person is asked about it
	Mode     string         `json:"w,omitempty"` // permission mode then
	Kept     int64          `json:"k,omitempty"` // number of the record with the result of the checkpoint before it
}

// changeSet is the kinds of changes that an action makes: to the files and the
// system of this machine.
type changeSet int64

// The kinds of changes, which can be combined. altersAgain: the action only repeats the latest
// change of the same target (the same call, or a write of the same content), so nothing is
// different afterwards.
const (
	altersFiles changeSet = 1 << iota
	altersSystem
	altersAgain
)

// bin counts the resources that some actions used: bytes written, files
// changed, agents started, bytes of output, milliseconds, tokens.
type bin struct {
	N   int64    `json:"n"` // actions
	Use [6]int64 `json:"u"` // by the order of Resources
}
