package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

func (c *psCall) forEach() psValue {
	var out []psValue
	for _, a := range c.list {
		if a.code == "" {
			continue
		}
		for _, item := range c.input().each() {
			out = append(out, c.p.with(a.code, item))
		}
	}
	if len(out) == 0 { // % Name: a property
		return c.input()
	}
	return joinedPS(out)
}

// passes runs a cmdlet that returns its input.
func (c *psCall) passes() psValue {
	for _, a := range c.list {
		if a.code != "" {
			c.p.with(a.code, c.input())
		}
	}
	if c.name == "tee-object" {
		c.writes("write", c.targets()[:min(1, len(c.targets()))]...)
	}
	if c.name == "select-string" && c.in == nil {
		list := c.operands
		if v, ok := c.get("path", "literalpath"); ok {
			c.reads(v.items...)
		} else if len(list) > 1 {
			c.reads(list[1].items...)
		}
		return unknownPS()
	}
	return c.input()
}

// expression runs Invoke-Expression.
func (c *psCall) expression() psValue {
	code := c.operand(0, "command")
	if code.Text == "" && c.in != nil {
		code = c.in.one()
	}
	if c.p.scope.fetches && !code.Known() {
		code.Taint |= abstract.Fetched
	}
	return c.p.embedHere(code, "Invoke-Expression")
}

// invokeCommand runs script blocks, perhaps on other machines.
func (c *psCall) invokeCommand() psValue {
	hosts, remote := c.get("computername", "hostname", "vmname", "session", "cn")
	run := func() psValue {
		var out []psValue
		var blocks []psValue
		for _, a := range c.list {
			if a.code != "" {
				blocks = append(blocks, a.psValue)
			}
		}
		rest, _ := c.get("argumentlist")
		for _, b := range blocks {
			inner := &psCall{winCall: c.winCall, p: c.p, operands: rest.each(), in: c.in}
			out = append(out, c.p.function(psFunction{params: c.p.blockParams(b.code), body: b.code}, inner))
		}
		return joinedPS(out)
	}
	if file, ok := c.get("filepath"); ok {
		c.reads(file.items...)
		c.execs()
	}
	if !remote || slices.Contains([]string{"localhost", "127.0.0.1", "."}, strings.ToLower(hosts.one().Text)) {
		return run()
	}
	c.sends("exec", hosts.one())
	var out psValue
	c.w.elsewhere("invoke-command", hosts.one(), func() { out = run() })
	return out
}

// request runs a web request, which sends data if it has a body.
func (c *psCall) request() psValue {
	url := c.operand(0, "uri", "source")
	method := c.operand(99, "method", "custommethod", "transfertype").Text
	e := abstract.RawEffect{Kind: engine.EffectNetwork, Verb: shell.HttpVerb(method)}
	if method == "" || strings.EqualFold(method, "download") || strings.EqualFold(method, "default") {
		e.Verb = "fetch"
	}
	_, body := c.get("body", "form")
	file, infile := c.get("infile")
	if strings.HasPrefix(strings.ToLower(method), "upload") {
		file, infile = c.given["source"], true
		url = c.operand(1, "destination")
	}
	if (body || infile) && e.Verb == "fetch" {
		e.Verb = "send"
	}
	if e.Egress = e.Verb != "fetch"; e.Verb == "send" && (body || infile) {
		c.w.signal(engine.SignalPipeExternal)
	}
	c.emit(e, url)
	if infile {
		c.reads(file.items...)
	}
	out := abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}
	if v, ok := c.get("outfile", "destination"); ok && e.Verb == "fetch" {
		c.writes("download", v.items...)
		c.w.store(v.one(), out, false)
	}
	return psValue{items: []abstract.Arg{out}}
}

// startProcess runs Start-Process program arguments.
func (c *psCall) startProcess() psValue {
	name := c.operand(0, "filepath", "path", "literalpath")
	rest := c.operand(1, "argumentlist", "args")
	if abstract.IsURL(name) {
		c.fetches(name)
		return psValue{}
	}
	elevated := strings.EqualFold(c.operand(99, "verb").Text, "runas")
	if elevated {
		c.w.signal(engine.SignalPrivilege)
	}
	if dir, ok := c.get("workingdirectory"); ok {
		defer func(dirs []abstract.Value) { c.w.dirs = dirs }(c.w.dirs)
		c.w.enter(dir.one(), true)
	}
	saved := c.w.frame.privileged
	c.w.frame.privileged = saved || elevated
	c.p.startProcess(name, []psValue{textPS(rest)})
	c.w.frame.privileged = saved
	return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "process"}
}

