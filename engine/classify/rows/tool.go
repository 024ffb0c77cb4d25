package rows

import (
	"slices"
	"strings"
)

// Tool is a row of tools/: what a tool of an agent or of an MCP server does with
// its arguments. A name that ends in * applies to all tools with that prefix.
//
//	mcp__shop__refund_order:
//	  args: [order_id none, receipt read]
//	  do: [{end: refund, object: order}]
//
// Arguments of an MCP tool that no row names are interpreted by their own names; do and
// cases replace what the tool's name suggests.
type Tool struct {
	About    string        `json:"about,omitempty" yaml:"about"`
	Action   string        `json:"action,omitempty" yaml:"action"`     // dotted name, as access rules match it; absent for an MCP tool: mcp.SERVER.TOOL
	Type     string        `json:"type,omitempty" yaml:"type"`         // type of the action, if effects do not determine it
	Resource string        `json:"resource,omitempty" yaml:"resource"` // the first of these arguments that is present names the call (of a list: files[], files[].path); none: all do
	Args     []string      `json:"args,omitempty" yaml:"args"`         // NAME ROLE, or NAME ROLE required: the meaning of the arguments; see Arg
	Contents string        `json:"contents,omitempty" yaml:"contents"` // names of nested arguments that are contents
	Waits    string        `json:"waits,omitempty" yaml:"waits"`       // true: it waits; or the argument without which it waits, and with any value but false
	Watches  bool          `json:"watches,omitempty" yaml:"watches"`   // it observes something that changes on its own, such as a background process
	Plan     *Plan         `json:"plan,omitempty" yaml:"plan"`         // it keeps the agent's list of sub-tasks
	Prompts  *Prompts      `json:"prompts,omitempty" yaml:"prompts"`   // the client can pass texts of the call to an agent as a prompt
	Do       []Step        `json:"do,omitempty" yaml:"do"`             // what it always does
	Cases    []Case        `json:"cases,omitempty" yaml:"cases"`       // the first that applies, by value, option and without: names of arguments
	Go       string        `json:"go,omitempty" yaml:"go"`             // a Go function for what rows cannot express
	Replace  bool          `json:"replace,omitempty" yaml:"replace"`   // the rows of lower layers no longer apply
	Examples []ToolExample `json:"examples,omitempty" yaml:"examples"`
}

// Prompts names the arguments of a tool whose texts a client can later pass to an agent as if a person had typed them.
type Prompts struct {
	Args string `json:"args,omitempty" yaml:"args"` // names of arguments, separated by spaces; absent: code that the tool runs has the texts
	Days int64  `json:"days,omitempty" yaml:"days"` // days within which that can happen; absent: any number
}

// Plan names the arguments of a tool that contain the agent's list of sub-tasks. Without list
// and id, each call is a new sub-task.
type Plan struct {
	List  string `json:"list,omitempty" yaml:"list"`   // argument that lists all sub-tasks; title and state are keys of its items
	ID    string `json:"id,omitempty" yaml:"id"`       // argument with the id of the sub-task that changes
	Title string `json:"title,omitempty" yaml:"title"` // argument with the title of a sub-task
	State string `json:"state,omitempty" yaml:"state"` // argument with its state
	Done  string `json:"done,omitempty" yaml:"done"`   // states in which it is done
	Gone  string `json:"gone,omitempty" yaml:"gone"`   // states in which it is no longer on the list
}

// ToolExample is a call and what is found in it, as in Example.
type ToolExample struct {
	Tool    string         `json:"tool,omitempty" yaml:"tool"` // absent: the row's own name
	Args    map[string]any `json:"args,omitempty" yaml:"args"`
	Effects []string       `json:"effects,omitempty" yaml:"effects"`
	Never   []string       `json:"never,omitempty" yaml:"never"`
	Signals []string       `json:"signals,omitempty" yaml:"signals"`
}

