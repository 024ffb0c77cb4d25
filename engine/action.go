package engine

import (
	"slices"
	"strings"
)

// Type is what an action would do, regardless of the tool that does it. An
// action has a set of them; a shell command has the types of its effects.
type Type string

// The types of actions.
const (
	TypeFileRead         Type = "file_read"         // reads a file
	TypeFileCreation     Type = "file_creation"     // creates a file
	TypeFileModification Type = "file_modification" // changes an existing file
	TypeFileDeletion     Type = "file_deletion"     // deletes a file
	TypeSystemCommand    Type = "system_command"    // changes the system, or is an unknown command
	TypeNetworkRequest   Type = "network_request"   // contacts a host
	TypeMessage          Type = "message"           // talks to a person or maintains the agent's own notes; touches nothing
	TypeAgentSpawn       Type = "agent_spawn"       // starts a sub-agent
	TypeMCPCall          Type = "mcp_call"          // calls a tool of an MCP server
	TypeUnknown          Type = "unknown"           // could not be parsed: treated as risky, never as harmless
)

// Types lists every Type.
func Types() []string {
	return []string{
		string(TypeFileRead), string(TypeFileCreation), string(TypeFileModification), string(TypeFileDeletion),
		string(TypeSystemCommand), string(TypeNetworkRequest), string(TypeMessage), string(TypeAgentSpawn),
		string(TypeMCPCall), string(TypeUnknown),
	}
}

// Facts are the findings of a Classifier about an Event: facts that any two
// organisations would agree on, masked and shortened. Nothing in it depends on
// policy or on the session's history.
type Facts struct {
	Event  EventFacts
	Action *Action // nil for events without an action (a prompt, a session's start)
	Args   string  // MAC of the raw arguments' canonical bytes; shows whether what ran is what was approved
	Cut    []Cut   // what was shortened

	Prompts *PromptTexts // texts of the call that can become prompts; nil: none can
}

// PromptTexts are keyed digests of texts that a call gave to something that can pass them to an agent as a prompt: a schedule,
// another agent, the command line of a client. Nobody typed such a prompt.
type PromptTexts struct {
	MACs []string `json:"macs"`           // 16 hexadecimal digits each: of each text and of its long paragraphs
	Days int64    `json:"days,omitempty"` // days within which it can become a prompt; absent: any number
	Of   string   `json:"of,omitempty"`   // id of the call's record
	Tool string   `json:"tool,omitempty"` // of the call
}

// Cut records what was shortened to fit a record, so that nothing is lost
// silently.
type Cut struct {
	Field string `json:"field"`         // JSON path below the record, such as "event.args.command"
	Bytes int64  `json:"bytes"`         // full length before shortening (items for a list)
	MAC   string `json:"mac,omitempty"` // keyed digest of the full text
}

