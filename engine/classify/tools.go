package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
)

// role says what an argument of a tool is.
type role uint8

const (
	plainArg      role = iota
	readPath           // the file is read
	searchDir          // the directory is searched; the working directory when absent
	writePath          // the file's content is replaced, or made
	editPath           // a part of the file is changed
	makePath           // the directory is made
	sendPath           // the file, or each of a list, leaves the machine
	shellCode          // run by a POSIX shell
	powerCode          // run by PowerShell
	otherCode          // run by something that is not looked into
	fetchURL           // fetched
	contentText        // a text that is not stored: file content, prompts
	privateText        // not stored, and it leaves the machine
	egressMessage      // leaves the machine, short enough to be recorded
)

// toolArg is what a table row says of one argument.
type toolArg struct {
	name string
	role role
	must bool // the tool does not work without it
}

// tool is a row of the table.
type tool struct {
	action   string         // dotted name, as access rules match it
	typ      engine.Type    // where effects do not say it; empty: the effects decide
	resource []string       // the first of these that is present; none: a summary of all arguments
	args     []toolArg      // those that mean something
	contents []string       // names of nested arguments that are contents
	more     func(*reading) // what a table cannot say
}

// builtins are the tools of Claude Code, with the names that older versions used.
var builtins = map[string]tool{
	"Bash":       {action: "code.exec", resource: []string{"command"}, args: []toolArg{{"command", shellCode, true}}},
	"PowerShell": {action: "code.exec", resource: []string{"command"}, args: []toolArg{{"command", powerCode, true}}},
	"Monitor":    {action: "code.exec", resource: []string{"command"}, args: []toolArg{{"command", shellCode, false}}, more: (*reading).monitor},

	"Read":         {action: "safe.read.file", resource: []string{"file_path"}, args: []toolArg{{"file_path", readPath, true}}},
	"NotebookRead": {action: "safe.read.file", resource: []string{"notebook_path"}, args: []toolArg{{"notebook_path", readPath, true}}},
	"LS":           {action: "safe.read.glob", resource: []string{"path"}, args: []toolArg{{"path", searchDir, false}}},
	"Glob":         {action: "safe.read.glob", resource: []string{"pattern"}, args: []toolArg{{"path", searchDir, false}}, more: (*reading).globPattern},
	"Grep":         {action: "safe.read.grep", resource: []string{"path", "pattern"}, args: []toolArg{{"path", searchDir, false}}, more: (*reading).grepGlob},
	"LSP":          {action: "safe.read.file", resource: []string{"filePath", "file_path", "path"}, args: []toolArg{{"filePath", readPath, false}, {"file_path", readPath, false}, {"path", readPath, false}}, typ: engine.TypeFileRead},

	"Write":        {action: "filesystem.write", resource: []string{"file_path"}, args: []toolArg{{"file_path", writePath, true}, {"content", contentText, true}}, more: (*reading).leaves},
	"Edit":         {action: "filesystem.write", resource: []string{"file_path"}, args: []toolArg{{"file_path", editPath, true}, {"old_string", contentText, true}, {"new_string", contentText, true}}},
	"MultiEdit":    {action: "filesystem.write", resource: []string{"file_path"}, args: []toolArg{{"file_path", editPath, true}}, contents: []string{"old_string", "new_string"}},
	"NotebookEdit": {action: "filesystem.write", resource: []string{"notebook_path"}, args: []toolArg{{"notebook_path", editPath, true}, {"new_source", contentText, false}}},

	"WebFetch":  {action: "network.http", resource: []string{"url"}, args: []toolArg{{"url", fetchURL, true}, {"prompt", contentText, false}}},
	"WebSearch": {action: "network.search", resource: []string{"query"}, more: (*reading).search},

	"Agent":    {action: "agent.subagent", typ: engine.TypeAgentSpawn, resource: []string{"description"}, args: []toolArg{{"prompt", contentText, true}}},
	"Task":     {action: "agent.subagent", typ: engine.TypeAgentSpawn, resource: []string{"description"}, args: []toolArg{{"prompt", contentText, true}}},
	"Workflow": {action: "agent.workflow", typ: engine.TypeAgentSpawn, resource: []string{"name", "scriptPath"}, args: []toolArg{{"script", otherCode, false}, {"scriptPath", readPath, false}}, more: (*reading).workflow},

	"TodoWrite":                {action: "safe.read.meta", typ: engine.TypeMessage},
	"TaskCreate":               {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"subject"}},
	"TaskUpdate":               {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"taskId"}},
	"TaskGet":                  {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"taskId"}},
	"TaskList":                 {action: "safe.read.meta", typ: engine.TypeMessage},
	"TaskOutput":               {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"task_id"}},
	"BashOutput":               {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"bash_id"}},
	"AskUserQuestion":          {action: "safe.read.meta", typ: engine.TypeMessage},
	"EnterPlanMode":            {action: "safe.read.meta", typ: engine.TypeMessage},
	"ExitPlanMode":             {action: "safe.read.meta", typ: engine.TypeMessage, args: []toolArg{{"plan", contentText, false}}},
	"Skill":                    {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"skill", "command"}},
	"ToolSearch":               {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"query"}},
	"ListAgents":               {action: "safe.read.meta", typ: engine.TypeMessage},
	"ListMcpResourcesTool":     {action: "safe.read.meta", typ: engine.TypeMessage, resource: []string{"server"}},
	"ReadMcpResourceDirTool":   {action: "safe.read.meta", typ: engine.TypeMCPCall, resource: []string{"uri"}},
	"ReadMcpResourceTool":      {action: "safe.read.meta", typ: engine.TypeMCPCall, resource: []string{"uri"}},
	"ReadNotifications":        {action: "safe.read.meta", typ: engine.TypeMessage},
	"ReportFindings":           {action: "safe.read.meta", typ: engine.TypeMessage},
	"SetGoal":                  {action: "safe.read.meta", typ: engine.TypeMessage},
	"WaitForMcpServers":        {action: "safe.read.meta", typ: engine.TypeMessage},
	"EndConversation":          {action: "safe.read.meta", typ: engine.TypeMessage},
	"CronList":                 {action: "safe.read.meta", typ: engine.TypeMessage},
	"SendUserMessage":          {action: "agent.message", typ: engine.TypeMessage, resource: []string{"message"}},
	"SendMessage":              {action: "agent.message", typ: engine.TypeMessage, resource: []string{"to", "recipient"}},
	"SubagentHandback":         {action: "agent.message", typ: engine.TypeMessage},
	"propose_skills":           {action: "agent.message", typ: engine.TypeMessage},
	"OfferChromeSetup":         {action: "agent.message", typ: engine.TypeMessage},
	"ShareOnboardingGuide":     {action: "agent.message", typ: engine.TypeMessage},
	"ShowOnboardingRolePicker": {action: "agent.message", typ: engine.TypeMessage},

	"TaskStop":  {action: "code.exec.kill", resource: []string{"task_id", "shell_id"}, more: (*reading).stopTask},
	"KillShell": {action: "code.exec.kill", resource: []string{"shell_id"}, more: (*reading).stopTask},
	"KillBash":  {action: "code.exec.kill", resource: []string{"shell_id"}, more: (*reading).stopTask},

	"CronCreate":     {action: "agent.schedule", resource: []string{"cron"}, args: []toolArg{{"prompt", contentText, false}}, more: (*reading).schedule},
	"CronDelete":     {action: "agent.schedule", typ: engine.TypeMessage, resource: []string{"id"}},
	"ScheduleWakeup": {action: "agent.schedule", resource: []string{"reason"}, args: []toolArg{{"prompt", contentText, false}}, more: (*reading).schedule},
	"RemoteTrigger":  {action: "agent.schedule", resource: []string{"action"}, args: []toolArg{{"prompt", privateText, false}}, more: (*reading).schedule},

	"EnterWorktree": {action: "filesystem.write", resource: []string{"path", "name"}, args: []toolArg{{"path", makePath, false}}, typ: engine.TypeFileCreation},
	"ExitWorktree":  {action: "filesystem.write", resource: []string{"action"}, more: (*reading).exitWorktree},

	"Artifact":         {action: "network.share", resource: []string{"file_path", "url", "action"}, args: []toolArg{{"file_path", sendPath, false}, {"content", privateText, false}}, more: (*reading).share},
	"ClaudeDesign":     {action: "network.share", args: []toolArg{{"file_path", sendPath, false}, {"prompt", privateText, false}}, more: (*reading).share},
	"Projects":         {action: "network.share", resource: []string{"path", "method"}, args: []toolArg{{"local_path", sendPath, false}, {"content", privateText, false}}, more: (*reading).share},
	"SendUserFile":     {action: "network.share", args: []toolArg{{"file_path", sendPath, false}, {"path", sendPath, false}, {"paths", sendPath, false}, {"files", sendPath, false}, {"file_paths", sendPath, false}}, more: (*reading).share},
	"PushNotification": {action: "network.message", resource: []string{"message"}, args: []toolArg{{"message", egressMessage, false}}, more: (*reading).share},
	"SendFeedback":     {action: "network.message", resource: []string{"title"}, args: []toolArg{{"details", privateText, false}}, more: (*reading).share},
}

