package engine

// Operation is one change of a call that policy asks for. Policy sees masked
// text, so it names what to change and never writes a command: a Rewriter
// applies the operation to the raw one.
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
	Value   any    `json:"value,omitempty"`   // a text; for set_field also a number or a boolean
}

// The operations.
const (
	OpSetFlag    = "set_flag"    // give the command a flag, with Value behind = where there is one
	OpDropFlag   = "drop_flag"   // take a flag away, also out of a cluster such as -rf
	OpReplaceArg = "replace_arg" // put Value in the place of a word
	OpInsertArg  = "insert_arg"  // put Value before a word; behind the last where there is none
	OpSetField   = "set_field"   // set a field of the tool's input
)

// Operations lists every operation.
func Operations() []string {
	return []string{OpSetFlag, OpDropFlag, OpReplaceArg, OpInsertArg, OpSetField}
}

// Vocabulary lists what a field may hold, nil where that is open.
func (Operation) Vocabulary(field string) []string {
	if field == "op" {
		return Operations()
	}
	return nil
}

// ReviewerProgram as an operation's value stands for this program's absolute
// path, which policy does not know.
const ReviewerProgram = "{reviewer}"

// Rewritten is the other form of a call: what policy changed it to, and what
// policy said of that. It is reviewed like a call of its own, against the same
// history, so that it can be computed again too.
type Rewritten struct {
	Args     map[string]any `json:"args,omitempty"`     // as EventFacts.Args
	Action   *Action        `json:"action,omitempty"`   // what it means
	Decision Verdict        `json:"decision,omitempty"` // of the review of this form
	Rules    []string       `json:"rules,omitempty"`    // that spoke in it
	SHA      *SHA           `json:"sha,omitempty"`
	Failure  string         `json:"failure,omitempty"` // why the call could not run in this form
}