// Action is what an Event means. Lists are sorted unless their order has a
// meaning.
type Action struct {
	// Dotted name of the action, for access rules: code.exec, filesystem.write, mcp.github.create_issue.
	Name string `json:"name"`
	// What messages show for the call: the command, path, URL or a summary of
	// the arguments; masked and shortened.
	Resource string    `json:"resource"`
	Types    []Type    `json:"types"`    // what the action does, regardless of the tool; sorted, at least one
	Intent   Type      `json:"intent"`   // the one type that describes the action best; empty if there is no action
	Commands []Command `json:"commands"` // simple commands in the order in which they would run, wrappers removed
	Paths    []string  `json:"paths"`    // distinct paths that the action touches, as in `effects[].short`, sorted
	Hosts    []string  `json:"hosts"`    // distinct hosts that the action contacts, sorted
	Effects  []Effect  `json:"effects"`  // everything that the action would do, worst kinds first
	Signals  []Signal  `json:"signals"`  // names of dangerous techniques that no single effect reveals, sorted
	Opaque   []Opaque  `json:"opaque"`   // parts that could not be understood; to be judged strictly

	// Effects of commands found in the arguments of unknown programs, in case
	// these run them; worst first.
	Possible        []Effect `json:"possible,omitempty"`
	PossibleSignals []Signal `json:"possible_signals,omitempty"` // signals of the commands in possible
	// Commands in the arguments of unknown programs, in case these run them; at most 8.
	PossibleCommands []Command `json:"possible_commands,omitempty"`

	// First word of the name of an MCP tool about which nothing is known: no row describes it, and neither
	// its name nor its arguments show an effect other than reads.
	ToolVerb string `json:"tool_verb,omitempty"`

	// 16 hexadecimal digits: the same for the same tool with the same arguments.
	Fingerprint string `json:"fingerprint"`
	// 16 smallest hashes of the arguments' words (8 hexadecimal digits), to compare commands.
	Tokens []string `json:"tokens,omitempty"`
	// Hashes of the words that describe what the action is about, as in
	// `event.goal.words`; at most 24.
	Words []string `json:"words,omitempty"`
	// Keyed hashes (8 hexadecimal digits) of texts that could come from elsewhere: addresses, hosts,
	// paths, packages, long words; at most 28.
	Marks []string `json:"marks,omitempty"`
	Check bool     `json:"check,omitempty"` // the action checks the work: tests, linters, validators
	Waits bool     `json:"waits,omitempty"` // the action sleeps before it does something
	// The action only observes something that changes on its own: a background
	// process, a pipeline, a local server.
	Watches bool `json:"watches,omitempty"`
	// Labels of earlier outputs whose text the action contains; added from the
	// history.
	Carries []Label `json:"carries,omitempty"`
	// Ways in which part of a secret that was read would reach another machine;
	// added from the history.
	SecretsOut []ExfilPath `json:"secrets_out,omitempty"`
	// Text that was typed into terminals and has not run yet, where the action types into one.
	Terminals *Terminals `json:"terminals,omitempty"`
	// Secrets that the action itself passes to other hosts; at most 16.
	Flows []Flow `json:"flows,omitempty"`
	// Facts about texts that are not stored, by the argument that contains
	// them.
	Contents map[string]ContentFacts `json:"contents,omitempty"`
	// How often each detector of the policy found something in the raw texts, by its id.
	Detected map[string]int64 `json:"detected,omitempty"`
	// Code that the action writes into files, and what that code would do.
	Code []Code `json:"code,omitempty"`
	// Which files its programs may run: kinds of code, any, named (files that
	// the call names), =NAME (a module), @NAME (a file that an interpreter is given
	// as its code); sorted.
	Loads []string `json:"loads,omitempty"`
	// Code that the session wrote, that policy objected to, and that the action may run; added from the
	// history.
	Inherits []Inherited `json:"inherits,omitempty"`
	// Names of remotes that git adds, at addresses that no remote had before.
	Remotes []string `json:"remotes,omitempty"`
	// What keeps running after the action: background processes, containers,
	// terminals; at most 4.
	Starts []Started `json:"starts,omitempty"`
	Makes  []Made    `json:"makes,omitempty"` // containers and databases that it makes, if it succeeds; at most 4
	Plan   *Plan     `json:"plan,omitempty"`  // what the action says about the agent's list of sub-tasks
}

// FlowKind is the kind of a secret that is passed to another host.
type FlowKind string

// The kinds of secrets that an action may pass on.
const (
	FlowFile        FlowKind = "file"        // the content of a file with credentials
	FlowEnvironment FlowKind = "environment" // all variables of the environment
	FlowStore       FlowKind = "store"       // the output of a program that stores secrets
	FlowVariable    FlowKind = "variable"    // an inherited variable, which the action does not set
	FlowToken       FlowKind = "token"       // a token of a known issuer that is part of the action
)

// FlowKinds lists every FlowKind.
func FlowKinds() []string {
	return []string{string(FlowEnvironment), string(FlowFile), string(FlowStore), string(FlowToken), string(FlowVariable)}
}

