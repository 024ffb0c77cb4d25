package caller

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Facts are what is known about whoever asks.
type Facts struct {
	Chain    []Process       // the process that asks, and those above it, the nearest first
	Boot     string          // as in engine.Client
	Sessions []Session       // of agents on this machine
	Mine     []engine.Client // programs that a person confirmed by a signed act: what they start is the person's
	Agents   []string        // names of agents' programs

	HookClient File // reviewer-hook, which starts `reviewer hook` if the resident process does not answer
	Maker      int  // the process that made the socket from which the hook reads its event; 0: it reads from something else

	others map[int]Process // all processes, where the system lists them at once
}

// Session is an agent's session, as far as it matters here.
type Session struct {
	ID          string
	First, Last int64          // Unix milliseconds of its records
	Client      *engine.Client // nil: unknown
	Lives       bool           // its client runs
}

// Afterwards is how long after a session's last record a process counts as started in it: processes that its last call
// left running may start others a little later. No policy can make it shorter.
const Afterwards = 10 * time.Minute

// covers reports whether a session lived at a time.
func (s *Session) covers(t int64) bool {
	return t >= s.First-engine.StartBlur && (s.Lives || t <= s.Last+Afterwards.Milliseconds())
}

// sessionOf returns the session whose client a process is; empty: none.
func (f *Facts) sessionOf(p *Process) string {
	for i := range f.Sessions {
		if f.Sessions[i].Client.Is(f.client(p)) {
			return f.Sessions[i].ID
		}
	}
	return ""
}

// startedDuring returns the process, from one of the chain on, that was started while a session lived, if nothing above it
// shows that a person started it: the outermost one, and each that a program started which does so for everybody. What is
// above a program that the person confirmed does not matter, nor do sessions of the client own, which began after it.
func (f *Facts) startedDuring(from int, own *engine.Client) (p *Process, why string) {
	for i := from; i < len(f.Chain); i++ {
		p := &f.Chain[i]
		if f.confirmed(p) {
			return nil, ""
		}
		if i+1 < len(f.Chain) && !f.Chain[i+1].serves() {
			continue
		}
		if p.Began == 0 && !p.serves() {
			return p, "it is unknown when it was started"
		}
		for k := range f.Sessions {
			if s := &f.Sessions[k]; p.Began != 0 && s.covers(p.Began) && (own == nil || !s.Client.Is(own)) {
				return p, "it was started while session " + s.ID + " of an agent was running"
			}
		}
	}
	return nil, ""
}

func (f *Facts) confirmed(p *Process) bool {
	return slices.ContainsFunc(f.Mine, func(c engine.Client) bool { return c.Is(f.client(p)) })
}

// OfCall reports whether a call of a client started the process of these facts: the client is above it, what the client itself
// started has a variable that agents set for what their calls run, and nothing below the client starts others for whoever asks
// or is one of some programs. A process of other namespaces has another number there. A client that has the variable itself
// passes it on to all that it starts, which shows nothing.
func (f *Facts) OfCall(c *engine.Client, except ...string) bool {
	at := slices.IndexFunc(f.Chain, func(p Process) bool { return c.Is(f.client(&p)) })
	if at < 1 || f.Chain[at].Marker != "" || f.Chain[at-1].Marker == "" || f.Chain[0].Spaces != f.Chain[at].Spaces {
		return false
	}
	return !slices.ContainsFunc(f.Chain[:at], func(p Process) bool {
		return p.serves() || p.multiplexer() || p.Program == "" || slices.Contains(except, p.Program)
	})
}

// Confirmable returns the program whose confirmation by a person makes a client theirs, with its name: the one below whatever starts
// programs for everybody. The chain begins with the client. why is not empty if the client would lack another fact.
func (f *Facts) Confirmable(c *engine.Client, names []string) (program *engine.Client, name, why string) {
	i := 0
	for i+1 < len(f.Chain) && !f.Chain[i+1].serves() {
		i++
	}
	program, name = f.client(&f.Chain[i]), f.Chain[i].describe()
	own := *f
	own.Mine = append(slices.Clip(f.Mine), *program)
	return program, name, cmp.Or(own.missing(0, c, names), own.headless(0))
}

// find returns the place in the chain of the process from which the events of a hook come; 0: there is none, and why.
func (f *Facts) find() (at int, why string) {
	at = 1
	if f.Relayed() {
		at++
	}
	if len(f.Chain) > at && f.Chain[at].runsHook() {
		at++
	}
	if len(f.Chain) <= at {
		return 0, "no program is above the hook"
	}
	switch p := &f.Chain[at]; {
	case p.shell():
		return 0, fmt.Sprintf("a shell (%s) started the hook, and not a client", p.describe())
	case p.serves():
		return 0, fmt.Sprintf("the program that started the hook has ended, or is one that starts others for everybody (%s)", p.describe())
	case strings.HasPrefix(p.name(), "reviewer"):
		return 0, fmt.Sprintf("reviewer itself started the hook (process %d)", p.Pid)
	}
	return at, ""
}

