// Package run supervises one run of a coding agent: it starts the agent's command,
// supervises every process that descends from it, passes the terminal, standard streams and
// signals through, reads the stream that the agent writes, enforces limits, and ends with a
// Summary.
//
//	r, err := run.Start(ctx, run.Options{Command: []string{"claude", "-p", "…"}})
//	for e := range r.Events() { … }
//	summary := r.Wait()
//
// Out of scope: which limits apply and what a difference leads to (policy, passed in), what the calls
// of the agent mean and what was decided about them (Review is passed in), what a process may reach
// (engine/run/sandbox, engine/run/proxy), and how a summary is shown.
package run

import (
	"os"
	"time"

	"github.com/agent-reviewer/reviewer/engine/run/tree"
)

// Limits are those of a whole run; 0: no limit.
type Limits struct {
	Time      time.Duration
	Memory    int64 // bytes, of all processes together
	Tokens    int64 // that the model wrote, if the agent reports it
	Cost      float64
	Processes int
	OpenFiles int   // of one process
	FileSize  int64 // bytes of one file
	Written   int64 // bytes written to disks by all processes together
}

// The names of the limits, as a Summary and the settings have them.
const (
	LimitTime      = "max_execution_time_seconds"
	LimitMemory    = "max_memory_mb"
	LimitTokens    = "max_token_usage"
	LimitCost      = "max_cost_usd"
	LimitProcesses = "max_processes"
	LimitWritten   = "max_written_mb"
)

// Options describe a run.
type Options struct {
	Command []string
	Dir     string   // working directory
	Env     []string // of the command
	Limits  Limits

	// Stdin, Stdout and Stderr are passed to the command itself; nil: the null device. With a Lines, the
	// command's standard output is a pipe, which is copied to Stdout.
	Stdin, Stdout, Stderr *os.File

	// Lines is called with each complete line of standard output, without its line end; longer ones than MaxLine
	// are left out. Nil: standard output is not read.
	Lines func(line []byte)

	// Interrupt is a line of the command's own protocol that asks it, on its standard input, to stop before it
	// gets a signal. Standard input is then a pipe. Nil: it has no such protocol.
	Interrupt []byte

	// Talk lets Say pass lines to the command in between; standard input is then a pipe. Interrupt implies it.
	Talk bool

	// Near is called once for each limit of which a share of NearShare is used, by the goroutine that calls Review; nil:
	// nobody is told.
	Near      func(limit, used, of string)
	NearShare float64

	// Review is called every Interval, and once more after the end, to report what else the run did; nil: nothing else is reviewed.
	Review func(last bool) Reviewed

	// Report lets the run go on where a limit is reached, or Review names a reason to end it: an event says so.
	Report bool

	Interval time.Duration // between measurements; 0: 200 ms
	Grace    time.Duration // between SIGTERM and SIGKILL; 0: 500 ms
	KillWait time.Duration // for killed processes to end; 0: 2 s
	Wait     bool          // the run ends with its last process; false: with its first, and the others are terminated

	// Helper is this program and the arguments that make it call Main, which prepares the
	// command; nil: the command is started directly, without limits per process. It gets its
	// orders through a pipe.
	Helper []string

	// Confine prepares the confinement of the command, which the helper applies; nil: there is none.
	Confine Confinement
}

// Reviewed is what is known about a run so far from the agent's conversation and the log.
type Reviewed struct {
	Usage  Tokens
	Stop   string  // a reason to end the run; empty: none
	Events []Event // since the last time
}

// Tokens is what the model used, if the agent reports it.
type Tokens struct {
	Output int64
	Cost   float64 // US dollars; 0: unknown
}

// Event is something that happened during a run.
type Event struct {
	Time    int64  `json:"t"` // Unix milliseconds
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Pid     int    `json:"pid,omitempty"`
	Program string `json:"program,omitempty"` // the name of the process
}

// The kinds of events of this package; others come from Review and Confine.
const (
	EventStarted   = "started"
	EventStopping  = "stopping"
	EventLimit     = "limit"
	EventInterrupt = "interrupt"
	EventLeftover  = "leftover"
	EventEnded     = "ended"
)

// The results of a run.
const (
	ResultEnded   = "ended"   // on its own, with the agent's exit code
	ResultStopped = "stopped" // by somebody, or by policy
	ResultLimit   = "limit"   // a limit was reached
)

// Outcome is what this package knows about a run that has ended.
type Outcome struct {
	Exit     int // of the command, as a shell reports it: for a signal, 128 plus its number
	Result   string
	Limit    string // the name of the limit that was reached
	Reason   string // why it did not end on its own
	Began    time.Time
	Ended    time.Time
	Usage    tree.Usage
	Most     int // processes at the same time
	Tokens   Tokens
	Ways     tree.Ways
	Leftover []tree.Process // that still ran when the command had ended
	Stuck    []tree.Process // that could not be terminated
}