func (c *psCall) setAlias() psValue {
	name, full := strings.ToLower(c.operand(0, "name").Text), strings.ToLower(c.operand(1, "value").Text)
	if a, ok := psAliases[full]; ok {
		full = a
	}
	if len(c.p.scope.aliases) < 512 {
		c.p.scope.aliases[name] = full
	}
	return psValue{}
}

// getCommand runs Get-Command, which finds a command by a pattern and so can hide its
// name.
func (c *psCall) getCommand() psValue {
	pattern := strings.ToLower(c.operand(0, "name").Text)
	if c.name == "get-variable" {
		v, _ := c.p.lookup(pattern)
		return v
	}
	if !strings.ContainsAny(pattern, "*?") {
		return textPS(c.operand(0, "name"))
	}
	for _, full := range []string{"invoke-expression", "remove-item", "invoke-webrequest", "start-process", "new-object",
		"invoke-restmethod", "iex"} {
		if wildcard.Text(pattern, full) {
			return textPS(abstract.Arg{Text: full, Taint: abstract.Decoded})
		}
	}
	return unknownPS()
}

func (c *psCall) newObject() psValue {
	kind := strings.ToLower(c.operand(0, "typename", "type").Text)
	v := psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: strings.TrimPrefix(kind, "system.")}
	if com, ok := c.get("comobject", "com"); ok {
		v.kind = strings.ToLower(com.one().Text)
	}
	if strings.HasPrefix(v.kind, "io.") {
		v.items = []abstract.Arg{c.operand(1, "argumentlist")}
	}
	if strings.Contains(v.kind, "tcpclient") {
		if host := c.operand(1, "argumentlist"); host.Text != "" {
			host, _, _ := strings.Cut(host.Text, " ")
			c.sends("connect", abstract.Word(host))
		}
	}
	if strings.Contains(v.kind, "tcplistener") {
		c.w.signal(engine.SignalListen)
		c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "listen"}, abstract.Word("0.0.0.0"))
	}
	return v
}