// ClientLine returns the command line of the program from which the events of a hook come; empty: there is none.
func (f *Facts) ClientLine() string {
	at, _ := f.find()
	if at == 0 {
		return ""
	}
	return f.Chain[at].Command
}

// Relayed reports whether reviewer-hook, which has read the event, started the hook.
func (f *Facts) Relayed() bool {
	if len(f.Chain) < 2 || f.HookClient.Program == "" {
		return false
	}
	p := &f.Chain[1]
	return p.Program == f.HookClient.Program && p.name() == path.Base(f.HookClient.Path)
}

// describe names a process to a person. Its arguments may contain secrets.
func (p *Process) describe() string {
	return fmt.Sprintf("%s, process %d", engine.ClipJSON(p.name(), 40), p.Pid)
}

// Caller returns the process from which the events of a hook come, before it is known whether it is a person's client.
// Without one, Missing says why.
func (f *Facts) Caller() *engine.Client {
	at, why := f.find()
	if at == 0 {
		return &engine.Client{Missing: why}
	}
	c := f.client(&f.Chain[at])
	c.Joined = f.Chain[0].Group != "" && f.Chain[0].Group == f.Chain[at].Group
	c.Free = f.Chain[at].Lost >= 0 && f.Chain[0].Lost >= 0 && f.Chain[0].Lost <= f.Chain[at].Lost
	c.Feeds = f.Maker != 0 && f.Maker == c.Pid
	return c
}

// Client returns the process from which the events of a hook come. Missing says for lack of which fact it is not a person's
// client. names are those of the client's programs, which may start each other.
func (f *Facts) Client(names []string) *engine.Client {
	c := f.Caller()
	if c.Missing == "" {
		at, _ := f.find()
		if c.Missing = f.missing(at, c, names); c.Missing == "" {
			c.Missing = f.headless(at)
			c.Headless = c.Missing != ""
		}
	}
	return c
}

// missing returns the fact that a client lacks.
func (f *Facts) missing(at int, c *engine.Client, names []string) string {
	for i := range f.Sessions {
		s := &f.Sessions[i]
		if !s.Client.Is(c) {
			continue
		}
		if why := s.Client.Unlike(c); why != "" {
			return why + " (session " + s.ID + ")"
		}
	}
	outer := at // its launcher
	for outer+1 < len(f.Chain) && AgentName(f.Chain[outer].Command, names) != "" && AgentName(f.Chain[outer+1].Command, names) != "" {
		outer++
	}
	for i := at; i < len(f.Chain); i++ {
		p := &f.Chain[i]
		if i > at {
			if id := f.sessionOf(p); id != "" {
				return fmt.Sprintf("it runs below the client of session %s (process %d)", id, p.Pid)
			}
		}
		if i > outer {
			if name := AgentName(p.Command, f.Agents); name != "" {
				return fmt.Sprintf("it runs below the agent %s (process %d)", name, p.Pid)
			}
		}
		if i >= outer && p.Marker != "" {
			return fmt.Sprintf("it was started by a call of an agent (process %d has %s)", p.Pid, p.Marker)
		}
	}
	if p, why := f.startedDuring(at, c); p != nil {
		return fmt.Sprintf("its outermost program is %s, and %s", p.describe(), why)
	}
	return ""
}

// headless returns why a client in which nobody can type does not count: a schedule started it; or a service manager did, directly
// or through shells, and there is no terminal. A timer looks like that.
func (f *Facts) headless(at int) string {
	for i := at; i < len(f.Chain); i++ {
		if p := &f.Chain[i]; p.schedules() {
			return fmt.Sprintf("a schedule started it (%s)", p.describe())
		}
	}
	for i := at; i < len(f.Chain); i++ {
		p := &f.Chain[i]
		switch {
		case p.Terminal || i > at && !p.serves() && !p.shell():
			return ""
		case i > at && (p.Pid == 1 || p.name() == "systemd"):
			return fmt.Sprintf("it has no terminal, and a service or a timer may have started it (%s)", p.describe())
		}
	}
	return ""
}

// Earliest returns when the first known process was started, in Unix milliseconds: no session that was not written to since
// then can have a client that runs, or have run when one of the chain was started.
func (f *Facts) Earliest() int64 {
	first := int64(math.MaxInt64)
	for _, p := range f.Chain {
		first = min(first, p.Began)
	}
	for _, p := range f.others {
		first = min(first, p.Began)
	}
	return first
}

// Runs reports whether a client has not ended.
func (f *Facts) Runs(c *engine.Client) bool {
	if f.others == nil {
		return Runs(c)
	}
	p, ok := f.others[pidOf(c)]
	return ok && f.client(&p).Is(c)
}

// Runs reports whether a client has not ended.
func Runs(c *engine.Client) bool {
	f, err := readOne(pidOf(c))
	return err == nil && f.client(&f.Chain[0]).Is(c)
}

func pidOf(c *engine.Client) int {
	if c == nil {
		return 0
	}
	return c.Pid
}
