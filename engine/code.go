package engine

// Code is code that a call writes into a file, with what it would do if it ran
// alone. Policy judges it like a call, when it is written: whoever runs it later
// need not name it.
type Code struct {
	Path     string    `json:"path"`             // as Effect.Place spells it
	Kinds    []string  `json:"kinds"`            // what it is for those who run such files, as in Action.Loads
	Digest   string    `json:"digest,omitempty"` // MAC of what it does: another text that does the same has the same; absent: nothing that changes or sends anything
	Part     bool      `json:"part,omitempty"`   // a part of the file, where the whole is not known
	Types    []Type    `json:"types,omitempty"`
	Intent   Type      `json:"intent,omitempty"`
	Commands []Command `json:"commands,omitempty"`
	Hosts    []string  `json:"hosts,omitempty"`
	Effects  []Effect  `json:"effects,omitempty"`
	Signals  []Signal  `json:"signals,omitempty"`
}

// Named is what Action.Loads says of programs that run any file that they are given.
const Named = "named"

// AnyKind is what Action.Loads says of programs that run what others wrote down:
// tasks, scripts, whole builds.
const AnyKind = "any"

// TextKind is the kind of files that are no code by their names: only who is given
// one by name may run it.
const TextKind = "text"

// Action is the code as the call that it would be if it were run by itself.
func (c *Code) Action() *Action {
	return &Action{Name: ActionCode, Resource: c.Path, Types: c.Types, Intent: c.Intent, Commands: c.Commands, Paths: c.paths(),
		Hosts: c.Hosts, Effects: c.Effects, Signals: c.Signals, Opaque: []Opaque{}, Fingerprint: c.Digest}
}

// ActionCode is the name of the action that code in a file would be.
const ActionCode = "code.written"

func (c *Code) paths() []string {
	list := []string{}
	for i := range c.Effects {
		if e := &c.Effects[i]; e.Short != "" {
			list = append(list, e.Place())
		}
	}
	return list
}

// CodeVerdict is what policy says of code that a call writes, where a person would
// be asked about it, or it would be blocked, if it ran.
type CodeVerdict struct {
	Path     string   `json:"path"`
	Decision Verdict  `json:"decision"`
	Rules    []string `json:"rules,omitempty"` // ids of those that ask or block; none: the scores
}

// Inherited is code that the session wrote and that a call may run.
type Inherited struct {
	Path  string   `json:"path"`
	Rules []string `json:"rules"`           // ids of the rules that asked about it or would block it
	Named bool     `json:"named,omitempty"` // the call names the file, or its module
}
