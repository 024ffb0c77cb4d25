package engine

import "slices"

// Type says what an action would do, whatever tool does it. An action has a
// set of them; a shell command has the types of its effects.
type Type string

// The types of actions.
const (
	TypeFileRead         Type = "file_read"
	TypeFileCreation     Type = "file_creation"
	TypeFileModification Type = "file_modification"
	TypeFileDeletion     Type = "file_deletion"
	TypeSystemCommand    Type = "system_command" // changes the system, or is a command that is not understood
	TypeNetworkRequest   Type = "network_request"
	TypeMessage          Type = "message" // talks to a person or keeps the agent's own books; touches nothing
	TypeAgentSpawn       Type = "agent_spawn"
	TypeMCPCall          Type = "mcp_call"
	TypeUnknown          Type = "unknown" // could not be parsed: risky, never harmless
)

// Types lists every Type.
func Types() []string {
	return []string{
		string(TypeFileRead), string(TypeFileCreation), string(TypeFileModification), string(TypeFileDeletion),
		string(TypeSystemCommand), string(TypeNetworkRequest), string(TypeMessage), string(TypeAgentSpawn),
		string(TypeMCPCall), string(TypeUnknown),
	}
}

// Facts is what a Classifier says of an Event: facts on which two
// organisations agree, masked and shortened. Nothing in it depends on policy
// or on the session's history.
type Facts struct {
	Event  EventFacts
	Action *Action // nil for events that are no action (a prompt, a session's start)
	Args   string  // MAC of the raw arguments' canonical bytes; tells whether what ran is what was approved
	Cut    []Cut   // what was shortened
}

// Cut says what was shortened to fit a record, so that nothing is lost silently.
type Cut struct {
	Field string `json:"field"`         // JSON path below the record, such as "event.args.command"
	Bytes int64  `json:"bytes"`         // full length before shortening (items for a list)
	MAC   string `json:"mac,omitempty"` // keyed digest of the full text
}

// Action is what an Event means. Lists are sorted where order says nothing.
type Action struct {
	Name     string    `json:"name"`     // dotted name for access rules: code.exec, filesystem.write, mcp.github.create_issue
	Resource string    `json:"resource"` // the command, path, URL, or a JSON summary; masked, shortened
	Types    []Type    `json:"types"`    // sorted, at least one
	Intent   Type      `json:"intent"`   // the one type that names the action best
	Commands []Command `json:"commands"` // in the order in which they would run
	Paths    []string  `json:"paths"`    // distinct Short paths that are touched, sorted
	Hosts    []string  `json:"hosts"`    // distinct hosts that are contacted, sorted
	Effects  []Effect  `json:"effects"`  // worst kinds first
	Signals  []Signal  `json:"signals"`  // sorted
	Opaque   []Opaque  `json:"opaque"`   // what was not understood

	// Of commands that stand among the arguments of programs of which nothing is
	// known: what those would do if the programs ran them. The first are the worst.
	Possible        []Effect `json:"possible,omitempty"`
	PossibleSignals []Signal `json:"possible_signals,omitempty"`

	Fingerprint string                  `json:"fingerprint"`           // 16 hex digits: same tool and same arguments (MAC)
	Tokens      []string                `json:"tokens,omitempty"`      // 16 smallest token hashes (8 hex), for similarity of commands
	Words       []string                `json:"words,omitempty"`       // hashes of the words that say what it is about (8 hex), as in Goal.Words; at most 24
	Marks       []string                `json:"marks,omitempty"`       // keyed hashes (8 hex) of the texts in it that could have come from elsewhere, as they are and decoded: addresses, hosts, paths, packages, long words; at most 28
	Check       bool                    `json:"check,omitempty"`       // it looks whether the work is good: tests, linters, validators
	Waits       bool                    `json:"waits,omitempty"`       // it sleeps before it does something
	Watches     bool                    `json:"watches,omitempty"`     // it only looks at what changes by itself: a process in the background, a pipeline, a server of this machine
	Carries     []Label                 `json:"carries,omitempty"`     // labels of what it shares with earlier outputs; joined from history
	SecretsOut  []WayOut                `json:"secrets_out,omitempty"` // ways in which something of a secret that was read reaches another machine by it; joined from history
	Terminals   *Terminals              `json:"terminals,omitempty"`   // what is typed into terminals and has not run yet, where it types into one
	Flows       []Flow                  `json:"flows,omitempty"`       // what of secrets it hands to other hosts, as far as its own words say so; at most 16
	Contents    map[string]ContentFacts `json:"contents,omitempty"`    // argument name -> facts of a text that is not stored
	Detected    map[string]int64        `json:"detected,omitempty"`    // id of a detector of the policy -> how often it was found in the raw texts
	Code        []Code                  `json:"code,omitempty"`        // code that it writes into files, and what that would do
	Loads       []string                `json:"loads,omitempty"`       // what its programs may run of the files around, sorted: kinds of code, any, named (files that it names), =NAME (a module of that name)
	Inherits    []Inherited             `json:"inherits,omitempty"`    // code that the session wrote, that policy objected to and that this may run; joined from history
}

