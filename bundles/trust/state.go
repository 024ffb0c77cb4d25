package trust

import "fmt"

// State is the state of a machine's trust file.
type State string

// The states. Only an active trust file makes bundles trusted; if there never
// was one, a person decides; in every other state nothing is activated.
const (
	StateNone       State = "none"       // there never was one
	StateActive     State = "active"     // it is the one that was accepted
	StateExpired    State = "expired"    // it was active, and has expired
	StateMissing    State = "missing"    // there was one, which is missing
	StateIncomplete State = "incomplete" // the file or its signatures are missing
	StateOlder      State = "older"      // a later version was active
	StateEdited     State = "edited"     // it is not what was signed
	StateReplaced   State = "replaced"   // another file of the version that was active
	StateUnaccepted State = "unaccepted" // nobody has accepted it on this machine
	StateMoved      State = "moved"      // the state directory was moved or restored
	StateUnusable   State = "unusable"   // it cannot be read, or its own keys did not sign it
)

// FileProblem explains why a trust file is not active, and how to fix that. Every
// command uses the same text.
type FileProblem struct {
	State  State
	Path   string // of the trust file
	Why    string // what is wrong, after the name of the file
	Remedy string // how to fix it
	Signed *Trust // the trust file in the envelope, if its own keys signed it
	Err    error  // the wrapped error; nil: none
}

// Error implements error: one sentence.
func (p *FileProblem) Error() string {
	return fmt.Sprintf("the trust file %s %s; no policy can be activated or rolled back until %s", p.Path, p.Why, p.Remedy)
}

// Unwrap returns the underlying error.
func (p *FileProblem) Unwrap() error { return p.Err }

// Refuse makes a refusal of a problem.
func (p *FileProblem) Refuse() error { return &Refusal{Untrusted, p} }

func problem(state State, why, until string) *FileProblem {
	return &FileProblem{State: state, Path: FileName, Why: why, Remedy: until}
}

// RestoreText names the files of a version that have to be restored.
func RestoreText(pin Pin) string {
	if pin == (Pin{}) {
		return "the signed file and its signatures are put back"
	}
	return fmt.Sprintf("version %d and its signatures are put back (SHA-256 of the file: %.16s…)", pin.Version, pin.SHA256)
}