// reading is the work on one tool call.
type reading struct {
	name     string
	tool     tool
	args     map[string]any
	in       shell.Input
	secret   func(text string) bool // reports whether a text holds a secret
	script   abstract.Script
	contents map[string]string // argument path -> text that is not stored
	wrong    bool              // the arguments are not what the tool takes
	strange  bool              // the tool is not known
}

// read looks a tool up and turns its arguments into raw effects; secret reports
// whether a text holds a secret.
func read(name string, args map[string]any, in shell.Input, secret func(string) bool) *reading {
	r := &reading{name: name, args: args, in: in, secret: secret, contents: map[string]string{}}
	r.script.Signals = map[engine.Signal]bool{}
	t, ok := builtins[name]
	switch {
	case ok:
		r.tool = t
		r.table()
	case strings.HasPrefix(name, "mcp__"):
		r.mcp()
	default:
		r.tool = tool{action: "unknown." + mask.DottedName(name)}
		r.strange = true
		r.opaque("tool", name)
		r.scan(operation.WordsOf(r.in.Rows).Verb(name))
	}
	return r
}

func (r *reading) opaque(reason, where string) {
	o := engine.Opaque{Reason: reason, Where: where}
	if !slices.Contains(r.script.Opaque, o) {
		r.script.Opaque = append(r.script.Opaque, o)
	}
}

