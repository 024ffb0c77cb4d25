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

// passes is a cmdlet that hands on what it is given.
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

// expression is Invoke-Expression.
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

// request is a web request, sending where it has a body.
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

// startProcess is Start-Process program arguments.
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

// getCommand finds a command by a pattern, which hides its name.
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
	}
	return v
}

// loads is code of another language, or a module.
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

// other is any command that the tables do not know: a cmdlet by its verb, a
// module's; else a program.
func (c *psCall) other() psValue {
	verb, noun, cmdlet := strings.Cut(c.name, "-")
	plain := cmdlet && noun != "" && strings.Trim(c.name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.ContainsAny(c.path.Text, `./\`)
	switch {
	case slices.Contains(psReading, c.name) || plain && slices.Contains(psReading, verb):
		c.recordPS()
		c.runBlocks()
		return unknownPS()
	case plain && slices.Contains(psVerbs, verb):
		c.recordPS()
		c.runBlocks()
		if c.has("whatif") {
			c.w.signal(engine.SignalDryRun)
			return unknownPS()
		}
		c.changes(verb, noun)
		return unknownPS()
	}
	return c.program()
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

// psReading are verbs of cmdlets that change nothing, and commands that are
// words of the language or harmless.
var psReading = []string{
	"get", "test", "select", "where", "foreach", "sort", "measure", "write", "format", "out", "convertto", "convertfrom", "join",
	"split", "resolve", "compare", "group", "show", "find", "read", "wait", "start-sleep", "tee", "push", "pop", "trace", "search",
	"use", "ping", "watch", "step", "switch", "assert", "new-timespan", "new-guid", "new-object", "set-strictmode", "set-psdebug",
	"set-psreadlineoption", "register-argumentcompleter", "export-modulemember", "update-help", "clear-host", "new-variable",
	"clear-variable", "remove-variable", "prompt", "enable-pstrace", "exit", "enter-nativehost", "receive-job", "remove-job",
	"new-temporaryfile", "new-event", "start-transcript", "stop-transcript", "set-clipboard",
}

// psVerbs are the approved verbs that change something.
var psVerbs = []string{
	"set", "new", "remove", "clear", "stop", "start", "restart", "suspend", "resume", "enable", "disable", "install", "uninstall",
	"add", "register", "unregister", "update", "invoke", "mount", "dismount", "reset", "restore", "save", "publish", "unpublish",
	"send", "grant", "revoke", "block", "unblock", "move", "rename", "copy", "initialize", "repair", "import", "export", "enter",
	"connect", "disconnect", "debug", "limit", "lock", "unlock", "protect", "unprotect", "complete", "confirm", "deny", "approve",
	"expand", "compress", "edit", "optimize", "checkpoint", "undo", "redo", "merge", "hide", "close", "open", "request", "submit",
	"receive", "sync", "backup", "convert", "resize", "build", "deploy",
}
