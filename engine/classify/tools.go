package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
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
	in       shellInput
	script   script
	contents map[string]string // argument path -> text that is not stored
	wrong    bool              // the arguments are not what the tool takes
	strange  bool              // the tool is not known
}

// read looks a tool up and turns its arguments into raw effects.
func read(name string, args map[string]any, in shellInput) *reading {
	r := &reading{name: name, args: args, in: in, contents: map[string]string{}}
	r.script.signals = map[engine.Signal]bool{}
	t, ok := builtins[name]
	switch {
	case ok:
		r.tool = t
		r.table()
	case strings.HasPrefix(name, "mcp__"):
		r.mcp()
	default:
		r.tool = tool{action: "unknown." + dottedName(name)}
		r.strange = true
		r.opaque("tool", name)
		r.scan(verbOf(name))
	}
	return r
}

// dottedName keeps a tool's name apart from the dots of action names.
func dottedName(name string) string {
	if name == "" {
		return "tool"
	}
	return strings.Map(func(c rune) rune {
		if c == '.' || c <= ' ' {
			return '_'
		}
		return c
	}, name)
}

func (r *reading) opaque(reason, where string) {
	o := engine.Opaque{Reason: reason, Where: where}
	if !slices.Contains(r.script.opaque, o) {
		r.script.opaque = append(r.script.opaque, o)
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
			r.path(engine.EffectFileRead, "search", value{}, true)
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
	lit := value{text: text}
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
		r.run(interpretShell(text, r.in))
	case powerCode:
		r.run(interpretPowerShell(text, r.in))
	case otherCode:
		r.opaque("code", a.name)
		r.contents[a.name] = text
	case contentText, privateText:
		r.contents[a.name] = text
	}
}

// path adds an effect of the tool itself on a path; without a text: on the
// working directory.
func (r *reading) path(kind engine.EffectKind, verb string, target value, recursive bool) {
	if target.text == "" {
		target = r.in.cwd
	}
	r.script.effects = append(r.script.effects, rawEffect{kind: kind, verb: verb, target: target, dir: r.in.cwd, recursive: recursive, command: -1})
}

func (r *reading) fetch(url string) {
	r.script.effects = append(r.script.effects, rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: value{text: url}, command: -1})
}

// run joins what code would do to what the tool does.
func (r *reading) run(s script) {
	base := len(r.script.commands)
	r.script.commands = append(r.script.commands, s.commands...)
	for _, e := range s.effects {
		if e.command >= 0 {
			e.command += base
		}
		r.script.effects = append(r.script.effects, e)
	}
	for id, on := range s.signals {
		if on {
			r.script.signals[id] = true
		}
	}
	r.script.waits = r.script.waits || s.waits
	for _, o := range s.opaque {
		r.opaque(o.Reason, o.Where)
	}
}

// add adds an effect of the tool itself that has no path.
func (r *reading) add(e rawEffect) {
	e.command = -1
	r.script.effects = append(r.script.effects, e)
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
		r.script.effects = nil // the directory is not looked at
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
	dir := r.in.cwd
	if p, ok := r.args["path"].(string); ok && strings.HasPrefix(p, "/") {
		dir = value{text: p}
	} else if ok {
		pattern = strings.TrimSuffix(p, "/") + "/" + pattern
	}
	r.script.effects = append(r.script.effects, rawEffect{kind: engine.EffectFileRead, verb: "search", target: value{glob, pattern}, dir: dir, recursive: true, command: -1})
}

// search sends a query to the search engine of the agent's maker: no host of
// the person's choice learns anything.
func (r *reading) search() {
	query, ok := r.args["query"].(string)
	if !ok {
		r.refuse("query")
	}
	r.add(rawEffect{kind: engine.EffectNetwork, verb: "search", target: value{sure: unknown}, egress: holdsSecret(query)})
}

func (r *reading) workflow() {
	if _, ok := r.args["scriptPath"]; ok {
		r.opaque("code", "scriptPath")
	}
}

func (r *reading) stopTask() {
	r.add(rawEffect{kind: engine.EffectProcess, verb: "kill", target: value{sure: unknown}})
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
	r.script.signals[engine.SignalDeferred] = true
	r.add(rawEffect{kind: engine.EffectSystemCall, verb: "schedule", target: value{sure: unknown}, persistence: true})
	if r.name == "RemoteTrigger" {
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "send", target: value{sure: unknown}, egress: true})
	}
}

// leaves says how long the file is that is written whole.
func (r *reading) leaves() {
	text, ok := r.args["content"].(string)
	for i := range r.script.effects {
		if e := &r.script.effects[i]; ok && e.kind == engine.EffectFileWrite {
			e.leaves = int64(len(text)) + 1
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
	e := rawEffect{kind: engine.EffectFileDelete, verb: "delete", target: value{sure: unknown}, recursive: true, forced: discard}
	if discard {
		r.script.signals[engine.SignalGitDiscard] = true
	} else {
		e.reversible = engine.R2 // refused by the client where anything would be lost
	}
	r.add(e)
}

// share sends what the arguments hold to the agent's maker, and from there to others.
func (r *reading) share() {
	action, _ := firstString(r.args, "method", "action")
	switch verbOf(action) {
	case "read":
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: value{sure: unknown}})
	case "delete":
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "delete", target: value{sure: unknown}, egress: true})
	default:
		if len(r.contents)+len(r.script.effects) > 0 { // a text or a file, not a mere message
			r.script.signals[engine.SignalPipeExternal] = true
		}
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "send", target: value{sure: unknown}, egress: true})
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
