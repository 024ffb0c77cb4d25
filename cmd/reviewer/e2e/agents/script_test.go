package agents

import "encoding/json"

// A Call is a tool call that the scripted model asks for.
type Call struct {
	Tool  string
	Input any // encoded as JSON
	// Custom marks a call whose input is a text, as OpenAI's Responses have it.
	Custom bool
}

// arguments returns the call's input as the text of a JSON object.
func (c Call) arguments() string {
	raw, err := json.Marshal(c.Input)
	if err != nil {
		panic(err) // inputs are maps and texts of this package
	}
	return string(raw)
}

// A Step is one answer of the scripted model: what it says, then its calls. A step without
// calls ends the agent's turn.
type Step struct {
	Say   string
	Calls []Call
}

// A Script lists the model's answers, one for each request that offers tools. After the
// last one the model says that it is done.
type Script []Step
