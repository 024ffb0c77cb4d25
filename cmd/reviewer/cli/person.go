package cli

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/caller"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// SharedTerminalError means that a person may be at the terminal, but an agent can type into it as
// well. The approval code shows that it is the person.
type SharedTerminalError = caller.UnseenError

// Person returns the name of the person who runs the command, and an error if it is not a person.
func (a *App) Person(what string) (string, error) {
	return a.somebody(caller.Command{What: what, Terminal: a.StdinTerminal()})
}

// NoAgent is Person for commands that scripts may run as well: it only refuses processes under an
// agent.
func (a *App) NoAgent(what string) (string, error) {
	return a.somebody(caller.Command{What: what, Terminal: true, Script: true})
}

func (a *App) somebody(c caller.Command) (string, error) {
	facts, err := caller.Read(os.Getpid(), agentMarkers())
	if err == nil {
		err = a.commandFacts(facts, &c)
	}
	if err != nil {
		return "", fmt.Errorf("%s needs a person, and it cannot be determined whether an agent is running: %w", c.What, err)
	}
	if err := facts.Person(c); err != nil {
		return "", err
	}
	return UserName(), nil
}

// commandFacts adds what is known about sessions, and about where people and the resident process are.
func (a *App) commandFacts(f *caller.Facts, c *caller.Command) error {
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	if err := a.sessionFacts(f, store, 0); err != nil {
		return err
	}
	for _, h := range harness.Harnesses() {
		if h.Marker != "" && a.Env(h.Marker) != "" {
			c.Marker = h.Marker
		}
	}
	if a.Installed != nil {
		for _, path := range a.Installed(a, store.Dir) {
			c.Installed = append(c.Installed, caller.Installed(path))
		}
	}
	pid, runs := 0, false
	if a.Resident != nil {
		pid, runs = a.Resident(store.Dir)
	}
	if runs {
		c.Spaces = append(f.Spaces(), caller.SpacesOf(pid)) // empty, which no process has, if it is not seen from here
	} else if c.Spaces = f.Spaces(); len(c.Spaces) > 0 {
		if init := caller.SpacesOf(1); init != "" {
			c.Spaces = append(c.Spaces, init)
		}
	}
	return nil
}

// UserName returns the name of the user who runs the command, for the log.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return "uid " + strconv.Itoa(os.Getuid())
	}
	return u.Username
}