// Roles of arguments.
const (
	RoleNone       = "none"       // has no meaning of its own
	RoleRead       = "read"       // the file is read
	RoleSearch     = "search"     // the directory is searched; the working directory when absent
	RoleWrite      = "write"      // the file's content is replaced or created
	RoleEdit       = "edit"       // part of the file is changed
	RoleMake       = "make"       // the directory is created
	RoleSend       = "send"       // the file, or each of a list, leaves the machine
	RoleShell      = "shell"      // run by a POSIX shell
	RolePowerShell = "powershell" // run by PowerShell
	RoleCode       = "code"       // run by something that cannot be analysed
	RolePage       = "page"       // JavaScript that runs in the page of a browser
	RoleDir        = "dir"        // the tool works there, so it comes before arguments with relative names
	RoleFetch      = "fetch"      // fetched
	RoleAddresses  = "addresses"  // each address in the text is fetched
	RoleText       = "text"       // a string that is not stored: file content, prompts
	RolePrivate    = "private"    // not stored, and leaves the machine
	RoleMessage    = "message"    // leaves the machine, short enough to be recorded
)

// Roles lists the roles of arguments.
func Roles() []string {
	return []string{RoleNone, RoleRead, RoleSearch, RoleWrite, RoleEdit, RoleMake, RoleSend, RoleShell, RolePowerShell, RoleCode,
		RolePage, RoleDir, RoleFetch, RoleAddresses, RoleText, RolePrivate, RoleMessage}
}

// Hides reports whether a role removes something from the facts of a call: only the base
// and the organisation's layer may assign it to arguments.
func Hides(role string) bool { return Has("none text private code page dir", role) }

// ToolOps lists the keys of which a step of a tool's row has exactly one. Their values, and
// those of on, if, unless, recursive, forced and confirmed, are names of arguments, =text,
// or unknown; the value of run is a command in which $NAME stands for an argument.
func ToolOps() []string {
	return strings.Fields("read write delete fetch send code run network system process end signal")
}

// ToolKeys lists the other keys of such a step.
func ToolKeys() []string {
	return strings.Fields("on verb object if unless recursive forced confirmed contents privileged egress persistence reversible")
}

// ToolFunctions lists the functions in Go that a tool's row may name.
func ToolFunctions() []string {
	return strings.Fields("exitWorktree globPattern grepGlob leaves monitor patched schedule search share workflow")
}

// Argument is an entry of args.
type Argument struct {
	Names    []string // agents call it differently; required means that one of them is present
	Role     string
	List     bool // its value is a list, and the role that of each item
	Required bool
}

// Arg reads an entry of args: NAME ROLE or NAME ROLE required. NAME|OTHER stands for an
// argument that several agents name differently, and NAME[] for a list.
func Arg(text string) (a Argument, ok bool) {
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 3 || len(words) == 3 && words[2] != "required" {
		return Argument{}, false
	}
	name, list := strings.CutSuffix(words[0], "[]")
	a = Argument{strings.Split(name, "|"), words[1], list, len(words) == 3}
	return a, !slices.Contains(a.Names, "")
}

// Over merges a row of a higher layer, or of a longer name, into t.
func (t Tool) Over(higher Tool) Tool {
	if higher.Replace {
		return higher
	}
	for _, field := range []struct{ low, high *string }{{&t.About, &higher.About}, {&t.Action, &higher.Action}, {&t.Type, &higher.Type},
		{&t.Resource, &higher.Resource}, {&t.Waits, &higher.Waits}, {&t.Go, &higher.Go}} {
		if *field.high != "" {
			*field.low = *field.high
		}
	}
	t.Args = append(t.Args[:len(t.Args):len(t.Args)], higher.Args...)
	t.Watches = t.Watches || higher.Watches
	if higher.Plan != nil {
		t.Plan = higher.Plan
	}
	if higher.Prompts != nil {
		t.Prompts = higher.Prompts
	}
	t.Contents = strings.TrimSpace(t.Contents + " " + higher.Contents)
	if higher.Do != nil {
		t.Do = append(higher.Do[:len(higher.Do):len(higher.Do)], t.Do...)
	}
	t.Cases = append(higher.Cases[:len(higher.Cases):len(higher.Cases)], t.Cases...)
	t.Examples = append(t.Examples[:len(t.Examples):len(t.Examples)], higher.Examples...)
	return t
}
