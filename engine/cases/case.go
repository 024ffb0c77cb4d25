package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Case is a sequence of events with the expected decisions. Its JSON names are the keys of
// the files; doc.go shows them.
type Case struct {
	Name string `json:"name"` // name, unique in the file
	// Absolute path of the project folder; none: unknown; absent: /srv/shop.
	Workspace string `json:"workspace,omitempty"`
	// Absolute path of the person's home directory; absent: /home/anna.
	Home string `json:"home,omitempty"`
	// Time at which the session begins, RFC 3339; absent: a Monday in 2026, 09:00 UTC.
	Now     string `json:"now,omitempty"`
	Mode    string `json:"mode,omitempty"`    // permission mode of the agent
	Harness string `json:"harness,omitempty"` // agent that makes the calls; absent: claude-code
	// Files that exist, by path in the workspace, under ~/ or absolute; absent: nothing is known about the
	// machine.
	Files map[string]File   `json:"files,omitempty"`
	Git   map[string]string `json:"git,omitempty"` // state of files in version control, by path; absent: unknown
	// true: the files are stored before each call where the policy requires it, so the session has checkpoints.
	Checkpoints bool `json:"checkpoints,omitempty"`

	Settings map[string]any               `json:"settings,omitempty"` // settings of the user layer for this case
	Layers   map[string]map[string]string `json:"layers,omitempty"`   // more files of layers for this case: layer, file, content
	Events   []Event                      `json:"events,omitempty"`   // what happens, in order
	// Table: each row is a separate case that begins with the events above it.
	Rows []Row `json:"cases,omitempty"`
	// Why the case does not pass yet: it runs and its failure is not counted.
	Todo string `json:"todo,omitempty"`
	// Id of an incident that the case retells: some call must be held up where the case expects it.
	Incident string `json:"incident,omitempty"`
	// The harmless counterpart of a harmful case: no call may be asked about or blocked.
	Twin bool `json:"twin,omitempty"`

	File string `json:"-"` // file that contains the case
	Line int    `json:"-"`

	table string // the table that the case is a row of
	row   int    // its number there, from 1; 0: not a row
}

// ID names the case in its file: its name, and of a row the table's name and
// the row's number from 1, such as deletions/3.
func (c Case) ID() string {
	if c.row == 0 {
		return c.Name
	}
	return c.table + "/" + strconv.Itoa(c.row)
}

// The defaults of a case.
const (
	defaultWorkspace = "/srv/shop"
	defaultHome      = "/home/anna"
	defaultNow       = "2026-03-02T09:00:00Z"
)

// noWorkspace means that the agent names no folder, so that nothing is in scope or out of
// scope.
const noWorkspace = "none"

// GitStates lists the states of a file in git. A file in conflict counts as dirty, except
// for commands that take one side.
func GitStates() []string { return []string{"clean", "dirty", "untracked", "ignored", Conflict} }

// Conflict is the state of a file that two branches have changed differently.
const Conflict = "conflict"

// File is one path of the machine: a file with its content, a folder, a link, or another
// name of an existing path.
type File struct {
	Content string `json:"content,omitempty"` // text of the file, in short form the text itself
	Folder  bool   `json:"folder,omitempty"`  // it is a folder; in short form null
	Link    string `json:"link,omitempty"`    // target of the symbolic link
	Same    string `json:"same,omitempty"`    // path of the file that this is another name for, as on a disk that ignores case or in a bind mount
}

// form reads "a string", null (a folder), {link: target} and {same: path}.
func (f *File) form(d *decoder, n *yaml.Node, name string) {
	var named struct {
		Link string `json:"link,omitempty"`
		Same string `json:"same,omitempty"`
	}
	switch {
	case n.Tag == "!!null":
		f.Folder = true
	case n.Kind == yaml.ScalarNode:
		f.Content = n.Value
	default:
		d.plain(reflect.ValueOf(&named).Elem(), n, name)
		if f.Link, f.Same = named.Link, named.Same; (f.Link == "") == (f.Same == "") {
			d.wrong(n, "%s: expected text, null for a folder, {link: target} or {same: path}", name)
		}
	}
}

