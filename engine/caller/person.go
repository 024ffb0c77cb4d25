package caller

import (
	"fmt"
	"slices"
)

// Command is what is known about a command that only a person may give, besides the Facts.
type Command struct {
	What      string   // it does, such as "allowing a call"
	Terminal  bool     // its standard input is one
	Script    bool     // a script may give it as well
	Marker    string   // the variable of an agent in its environment; empty: none
	Installed []File   // the programs that hooks name; none: no hook is installed
	Spaces    []string // namespaces in which people and the resident process are; none: they are unknown
}

// File is a program that is installed.
type File struct{ Path, Program string }

// UnseenError means that a person may be at the terminal, but that an agent may have started it or type into it as
// well. The approval code shows that it is the person.
type UnseenError struct{ why string }

func (e *UnseenError) Error() string { return e.why }

// Person returns an error for anything that may not act for a person: with an UnseenError the approval code is enough.
func (f *Facts) Person(c Command) error {
	if err := f.refused(c); err != nil {
		return err
	}
	if err := f.unseen(c); err != nil {
		return err
	}
	if !c.Terminal {
		return fmt.Errorf("%s needs a person: run it in a terminal, not in a pipe or script", c.What)
	}
	return nil
}

// refused returns why even the code is not enough.
func (f *Facts) refused(c Command) error {
	if c.Marker != "" {
		return fmt.Errorf("%s needs a person: this is running inside an agent (%s is set)", c.What, c.Marker)
	}
	for i := range f.Chain {
		p := &f.Chain[i]
		if i == 0 {
			continue
		}
		name, id := AgentName(p.Command, f.Agents), f.sessionOf(p)
		switch {
		case name != "":
			return fmt.Errorf("%s needs a person: this is running under the agent %s (process %d)", c.What, name, p.Pid)
		case id != "":
			return fmt.Errorf("%s needs a person: this is running under the client of session %s (%s)", c.What, id, p.describe())
		case p.Marker != "":
			return fmt.Errorf("%s needs a person: this was started by a call of an agent (process %d has %s)", c.What, p.Pid, p.Marker)
		case p.schedules() && !c.Script:
			return fmt.Errorf("%s needs a person: a schedule started this (%s)", c.What, p.describe())
		}
	}
	if len(f.Chain) == 0 {
		return nil
	}
	return f.misplaced(c)
}

// misplaced refuses a copy of the program, and namespaces of its own.
func (f *Facts) misplaced(c Command) error {
	self := &f.Chain[0]
	same := func(file File) bool { return file.Program == self.Program }
	if !c.Script && len(c.Installed) > 0 && self.Program != "" && !slices.ContainsFunc(c.Installed, same) {
		return fmt.Errorf("%s needs a person and the program that the hooks use: this is another file; run %s, or `reviewer install` with "+
			"this one first", c.What, c.Installed[0].Path)
	}
	if self.Spaces == "" {
		return nil
	}
	if len(c.Spaces) > 0 && !slices.Contains(c.Spaces, self.Spaces) {
		return fmt.Errorf("%s needs a person: this is running in namespaces of its own, not in those of the agents' clients and of the resident "+
			"process; run the command outside them, in a terminal of your own", c.What)
	}
	for i := range f.Chain {
		if p := &f.Chain[i]; len(f.Sessions) > 0 && p.Spaces != "" && p.Spaces != self.Spaces && !slices.Contains(c.Spaces, self.Spaces) {
			return fmt.Errorf("%s needs a person: this is running in namespaces that a program above it (%s) is not in; run the command outside "+
				"them, in a terminal of your own", c.What, p.describe())
		}
	}
	return nil
}

// unseen refuses terminals in which someone else can type: those of a multiplexer, and those whose program began while an
// agent's session ran, since the agent may have started it. A hook cannot send the person a secret instead: its texts are
// in the client's transcript, which the agent can read (docs/fail-open.md).
func (f *Facts) unseen(c Command) error {
	const instead = "open a terminal of your own outside it (a console, or a new login) and run the command there"
	for i := 1; i < len(f.Chain); i++ {
		if p := &f.Chain[i]; !c.Script && p.multiplexer() {
			return &UnseenError{fmt.Sprintf("%s needs a person: this is running in a terminal multiplexer (%s), "+
				"where an agent can type; %s", c.What, p.describe(), instead)}
		}
	}
	if p, why := f.startedDuring(0, nil); p != nil {
		return &UnseenError{fmt.Sprintf("%s needs a person: this terminal's program is %s, and %s; use an earlier one, or end the "+
			"session and %s", c.What, p.describe(), why, instead)}
	}
	return nil
}

// Spaces returns the namespaces in which living sessions have clients of people.
func (f *Facts) Spaces() []string {
	var list []string
	for i := range f.Sessions {
		if s := &f.Sessions[i]; s.Client.Verified() && s.Client.Spaces != "" && s.Client.Boot == f.Boot && s.Lives {
			list = append(list, s.Client.Spaces)
		}
	}
	return list
}
