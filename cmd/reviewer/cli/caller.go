package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/caller"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// Callers are the clients that a lasting process has examined and found to be people's: what follows from
// when a program was started would change when an older session continues. The zero value is ready to use.
type Callers struct {
	mu       sync.Mutex
	verified map[knownCaller]*engine.Client // with all that its hooks have in common with it
}

// knownCaller is a client of a kind of agent, with nothing but what identifies it.
type knownCaller struct {
	harness string
	client  engine.Client
}

func callerOf(h harness.Harness, c *engine.Client) knownCaller {
	return knownCaller{h.Name, engine.Client{Pid: c.Pid, Start: c.Start, Boot: c.Boot, Program: c.Program, Spaces: c.Spaces}}
}

// maxCallers is the number of clients at which those that have ended are forgotten.
const maxCallers = 64

func (k *Callers) add(h harness.Harness, c *engine.Client) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.verified == nil {
		k.verified = map[knownCaller]*engine.Client{}
	}
	if len(k.verified) >= maxCallers {
		maps.DeleteFunc(k.verified, func(one knownCaller, _ *engine.Client) bool { return !caller.Runs(&one.client) })
	}
	own := *c
	k.verified[callerOf(h, c)] = &own
}

// has reports whether a client was found to be a person's, and an event comes from a hook like its others.
func (k *Callers) has(h harness.Harness, c *engine.Client) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.verified[callerOf(h, c)]
	return known != nil && known.Unlike(c) == ""
}

// CallerAgain returns the process from which a later event of a session comes, to be compared with its client: only where
// that takes less than a millisecond, else nil. It is not examined.
func (a *App) CallerAgain() *engine.Client {
	if !caller.Quick {
		return nil
	}
	facts, err := a.hookFacts()
	if err != nil {
		return &engine.Client{Missing: err.Error()}
	}
	c := facts.Caller()
	c.Missing = cmp.Or(c.Missing, "it was first seen at a call, and no prompt of it was examined yet")
	return c
}

// ClientHas reports whether the command line of the client that sent an event has one of some options. One that is not known has.
func (a *App) ClientHas(options []string) bool {
	facts, err := a.hookFacts()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(strings.Fields(facts.ClientLine()), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(options, name)
	})
}

func (a *App) hookPid() int { return cmp.Or(a.Pid, os.Getpid()) }

// hookFacts returns what is known about the process from which an event comes.
func (a *App) hookFacts() (*caller.Facts, error) {
	if a.Foreign {
		return nil, fmt.Errorf("process %d, which sent this event, is not a program of this installation", a.Pid)
	}
	f, err := caller.ReadCaller(a.hookPid(), caller.Installed(filepath.Join(filepath.Dir(Program()), HookClient)))
	if err != nil || a.MadeBy == nil {
		return f, err
	}
	f.Maker = a.MadeBy(f.Relayed())
	return f, nil
}

// Caller returns the process from which the event of a hook comes. Missing says for lack of which fact it is not a person's
// client.
func (a *App) Caller(h harness.Harness, store *audit.Store) *engine.Client {
	facts, err := a.hookFacts()
	if err != nil {
		return &engine.Client{Missing: err.Error()}
	}
	c := facts.Caller()
	if c.Missing != "" {
		return c
	}
	if a.Callers.has(h, c) {
		return c
	}
	all, err := caller.Read(a.hookPid(), agentMarkers())
	if err == nil {
		all.HookClient, all.Maker = facts.HookClient, facts.Maker
		err = a.sessionFacts(all, store, all.Earliest()-caller.Afterwards.Milliseconds())
	}
	if err != nil {
		c.Missing = "it cannot be determined whether an agent started it: " + err.Error()
		return c
	}
	found := all.Client(h.Programs)
	if found.Verified() {
		a.Callers.add(h, found)
	}
	return found
}

// StartedByCall reports whether a call of the client that sent this event started a process, as the system's list of processes
// shows. Programs of reviewer, which hooks start, do not count.
func (a *App) StartedByCall(pid int) bool {
	facts, err := a.hookFacts()
	if err != nil {
		return false
	}
	of, err := caller.Read(pid, agentMarkers())
	program := Program()
	return err == nil && of.OfCall(facts.Caller(), caller.Installed(program).Program,
		caller.Installed(filepath.Join(filepath.Dir(program), HookClient)).Program)
}

func agentMarkers() (list []string) {
	for _, h := range harness.Harnesses() {
		if h.Marker != "" {
			list = append(list, h.Marker)
		}
	}
	return list
}

// sessionFacts adds what is known about agents and their sessions that were written to since a time. Damaged logs are skipped.
func (a *App) sessionFacts(f *caller.Facts, store *audit.Store, since int64) error {
	sessions, err := store.Written(since)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.N > 0 {
			f.Sessions = append(f.Sessions, caller.Session{ID: s.Key.Session, First: s.First, Last: s.Last,
				Client: s.Client, Lives: f.Runs(s.Client)})
		}
	}
	acts, err := store.Acts(engine.ControlMine)
	if err != nil {
		return err
	}
	for _, r := range acts {
		if r.Control.Client != nil {
			f.Mine = append(f.Mine, *r.Control.Client)
		}
	}
	for _, h := range harness.Harnesses() {
		f.Agents = append(f.Agents, h.Programs...)
	}
	return nil
}

// Confirmable returns the outermost program of a session's client, which a person can confirm as theirs, and the confirmation
// in words.
func (a *App) Confirmable(store *audit.Store, s audit.Session) (program *engine.Client, shown string, err error) {
	if !caller.Runs(s.Client) {
		missing := "no client of it was seen"
		if s.Client != nil {
			missing = cmp.Or(s.Client.Missing, missing)
		}
		return nil, "", fmt.Errorf("session %s has no client that runs and that you could confirm: %s", s.Key.Session, missing)
	}
	facts, err := caller.Read(s.Client.Pid, agentMarkers())
	if err == nil {
		err = a.sessionFacts(facts, store, facts.Earliest()-caller.Afterwards.Milliseconds())
	}
	if err != nil {
		return nil, "", err
	}
	h, _ := harness.Find(s.Key.Harness) // of an unknown agent, no launcher is known
	program, name, why := facts.Confirmable(s.Client, h.Programs)
	if why != "" {
		return nil, "", fmt.Errorf("the client of session %s cannot be confirmed: %s", s.Key.Session, why)
	}
	return program, fmt.Sprintf("%s is yours until it ends: what is typed to the client of session %s counts as your words, "+
		"and so does what is typed to every client that this program starts", name, s.Key.Session), nil
}