// Flow records that part of a secret is in what a command, or a tool, passes to
// another host.
type Flow struct {
	What     FlowKind `json:"what"`               // source of the secret
	Name     string   `json:"name"`               // path of the file, name of the variable or program, or kind of the token
	Class    Class    `json:"class,omitempty"`    // class of the file: credential or env_file
	Host     string   `json:"host,omitempty"`     // host or service that receives the secret; empty: unknown
	Image    string   `json:"image,omitempty"`    // image of the container that receives the secret, instead of a host
	Loopback bool     `json:"loopback,omitempty"` // the host is this machine
	// The host belongs to the issuer of the secret (words flows.owners), or matches the name of the
	// variable.
	Own     bool `json:"own,omitempty"`
	Part    bool `json:"part,omitempty"`  // only some lines or fields of a file
	Login   bool `json:"login,omitempty"` // the secret is used to authenticate: in a header or as a password
	Command int  `json:"command"`         // index of the command in `action.commands`; -1: the tool itself
}

// Command is one simple command without its wrappers.
type Command struct {
	Name string   `json:"name"`          // base name of the program; empty when it is unknown
	Sub  []string `json:"sub,omitempty"` // subcommands, such as ["push"] or ["compose","down"]
	// Options as written, in order, up to "--": clusters stay together ("-uf"),
	// a separate value is joined with = ("--context=prod"); masked.
	Flags []string `json:"flags,omitempty"`
	// Options one by one, where that differs from the words of flags: a cluster as its letters, an
	// option that may be abbreviated with a * at its end, one that is off with its value
	// ("--volumes=false"), and "--" if that ends them; masked. Conditions ask with c.has("-f", "--force").
	Options  []string `json:"options,omitempty"`
	Operands []string `json:"operands,omitempty"` // remaining words, masked; unknown parts are "?"
	Wrappers []string `json:"wrappers,omitempty"` // programs that start this one (sudo, env, timeout, …), outermost first
	// Where the command comes from (sh-c, eval, heredoc, pipe, base64, xargs, find-exec, script, …),
	// outermost first.
	Via []string `json:"via,omitempty"`
	// No row says what the command does: the program has none, or its row does not name the subcommand.
	Unlisted bool `json:"unlisted,omitempty"`
}

// Has reports whether one of the options is given, and not with a value that switches it off.
func (c Command) Has(names ...string) bool {
	list := c.Options
	if list == nil {
		list = OptionWords(c.Flags)
	}
	return slices.ContainsFunc(list, func(option string) bool {
		begin, short := strings.CutSuffix(option, "*")
		return slices.ContainsFunc(names, func(name string) bool { return name == option || short && strings.HasPrefix(name, begin) })
	})
}

// OptionWords returns the options in the words of flags, without their values.
func OptionWords(flags []string) []string {
	var list []string
	for _, f := range flags {
		name, _, _ := strings.Cut(f, "=")
		list = append(list, name)
	}
	return list
}

// EffectKind is a kind of effect.
type EffectKind string

// The kinds of effects, the worst first: the order in which effects are kept
// when there are too many for a record.
const (
	EffectFileDelete EffectKind = "file_delete" // deletes a file, or moves it away
	EffectSystemCall EffectKind = "system_call" // changes the system beyond files: disks, services, accounts, firewall, power
	EffectNetwork    EffectKind = "network"     // contacts a host or a service
	EffectFileWrite  EffectKind = "file_write"  // creates or changes a file
	EffectResource   EffectKind = "resource"    // uses time, memory or disk without limit
	EffectProcess    EffectKind = "process"     // acts on a process or program: exec, kill, …
	EffectFileRead   EffectKind = "file_read"   // reads a file
)

// EffectKinds lists every EffectKind, worst first.
func EffectKinds() []string {
	return []string{
		string(EffectFileDelete), string(EffectSystemCall), string(EffectNetwork), string(EffectFileWrite),
		string(EffectResource), string(EffectProcess), string(EffectFileRead),
	}
}

