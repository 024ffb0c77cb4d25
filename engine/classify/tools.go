package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
)

// toolReader is the work on one tool call.
type toolReader struct {
	name     string
	tool     tool
	args     map[string]any
	in       shell.Input
	script   abstract.Script
	contents map[string]string // argument path -> text that is not stored
	spoken   []string          // texts of code and of other tools' calls that can become prompts
	wrong    bool              // the arguments are not those of the tool
	strange  bool              // the tool is unknown
	verb     string            // first word of the name of a tool about which nothing is known
	nested   int               // tools that called this one
	jsons    int               // nested texts of JSON that are being read
}

// read finds the rows of a tool and converts its arguments to raw effects.
func read(name string, args map[string]any, in shell.Input) *toolReader {
	return readNested(name, args, in, 0)
}

// readNested is read for a tool that another tool calls.
func readNested(name string, args map[string]any, in shell.Input, nested int) *toolReader {
	r := &toolReader{name: name, args: args, in: in, contents: map[string]string{}, tool: toolOf(in.Rows, name), nested: nested}
	r.script.Signals = map[engine.Signal]bool{}
	switch {
	case strings.HasPrefix(name, "mcp__"):
		r.mcp()
	case !r.tool.known:
		r.tool.action = "unknown." + mask.DottedName(name)
		r.strange = true
		r.opaque("tool", name)
		r.scan(operation.WordsOf(r.in.Rows).Verb(name))
		r.translated("", name)
		r.setsGuard(name, r.args)
	}
	r.follow()
	return r
}

func (r *toolReader) opaque(reason, where string) {
	o := engine.Opaque{Reason: reason, Where: where}
	if !slices.Contains(r.script.Opaque, o) {
		r.script.Opaque = append(r.script.Opaque, o)
	}
}

// refuse records arguments that the tool would not accept.
func (r *toolReader) refuse(argument string) {
	r.wrong = true
	r.opaque("arguments", argument)
}

// unparsed reports whether the client could not parse the model's arguments and kept only
// their text: it tells the model so, and nothing runs.
func unparsed(args map[string]any) bool {
	_, ok := args["__unparsedToolInput"]
	return ok && len(args) == 1
}

func (r *toolReader) table() {
	for _, a := range r.tool.args {
		v, present := r.args[a.name]
		if v == nil {
			present = false
		}
		switch {
		case present:
			r.argument(a, v)
		case a.name != a.others[0] || r.namedOtherwise(a) || a.must && unparsed(r.args):
			// it is there under another name, or the client refuses the call
		case a.must:
			r.refuse(a.name)
		case a.role == rows.RoleSearch:
			r.path(engine.EffectFileRead, "search", abstract.Value{}, true)
		}
	}
	if does := r.function(r.tool.row.Go); does != nil {
		does()
	}
}

// function returns the function that a row's go names; nil if it names none.
func (r *toolReader) function(name string) func() {
	return map[string]func(){"monitor": r.monitor, "globPattern": r.globPattern, "grepGlob": r.grepGlob, "search": r.search,
		"leaves": r.leaves, "workflow": r.workflow, "schedule": r.schedule,
		"exitWorktree": r.exitWorktree, "share": r.share, "patched": r.patches}[name]
}

// namedOtherwise reports whether one of the other names of an argument is present.
func (r *toolReader) namedOtherwise(a toolArg) bool {
	return slices.ContainsFunc(a.others, func(name string) bool { return r.args[name] != nil })
}

func (r *toolReader) argument(a toolArg, v any) {
	text, ok := v.(string)
	if list, isList := v.([]any); isList && (a.list || a.role == rows.RoleSend) {
		r.eachItem(a, list)
		return
	}
	if !ok || text == "" && a.must && a.role != rows.RoleText {
		r.refuse(a.name)
		return
	}
	r.text(a, text)
}

