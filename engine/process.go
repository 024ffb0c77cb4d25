package engine

// Started is a process that an action starts and does not wait for.
type Started struct {
	Line     string   `json:"line"`               // the command line as written in the call, masked and shortened
	Programs []string `json:"programs,omitempty"` // programs that run in it, as far as known; at most 8
}

// StartedFacts describes the processes of a session: one that it started, or
// a list of processes that it saw.
type StartedFacts struct {
	Line      string   `json:"line"`                // the command line, masked and shortened
	Programs  []string `json:"programs,omitempty"`  // programs that run in it, as far as known
	Processes []string `json:"processes,omitempty"` // process ids, as far as an output showed them
	Ports     []string `json:"ports,omitempty"`     // ports on which the processes listen
	Listed    bool     `json:"listed,omitempty"`    // line is a command that lists processes
}

// Limits of recorded processes.
const (
	MaxStarted         = 4 // of one action
	MaxStartedLine     = 160
	MaxStartedPrograms = 8
	MaxProcesses       = 8
	MaxPorts           = 4
)