// FlowKind is what kind of secret is handed to another host.
type FlowKind string

// The kinds of secrets that an action may hand on.
const (
	FlowFile        FlowKind = "file"        // what a file with credentials holds
	FlowEnvironment FlowKind = "environment" // all variables of the environment
	FlowStore       FlowKind = "store"       // what a program shows that keeps secrets
	FlowVariable    FlowKind = "variable"    // a variable from outside, which the action does not set
	FlowToken       FlowKind = "token"       // a token that stands in the action, of an issuer that is known
)

// FlowKinds lists every FlowKind.
func FlowKinds() []string {
	return []string{string(FlowEnvironment), string(FlowFile), string(FlowStore), string(FlowToken), string(FlowVariable)}
}

// Flow says that something of a secret is in what a command, or a tool, hands to
// another host.
type Flow struct {
	What     FlowKind `json:"what"`
	Name     string   `json:"name"`               // place of the file; name of the variable or the program; kind of the token
	Class    Class    `json:"class,omitempty"`    // of the file: credential or env_file
	Host     string   `json:"host,omitempty"`     // host or service; empty: not known
	Image    string   `json:"image,omitempty"`    // of the container that gets it, instead of a host
	Loopback bool     `json:"loopback,omitempty"` // the host is this machine
	Own      bool     `json:"own,omitempty"`      // the host is of who issued it (words flows.owners), or of the name of the variable
	Part     bool     `json:"part,omitempty"`     // lines or fields that were picked out of a file
	Login    bool     `json:"login,omitempty"`    // it stands where a client says who asks: a header of its own, a password
	Command  int      `json:"command"`            // index into Commands; -1: the tool itself
}

// Command is one simple command after wrappers were taken off.
type Command struct {
	Name     string   `json:"name"`               // base name of the program; empty when it is not known
	Sub      []string `json:"sub,omitempty"`      // subcommands: ["push"], ["compose","down"]
	Flags    []string `json:"flags,omitempty"`    // as written, in their order, up to "--": a cluster stays one ("-uf"), a value that stands apart goes behind = ("--context=prod"); masked
	Operands []string `json:"operands,omitempty"` // what is left, masked; unknown parts as "?"
	Wrappers []string `json:"wrappers,omitempty"` // sudo, env, timeout…, outermost first
	Via      []string `json:"via,omitempty"`      // provenance: sh-c, eval, heredoc, pipe, base64, xargs, find-exec…, outermost first
}

// EffectKind is what an effect acts on.
type EffectKind string

// The kinds of effects, the worst first: the order in which effects are kept
// when there are too many for a record.
const (
	EffectFileDelete EffectKind = "file_delete"
	EffectSystemCall EffectKind = "system_call" // changes the system beyond files: disks, services, accounts, firewall, power
	EffectNetwork    EffectKind = "network"
	EffectFileWrite  EffectKind = "file_write"
	EffectResource   EffectKind = "resource" // spends time, memory, disk without bound
	EffectProcess    EffectKind = "process"
	EffectFileRead   EffectKind = "file_read"
)

// EffectKinds lists every EffectKind, worst first.
func EffectKinds() []string {
	return []string{
		string(EffectFileDelete), string(EffectSystemCall), string(EffectNetwork), string(EffectFileWrite),
		string(EffectResource), string(EffectProcess), string(EffectFileRead),
	}
}

// Certainty says how well a target is known.
type Certainty string

// The certainties of a target. Policy treats anything but exact and glob as
// the worst case.
const (
	CertaintyExact   Certainty = "exact"
	CertaintyGlob    Certainty = "glob"    // a pattern whose fixed directory is in Target
	CertaintyPrefix  Certainty = "prefix"  // Target is a known beginning
	CertaintyUnknown Certainty = "unknown" // nothing is known
)

// Certainties lists every Certainty.
func Certainties() []string {
	return []string{string(CertaintyExact), string(CertaintyGlob), string(CertaintyPrefix), string(CertaintyUnknown)}
}

// Location says where a path lies, seen from the session's workspace. The
// classifier decides it on real paths (symbolic links resolved).
type Location string

