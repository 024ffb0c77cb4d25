package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// psSystemCommand finds a cmdlet that changes the machine; nil: it is none.
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
	case "disable-computerrestore", "remove-computerrestorepoint", "disable-windowsoptionalfeature":
		return does(func(c *psCall) { c.system("disable", "backups") })
	case "register-scheduledtask", "register-scheduledjob", "new-service", "register-wmievent", "register-cimindicationevent", "new-scheduledtask", "set-scheduledtask", "add-jobtrigger":
		return does((*psCall).persists)
	case "new-scheduledtaskaction", "new-scheduledtasktrigger", "new-scheduledtaskprincipal", "new-scheduledtasksettingsset", "new-jobtrigger", "new-scheduledjoboption":
		return does((*psCall).taskAction)
	case "set-service":
		return does(func(c *psCall) {
			_, auto := c.get("binarypathname", "startuptype")
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "set", Persistence: auto &&
				!strings.EqualFold(c.operand(99, "startuptype").Text, "disabled") && !strings.EqualFold(c.operand(99, "startuptype").Text,
				"manual")}, c.operand(0, "name"))
		})
	case "stop-process":
		return does((*psCall).stopProcess)
	case "set-mppreference", "add-mppreference", "remove-mppreference", "remove-mpthreat", "uninstall-windowsfeature":
		return does(func(c *psCall) { c.system("disable", "windows defender") })
	case "set-netfirewallprofile", "disable-netfirewallrule", "remove-netfirewallrule", "new-netfirewallrule", "set-netfirewallrule", "enable-netfirewallrule":
		return does(func(c *psCall) { c.system("set", "firewall") })
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
	case "install-module", "install-package", "install-script", "save-module", "install-psresource", "update-module":
		return does(func(c *psCall) {
			c.w.signal(engine.SignalPackageInstall)
			c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, abstract.Word("psgallery"))
		})
	case "send-mailmessage":
		return does(func(c *psCall) {
			if v, ok := c.get("attachments"); ok {
				c.reads(v.items...)
				c.w.signal(engine.SignalPipeExternal)
			}
			c.sends("send", c.operand(99, "smtpserver"))
		})
	case "enter-pssession", "new-pssession", "new-cimsession", "connect-pssession":
		return does(func(c *psCall) { c.sends("connect", c.operand(0, "computername")) })
	case "new-smbmapping", "new-psdrive":
		return does((*psCall).drive)
	}
	return nil
}

// persists registers what runs later by itself, with the code that it holds.
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
	if low == "*" {
		c.w.signal(engine.SignalKillAll)
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Forced: c.has("force")}, target)
}

// wmiMethod calls a method of Windows' own management: a process mostly.
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

// newInstance makes an object of Windows' own management: some of them wait for
// an event and then run something.
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

// psCustomVerbs are verbs of cmdlets of which no more is known.
var psCustomVerbs = []string{
	"invoke", "export", "convert", "compress", "edit", "optimize", "hide", "request", "receive", "build", "update", "import", "save",
	"debug", "confirm", "complete", "merge",
}

// changes is a cmdlet that is known by its verb and noun alone.
func (c *psCall) changes(verb, noun string) {
	if !cloudNoun(noun) && slices.Contains(psCustomVerbs, verb) {
		c.execs() // a module's own command: no more is known of it
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
