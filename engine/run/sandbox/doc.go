// Package sandbox limits what the processes of a run can reach: files by Landlock, system calls by seccomp,
// the network and the sockets of other programs by namespaces. The helper of engine/run applies a Plan to
// itself and becomes the command.
//
// Out of scope: which paths and hosts are allowed (policy, passed in), what is done with a connection
// (engine/run/proxy), and how processes are found and ended (engine/run/tree).
package sandbox

import "fmt"

// Plan is what the processes of a run may reach. Paths are absolute and without links.
type Plan struct {
	Read      []string `json:"read"`      // everything in it can be read and run; the root: everything but Hidden
	Write     []string `json:"write"`     // everything in it can be read, changed and run
	Devices   []string `json:"devices"`   // files that can be read and written
	Hidden    []string `json:"hidden"`    // not readable, although under Read
	Masked    []string `json:"masked"`    // empty folders
	Own       []string `json:"own"`       // empty folders in which the run may write, if Namespaces
	Pinned    []string `json:"pinned"`    // not to be renamed or removed, although under Write; each after those that it is in
	Protected []string `json:"protected"` // not changeable, although under Write
	Loopback  []string `json:"loopback"`  // addresses of this machine that the supervisor passes on, if Namespaces

	Namespaces bool     `json:"namespaces"` // the processes have their own mounts and network
	Proxy      uint16   `json:"proxy"`      // port of the proxy on 127.0.0.1, inside
	Watch      bool     `json:"watch"`      // connections and refused system calls are reported to the supervisor
	Proof      uint64   `json:"proof"`      // what Proven is asked about; 0: nothing
	UnixPaths  []string `json:"unix"`       // folders of sockets that may be connected to, if Watch and not Namespaces
	Hooks      string   `json:"hooks"`      // the socket of the process that answers hooks, which Clients may connect to
	Clients    []string `json:"clients"`    // programs that hooks start
	Exact      bool     `json:"exact"`      // what the kernel cannot do is an error, and not left out
}

// Features are what the system offers.
type Features struct {
	Landlock   int    `json:"landlock"`                // version of its interface; 0: none
	Seccomp    bool   `json:"seccomp"`                 // filters that tell a supervisor
	Namespaces bool   `json:"namespaces"`              // mounts, network
	Why        string `json:"no_namespaces,omitempty"` // why there are none
}

// Missing lists what a complete confinement needs and the system does not offer.
func (f Features) Missing() []string {
	var list []string
	if f.Landlock < leastLandlock {
		list = append(list, fmt.Sprintf("Landlock of version %d or newer (Linux 6.12), but the kernel has %d", leastLandlock, f.Landlock))
	}
	if !f.Seccomp {
		list = append(list, "seccomp with user notification (Linux 5.5)")
	}
	if !f.Namespaces {
		list = append(list, "namespaces for mounts and network: "+f.Why)
	}
	return list
}

// leastLandlock is the version of Landlock that also limits signals and abstract sockets.
const leastLandlock = 6

// Denial is something that a process tried and could not do, or a connection that it opened itself.
type Denial struct {
	Pid     int
	Program string
	What    string // name of the system call
	Target  string // of a connection
	Refused bool   // here; else the system decides
}