// refuse notes arguments that the tool would not take.
func (r *reading) refuse(argument string) {
	r.wrong = true
	r.opaque("arguments", argument)
}

func (r *reading) table() {
	for _, a := range r.tool.args {
		v, present := r.args[a.name]
		if v == nil {
			present = false
		}
		switch {
		case present:
			r.argument(a, v)
		case a.must:
			r.refuse(a.name)
		case a.role == searchDir:
			r.path(engine.EffectFileRead, "search", abstract.Value{}, true)
		}
	}
	if r.tool.more != nil {
		r.tool.more(r)
	}
	r.startup()
}

func (r *reading) argument(a toolArg, v any) {
	text, ok := v.(string)
	if list, isList := v.([]any); isList && a.role == sendPath {
		r.eachString(a, list)
		return
	}
	if !ok || text == "" && a.must && a.role != contentText {
		r.refuse(a.name)
		return
	}
	r.text(a, text)
}

func (r *reading) eachString(a toolArg, list []any) {
	for _, item := range list {
		if text, ok := item.(string); ok {
			r.text(a, text)
			continue
		}
		if m, ok := item.(map[string]any); ok {
			if text, ok := firstString(m, "path", "file_path", "file"); ok {
				r.text(a, text)
				continue
			}
		}
		r.refuse(a.name)
	}
}

func (r *reading) text(a toolArg, text string) {
	lit := abstract.Value{Text: text}
	switch a.role {
	case readPath:
		r.path(engine.EffectFileRead, "read", lit, false)
	case searchDir:
		r.path(engine.EffectFileRead, "search", lit, true)
	case writePath:
		r.path(engine.EffectFileWrite, "write", lit, false)
	case editPath:
		r.path(engine.EffectFileWrite, "edit", lit, false)
	case makePath:
		r.path(engine.EffectFileWrite, "mkdir", lit, false)
	case sendPath:
		r.path(engine.EffectFileRead, "read", lit, false)
	case fetchURL:
		r.fetch(text)
	case shellCode:
		r.run(shell.Interpret(text, r.in))
	case powerCode:
		r.run(windows.InterpretPowerShell(text, r.in))
	case otherCode:
		r.opaque("code", a.name)
		r.contents[a.name] = text
	case contentText, privateText:
		r.contents[a.name] = text
	}
}

