package engine

// Code is code that a call writes into a file, with what it would do if run
// alone. Policy judges it like a call at the time it is written, because the program that runs
// it later need not name it.
type Code struct {
	// Path of the file, as in `effects[].short`, preceded by the host if that is not this machine.
	Path     string    `json:"path"`
	Kinds    []string  `json:"kinds"`              // kinds of code that the file can be, as in `action.loads`
	Digest   string    `json:"digest,omitempty"`   // keyed digest of what the code does; absent: it neither changes nor sends anything
	Part     bool      `json:"part,omitempty"`     // only a part of the file is known
	Types    []Type    `json:"types,omitempty"`    // types of the code, as in action.types
	Intent   Type      `json:"intent,omitempty"`   // intent of the code, as in action.intent
	Commands []Command `json:"commands,omitempty"` // commands of the code, as in `action.commands`
	Hosts    []string  `json:"hosts,omitempty"`    // hosts of the code, as in action.hosts
	Effects  []Effect  `json:"effects,omitempty"`  // effects of the code, as in action.effects
	Signals  []Signal  `json:"signals,omitempty"`  // signals of the code, as in action.signals

	// Of start-up files and files of programs outside the workspace: effects that the text which is put in has
	// by itself, or that the file did not have before; signals of that text; and whether part of it could not
	// be understood.
	Added        []Effect `json:"added,omitempty"`
	AddedSignals []Signal `json:"added_signals,omitempty"` // signals of the code that the text adds
	AddedUnread  bool     `json:"added_unread,omitempty"`  // a part of what the text adds could not be read
}

// CodeNamed is the entry in Action.Loads for programs that run any file they are
// given.
const CodeNamed = "named"

// CodeAny is the entry in Action.Loads for programs that run what others wrote:
// tasks, scripts, whole builds.
const CodeAny = "any"

// CodeText is the kind of files whose names do not mark them as code: only a
// program that is given one by name may run it.
const CodeText = "text"

// CodeData is the kind of files whose names mark them as data or documents: only a
// program that is given one as its code runs it.
const CodeData = "data"

// CodeMarkdown is the kind of documents with blocks of code, which some programs
// run.
const CodeMarkdown = "markdown"

// ScriptMark precedes, in Action.Loads, the name of a file that an interpreter is
// given as its code.
const ScriptMark = "@"

// Action returns the action that running only this code would be.
func (c *Code) Action() *Action {
	return &Action{Name: ActionCode, Resource: c.Path, Types: c.Types, Intent: c.Intent, Commands: c.Commands, Paths: c.paths(),
		Hosts: c.Hosts, Effects: c.Effects, Signals: c.Signals, Opaque: []Opaque{}, Fingerprint: c.Digest}
}

// ActionCode is the name of the action for code in a file.
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

// CodeVerdict is the policy's verdict on code that a call writes, recorded
// where running it would be asked about or blocked.
type CodeVerdict struct {
	Path     string   `json:"path"`
	Decision Verdict  `json:"decision"`
	Rules    []string `json:"rules,omitempty"` // ids of the rules that ask or block; none: the scores did
}

// Inherited is code that the session wrote and that a call may run.
type Inherited struct {
	Path  string   `json:"path"`            // path of the file
	Rules []string `json:"rules"`           // ids of the rules that asked about the code or would block it
	Named bool     `json:"named,omitempty"` // the call names the file or its module
}