// loads runs code of another language, or a module.
func (c *psCall) loads() psValue {
	if code, ok := c.get("typedefinition", "memberdefinition"); ok || c.name == "add-type" && len(c.operands) > 0 {
		if !ok {
			code = c.operands[0]
		}
		if low := strings.ToLower(code.one().Text); !code.one().Known() || strings.Contains(low, "dllimport") ||
			strings.Contains(low, "process.") || strings.Contains(low, "file.") {
			c.w.Opaque("code", c.name)
		}
		return psValue{}
	}
	if _, ok := c.get("assemblyname", "an", "assembly"); ok {
		return psValue{}
	}
	for _, file := range c.targets() {
		if code, ok := c.w.written(file); ok {
			c.w.embed(code, "file", c.w.power)
		} else if shareHost(file) != "" || abstract.IsURL(file) {
			c.runsCode(file)
		} else if strings.ContainsAny(file.Text, `/\`) {
			c.reads(file)
		}
	}
	return psValue{}
}

func (c *psCall) historyOf() psValue {
	if c.name == "clear-history" {
		c.w.signal(engine.SignalGuardTamper)
		c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, abstract.Word("history"))
	}
	return unknownPS()
}

// other runs an unknown command: a cmdlet by its verb, or a module's; else a program.
func (c *psCall) other() psValue {
	verb, noun, cmdlet := strings.Cut(c.name, "-")
	plain := cmdlet && noun != "" && strings.Trim(c.name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.ContainsAny(c.path.Text, `./\`)
	switch {
	case slices.Contains(psReading, c.name) || plain && slices.Contains(psReading, verb):
		c.recordPS()
		c.runBlocks()
		return c.looksUp()
	case plain && slices.Contains(psVerbs, verb):
		c.recordPS()
		c.runBlocks()
		if c.onlyTries() {
			c.w.signal(engine.SignalDryRun)
			return unknownPS()
		}
		c.changes(verb, noun)
		return unknownPS()
	}
	return c.program()
}

// looksUp returns the result of a query: services and processes are identified by the
// requested names.
func (c *psCall) looksUp() psValue {
	name := c.operand(0, "name", "displayname", "processname")
	if name.Text == "" || c.name != "get-service" && c.name != "get-process" {
		return unknownPS()
	}
	_, kind, _ := strings.Cut(c.name, "-")
	return psValue{items: []abstract.Arg{name}, kind: kind}
}

// program runs a program with the arguments as they were written.
func (c *psCall) program() psValue {
	for _, a := range c.list {
		for _, w := range a.items {
			if a.code != "" {
				w = abstract.UnknownArg()
			}
			c.args = append(c.args, w)
		}
	}
	saved := c.w.frame.stdin
	if c.in != nil {
		text := c.in.one()
		c.w.frame.stdin = &text
	}
	c.winCall.run()
	c.w.frame.stdin = saved
	c.runBlocks()
	return textPS(c.out)
}

// psReading are verbs of cmdlets that change nothing, and commands that are part of
// the language or harmless.
var psReading = []string{"get", "test", "select", "where", "foreach", "sort", "measure", "write", "format", "out", "convertto",
	"convertfrom", "join", "split", "resolve", "compare", "group", "show", "find", "read", "wait", "start-sleep", "tee", "push",
	"pop", "trace", "search", "use", "ping", "watch", "step", "switch", "assert", "new-timespan", "new-guid", "new-object",
	"set-strictmode", "set-psdebug", "register-argumentcompleter", "export-modulemember", "update-help",
	"clear-host", "new-variable", "clear-variable", "remove-variable", "remove-module", "prompt", "enable-pstrace", "exit",
	"enter-nativehost",
	"receive-job", "remove-job", "new-temporaryfile", "new-event", "start-transcript", "stop-transcript", "set-clipboard"}

// psVerbs are the approved verbs that change something.
var psVerbs = []string{"set", "new", "remove", "clear", "stop", "start", "restart", "suspend", "resume", "enable", "disable",
	"install", "uninstall", "add", "register", "unregister", "update", "invoke", "mount", "dismount", "reset", "restore", "save",
	"publish", "unpublish", "send", "grant", "revoke", "block", "unblock", "move", "rename", "copy", "initialize", "repair",
	"import", "export", "enter", "connect", "disconnect", "debug", "limit", "lock", "unlock", "protect", "unprotect", "complete",
	"confirm", "deny", "approve", "expand", "compress", "edit", "optimize", "checkpoint", "undo", "redo", "merge", "hide",
	"close", "open", "request", "submit", "receive", "sync", "backup", "convert", "resize", "build", "deploy"}

// psSystemCommand finds a cmdlet that changes the machine; nil if it is not one.
func psSystemCommand(name string) func(c *psCall) psValue {
	does := func(f func(c *psCall)) func(c *psCall) psValue {
		return func(c *psCall) psValue { f(c); return unknownPS() }
	}
	switch name {
	case "stop-computer", "restart-computer":
		return does(func(c *psCall) { c.w.signal(engine.SignalPower); c.system("power", "") })
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "reset-physicaldisk", "remove-virtualdisk", "remove-storagepool", "set-disk", "resize-partition":
		return does(func(c *psCall) {
			c.w.signal(engine.SignalDiskWrite)
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "format", Forced: c.has("force")},
				c.operand(0, "driveletter", "number", "disknumber", "friendlyname"))
		})
	case "stop-vm", "suspend-vm", "save-vm", "restart-vm":
		return does(func(c *psCall) { c.system("stop", "virtual machine") })
	case "disable-computerrestore", "remove-computerrestorepoint":
		return does(func(c *psCall) { c.system("disable", "backups") })
	case "disable-windowsoptionalfeature":
		return does(func(c *psCall) { c.system("disable", "windows feature "+c.operand(0, "featurename").Show()) })
	case "register-scheduledtask", "register-scheduledjob", "new-service", "register-wmievent", "register-cimindicationevent", "new-scheduledtask", "set-scheduledtask", "add-jobtrigger":
		return does((*psCall).persists)
	case "new-scheduledtaskaction", "new-scheduledtasktrigger", "new-scheduledtaskprincipal", "new-scheduledtasksettingsset", "new-jobtrigger", "new-scheduledjoboption":
		return does((*psCall).taskAction)
	case "set-service":
		return does((*psCall).setService)
	case "stop-service", "suspend-service", "remove-service", "restart-service", "start-service":
		return does((*psCall).service)
	case "disable-scheduledtask", "unregister-scheduledtask":
		return does(func(c *psCall) { c.system("disable", "scheduled task "+c.operand(0, "taskname").Show()) })
	case "import-certificate", "import-pfxcertificate":
		return does(func(c *psCall) { c.reads(c.operand(0, "filepath")); c.system("set", "certificates") })
	case "set-psreadlineoption":
		return does((*psCall).historyOptions)
	case "stop-process":
		return does((*psCall).stopProcess)
	case "set-mppreference", "add-mppreference", "remove-mppreference", "remove-mpthreat":
		return does((*psCall).virusGuard)
	case "uninstall-windowsfeature", "remove-windowsfeature":
		return does(func(c *psCall) { c.system("disable", "windows feature "+c.operand(0, "name").Show()) })
	case "set-netfirewallprofile", "disable-netfirewallrule", "remove-netfirewallrule", "new-netfirewallrule", "set-netfirewallrule", "enable-netfirewallrule":
		return does((*psCall).firewall)
	case "clear-eventlog", "remove-eventlog", "limit-eventlog":
		return does(func(c *psCall) {
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete"}, abstract.Concat(abstract.Word("event log "),
				c.operand(0, "logname", "name")))
		})
	case "add-localgroupmember", "add-adgroupmember", "enable-localuser":
		return does(func(c *psCall) {
			c.w.signal(engine.SignalPrivilege)
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "account", Privileged: true}, c.operand(1, "member", "members"))
		})
	case "new-localuser", "set-localuser", "remove-localuser", "disable-localuser", "rename-localuser", "new-localgroup", "remove-localgroup", "remove-localgroupmember":
		return does(func(c *psCall) {
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "account"}, c.operand(0, "name"))
		})
	case "set-executionpolicy":
		return does(func(c *psCall) {
			if !strings.EqualFold(c.operand(99, "scope").Text, "process") {
				c.system("set", "execution policy")
			}
		})
	case "invoke-wmimethod", "invoke-cimmethod":
		return does((*psCall).wmiMethod)
	case "new-ciminstance", "set-ciminstance", "new-wmiobject", "set-wmiinstance":
		return does((*psCall).newInstance)
	case "remove-wmiobject", "remove-ciminstance":
		return does((*psCall).removeInstance)
	}
	return psNetworkCommand(name)
}

// setService changes how a service starts, or whether it runs.
func (c *psCall) setService() {
	start := c.operand(99, "startuptype")
	_, auto := c.get("binarypathname", "startuptype")
	verb := startVerb(start)
	if strings.EqualFold(c.operand(99, "status").Text, "stopped") {
		verb = "stop"
	}
	auto = auto && verb == "set" && !strings.EqualFold(start.Text, "manual")
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Persistence: auto}, c.named())
}

// service applies the verb of the cmdlet to a service.
func (c *psCall) service() {
	verb, _, _ := strings.Cut(c.name, "-")
	if verb == "remove" {
		verb = "delete"
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Forced: c.has("force")}, c.named())
}

// named is the name that a cmdlet is given, or what comes through the pipe.
func (c *psCall) named() abstract.Arg {
	name := c.operand(0, "name", "displayname", "inputobject")
	if name.Text == "" && c.in != nil {
		name = c.in.one()
	}
	return name
}

// historyOptions runs Set-PSReadLineOption, which can disable the command history.
func (c *psCall) historyOptions() {
	if strings.EqualFold(c.operand(99, "historysavestyle").Text, "savenothing") || c.has("historysavepath") {
		c.system("disable", "history")
	}
}

// virusGuard runs Set-MpPreference and similar cmdlets, which weaken the virus scanner
// unless they remove exclusions or set false.
func (c *psCall) virusGuard() {
	verb := "disable"
	if c.name == "remove-mppreference" || c.name == "set-mppreference" && c.onlySwitchesOn() {
		verb = "set"
	}
	c.system(verb, "windows defender")
}

// onlySwitchesOn reports whether each Disable… of a preference is false.
func (c *psCall) onlySwitchesOn() bool {
	found := false
	for name, v := range c.given {
		if !strings.HasPrefix(name, "disable") {
			return false
		}
		found = true
		if text := strings.ToLower(strings.Trim(v.one().Text, "$")); text != "false" && text != "0" {
			return false
		}
	}
	return found
}

// firewall runs cmdlets that change the firewall.
func (c *psCall) firewall() {
	verb := "set"
	if enabled := strings.ToLower(strings.Trim(c.operand(99, "enabled").Text, "$")); enabled == "false" || enabled == "0" {
		verb = "disable"
	}
	if strings.HasPrefix(c.name, "disable-") || strings.HasPrefix(c.name, "remove-") {
		verb = "disable"
	}
	if strings.EqualFold(c.operand(99, "defaultinboundaction").Text, "allow") {
		verb = "disable"
	}
	c.system(verb, "firewall")
}

// persists runs cmdlets that register code to run later.
func (c *psCall) persists() {
	c.w.signal(engine.SignalDeferred)
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "schedule", Persistence: true}, c.operand(0, "taskname", "name", "query"))
	c.w.process(func() {
		c.runBlocks()
		if code, ok := c.get("binarypathname"); ok {
			c.w.embed(code.one(), "service", c.w.cmd)
		}
	})
}

// taskAction is the command of a task that may be registered.
func (c *psCall) taskAction() {
	if code, ok := c.get("execute"); ok {
		rest := c.operand(99, "argumentlist", "argument")
		c.w.process(func() { c.p.startProcess(code.one(), []psValue{textPS(rest)}) })
	}
}

func (c *psCall) stopProcess() {
	target := c.operand(0, "name", "id", "inputobject", "processname")
	if target.Text == "" {
		target = c.input().one()
	}
	low := strings.ToLower(target.Text)
	if strings.Contains(low, "reviewer") {
		c.w.signal(engine.SignalGuardTamper)
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Forced: c.has("force")}, target)
}

// wmiMethod calls a WMI method, usually to start a process.
func (c *psCall) wmiMethod() {
	class := strings.ToLower(c.operand(0, "class", "classname").Text)
	method := strings.ToLower(c.operand(1, "name", "methodname", "method").Text)
	code := c.operand(2, "argumentlist")
	if v, ok := c.get("arguments"); ok {
		code = v.one()
		if line, ok := v.hash["commandline"]; ok {
			code = line.one()
		}
	}
	host, remote := c.get("computername")
	switch {
	case method == "create" && strings.Contains(class, "process"):
		if remote && !slices.Contains([]string{"localhost", "127.0.0.1", "."}, host.one().Text) {
			c.sends("exec", host.one())
			c.w.elsewhere(c.name, host.one(), func() { c.w.embed(code, "wmi", c.w.cmd) })
			return
		}
		c.w.process(func() { c.w.embed(code, "wmi", c.w.cmd) })
	case method == "win32shutdown" || method == "reboot" || method == "shutdown":
		c.w.signal(engine.SignalPower)
		c.system("power", "")
	default:
		c.system("set", "wmi "+class)
	}
}

// newInstance creates a WMI object; event consumers run a program later.
func (c *psCall) newInstance() {
	class := strings.ToLower(c.operand(0, "classname", "class").Text)
	lasts := strings.Contains(class, "eventfilter") || strings.Contains(class, "eventconsumer") || strings.Contains(class, "filtertoconsumer")
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "install", Persistence: lasts}, abstract.Word("wmi "+class))
}

func (c *psCall) removeInstance() {
	kind := c.input().kind + strings.ToLower(c.operand(0, "class", "classname", "query").Text)
	if strings.Contains(kind, "shadowcopy") {
		c.w.signal(engine.SignalDiskWrite)
		c.system("delete", "shadow copies")
		return
	}
	c.system("delete", "wmi "+kind)
}

func (c *psCall) drive() {
	root := c.operand(2, "root", "remotepath")
	if host := shareHost(root); host != "" {
		c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "connect"}, abstract.Word(host))
	}
}

// cloudNouns begin the nouns of cmdlets that act on services elsewhere.
var cloudNouns = []string{"az", "ad", "azuread", "mg", "msol", "aws", "ec2", "s3", "rds", "iam", "gce", "gcs", "gcsql", "vm", "exo",
	"mailbox", "distributiongroup", "transportrule", "spo", "dnsserver", "team"}

// psCustomVerbs are verbs of cmdlets with unknown effects.
var psCustomVerbs = []string{"invoke", "export", "convert", "compress", "edit", "optimize", "hide", "request", "receive",
	"build", "update", "import", "save", "debug", "confirm", "complete", "merge"}

// changes runs a cmdlet of which only verb and noun are known.
func (c *psCall) changes(verb, noun string) {
	if !cloudNoun(noun) && slices.Contains(psCustomVerbs, verb) {
		c.execs() // a module's own command with unknown effects
		return
	}
	if !cloudNoun(noun) {
		if verb == "remove" || verb == "clear" {
			verb = "delete"
		}
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Forced: c.has("force")}, abstract.Word(noun))
		return
	}
	if slices.Contains([]string{"remove", "clear", "revoke"}, verb) || verb == "reset" {
		c.w.signal(engine.SignalInfraDelete)
		c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Recursive: true, Forced: c.has("force"),
			Reversible: engine.R5}, abstract.Word(noun))
		return
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true}, abstract.Word(noun))
}

func cloudNoun(noun string) bool {
	for _, lead := range cloudNouns {
		if strings.HasPrefix(noun, lead) && (len(lead) > 2 || len(noun) > len(lead)) && noun != "address" && !strings.HasPrefix(noun, "csv") &&
			!strings.HasPrefix(noun, "additional") {
			return true
		}
	}
	return false
}