// The locations of paths.
const (
	LocationInside   Location = "inside"    // below the workspace
	LocationSelf     Location = "self"      // the workspace itself, or all that is in it
	LocationWorktree Location = "worktree"  // below another working tree of the workspace's repository, or such a tree that git worktree makes or removes
	LocationAncestor Location = "ancestor"  // contains the workspace
	LocationTemp     Location = "temp"      // below a temporary directory that does not hold the workspace
	LocationBeside   Location = "beside"    // below a temporary directory that holds the workspace too: scratch, or somebody's work
	LocationTempRoot Location = "temp_root" // a temporary directory itself, or all that is in it
	LocationNotes    Location = "notes"     // a file of the agent's own notes about the workspace, in a home directory
	LocationHome     Location = "home"      // below a home directory
	LocationHomeRoot Location = "home_root" // a home directory itself, or all that is in it
	LocationSystem   Location = "system"    // below /etc, /usr, /boot, …
	LocationDevice   Location = "device"    // below /dev, but not the harmless ones (null, zero, stdout, …)
	LocationNull     Location = "null"      // /dev/null and its like: nothing happens to it
	LocationRoot     Location = "root"      // the root, a drive, or a directory just below it that belongs to the system
	LocationOutside  Location = "outside"   // anywhere else
	LocationUnknown  Location = "unknown"   // the target is not known
)

// Locations lists every Location.
func Locations() []string {
	return []string{
		string(LocationInside), string(LocationSelf), string(LocationWorktree), string(LocationAncestor), string(LocationTemp), string(LocationBeside), string(LocationTempRoot), string(LocationNotes),
		string(LocationHome), string(LocationHomeRoot), string(LocationSystem), string(LocationDevice), string(LocationNull),
		string(LocationRoot), string(LocationOutside), string(LocationUnknown),
	}
}

// Class says what kind of file a path is by its name and place, independent of
// any organisation's own list of protected places (which is policy).
type Class string

// The classes of files that matter to more than one organisation.
const (
	ClassCredential Class = "credential"    // private keys, cloud and package credentials, keychains, shell history
	ClassEnvFile    Class = "env_file"      // .env and its kin, but not examples and templates
	ClassStartup    Class = "startup"       // shell rc files, crontabs, systemd units, launch agents, login items
	ClassGitHook    Class = "git_hook"      // .git/hooks, and configuration that names commands
	ClassGitData    Class = "git_data"      // below .git otherwise, or .git itself
	ClassAgent      Class = "agent_config"  // settings, hooks, MCP servers and instructions of coding agents
	ClassGuard      Class = "guard"         // reviewer's own state, policy, keys and binary
	ClassCI         Class = "ci_config"     // workflow definitions
	ClassGenerated  Class = "generated"     // built or downloaded again by a tool: ignored by git and known to be regenerable
	ClassBackup     Class = "backup"        // copies kept for a bad day
	ClassDatabase   Class = "database"      // files of a database
	ClassMount      Class = "system_config" // configuration of the machine below /etc
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

// Reversibility is the taxonomy's scale: R0 pure read, R1 by the tool itself,
// R2 by version control, R3 at a cost (rebuild, download again), R4 never on
// this machine, R5 never anywhere. Empty: not known.
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
	Kind          EffectKind    `json:"kind"`
	Verb          string        `json:"verb"`             // read, create, write, append, truncate, delete, move, link, chmod, fetch, send, listen, exec, kill, …
	Target        string        `json:"target,omitempty"` // real absolute path, URL or host; masked
	Object        string        `json:"object,omitempty"` // what it is about where the target does not say: at a service as it names it, in the singular (volume, stack, table, rows, package), history of a repository, host of a container that can change all of the machine; absent: not known
	Short         string        `json:"short,omitempty"`  // the path with the home directory as ~ and the workspace as .
	Certainty     Certainty     `json:"certainty"`
	Location      Location      `json:"location,omitempty"` // paths only
	Class         Class         `json:"class,omitempty"`    // paths only
	Exists        string        `json:"exists,omitempty"`   // "yes", "no"; absent: not known
	Entry         string        `json:"entry,omitempty"`    // "file", "dir", "link", "other"; absent: not known
	Git           string        `json:"git,omitempty"`      // "clean", "dirty", "untracked", "ignored"; absent: not known
	Recursive     bool          `json:"recursive,omitempty"`
	Forced        bool          `json:"forced,omitempty"`
	Privileged    bool          `json:"privileged,omitempty"`
	Egress        bool          `json:"egress,omitempty"`      // data leaves the machine
	Loopback      bool          `json:"loopback,omitempty"`    // the host is this machine
	Persistence   bool          `json:"persistence,omitempty"` // outlives the session: start-up files, schedulers, services
	Reversibility Reversibility `json:"reversibility,omitempty"`
	Host          string        `json:"host,omitempty"`       // where it happens, if not on this machine: ssh:NAME, container:NAME, vm:…, app:…, volume:…, one behind the other with /; masked
	Command       int           `json:"command"`              // index into Action.Commands; -1: the tool itself
	Lost          int64         `json:"lost,omitempty"`       // how much of a file goes, where the call says what is left: in percent of its bytes, rounded down; absent: nothing, or not known
	Shrinks       bool          `json:"shrinks,omitempty"`    // Lost is nine tenths or more; read by policies of earlier versions
	Mode          string        `json:"mode,omitempty"`       // permissions as the call gives them: 0777, a+w, cap_net_raw+ep; absent: none are given, or they are not known
	Guard         string        `json:"guard,omitempty"`      // "is": changes a part of what guards the session (reviewer, settings and hooks of the client); "holds": such a part goes with it; "minor": settings of the client that decide nothing
	Repository    bool          `json:"repository,omitempty"` // a directory that goes, with a repository in it
	Bytes         int64         `json:"bytes,omitempty"`      // what the call says that it writes, of files made to a size; absent: not known
	Ledger        string        `json:"ledger,omitempty"`     // what the session did to the path before: see LedgerStates; joined from history
	Secret        bool          `json:"secret,omitempty"`     // the file holds something of a credential or env file; joined from history
	Untrusted     bool          `json:"untrusted,omitempty"`  // the file holds something that nobody in the session wrote; joined from history
	Named         bool          `json:"named,omitempty"`      // a person named the path, or a folder that holds it; joined from history
	Given         bool          `json:"given,omitempty"`      // a person gave the path, or that of a folder that holds it, in full: /…, ~/… or ../…; joined from history
	Agreed        string        `json:"agreed,omitempty"`     // of a write: a person said yes to an earlier one, to the same file or to one of its folder; joined from history
	Run           bool          `json:"run,omitempty"`        // the file is read by a command that runs something: joined for policy
	Scoped        bool          `json:"scoped,omitempty"`     // a person added the path, or a folder that holds it, to the session's scope; joined from history
}

