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

// Made is a container or a database that a session makes, or made. What makes it fails if there already is one of
// that name, and the call succeeds only if it does: so if the call ran, the session made it.
type Made struct {
	Object string `json:"object"`           // container or database
	Name   string `json:"name"`             // name of the container; URL of the database, as in effects[].target
	Host   string `json:"host,omitempty"`   // where it is, if not on this machine, as in effects[].host
	Server string `json:"server,omitempty"` // as in effects[].server
	Image  string `json:"image,omitempty"`  // image of the container, without its tag
	// The container holds and reaches nothing but its image: no volume that existed, no other network, no rights.
	Bare    bool `json:"bare,omitempty"`
	Command int  `json:"command"` // index of the command in `action.commands`; 0 in what a session made
}

// The objects of Made.
const (
	MadeContainer = "container"
	MadeDatabase  = "database"
)

// What of an effect's target the session made, as in Effect.Made.
const (
	MadeItself = "itself" // the container, or the database with all that is in it
	MadeInside = "inside" // it is in a container with nothing else in it
)

// Limits of recorded processes.
const (
	MaxMade            = 4 // of one action
	MaxStarted         = 4 // of one action
	MaxStartedLine     = 160
	MaxStartedPrograms = 8
	MaxProcesses       = 8
	MaxPorts           = 4
)

// Client is the process from which the events of a session come, as the system knows it.
type Client struct {
	Pid     int    `json:"pid,omitempty"`
	Start   int64  `json:"start,omitempty"`   // when it was started: ticks since the start of the system, or Unix milliseconds
	Boot    string `json:"boot,omitempty"`    // the start of the system since which ticks count; empty: Start is a time, about a second off
	Program string `json:"program,omitempty"` // device and inode of its file, where the system reports them
	Spaces  string `json:"spaces,omitempty"`  // its PID, user and mount namespace, where there are such
	Joined  bool   `json:"joined,omitempty"`  // its hooks run in its own session of processes; what it starts in another one cannot join it
	Feeds   bool   `json:"feeds,omitempty"`   // its hooks read from a socket that it made itself; a program that takes the place of a tool call has none
	Free    bool   `json:"free,omitempty"`    // its hooks have all of its rights; what it starts in a sandbox has given some up
	Missing string `json:"missing,omitempty"` // the fact for lack of which it does not count as a person's client; empty: it does

	Headless bool `json:"headless,omitempty"` // a schedule or a service started it: policy decides whether it counts as a person's
}

// StartBlur is how many milliseconds a process may seem to have been started too early or too late where only the time
// is known: ps counts seconds.
const StartBlur = 2000

// Is reports whether both are the same process, running the same program.
func (c *Client) Is(o *Client) bool {
	if c == nil || o == nil || c.Pid == 0 || c.Pid != o.Pid || c.Boot != o.Boot || c.Program != o.Program {
		return false
	}
	if c.Boot != "" {
		return c.Start == o.Start
	}
	return max(c.Start, o.Start)-min(c.Start, o.Start) <= StartBlur
}

// Unlike returns what distinguishes the process that sent an event from the hooks of a client that sent others; empty: nothing.
// o is the client as that process shows it.
func (c *Client) Unlike(o *Client) string {
	switch {
	case c.Joined && !o.Joined:
		return "the hook does not run in the client's own session of processes, as its hooks do, but in that of something it started"
	case c.Free && !o.Free:
		return "the hook runs with fewer rights than the client, unlike its other hooks: something in a sandbox of the client runs it"
	case c.Feeds && !o.Feeds:
		return "the hook does not read from the client, as its hooks do: something that the client started runs it"
	}
	return ""
}

// Verified reports whether a session's client is a person's.
func (c *Client) Verified() bool { return c != nil && c.Pid != 0 && c.Missing == "" }