// eachItem applies a role to the items of a list: texts, or objects with a path or a command.
// Each command is read on its own, so that an open quote in one does not hide the next.
func (r *toolReader) eachItem(a toolArg, list []any) {
	for i, item := range list {
		if i == maxListed {
			r.opaque("budget", a.name)
			return
		}
		if text, ok := itemText(a.role, item); ok {
			r.text(a, text)
			continue
		}
		r.refuse(a.name)
	}
}

// maxListed limits the items of a list that are read.
const maxListed = 200

// itemText returns the path, address or command of an item of a list.
func itemText(role string, item any) (string, bool) {
	if text, ok := item.(string); ok {
		return text, true
	}
	m, _ := item.(map[string]any)
	switch role {
	case rows.RoleShell:
		return commandLine(m)
	case rows.RoleFetch:
		return firstString(m, "url")
	}
	return firstString(m, "path", "file_path", "file")
}

// commandLine returns the command of an object with a command and perhaps its arguments.
func commandLine(m map[string]any) (string, bool) {
	text, ok := firstString(m, "command")
	list, given := m["args"].([]any)
	if !ok || !given {
		return text, ok && m["args"] == nil
	}
	words, ok := mask.StringList(list)
	return text + " " + mask.QuoteAll(words), ok
}

func (r *toolReader) text(a toolArg, text string) {
	lit := abstract.Value{Text: text}
	switch a.role {
	case rows.RoleRead:
		r.path(engine.EffectFileRead, "read", lit, false)
	case rows.RoleSearch:
		r.path(engine.EffectFileRead, "search", lit, true)
	case rows.RoleWrite:
		r.path(engine.EffectFileWrite, "write", lit, false)
	case rows.RoleEdit:
		r.path(engine.EffectFileWrite, "edit", lit, false)
	case rows.RoleMake:
		r.path(engine.EffectFileWrite, "mkdir", lit, false)
	case rows.RoleSend:
		r.path(engine.EffectFileRead, "read", lit, false)
	case rows.RoleDir:
		r.in.Cwd = r.folder(text)
	case rows.RoleFetch:
		r.fetch(text)
	case rows.RoleAddresses:
		for _, url := range addressesIn(text) {
			r.fetch(url)
		}
	case rows.RoleShell:
		r.run(shell.Interpret(text, r.in))
	case rows.RolePowerShell:
		r.run(windows.InterpretPowerShell(text, r.in))
	case rows.RoleCode:
		r.opaque("code", a.name)
		r.contents[a.name] = text
	case rows.RolePage:
		r.page(a.name, text)
	case rows.RoleText, rows.RolePrivate:
		r.contents[a.name] = text
	}
}

// folder returns the directory that a string names.
func (r *toolReader) folder(text string) abstract.Value {
	if rest, home := strings.CutPrefix(text, "~"); home && (rest == "" || rest[0] == '/') {
		text = r.in.Home + rest
	}
	return abstract.JoinDir(r.in.Cwd, abstract.Arg{Text: text})
}

var webAddress = engine.Regexp(`https?://[^\s"'<>()\x60]+`)

// maxAddresses limits the addresses that are read from a string.
const maxAddresses = 100

// addressesIn returns the addresses in a string, without its punctuation.
func addressesIn(text string) []string {
	found := webAddress().FindAllString(text, maxAddresses)
	for i := range found {
		found[i] = strings.TrimRight(found[i], ".,;:!?")
	}
	return found
}

// path adds an effect of the tool itself on a path; without text, on the working directory.
func (r *toolReader) path(kind engine.EffectKind, verb string, target abstract.Value, recursive bool) {
	if target.Text == "" {
		target = r.in.Cwd
	}
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: kind, Verb: verb, Target: target, Dir: r.in.Cwd,
		Recursive: recursive, Names: r.tool.action == "safe.read.glob", Command: -1})
}

func (r *toolReader) fetch(url string) {
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch",
		Target: abstract.Value{Text: url}, Command: -1})
	if programs.Engine(r.in.Rows, url) {
		r.script.Signals[engine.SignalCredential] = true
	}
}