// Certainty is how precisely a target is known.
type Certainty string

// The certainties of a target. Policy treats anything but exact and glob as
// the worst case.
const (
	CertaintyExact   Certainty = "exact"   // the target is known exactly
	CertaintyGlob    Certainty = "glob"    // a pattern; the target is its fixed directory
	CertaintyPrefix  Certainty = "prefix"  // only the beginning of the target is known
	CertaintyUnknown Certainty = "unknown" // nothing is known
)

// Certainties lists every Certainty.
func Certainties() []string {
	return []string{string(CertaintyExact), string(CertaintyGlob), string(CertaintyPrefix), string(CertaintyUnknown)}
}

// Location is the position of a path relative to the session's workspace. The
// classifier determines it from real paths (symbolic links resolved).
type Location string

// The locations of paths.
const (
	LocationInside   Location = "inside"    // under the workspace
	LocationSelf     Location = "self"      // the workspace itself, or everything in it
	LocationWorktree Location = "worktree"  // under another working tree of the workspace's repository, or under one that git worktree adds or removes
	LocationAncestor Location = "ancestor"  // contains the workspace
	LocationTemp     Location = "temp"      // under a temporary directory that does not contain the workspace
	LocationBeside   Location = "beside"    // under a temporary directory that also contains the workspace: scratch, or someone's work
	LocationTempRoot Location = "temp_root" // a temporary directory itself, or everything in it
	LocationNotes    Location = "notes"     // a file of the agent's own notes about the workspace, in a home directory
	LocationHome     Location = "home"      // under a home directory
	LocationHomeRoot Location = "home_root" // a home directory itself, or everything in it
	LocationSystem   Location = "system"    // under /etc, /usr, /boot, …
	LocationDevice   Location = "device"    // under /dev, except harmless devices (null, zero, stdout, …)
	LocationNull     Location = "null"      // /dev/null and the like: writing has no effect
	LocationRoot     Location = "root"      // the root, a drive, or a directory just below it that belongs to the system
	LocationOutside  Location = "outside"   // anywhere else
	LocationUnknown  Location = "unknown"   // the target is unknown
)

// Locations lists every Location.
func Locations() []string {
	return []string{
		string(LocationInside), string(LocationSelf), string(LocationWorktree), string(LocationAncestor), string(LocationTemp), string(LocationBeside), string(LocationTempRoot), string(LocationNotes),
		string(LocationHome), string(LocationHomeRoot), string(LocationSystem), string(LocationDevice), string(LocationNull),
		string(LocationRoot), string(LocationOutside), string(LocationUnknown),
	}
}

// Class is the kind of a file by its name and place, independent of any
// organisation's own list of protected places (which is policy).
type Class string

// The classes of files that matter to more than one organisation.
const (
	ClassCredential Class = "credential"    // private keys, cloud and package credentials, keychains, shell history
	ClassEnvFile    Class = "env_file"      // .env and its variants, but not examples and templates
	ClassStartup    Class = "startup"       // shell rc files, crontabs, systemd units, launch agents, login items
	ClassGitHook    Class = "git_hook"      // .git/hooks, and git configuration that names commands
	ClassGitData    Class = "git_data"      // anything else under .git, or .git itself
	ClassAgent      Class = "agent_config"  // settings, hooks, MCP servers and instructions of coding agents
	ClassGuard      Class = "guard"         // reviewer's own state, policy, keys and binary
	ClassCI         Class = "ci_config"     // workflow definitions
	ClassGenerated  Class = "generated"     // files that can be rebuilt or downloaded again: ignored by git and known to be regenerable
	ClassBackup     Class = "backup"        // backup copies
	ClassDatabase   Class = "database"      // files of a database
	ClassMount      Class = "system_config" // configuration of the machine under /etc
	ClassTest       Class = "test"          // tests, their fixtures, snapshots and settings
)

