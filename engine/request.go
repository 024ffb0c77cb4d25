package engine

// Request is what the record of a request has besides the facts of its call: a request is the
// moment at which an agent is about to ask a person about a call. What it says about other
// sessions is written here before it is used, so that the chain alone determines the answer.
type Request struct {
	Of         string        `json:"of,omitempty"`         // id of the record of the call; absent: it is unknown
	Form       string        `json:"form,omitempty"`       // form of the call; absent: it is not understood completely
	Checkpoint bool          `json:"checkpoint,omitempty"` // all files of the workspace were stored before the call
	Left       int64         `json:"left,omitempty"`       // paths that the checkpoint could not store
	Answers    []FormAnswers `json:"answers,omitempty"`    // to calls of the same form, in this session and others
}

// FormAnswers counts what people answered in one session, in one permission mode, to calls of one form.
type FormAnswers struct {
	Session  string `json:"session"`            // first digits of its chain
	Mode     string `json:"mode,omitempty"`     // permission mode
	Person   int64  `json:"person,omitempty"`   // approvals that a person is known to have given
	Inferred int64  `json:"inferred,omitempty"` // approvals that were inferred: the call ran
	Refused  int64  `json:"refused,omitempty"`  // refusals, inferred or not
	First    int64  `json:"first"`              // time of the first answer, Unix milliseconds
	Last     int64  `json:"last"`               // time of the latest one
}

// MaxFormAnswers limits the answers that a Request lists.
const MaxFormAnswers = 12

// RequestFacts describes a call that the agent is about to ask a person about.
type RequestFacts struct {
	Decision   Verdict `json:"decision"`   // decision of the policy before the call; empty: the call is unknown
	Enforced   Verdict `json:"enforced"`   // the answer after enforcement
	Checkpoint bool    `json:"checkpoint"` // all files of the workspace were stored before the call
	Left       int64   `json:"left"`       // paths of which the contents could not be stored
	// How many actions of the session ago a call was denied or refused, of any agent; 1000: never.
	Denied int64 `json:"denied"`
	// 16 hexadecimal digits: the same for calls with the same tool, programs, options and words, and paths
	// of the same classes. Empty: the call is not understood completely.
	Form    string            `json:"form"`
	Answers []FormAnswerFacts `json:"answers"` // what people answered to calls of this form, by session and permission mode
}

// FormAnswerFacts counts what people answered in one session, in one permission mode, to calls of one form.
type FormAnswerFacts struct {
	Session   string `json:"session"`    // first digits of the session's chain
	Mode      string `json:"mode"`       // permission mode of the agent
	Person    int64  `json:"person"`     // approvals that a person is known to have given
	Inferred  int64  `json:"inferred"`   // approvals that were inferred: the call ran
	Refused   int64  `json:"refused"`    // refusals
	MS        int64  `json:"ms"`         // milliseconds since the first of these answers
	RefusedMS int64  `json:"refused_ms"` // milliseconds since the latest one
}

// Proof is why policy grants a call that the agent would ask a person about.
type Proof struct {
	By        string  `json:"by"`                  // one of Proofs
	Approvals float64 `json:"approvals,omitempty"` // approved: weighted approvals of the form
	Sessions  int64   `json:"sessions,omitempty"`  // approved: sessions in which there are some
	Days      int64   `json:"days,omitempty"`      // approved: days after which an approval no longer counts
}

// The proofs for a grant.
const (
	ProofReads    = "reads"    // it only reads, and is understood completely
	ProofUndo     = "undo"     // what it changes can be undone
	ProofApproved = "approved" // people approved calls of this form
)

// Proofs lists every proof.
func Proofs() []string { return []string{ProofReads, ProofUndo, ProofApproved} }

// Granted is the recorded form of a grant: the person is not asked about the call.
type Granted struct {
	Of string `json:"of"` // id of the record of the call
	Proof
	Form       string `json:"form,omitempty"`
	Checkpoint bool   `json:"checkpoint,omitempty"` // all files of the workspace were stored before the call
}
