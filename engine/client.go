package engine

// Client is the process from which the events of a session come, as the system knows it.
type Client struct {
	Pid     int    `json:"pid,omitempty"`
	Start   int64  `json:"start,omitempty"`   // when it was started: ticks since the start of the system, or Unix milliseconds
	Boot    string `json:"boot,omitempty"`    // the start of the system since which ticks count; empty: Start is a time, about a second off
	Program string `json:"program,omitempty"` // device and inode of its file, where the system reports them
	Spaces  string `json:"spaces,omitempty"`  // its PID, user and mount namespace, where there are such
	Joined  bool   `json:"joined,omitempty"`  // its hooks run in its own session of processes, which what it starts in another one cannot join
	Missing string `json:"missing,omitempty"` // the fact for lack of which it does not count as a person's client; empty: it does
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

// Verified reports whether a session's client is a person's.
func (c *Client) Verified() bool { return c != nil && c.Pid != 0 && c.Missing == "" }