// Classes lists every Class.
func Classes() []string {
	return []string{
		string(ClassCredential), string(ClassEnvFile), string(ClassStartup), string(ClassGitHook), string(ClassGitData),
		string(ClassAgent), string(ClassGuard), string(ClassCI), string(ClassGenerated), string(ClassBackup),
		string(ClassDatabase), string(ClassMount), string(ClassTest),
	}
}

// Reversibility is how an effect can be undone: R0 nothing to undo, R1 by the
// tool itself, R2 by version control, R3 at a cost (rebuild, download again),
// R4 not on this machine, R5 never. Empty: unknown.
type Reversibility string

// The steps of reversibility.
const (
	R0 Reversibility = "R0"
	R1 Reversibility = "R1"
	R2 Reversibility = "R2"
	R3 Reversibility = "R3"
	R4 Reversibility = "R4"
	R5 Reversibility = "R5"
)

// Reversibilities lists every known step.
func Reversibilities() []string {
	return []string{string(R0), string(R1), string(R2), string(R3), string(R4), string(R5)}
}

// Effect is one thing that an action would do to one target.
type Effect struct {
	Kind EffectKind `json:"kind"` // kind of effect
	// What it does: read, create, write, append, truncate, delete, move, link, chmod, fetch, send, listen,
	// exec, kill, ….
	Verb   string `json:"verb"`
	Target string `json:"target,omitempty"` // real absolute path, URL or host; masked
	// What the effect is about where the target does not show it: volume,
	// stack, table, rows, package, history, …; of a deploy by a push, the file that says that the branch is deployed; absent: unknown.
	Object string `json:"object,omitempty"`
	// The path with the workspace as . and the home directory as ~: ./src/cart.go, ~/.ssh/config.
	Short     string    `json:"short,omitempty"`
	Certainty Certainty `json:"certainty"`          // how precisely the target is known; treat anything but exact and glob as the worst case
	Location  Location  `json:"location,omitempty"` // where the path is relative to the workspace; paths only
	Class     Class     `json:"class,omitempty"`    // kind of file, by its name and place; paths only
	Exists    string    `json:"exists,omitempty"`   // yes or no: whether the path exists; absent: unknown
	Entry     string    `json:"entry,omitempty"`    // kind of entry: file, dir, link or other; absent: unknown
	// State in version control: clean, dirty, untracked, ignored; absent:
	// unknown.
	Git         string `json:"git,omitempty"`
	Recursive   bool   `json:"recursive,omitempty"`   // everything under the path is affected
	Forced      bool   `json:"forced,omitempty"`      // a flag overrides confirmations or protections
	Privileged  bool   `json:"privileged,omitempty"`  // it happens with elevated privileges (sudo, …)
	Egress      bool   `json:"egress,omitempty"`      // data leaves the machine
	Loopback    bool   `json:"loopback,omitempty"`    // the host is this machine
	Persistence bool   `json:"persistence,omitempty"` // it outlives the session: start-up files, schedulers, services
	// How it can be undone: R0 nothing to undo, R1 by the tool, R2 by version
	// control, R3 at a cost, R4 not on this machine, R5 never; absent: unknown.
	Reversibility Reversibility `json:"reversibility,omitempty"`
	// Where it happens, if not on this machine: ssh:NAME, container:NAME, vm:…,
	// app:…, volume:…, nested with /; masked.
	Host    string `json:"host,omitempty"`
	Command int    `json:"command"` // index of the command in `action.commands`; -1: the tool itself
	// Percentage of the file's bytes that is removed, where the
	// call shows it; absent: nothing or unknown.
	Lost    int64 `json:"lost,omitempty"`
	Shrinks bool  `json:"shrinks,omitempty"` // lost is 90 or more; kept for older policies
	// Files at the target of a deletion or a change, and their bytes, before the call; absent: none, or nobody counted.
	// Of a folder that is deleted, more than 2,000 files are not counted: there are at least as many as this says.
	HeldFiles int64 `json:"held_files,omitempty"`
	HeldBytes int64 `json:"held_bytes,omitempty"` // of these
	// Permissions that the call grants: 0777, a+w, cap_net_raw+ep; absent: none
	// or unknown.
	Mode string `json:"mode,omitempty"`
	// Name of the signal that a process gets, where the call names it: HUP, USR1; absent: one that ends it,
	// or unknown.
	Signal string `json:"signal,omitempty"`
	// Port, socket or service of a database's server, where its client names one besides the host; absent:
	// the usual one.
	Server string `json:"server,omitempty"`
	// itself: the session made the container, or the database with what is in it; inside: it is in a container
	// that the session made, with nothing else in it; added from the history.
	Made string `json:"made,omitempty"`
	// is: changes what guards the session (reviewer, settings and hooks of the
	// client), or uses the port of reviewer's HTTP API; holds: removes a folder
	// that contains it; elsewhere: changes settings of a client in a folder that is
	// neither the home directory nor the workspace itself; unsafe: does so, and sets
	// hooks, variables or rights there; widens: adds servers, permissions
	// or a status line to client settings, and nothing else; minor: client settings that do not affect decisions; key:
	// opens reviewer's key, API token, approval code or a lock, or another name or
	// a copy of one; holds_key: reads a folder that contains the state folder;
	// program: reads the contents of reviewer's program; programs: reads the folder
	// of the program, or what a pattern there matches.
	Guard      string `json:"guard,omitempty"`
	Repository bool   `json:"repository,omitempty"` // a folder that contains a repository is removed
	Bytes      int64  `json:"bytes,omitempty"`      // size of the file, if the call specifies it; absent: unknown
	Ledger     string `json:"ledger,omitempty"`     // what the session did to the path before; added from the history
	Secret     bool   `json:"secret,omitempty"`     // the file contains part of a credential or env file; added from the history
	// The file contains text that nobody in the session wrote; added from the
	// history.
	Untrusted bool `json:"untrusted,omitempty"`
	Named     bool `json:"named,omitempty"` // a person named the path or a folder that contains it, or the host; added from the history
	// A person wrote the path, or that of a folder that contains it, in full
	// (/…, ~/… or ../…); added from the history.
	Given bool `json:"given,omitempty"`
	// The outermost folder on the path, or the file itself, whose name a person wrote
	// in a prompt that asks for work, as in short; added from the history.
	Mentioned string `json:"mentioned,omitempty"`
	Timed     bool   `json:"timed,omitempty"` // a person wants what has the target's name to run at certain times; added from the history
	// file or folder: a person approved an earlier write to the same file, or
	// to another file in its folder with the same extension; added from the history.
	Agreed string `json:"agreed,omitempty"`
	Run    bool   `json:"run,omitempty"` // the file is read by a command that runs something
	// Where the disk that is written, or a part of it, is mounted, the shortest of such paths; swap: it is used as memory. Absent:
	// nowhere, or unknown.
	Mounted string `json:"mounted,omitempty"`
	// Why the code of a file that the call runs was not read: binary; package: it
	// is in a folder of other people's packages; committed: version control
	// contains it unchanged, and it is unknown since when; pipe. Absent: it was
	// read, was reviewed before the session, or is not known to run.
	Unread string `json:"unread,omitempty"`
	Own    bool   `json:"own,omitempty"` // the call itself started the process, or an earlier call did, as the system's list of processes shows
	// A person added the path, or a folder that contains it, to the session's
	// scope; added from the history.
	Scoped bool `json:"scoped,omitempty"`
	// What the place is for, by rows: data, where people keep documents, pictures
	// and the like; absent: unknown.
	Area     string `json:"area,omitempty"`
	Document bool   `json:"document,omitempty"` // the file is a document by its name: text, table, picture, sound
	Checkout string `json:"checkout,omitempty"` // top folder of the repository outside the workspace that contains the path, as in short
	Shown    bool   `json:"shown,omitempty"`    // the call contains all of the text that it writes into the file
	// Kind of the first secret in the file that looks as if it were in use, in what the call writes into it, or in what
	// version control takes of it: github_token, password; absent: none, or unknown.
	Key string `json:"key,omitempty"`
}