// run adds what code would do to what the tool does.
func (r *toolReader) run(s abstract.Script) {
	base := len(r.script.Commands)
	if r.spoken = append(r.spoken, promptsIn(r.in.Rows, s)...); len(r.spoken) > maxPromptDigests {
		r.opaque("budget", "prompts")
	}
	if showsSecret(s.Tree) {
		r.script.Signals[engine.SignalCredential] = true
	}
	r.script.Commands = append(r.script.Commands, s.Commands...)
	r.script.Tree = append(r.script.Tree, s.Tree...)
	for _, e := range slices.Concat(s.Effects, s.Guarded) {
		if e.Command >= 0 {
			e.Command += base
		}
		if e.ForGuard {
			r.script.Guarded = append(r.script.Guarded, e)
		} else {
			r.script.Effects = append(r.script.Effects, e)
		}
	}
	for _, f := range s.Flows {
		if f.Command >= 0 {
			f.Command += base
		}
		r.script.Flows = append(r.script.Flows, f)
	}
	for id, on := range s.Signals {
		if on {
			r.script.Signals[id] = true
		}
	}
	r.script.Waits = r.script.Waits || s.Waits
	if s.Terminals != nil {
		r.script.Terminals, r.in.Terminals = s.Terminals, s.Terminals
	}
	r.script.Possible = append(r.script.Possible, s.Possible...)
	r.script.PossibleRuns = append(r.script.PossibleRuns, s.PossibleRuns...)
	if r.script.PossibleSignals == nil {
		r.script.PossibleSignals = map[engine.Signal]bool{}
	}
	maps.Copy(r.script.PossibleSignals, s.PossibleSignals)
	if r.script.Unread == nil {
		r.script.Unread = map[string]string{}
	}
	maps.Copy(r.script.Unread, s.Unread)
	r.script.Written = append(r.script.Written, s.Written...)
	r.script.Starts = append(r.script.Starts, s.Starts...)
	for _, m := range s.Makes {
		if abstract.Succeeds(&s, m.Command) {
			m.Command += base
			r.script.Makes = append(r.script.Makes, m)
		}
	}
	r.script.Remotes = append(r.script.Remotes, s.Remotes...)
	r.script.Taken = append(r.script.Taken, s.Taken...)
	r.script.Modules = append(r.script.Modules, s.Modules...)
	r.script.Inputs = append(r.script.Inputs, s.Inputs...)
	for _, n := range s.Followed {
		r.script.Followed = append(r.script.Followed, n+base)
	}
	for _, o := range s.Opaque {
		r.opaque(o.Reason, o.Where)
	}
}

// add adds an effect of the tool itself that has no path.
func (r *toolReader) add(e abstract.RawEffect) {
	e.Command = -1
	r.script.Effects = append(r.script.Effects, e)
}

// monitor watches a command's output or a web socket.
func (r *toolReader) monitor() {
	ws, ok := r.args["ws"].(map[string]any)
	if !ok {
		if _, there := r.args["command"]; !there {
			r.refuse("command")
		}
		return
	}
	if url, ok := ws["url"].(string); ok {
		r.fetch(url)
		return
	}
	r.refuse("ws")
}

// globPattern adds the directory that a pattern searches, which may be far from path.
func (r *toolReader) globPattern() {
	pattern, ok := r.args["pattern"].(string)
	if !ok {
		r.refuse("pattern")
		return
	}
	first, _, below := strings.Cut(pattern, "/")
	named := below && !strings.ContainsAny(first, "*?[{") // also "" and "~": absolute
	if !named && !strings.Contains(pattern, "..") {
		return
	}
	if !strings.Contains(pattern, "..") {
		r.script.Effects = nil // the directory is not examined
	}
	r.searches(pattern)
}

