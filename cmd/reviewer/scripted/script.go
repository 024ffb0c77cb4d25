package scripted

import "encoding/json"

// A Call is a tool call that the scripted model asks for.
type Call struct {
	Tool  string
	Input any // encoded as JSON
	// Custom marks a call whose input is a string, as OpenAI's Responses have it.
	Custom bool
	// Namespace is where the tool is, as newer models of OpenAI have it.
	Namespace string
}

// arguments returns the call's input as the text of a JSON object.
func (c Call) arguments() string { return argumentsOf(c.Input) }

func argumentsOf(input any) string {
	raw, err := json.Marshal(input)
	if err != nil {
		return "{}" // not reached: Start refuses such an input
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