// AreaData is the area of places where people keep documents, pictures and the like.
const AreaData = "data"

// Why the code of a file that runs was not read.
const (
	UnreadBinary    = "binary"
	UnreadPackage   = "package"
	UnreadCommitted = "committed"
	UnreadPipe      = "pipe"
)

// Place returns the effect's path, preceded by its host unless that is this
// machine; empty where the effect has no path.
func (e *Effect) Place() string {
	if e.Host == "" || e.Short == "" {
		return e.Short
	}
	return e.Host + ":" + e.Short
}

// Creates reports whether an effect creates a file: judged by whether the file
// exists, and where that is unknown, by the verb.
func (e *Effect) Creates() bool {
	if e.Kind != EffectFileWrite || e.Verb == "move" {
		return false
	}
	return e.Exists == "no" || e.Exists == "" && slices.Contains([]string{"create", "write", "copy", "download"}, e.Verb)
}

// Opaque is a part of an action that the classifier did not understand.
type Opaque struct {
	Reason string `json:"reason"`          // why it was not understood
	Where  string `json:"where,omitempty"` // the part in question, masked and shortened
}

// OpaqueReasons lists every reason why part of an action is not understood.
func OpaqueReasons() []string {
	return []string{
		"syntax",    // the text does not parse
		"command",   // the command's name is unknown before it runs
		"code",      // code is run that is not seen
		"target",    // the target of a change is unknown
		"budget",    // too large to be examined completely
		"tool",      // the tool is unknown
		"arguments", // the arguments are not what the tool takes
		"encoding",  // bytes that are not text, invisible or look-alike characters
	}
}

