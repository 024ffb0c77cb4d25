// Package tree tracks the processes of a run: it finds all of them, including those that
// left the process group or became daemons, measures and limits their total use, and
// terminates them.
//
// On Linux a control group of version 2 or 1 is used where one can be created; what it
// cannot do is done by adopting orphans (PR_SET_CHILD_SUBREAPER) and by measuring.
// Elsewhere it is the process group. Ways reports which.
//
// Out of scope: what is started, when it must end and why (engine/run), and what a process may do
// (engine/run/sandbox).
package tree

import (
	"net/netip"
	"time"
)

// Limits apply to all processes together; 0: no limit.
type Limits struct {
	Memory    int64 // bytes
	Processes int
}

// Ways reports what finds, limits and terminates the processes of a run.
type Ways struct {
	Track     string `json:"track"`     // cgroup v2, subreaper, process group, parents
	Memory    string `json:"memory"`    // cgroup v2, cgroup v1, measured, none
	Processes string `json:"processes"` // cgroup v2, cgroup v1, measured, none
}

// The ways.
const (
	CgroupV2     = "cgroup v2"
	CgroupV1     = "cgroup v1"
	Subreaper    = "subreaper"
	Parents      = "parents" // of a tree that is watched
	ProcessGroup = "process group"
	Measured     = "measured" // every now and then, so that a short peak is missed
	None         = "none"
)

// Usage is what the processes use together.
type Usage struct {
	Memory    int64 // bytes, now
	Peak      int64 // bytes, the most so far
	Processes int   // now
	Written   int64 // bytes written to disks so far
	CPU       time.Duration
}

// Connection is one of a process to another machine.
type Connection struct {
	Process
	To netip.AddrPort
}

// Listed is one process of the system.
type Listed struct {
	Pid, Parent int
	Started     time.Time // the zero time: unknown
}

// Process is one process of a run.
type Process struct {
	Pid     int    `json:"pid"`
	Command string `json:"command"` // the name that the kernel has
}

// ID identifies a process, whatever becomes of its number: its number, and when it was started in ticks after the start of
// the system. The zero ID is that of no process.
type ID struct{ Pid, Started int64 }