// Place names an effect's path, behind the host where it lies unless that is
// this machine; empty for what is no path.
func (e *Effect) Place() string {
	if e.Host == "" || e.Short == "" {
		return e.Short
	}
	return e.Host + ":" + e.Short
}

// Makes reports whether an effect brings a file into being: by whether it is
// there, and where nothing is known of that, by the verb.
func (e *Effect) Makes() bool {
	if e.Kind != EffectFileWrite || e.Verb == "move" {
		return false
	}
	return e.Exists == "no" || e.Exists == "" && slices.Contains([]string{"create", "write", "copy", "download"}, e.Verb)
}

// Opaque is something that the classifier did not understand, with where.
type Opaque struct {
	Reason string `json:"reason"`          // one of OpaqueReasons
	Where  string `json:"where,omitempty"` // the piece, masked and shortened
}

// OpaqueReasons lists every reason for which an action is not understood.
func OpaqueReasons() []string {
	return []string{
		"syntax",    // the text does not parse
		"command",   // the command's name is not known before it runs
		"code",      // code is run that is not seen
		"target",    // the target of a change is not known
		"budget",    // too large to look at all of it
		"tool",      // the tool is not known
		"arguments", // the arguments are not what the tool takes
		"encoding",  // bytes that are no text, invisible or look-alike characters
	}
}

// VerbList is the verb of a file_read that shows names, sizes and dates of files,
// and nothing that is in them.
const VerbList = "list"

// ObjectWorktree is the object of effects that make or remove a working tree
// with git worktree.
const ObjectWorktree = "worktree"

// WrittenNamed is the place of what a person named, wherever it lies.
const WrittenNamed = "named"

// The states of a path in the ledger, mildest first: of two, the later wins.
const (
	LedgerRead    = "read"
	LedgerCreated = "created"
	LedgerWritten = "written"
	LedgerDeleted = "deleted"
	LedgerMoved   = "moved_into"
)

// What a person said yes to, of Effect.Agreed.
const (
	AgreedFile   = "file"   // the same file
	AgreedFolder = "folder" // another file of the same folder
)

// LedgerStates lists what Effect.Ledger may say.
func LedgerStates() []string {
	return []string{LedgerRead, LedgerCreated, LedgerWritten, LedgerDeleted, LedgerMoved}
}

// Synchronises reports whether an effect is git's, to its remote: what it prints
// are names of branches and its own words.
func (a *Action) Synchronises(e *Effect) bool {
	if e.Command < 0 || e.Command >= len(a.Commands) {
		return false
	}
	c := &a.Commands[e.Command]
	return c.Name == "git" && len(c.Sub) > 0 && slices.Contains([]string{"fetch", "pull", "push", "ls-remote", "remote"}, c.Sub[0])
}