// VerbList is the verb of a file_read that shows names, sizes and dates of
// files but none of their contents.
const VerbList = "list"

// ObjectWorktree is the object of effects that make or remove a working tree
// with git worktree.
const ObjectWorktree = "worktree"

// LocationNamed is the location of paths that a person named, wherever they
// are.
const LocationNamed = "named"

// The states of a path in the ledger, mildest first: of two, the one later
// in this list takes precedence.
const (
	LedgerRead    = "read"
	LedgerCreated = "created"
	LedgerWritten = "written"
	LedgerDeleted = "deleted"
	LedgerMoved   = "moved_into"
)

// Effects that a person approved, as in Effect.Agreed.
const (
	AgreedFile   = "file"   // the same file
	AgreedFolder = "folder" // another file of the same folder, with the same extension
)

// LedgerStates lists the values of Effect.Ledger.
func LedgerStates() []string {
	return []string{LedgerRead, LedgerCreated, LedgerWritten, LedgerDeleted, LedgerMoved}
}

// Synchronises reports whether an effect is git's contact with its remote: its
// output consists of branch names and git's own messages.
func (a *Action) Synchronises(e *Effect) bool {
	if e.Command < 0 || e.Command >= len(a.Commands) {
		return false
	}
	c := &a.Commands[e.Command]
	return c.Name == "git" && len(c.Sub) > 0 && slices.Contains([]string{"fetch", "pull", "push", "ls-remote", "remote"}, c.Sub[0])
}

// Plan is the part of a call that concerns the agent's own list of sub-tasks. Their titles are not
// stored.
type Plan struct {
	Whole bool  `json:"whole,omitempty"` // the list is complete and replaces the previous one
	Done  int64 `json:"done,omitempty"`  // sub-tasks that are done
	Open  int64 `json:"open,omitempty"`  // sub-tasks that are not done
	// Digest of the id of the sub-task whose state this is; absent: new sub-tasks,
	// or all.
	Task string `json:"task,omitempty"`
}

// SubTask is an entry of the agent's own list, unmasked: it is sent to the agent and never
// recorded.
type SubTask struct {
	Title string
	Done  bool
}