// grepGlob reports which files a search is restricted to by their names.
func (r *toolReader) grepGlob() {
	pattern, ok := firstString(r.args, "glob", "include", "include_pattern")
	if !ok || pattern == "" || strings.HasPrefix(pattern, "!") {
		return
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern // at any depth
	}
	for i := range r.script.Effects {
		r.script.Effects[i].Names = true // of the folder, nothing but the files of the pattern
	}
	r.searches(strings.TrimPrefix(pattern, "/"))
}

// searches adds a pattern relative to the directory that the tool is given.
func (r *toolReader) searches(pattern string) {
	dir := r.in.Cwd
	if p, ok := r.args["path"].(string); ok && strings.HasPrefix(p, "/") {
		dir = abstract.Value{Text: p}
	} else if ok {
		pattern = strings.TrimSuffix(p, "/") + "/" + pattern
	}
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "search",
		Target: abstract.Value{Sure: abstract.Glob, Text: pattern}, Dir: dir, Recursive: true, Names: r.tool.action == "safe.read.glob",
		Command: -1})
}

// search sends a query to the search engine of the agent's maker: the user does not choose the
// host.
func (r *toolReader) search() {
	query, ok := r.args["query"].(string)
	if !ok {
		r.refuse("query")
	}
	r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "search", Target: abstract.Value{Sure: abstract.Unknown},
		Egress: r.in.Secret != nil && r.in.Secret(query)})
}

func (r *toolReader) workflow() {
	if _, ok := r.args["scriptPath"]; ok {
		r.opaque("code", "scriptPath")
	}
}

// schedule makes something run later, on this machine or at the agent's maker.
func (r *toolReader) schedule() {
	if stop, _ := r.args["stop"].(bool); stop {
		r.tool.typ = engine.TypeMessage
		return
	}
	switch action, _ := r.args["action"].(string); action {
	case "list", "get", "delete", "stop":
		r.tool.typ = engine.TypeMessage
		return
	}
	r.script.Signals[engine.SignalDeferred] = true
	r.add(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "schedule", Target: abstract.Value{Sure: abstract.Unknown},
		Persistence: true})
	if r.name == "RemoteTrigger" {
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Target: abstract.Value{Sure: abstract.Unknown}, Egress: true})
	}
}

// leaves returns the length of a file that is written as a whole.
func (r *toolReader) leaves() {
	text, ok := r.args["content"].(string)
	for i := range r.script.Effects {
		if e := &r.script.Effects[i]; ok && e.Kind == engine.EffectFileWrite {
			e.Leaves = int64(len(text)) + 1
		}
	}
}

// exitWorktree removes a worktree; with its changes only if requested.
func (r *toolReader) exitWorktree() {
	discard, _ := r.args["discard_changes"].(bool)
	if action, _ := r.args["action"].(string); action != "remove" {
		r.tool.typ = engine.TypeMessage
		return
	}
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Sure: abstract.Unknown},
		Recursive: true, Forced: discard}
	if discard {
		r.script.Signals[engine.SignalGitDiscard] = true
	} else {
		e.Reversible = engine.R2 // refused by the client if anything would be lost
	}
	r.add(e)
}

// share sends the arguments to the agent's maker, which shows them to others.
func (r *toolReader) share() {
	action, _ := firstString(r.args, "method", "action")
	switch operation.WordsOf(r.in.Rows).Verb(action) {
	case "read":
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch", Target: abstract.Value{Sure: abstract.Unknown}})
	case "delete":
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Target: abstract.Value{Sure: abstract.Unknown}, Egress: true})
	default:
		if len(r.contents)+len(r.script.Effects) > 0 { // text or a file, not a mere message
			r.script.Signals[engine.SignalPipeExternal] = true
		}
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Target: abstract.Value{Sure: abstract.Unknown}, Egress: true})
	}
}

// firstString returns the first of the named arguments that is a string.
func firstString(m map[string]any, names ...string) (string, bool) {
	for _, n := range names {
		if s, ok := m[n].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}