// Event is one event: exactly one of a prompt, a tool call (with or without its result),
// the result of an earlier call, a person's choice, or any other event of the agent.
type Event struct {
	Prompt  string          `json:"prompt,omitempty"`  // text that a person writes
	Tool    string          `json:"tool,omitempty"`    // name of the tool; {Bash: ls} is short for {tool: Bash, args: {command: ls}}
	Args    map[string]any  `json:"args,omitempty"`    // arguments of the tool
	Asks    bool            `json:"asks,omitempty"`    // the agent is about to ask a person about the call
	Result  *Result         `json:"result,omitempty"`  // outcome: ok, failed, or {failed: its error, output: its text}
	Allow   string          `json:"allow,omitempty"`   // a person allows the last call: once or session
	Stop    string          `json:"stop,omitempty"`    // a person stops the session; the reason
	Resume  string          `json:"resume,omitempty"`  // a person resumes the session; the reason
	Restore string          `json:"restore,omitempty"` // a person restores files to a checkpoint; the reason
	With    string          `json:"with,omitempty"`    // conditions under which a person resumes the session
	Phase   string          `json:"phase,omitempty"`   // another event of the agent
	Says    string          `json:"says,omitempty"`    // last message of the agent; with phase: stop
	Tokens  int             `json:"tokens,omitempty"`  // tokens that the model wrote before the call or prompt; for calls made several times, before each
	Call    int             `json:"call,omitempty"`    // which call a result or allow is about, from 1; absent: the last
	Times   int             `json:"times,omitempty"`   // how often the call is made; expectations apply to the last one
	Every   string          `json:"every,omitempty"`   // pause between calls that are made several times
	At      string          `json:"at,omitempty"`      // when it happens: +5s after the previous event, or RFC 3339; absent: +1s
	Mode    string          `json:"mode,omitempty"`    // permission mode from here on
	CWD     string          `json:"cwd,omitempty"`     // directory of the agent from here on
	Agent   string          `json:"agent,omitempty"`   // id of the sub-agent that makes this call
	Other   string          `json:"other,omitempty"`   // agent of another session in the workspace, in which this happens
	Files   map[string]File `json:"files,omitempty"`   // files that exist after the event, besides the others
	Expect  *Expect         `json:"expect,omitempty"`  // what the policy must decide

	line  int
	short bool // the tool is named by a key, with its main argument
}

// Vocabulary lists the words that a key may have; nil if it may have any.
func (Event) Vocabulary(key string) []string {
	switch key {
	case "allow":
		return []string{"once", "session"}
	case "with":
		return []string{engine.ResumeLimits, engine.ResumeSupervise}
	case "phase":
		return slices.DeleteFunc(engine.Phases(), func(p string) bool {
			return slices.Contains([]engine.Phase{engine.PhasePre, engine.PhasePost, engine.PhasePrompt}, engine.Phase(p))
		})
	}
	return nil
}

// pathArgument is the main argument of the tools that take one file. Agents give absolute
// paths; a case need not.
const pathArgument = "file_path"

// meant returns the tool with a short form whose name is closest to a misspelt one.
func meant(tool string) string {
	near := engine.Nearest(tool, []string{"Bash", "PowerShell", "Monitor", "Read", "Write", "Edit", "WebFetch", "WebSearch", "Glob", "Grep",
		"Agent", "Task"})
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// mainArgument returns the argument that a tool's short form sets, and the other arguments
// that the tool requires.
func mainArgument(tool string) (name string, rest map[string]any) {
	switch tool {
	case "Bash", "PowerShell", "Monitor":
		return "command", nil
	case "Read":
		return pathArgument, nil
	case "Write":
		return pathArgument, map[string]any{"content": "text\n"}
	case "Edit":
		return pathArgument, map[string]any{"old_string": "old", "new_string": "new"}
	case "WebFetch":
		return "url", map[string]any{"prompt": "what does it say?"}
	case "WebSearch":
		return "query", nil
	case "Glob", "Grep":
		return "pattern", nil
	case "Agent", "Task":
		return "prompt", map[string]any{"description": "a task"}
	}
	return "", nil
}

// form decodes an event, which may name its tool by a key: {Bash: ls}.
func (e *Event) form(d *decoder, n *yaml.Node, name string) {
	e.line = d.line(n)
	before := len(d.problems)
	d.plain(reflect.ValueOf(e).Elem(), e.withoutTool(d, n), name)
	if len(d.problems) == before {
		e.check(d, n)
	}
}

// withoutTool removes the key that is a tool's name from an event.
func (e *Event) withoutTool(d *decoder, n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return n
	}
	rest := *n
	rest.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; isTool(key.Value) && e.Tool == "" {
			e.Tool, e.Args = key.Value, map[string]any{}
			e.arguments(d, n.Content[i+1], key.Value)
		} else if e.Tool != "" && (key.Value == "tool" || key.Value == "args") {
			d.wrong(key, "%s: the event already names the tool %s with its arguments", key.Value, e.Tool)
		} else {
			rest.Content = append(rest.Content, key, n.Content[i+1])
		}
	}
	return &rest
}

// isTool reports whether a key is the name of a tool: all other keys are lower-case words.
func isTool(key string) bool {
	return key != "" && key[0] >= 'A' && key[0] <= 'Z' || strings.Contains(key, "__")
}

