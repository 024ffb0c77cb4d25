package engine

// Operation is one change to a call that policy asks for. Policy sees masked
// text, so it names what to change and never writes a command: the operation is
// applied to the raw one.
//
// Command is an index into Action.Commands. Arg counts a command's words
// without its flags, as policy sees them: 0 is the program, then come Sub and
// Operands.
type Operation struct {
	Op      string `json:"op"`                // one of Operations
	Command int    `json:"command,omitempty"` // all but set_field
	Flag    string `json:"flag,omitempty"`    // set_flag, drop_flag: with its dashes
	Arg     int    `json:"arg,omitempty"`     // replace_arg, insert_arg
	Field   string `json:"field,omitempty"`   // set_field: a field of the tool's input
	Value   any    `json:"value,omitempty"`   // a string; for set_field also a number or a boolean
}

// The operations.
const (
	OpSetFlag    = "set_flag"    // add a flag, followed by = and the value if there is one
	OpDropFlag   = "drop_flag"   // remove a flag, even from a cluster such as -rf
	OpReplaceArg = "replace_arg" // replace a word with the value
	OpInsertArg  = "insert_arg"  // insert the value before a word; at the end if there is none
	OpSetField   = "set_field"   // set a field of the tool's input
)

// Operations lists every operation.
func Operations() []string {
	return []string{OpSetFlag, OpDropFlag, OpReplaceArg, OpInsertArg, OpSetField}
}

// Vocabulary lists the values of a field, nil if it is open.
func (Operation) Vocabulary(field string) []string {
	if field == "op" {
		return Operations()
	}
	return nil
}

// ReviewerProgram in an operation's value stands for this program's absolute
// path, which policy does not know.
const ReviewerProgram = "{reviewer}"

// Rewritten is the modified form of a call and the policy's decision about it.
// It is reviewed like a call of its own, against the same history, so that it
// can be recomputed too.
type Rewritten struct {
	Args     map[string]any `json:"args,omitempty"`     // as EventFacts.Args
	Action   *Action        `json:"action,omitempty"`   // what it means
	Decision Verdict        `json:"decision,omitempty"` // of the review of this form
	Rules    []string       `json:"rules,omitempty"`    // rules that fired for it
	SHA      *SHA           `json:"sha,omitempty"`
	Failure  string         `json:"failure,omitempty"` // why the call could not run in this form
}