// path adds an effect of the tool itself on a path; without a text: on the
// working directory.
func (r *reading) path(kind engine.EffectKind, verb string, target abstract.Value, recursive bool) {
	if target.Text == "" {
		target = r.in.Cwd
	}
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: kind, Verb: verb, Target: target, Dir: r.in.Cwd,
		Recursive: recursive, Command: -1})
}

func (r *reading) fetch(url string) {
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch",
		Target: abstract.Value{Text: url}, Command: -1})
}

// run joins what code would do to what the tool does.
func (r *reading) run(s abstract.Script) {
	base := len(r.script.Commands)
	r.script.Commands = append(r.script.Commands, s.Commands...)
	for _, e := range s.Effects {
		if e.Command >= 0 {
			e.Command += base
		}
		r.script.Effects = append(r.script.Effects, e)
	}
	for id, on := range s.Signals {
		if on {
			r.script.Signals[id] = true
		}
	}
	r.script.Waits = r.script.Waits || s.Waits
	for _, o := range s.Opaque {
		r.opaque(o.Reason, o.Where)
	}
}

// add adds an effect of the tool itself that has no path.
func (r *reading) add(e abstract.RawEffect) {
	e.Command = -1
	r.script.Effects = append(r.script.Effects, e)
}

// monitor watches a command's output or a web socket.
func (r *reading) monitor() {
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

// globPattern adds where a pattern looks, which may be far from path.
func (r *reading) globPattern() {
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
		r.script.Effects = nil // the directory is not looked at
	}
	r.searches(pattern)
}

// grepGlob says which files a search is kept to by their names.
func (r *reading) grepGlob() {
	pattern, ok := r.args["glob"].(string)
	if !ok || pattern == "" || strings.HasPrefix(pattern, "!") {
		return
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern // at any depth
	}
	r.searches(strings.TrimPrefix(pattern, "/"))
}

// searches adds a pattern as seen from the directory that the tool is given.
func (r *reading) searches(pattern string) {
	dir := r.in.Cwd
	if p, ok := r.args["path"].(string); ok && strings.HasPrefix(p, "/") {
		dir = abstract.Value{Text: p}
	} else if ok {
		pattern = strings.TrimSuffix(p, "/") + "/" + pattern
	}
	r.script.Effects = append(r.script.Effects, abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "search",
		Target: abstract.Value{Sure: abstract.Glob, Text: pattern}, Dir: dir, Recursive: true, Command: -1})
}

// search sends a query to the search engine of the agent's maker: no host of
// the person's choice learns anything.
func (r *reading) search() {
	query, ok := r.args["query"].(string)
	if !ok {
		r.refuse("query")
	}
	r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "search", Target: abstract.Value{Sure: abstract.Unknown},
		Egress: r.secret(query)})
}

func (r *reading) workflow() {
	if _, ok := r.args["scriptPath"]; ok {
		r.opaque("code", "scriptPath")
	}
}

func (r *reading) stopTask() {
	r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Target: abstract.Value{Sure: abstract.Unknown}})
}

// schedule makes something run later by itself, here or at the agent's maker.
func (r *reading) schedule() {
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

// leaves says how long the file is that is written whole.
func (r *reading) leaves() {
	text, ok := r.args["content"].(string)
	for i := range r.script.Effects {
		if e := &r.script.Effects[i]; ok && e.Kind == engine.EffectFileWrite {
			e.Leaves = int64(len(text)) + 1
		}
	}
}

// exitWorktree removes a worktree; with its changes only when told so.
func (r *reading) exitWorktree() {
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
		e.Reversible = engine.R2 // refused by the client where anything would be lost
	}
	r.add(e)
}

// share sends what the arguments hold to the agent's maker, and from there to others.
func (r *reading) share() {
	action, _ := firstString(r.args, "method", "action")
	switch operation.WordsOf(r.in.Rows).Verb(action) {
	case "read":
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch", Target: abstract.Value{Sure: abstract.Unknown}})
	case "delete":
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Target: abstract.Value{Sure: abstract.Unknown}, Egress: true})
	default:
		if len(r.contents)+len(r.script.Effects) > 0 { // a text or a file, not a mere message
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