func (e *Event) arguments(d *decoder, n *yaml.Node, tool string) {
	if n.Kind != yaml.ScalarNode {
		d.into(reflect.ValueOf(&e.Args).Elem(), n, tool)
		return
	}
	argument, rest := mainArgument(tool)
	if argument == "" {
		d.wrong(n, "%s: expected its arguments, such as {key: value}, got %s%s", tool, kindOf(n), meant(tool))
		return
	}
	var text string
	d.into(reflect.ValueOf(&text).Elem(), n, tool)
	e.short, e.Args[argument] = true, text
	for k, v := range rest {
		e.Args[k] = v
	}
}

// check reports errors in an event whose keys and types are valid.
func (e *Event) check(d *decoder, n *yaml.Node) {
	kinds := e.kinds()
	switch {
	case len(kinds) == 0:
		d.wrong(n, "the event is empty: expected a tool such as Bash, or prompt, result, allow, stop, resume, restore, phase")
	case len(kinds) > 1:
		d.wrong(n, "the event combines %s; make each an event of its own", strings.Join(kinds, ", "))
	case e.Call != 0 && kinds[0] != "result" && kinds[0] != "allow":
		d.wrong(n, "call: only result and allow refer to an earlier call")
	case e.With != "" && e.Resume == "":
		d.wrong(n, "with: only resume has conditions")
	case e.Tokens < 0 || e.Tokens > 0 && e.Tool+e.Prompt == "":
		d.wrong(n, "tokens: expected a number of at least 1, with a tool call or a prompt")
	case e.Says != "" && e.Phase != string(engine.PhaseStop):
		d.wrong(n, "says: only an event with phase: stop has a last message")
	case e.Times != 0 && e.Tool == "":
		d.wrong(n, "times: only a tool call can happen several times")
	case e.Times < 0 || e.Times > maxTimes || e.Times == 0 && valueOf(n, "times") != n:
		d.wrong(n, "times: expected 1 to %d, got %d", maxTimes, e.Times)
	case e.Asks && e.Tool == "":
		d.wrong(n, "asks: a person is asked only about a tool call")
	case e.Expect != nil && e.Expect.Granted != "" && !e.Asks:
		d.wrong(n, "granted: only a call with asks: true can be granted")
	case e.Tool == "" && e.Args != nil:
		d.wrong(n, "args: tool is missing")
	case e.Result != nil && e.Tool != "" && e.Result.Args != nil:
		d.wrong(n, "result.args: only a result in an event of its own can have other arguments")
	case e.choice() && e.Expect != nil:
		d.wrong(n, "expect: a person's choice is not reviewed; put expect on the calls after it")
	}
	if _, err := e.pause(); err != nil || e.Every != "" && e.Times < 2 {
		d.wrong(n, "every: expected a pause such as 30s between repeated calls (times: 2 or more), got %q", e.Every)
	}
	d.time(valueOf(n, "at"), "at", e.At)
	d.files(n, e.Files)
}

// pause returns the time between repeated calls.
func (e *Event) pause() (time.Duration, error) {
	if e.Every == "" {
		return time.Millisecond, nil
	}
	d, err := time.ParseDuration(e.Every)
	if err == nil && d <= 0 {
		err = errors.New("the duration must be positive")
	}
	return d, err
}

// maxTimes bounds how often an event is repeated.
const maxTimes = 1000

// kinds lists what kinds of event the event is.
func (e *Event) kinds() []string {
	var kinds []string
	for _, k := range []struct {
		name  string
		there bool
	}{
		{"prompt", e.Prompt != ""}, {"tool", e.Tool != ""}, {"result", e.Result != nil && e.Tool == ""},
		{"allow", e.Allow != ""}, {"stop", e.Stop != ""}, {"resume", e.Resume != ""}, {"restore", e.Restore != ""}, {"phase", e.Phase != ""},
	} {
		if k.there {
			kinds = append(kinds, k.name)
		}
	}
	return kinds
}

// choice reports whether the event is a person's decision, which no agent reports.
func (e *Event) choice() bool { return e.Allow+e.Stop+e.Resume+e.Restore != "" }

// Result is the result of a tool call.
type Result struct {
	Failed string         `json:"failed,omitempty"` // error text; empty: the call worked
	Output string         `json:"output,omitempty"` // text that the call printed
	Bytes  int            `json:"bytes,omitempty"`  // minimum length of the output, padded with dots
	MS     int            `json:"ms,omitempty"`     // duration in milliseconds; absent: 10
	Args   map[string]any `json:"args,omitempty"`   // arguments that ran, if they differ from those of the call
}

// form reads ok, failed, and an object.
func (r *Result) form(d *decoder, n *yaml.Node, name string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.plain(reflect.ValueOf(r).Elem(), n, name)
	case n.Value == "failed":
		r.Failed = failedResult
	case n.Value != "ok":
		d.wrong(n, "%s: expected ok, failed, or {failed: its error, output: what it printed}, got %s", name, kindOf(n))
	}
}

