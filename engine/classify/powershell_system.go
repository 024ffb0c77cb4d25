package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
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
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "format", forced: c.has("force")}, c.operand(0, "driveletter", "number", "disknumber", "friendlyname"))
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
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "set", persistence: auto && !strings.EqualFold(c.operand(99, "startuptype").text, "disabled") && !strings.EqualFold(c.operand(99, "startuptype").text, "manual")}, c.operand(0, "name"))
		})
	case "stop-process":
		return does((*psCall).stopProcess)
	case "set-mppreference", "add-mppreference", "remove-mppreference", "remove-mpthreat", "uninstall-windowsfeature":
		return does(func(c *psCall) { c.system("disable", "windows defender") })
	case "set-netfirewallprofile", "disable-netfirewallrule", "remove-netfirewallrule", "new-netfirewallrule", "set-netfirewallrule", "enable-netfirewallrule":
		return does(func(c *psCall) { c.system("set", "firewall") })
	case "clear-eventlog", "remove-eventlog", "limit-eventlog":
		return does(func(c *psCall) {
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "delete"}, concat(word("event log "), c.operand(0, "logname", "name")))
		})
	case "add-localgroupmember", "add-adgroupmember", "enable-localuser":
		return does(func(c *psCall) {
			c.w.signal(engine.SignalPrivilege)
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "account", privileged: true}, c.operand(1, "member", "members"))
		})
	case "new-localuser", "set-localuser", "remove-localuser", "disable-localuser", "rename-localuser", "new-localgroup", "remove-localgroup", "remove-localgroupmember":
		return does(func(c *psCall) {
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "account"}, c.operand(0, "name"))
		})
	case "set-executionpolicy":
		return does(func(c *psCall) {
			if !strings.EqualFold(c.operand(99, "scope").text, "process") {
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
			c.emit(rawEffect{kind: engine.EffectNetwork, verb: "fetch"}, word("psgallery"))
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
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "schedule", persistence: true}, c.operand(0, "taskname", "name", "query"))
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
	if target.text == "" {
		target = c.input().one()
	}
	low := strings.ToLower(target.text)
	if strings.Contains(low, "reviewer") {
		c.w.signal(engine.SignalGuardTamper)
	}
	if low == "*" {
		c.w.signal(engine.SignalKillAll)
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "kill", forced: c.has("force")}, target)
}

// wmiMethod calls a method of Windows' own management: a process mostly.
func (c *psCall) wmiMethod() {
	class := strings.ToLower(c.operand(0, "class", "classname").text)
	method := strings.ToLower(c.operand(1, "name", "methodname", "method").text)
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
		if remote && !slices.Contains([]string{"localhost", "127.0.0.1", "."}, host.one().text) {
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
	class := strings.ToLower(c.operand(0, "classname", "class").text)
	lasts := strings.Contains(class, "eventfilter") || strings.Contains(class, "eventconsumer") || strings.Contains(class, "filtertoconsumer")
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "install", persistence: lasts}, word("wmi "+class))
}

func (c *psCall) removeInstance() {
	kind := c.input().kind + strings.ToLower(c.operand(0, "class", "classname", "query").text)
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
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "connect"}, word(host))
	}
}

// cloudNouns begin the nouns of cmdlets that act on services elsewhere.
var cloudNouns = []string{"az", "ad", "azuread", "mg", "msol", "aws", "ec2", "s3", "rds", "iam", "gce", "gcs", "gcsql", "vm", "exo", "mailbox", "distributiongroup", "transportrule", "spo", "dnsserver", "team"}

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
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb, forced: c.has("force")}, word(noun))
		return
	}
	if slices.Contains([]string{"remove", "clear", "revoke"}, verb) || verb == "reset" {
		c.w.signal(engine.SignalInfraDelete)
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, recursive: true, forced: c.has("force"), reversible: engine.R5}, word(noun))
		return
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true}, word(noun))
}

func cloudNoun(noun string) bool {
	for _, lead := range cloudNouns {
		if strings.HasPrefix(noun, lead) && (len(lead) > 2 || len(noun) > len(lead)) && noun != "address" && !strings.HasPrefix(noun, "csv") && !strings.HasPrefix(noun, "additional") {
			return true
		}
	}
	return false
}
