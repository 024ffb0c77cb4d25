package harness

import (
	"slices"
	"sync"
)

// known are the agents. They are made once: each call looks for one.
var known = sync.OnceValue(func() []Harness {
	return []Harness{
		claudeCodeRow(), codexRow(), geminiRow(), copilotRow(), qwenRow(), kimiRow(), droidRow(), clineRow(), openCodeRow(),
		piRow(), cursorRow(),
	}
})

// Harnesses lists the agents, in the order in which they are offered.
func Harnesses() []Harness { return slices.Clone(known()) }

// Find returns the agent of a name.
func Find(name string) (Harness, bool) {
	for _, h := range known() {
		if h.Name == name {
			return h, true
		}
	}
	return Harness{}, false
}

// Names returns the agents' names, for messages.
func Names() []string {
	var names []string
	for _, h := range Harnesses() {
		names = append(names, h.Name)
	}
	return names
}