// Row is a case in one line: a tool call and its expectations.
type Row struct {
	Name  string
	Todo  string
	Event Event
}

// form separates the keys of the call from those of the expectation.
func (r *Row) form(d *decoder, n *yaml.Node, name string) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, "%s: expected a row such as {Bash: ls, decision: allow}, got %s", name, kindOf(n))
		return
	}
	before := len(d.problems)
	call, expect := *n, *n
	call.Content, expect.Content = nil, nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Value == "name":
			d.into(reflect.ValueOf(&r.Name).Elem(), value, "name")
		case key.Value == "todo":
			d.into(reflect.ValueOf(&r.Todo).Elem(), value, "todo")
		case slices.Contains(expectations(), key.Value):
			expect.Content = append(expect.Content, key, value)
		case isTool(key.Value), slices.Contains(rowKeys(), key.Value):
			call.Content = append(call.Content, key, value)
		default:
			d.wrong(key, "unknown key %s", engine.Suggest(key.Value, append(rowKeys(), "name", "todo")))
		}
	}
	if len(d.problems) > before {
		return // the missing key may be the misspelt one
	}
	d.into(reflect.ValueOf(&r.Event).Elem(), &call, name)
	r.expect(d, n, &expect)
}

// rowKeys lists the keys of a row: those of an event and those of an expectation.
func rowKeys() []string {
	keys := expectations()
	for _, f := range engine.JSONFields(reflect.TypeFor[Event]()) {
		keys = append(keys, f.Name)
	}
	return keys
}

func (r *Row) expect(d *decoder, n, expect *yaml.Node) {
	switch {
	case r.Event.Tool == "":
		d.wrong(n, "the row has no tool call: expected a row such as {Bash: ls, decision: allow}")
	case r.Event.Expect != nil:
		d.wrong(n, "expect: put its keys directly in the row, such as {Bash: ls, decision: allow}")
	default:
		d.into(reflect.ValueOf(&r.Event.Expect).Elem(), expect, "the row")
	}
}

// title describes a row by its call, if it has no name.
func (r *Row) title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Event.title()
}

// title describes an event in a few words.
func (e *Event) title() string {
	argument, _ := mainArgument(e.Tool)
	switch text, ok := e.Args[argument].(string); {
	case e.Tool == "":
		return strings.Join(e.kinds(), "")
	case ok:
		return e.Tool + " " + text
	case len(e.Args) == 0:
		return e.Tool
	}
	args, err := json.Marshal(e.Args)
	if err != nil {
		return e.Tool
	}
	return e.Tool + " " + string(args)
}

// absolute reports whether a path starts at the root, or at a drive of Windows: C:/a.
func absolute(p string) bool {
	return path.IsAbs(p) || len(p) > 2 && p[1] == ':' && p[2] == '/' || ofWindows(p)
}

// ofWindows reports whether a path is absolute in the notation of Windows: C:\a, \\host\a.
// Cases keep it unchanged.
func ofWindows(p string) bool {
	return len(p) > 2 && p[1] == ':' && p[2] == '\\' || strings.HasPrefix(p, `\\`)
}

// check reports errors in a case whose keys and types are valid.
func (c *Case) check(d *decoder, n *yaml.Node) {
	for key, dir := range map[string]string{"workspace": c.Workspace, "home": c.Home} {
		if dir != noWorkspace && (!absolute(dir) || path.Clean(dir) != dir) {
			d.wrong(valueOf(n, key), "%q: expected an absolute path such as %s", dir, defaultWorkspace)
		}
	}
	if _, err := time.Parse(time.RFC3339, c.Now); err != nil {
		d.wrong(valueOf(n, "now"), "now: expected a time such as %s, got %q", defaultNow, c.Now)
	}
	d.files(n, c.Files)
	for _, name := range sortedKeys(c.Git) {
		if state := c.Git[name]; !slices.Contains(GitStates(), state) {
			d.wrong(n, "git.%s: unknown word %s", name, engine.Suggest(state, GitStates()))
		}
	}
	if c.Settings != nil && c.Layers["user"]["settings.yaml"] != "" {
		d.wrong(n, "settings: layers also has a settings.yaml of the user layer; use one of the two")
	}
	expected := slices.ContainsFunc(c.Events, func(e Event) bool { return e.Expect != nil })
	if !expected && len(c.Rows) == 0 && !c.Twin {
		d.wrong(n, "case %q has no expectations: give an event `expect: {decision: …}`, or the case a table `cases:`", c.Name)
	}
}

// valueOf returns the value of a key of an object, or the object if it has no such key.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return n
}

func (d *decoder) files(n *yaml.Node, files map[string]File) {
	for _, name := range sortedKeys(files) {
		if f := files[name]; strings.HasSuffix(name, "/") && !f.Folder {
			d.wrong(n, "files.%s: a path that ends in / is a folder; write null", name)
		}
	}
}
