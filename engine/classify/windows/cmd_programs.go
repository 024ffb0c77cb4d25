package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// winReading are Windows programs that only show something.
var winReading = []string{"hostname", "whoami", "systeminfo", "ipconfig", "tasklist", "ver", "getmac", "arp", "netstat",
	"nbtstat", "tracert", "pathping", "nslookup", "ping", "findstr", "fc", "comp", "more", "tree", "where", "chcp", "vol",
	"label", "cls", "title", "color", "prompt", "mode", "driverquery", "gpresult", "openfiles", "query", "quser", "qwinsta",
	"qprocess", "choice", "clip", "doskey", "typeperf", "msinfo32", "dxdiag", "winver", "tzutil", "w32tm", "waitfor", "sigverif",
	"verifier", "powercfg", "gpupdate", "sfc", "chkdsk", "chkntfs", "print"}

// winProgram returns the function for a Windows program; nil: unknown.
func winProgram(name string) func(c *winCall) {
	switch name {
	case "reg", "regedit":
		return regProgram
	case "regini":
		return func(c *winCall) { c.reads(c.operands()...); c.installs("import", "registry") }
	case "schtasks", "at":
		return scheduledTask
	case "sc":
		return serviceControl
	case "net", "net1":
		return netProgram
	case "netsh":
		return netshProgram
	case "wmic":
		return wmicProgram
	case "vssadmin", "wbadmin", "diskshadow":
		return shadowCopies
	case "bcdedit", "bcdboot", "bootsect", "reagentc":
		return bootProgram
	case "format", "diskpart":
		return diskProgram
	case "fsutil":
		return fsutilProgram
	case "cipher":
		return cipherProgram
	case "taskkill", "tskill":
		return killProgram
	case "shutdown", "logoff", "tsdiscon", "rwinsta":
		return powerProgram
	case "wevtutil":
		return eventLogProgram
	case "auditpol":
		return auditProgram
	case "fltmc":
		return filterProgram
	case "icacls", "cacls", "xcacls", "takeown":
		return aclProgram
	case "attrib":
		return attribProgram
	case "setx":
		return setxProgram
	case "manage-bde", "secedit", "gpedit", "dism", "pnputil", "ntdsutil", "lgpo", "tpmtool":
		return adminProgram
	case "sdbinst":
		return func(c *winCall) { c.reads(c.operands()...); c.installs("install", "application shim") }
	case "mofcomp":
		return func(c *winCall) { c.reads(c.operands()...); c.installs("import", "wmi") }
	case "odbcconf", "installutil", "regasm", "regsvcs":
		return func(c *winCall) { c.reads(c.operands()...); c.runsCode(c.operands()...) }
	}
	return winRunner(name)
}

// winRunner returns the function for programs that run code, fetch or copy.
func winRunner(name string) func(c *winCall) {
	switch name {
	case "cmd":
		return cmdProgram
	case "powershell", "pwsh", "powershell_ise":
		return powershellProgram
	case "wscript", "cscript", "mshta", "rundll32", "regsvr32", "hh", "cmstp", "msxsl", "msbuild", "control", "verclsid", "presentationhost", "ieexec", "bginfo", "wsreset":
		return hostProgram
	case "msiexec":
		return msiexecProgram
	case "runas":
		return runasProgram
	case "forfiles":
		return forfilesProgram
	case "conhost", "pcalua", "explorer", "scriptrunner", "workfolders", "syncappvpublishingserver", "syncappvpublishingserver.vbs":
		return proxyProgram
	case "psexec", "psexec64", "winrs", "paexec", "remcom":
		return remoteProgram
	case "certutil":
		return certutilProgram
	case "bitsadmin":
		return bitsadminProgram
	case "certreq", "desktopimgdownldr", "mpcmdrun", "gup", "extrac32", "expand", "makecab", "esentutl", "replace", "printbrm", "diantz":
		return copyProgram
	case "robocopy":
		return robocopyProgram
	case "xcopy":
		return func(c *winCall) { c.copies(c.operands(), "copy") }
	case "mklink", "subst", "mountvol", "dsmod", "dsadd", "dsrm":
		return linkProgram
	case "vaultcmd", "cmdkey", "rpcping":
		return vaultProgram
	case "ftp", "tftp":
		return ftpProgram
	case "nltest", "dsquery", "klist", "setspn", "csvde", "ldifde", "adfind":
		return directoryProgram
	case "wsl", "bash":
		return wslProgram
	}
	return nil
}

// changesUnless runs an administrative program that changes the machine unless one of
// its first words is a query.
func (c *winCall) changesUnless(shows ...string) {
	verb := strings.TrimLeft(c.sub(0), "/-")
	for _, a := range c.args[:min(1, len(c.args))] {
		verb = strings.TrimLeft(strings.ToLower(a.Text), "/-")
	}
	verb, _, _ = strings.Cut(verb, ":")
	for _, s := range append(shows, "", "?", "help") {
		if verb == s {
			return
		}
	}
	c.system("set", c.name)
}

func scheduledTask(c *winCall) {
	task, _ := c.value("tn")
	code, hasCode := c.value("tr")
	if c.name == "at" {
		if list := c.operands(); len(list) > 1 {
			c.installs("schedule", "at")
			c.w.signal(engine.SignalDeferred)
			c.w.embed(shell.JoinWords(list[1:]), "at", c.w.cmd)
		}
		return
	}
	switch {
	case c.has("create"), c.has("change") && hasCode:
		c.w.signal(engine.SignalDeferred)
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "schedule", Persistence: true, Forced: c.has("f")}, task)
		if hasCode {
			c.w.process(func() { c.w.embed(code, "schtasks", c.w.cmd) })
		}
	case c.has("delete"):
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Forced: c.has("f")}, task)
	case c.has("change") && c.has("disable"):
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "disable"}, abstract.Concat(abstract.Word("scheduled task "), task))
	case c.has("change", "end", "run"):
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "set"}, task)
	}
}

// serviceControl runs sc.exe, whose options are written name= value.
func serviceControl(c *winCall) {
	list := c.args
	if len(list) > 0 && strings.HasPrefix(list[0].Text, `\\`) {
		list = list[1:]
	}
	if len(list) == 0 {
		return
	}
	verb, name := strings.ToLower(list[0].Text), abstract.Arg{}
	if len(list) > 1 {
		name = list[1]
	}
	code, hasCode := equalsValue(list, "binpath=")
	switch verb {
	case "create":
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "install", Persistence: true}, name)
	case "config", "failure", "failureflag", "sdset", "triggerinfo", "privs":
		command, hasCommand := equalsValue(list, "command=")
		if !hasCode {
			code, hasCode = command, hasCommand
		}
		start, _ := equalsValue(list, "start=")
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: startVerb(start), Persistence: hasCode || verb == "sdset"}, name)
	case "delete", "stop", "start", "pause", "continue", "control":
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, name)
	}
	if hasCode {
		c.w.process(func() { c.w.embed(code, "service", c.w.cmd) })
	}
}

// startVerb returns the verb for setting a service's start type.
func startVerb(how abstract.Arg) string {
	if strings.EqualFold(how.Text, "disabled") {
		return "disable"
	}
	return "set"
}

// auditProgram runs programs that configure auditing.
func auditProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	if c.has("clear", "remove") || c.has("set") && strings.Contains(all, ":disable") {
		c.system("disable", "audit")
		return
	}
	c.changesUnless("get", "list", "backup")
}

// filterProgram runs fltmc, which loads and unloads file system filter drivers.
func filterProgram(c *winCall) {
	list := c.operands()
	if verb := c.sub(0); len(list) > 1 && (verb == "unload" || verb == "detach") {
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "disable"}, list[1])
	}
}

// equalsValue returns the value after name=, in the same word or the next.
func equalsValue(list []abstract.Arg, name string) (abstract.Arg, bool) {
	for i, a := range list {
		low := strings.ToLower(a.Text)
		if low == name && i+1 < len(list) {
			return list[i+1], true
		}
		if strings.HasPrefix(low, name) && low != name {
			return a.With(strings.Trim(a.Text[len(name):], `"`)), true
		}
	}
	return abstract.Arg{}, false
}

func netProgram(c *winCall) {
	list := c.operands()
	what := abstract.Arg{}
	if len(list) > 1 {
		what = list[1]
	}
	changes := c.has("add", "delete", "active", "del")
	switch c.sub(0) {
	case "user", "users":
		if changes || len(list) > 2 {
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "account"}, what)
		}
	case "localgroup", "group":
		if changes {
			c.w.signal(engine.SignalPrivilege)
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "account", Privileged: true}, what)
		}
	case "share":
		if changes || len(list) > 2 || strings.Contains(what.Text, "=") {
			verb := "set"
			if !changes {
				verb = "share"
				c.w.signal(engine.SignalListen)
			}
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, what)
		}
	case "use":
		c.connects(list[1:])
	case "start", "stop", "pause", "continue":
		if len(list) > 1 {
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: c.sub(0)}, what)
		}
	case "accounts", "config", "computer", "session", "sessions", "file", "print":
		if changes || len(c.args) > len(list) && !c.has("domain") || c.has("close") {
			c.system("set", "net "+c.sub(0))
		}
	case "time":
		if c.has("set", "setsntp") {
			c.system("set", "clock")
		}
	case "send":
		c.sends("send", what)
	}
}

// connects runs net use, which maps a share of another host to a drive.
func (c *winCall) connects(list []abstract.Arg) {
	for _, a := range list {
		if host := shareHost(a); host != "" && !c.has("delete") {
			c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "connect", Egress: c.has("user")}, abstract.Word(host))
		}
	}
}

func netshProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	switch {
	case all == "", strings.Contains(" "+all+" ", " show "), strings.Contains(all, "dump"):
		if strings.Contains(all, "key=clear") {
			c.w.signal(engine.SignalCredential)
		}
	case strings.Contains(all, "wlan export"):
		c.w.signal(engine.SignalCredential)
	case strings.Contains(all, "portproxy") && !strings.Contains(all, "delete") && !strings.Contains(all, "reset"):
		c.w.signal(engine.SignalTunnel)
		c.system("set", "portproxy")
	case strings.Contains(all, "add helper"):
		c.installs("install", "netsh helper")
	case strings.Contains(all, "firewall"):
		c.system(firewallVerb(all), "firewall")
	case strings.Contains(all, "trace start"):
		c.system("set", "network trace")
	default:
		c.system("set", "network")
	}
}

// firewallVerb returns the verb for a firewall command of netsh.
func firewallVerb(all string) string {
	off := func(words string) bool { return strings.Contains(all, words) }
	if off("state off") || off("opmode disable") || off("opmode mode=disable") || off("mode=disable") || off("allowinbound") {
		return "disable"
	}
	return "set"
}

func wmicProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	if node, ok := c.value("node"); ok && !slices.Contains([]string{"localhost", "127.0.0.1", "."},
		strings.ToLower(strings.Trim(node.Text, `"'`))) {
		c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "exec", Egress: true}, node)
	}
	if sheet, ok := c.value("format"); ok && (abstract.IsURL(sheet) || strings.Contains(strings.ToLower(sheet.Text), ".xsl")) {
		c.runsCode(sheet)
	}
	words := " " + all + " "
	switch {
	case strings.Contains(words, "shadowcopy") && strings.Contains(words, " delete "):
		c.w.signal(engine.SignalDiskWrite)
		c.system("delete", "shadow copies")
	case strings.Contains(words, "shadowcopy"):
		c.system("create", "shadow copies")
	case strings.Contains(words, " call create "):
		c.system("start", "wmi process")
		if i := wordAt(c.args, "create"); i >= 0 && i+1 < len(c.args) {
			c.w.process(func() { c.w.embed(shell.JoinWords(c.args[i+1:]), "wmic", c.w.cmd) })
		}
		if strings.Contains(words, "eventconsumer") || strings.Contains(words, "__eventfilter") {
			c.installs("install", "wmi event")
		}
	case strings.Contains(words, " call terminate ") || strings.Contains(words, " delete ") && strings.Contains(words, "process "):
		c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill"}, abstract.Arg{Text: abstract.HoleText})
	case strings.Contains(words, "__eventfilter") || strings.Contains(words, "eventconsumer") || strings.Contains(words, "__filtertoconsumerbinding"):
		c.installs("install", "wmi event")
	case strings.Contains(words, " call uninstall"), strings.Contains(words, " delete "), strings.Contains(words, " call "), strings.Contains(words, " set "), strings.Contains(words, " create "):
		c.system("set", "wmi "+c.sub(0))
	}
}

func wordAt(list []abstract.Arg, name string) int {
	for i, a := range list {
		if strings.EqualFold(a.Text, name) {
			return i
		}
	}
	return -1
}

// shadowCopies are the copies from which a disk can be restored.
func shadowCopies(c *winCall) {
	switch c.sub(0) {
	case "delete", "resize":
		c.w.signal(engine.SignalDiskWrite)
		if c.has("quiet", "q") {
			c.w.signal(engine.SignalUnconfirmed)
		}
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Recursive: true, Forced: c.has("quiet", "q")},
			abstract.Word("shadow copies"))
	case "disable":
		c.system("disable", "backups")
	case "create", "enable", "start":
		c.system("create", "shadow copies")
	default:
		if c.name == "diskshadow" {
			c.w.Opaque("code", c.name)
		}
	}
}

// bootProgram runs programs that change how the machine starts.
func bootProgram(c *winCall) {
	if c.name == "bcdedit" && (len(c.args) == 0 || c.has("enum", "v", "?", "export")) || c.name == "reagentc" && c.has("info") {
		return
	}
	c.system("set", "boot configuration")
}

func diskProgram(c *winCall) {
	if len(c.args) == 0 && c.name == "format" || c.has("?") {
		return
	}
	if script, ok := c.value("s"); ok && c.name == "diskpart" {
		c.reads(script)
	}
	c.w.signal(engine.SignalDiskWrite)
	target := abstract.Arg{}
	if list := c.operands(); len(list) > 0 {
		target = list[0]
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "format", Forced: c.has("y", "q")}, target)
}

func fsutilProgram(c *winCall) {
	list := c.operands()
	at := func(i int) abstract.Arg { return list[min(i, len(list)-1)] }
	switch c.sub(0) + " " + c.sub(1) {
	case "usn deletejournal":
		c.w.signal(engine.SignalDiskWrite)
		c.system("delete", "usn journal")
	case "file createnew", "file setvaliddata", "file seteof":
		c.writes("create", at(2))
	case "file setzerodata":
		c.writes("truncate", at(len(list)-1))
	case "hardlink create":
		c.writes("link", at(2))
	case "dirty set", "resource setautoreset", "volume dismount":
		c.system("set", "volume")
	default:
		if strings.HasPrefix(c.sub(1), "set") || c.sub(1) == "delete" {
			c.system("set", "fsutil "+c.sub(0))
		}
	}
}

func cipherProgram(c *winCall) {
	if dir, ok := c.value("w"); ok {
		c.w.signal(engine.SignalDiskWrite)
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "wipe"}, dir)
		return
	}
	if c.has("e", "d") {
		c.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "encrypt", Recursive: c.has("s")}, c.operands()...)
	}
}

func killProgram(c *winCall) {
	targets := c.operands()
	for _, name := range []string{"im", "pid", "fi"} {
		if t, ok := c.value(name); ok {
			targets = append([]abstract.Arg{t}, targets[min(1, len(targets)):]...)
		}
	}
	for _, t := range targets[:min(1, len(targets))] {
		if strings.Contains(strings.ToLower(t.Text), "reviewer") {
			c.w.signal(engine.SignalGuardTamper)
		}
		c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Forced: c.has("f")}, t)
	}
}

func powerProgram(c *winCall) {
	if c.name == "shutdown" && (len(c.args) == 0 || c.has("a", "?") && !c.has("s", "r", "p", "h")) {
		return
	}
	c.w.signal(engine.SignalPower)
	c.system("power", "")
}

func eventLogProgram(c *winCall) {
	list := c.operands()
	name := abstract.Arg{}
	if len(list) > 1 {
		name = list[1]
	}
	switch c.sub(0) {
	case "cl", "clear-log":
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete"}, abstract.Concat(abstract.Word("event log "), name))
	case "sl", "set-log":
		verb := "set"
		if c.has("e", "enabled") && strings.Contains(strings.ToLower(shell.JoinWords(c.args).Text), ":false") {
			verb = "disable"
		}
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, abstract.Concat(abstract.Word("event log "), name))
	case "im", "um", "install-manifest", "uninstall-manifest":
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "set"}, abstract.Concat(abstract.Word("event log "), name))
	}
}

// aclProgram runs programs that change permissions of files.
func aclProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	list := c.operands()
	target := list
	if t, ok := c.value("f"); ok && c.name == "takeown" {
		target = []abstract.Arg{t}
	} else if len(list) > 1 {
		target = list[:1]
	}
	if c.name != "takeown" && !c.has("grant", "deny", "remove", "reset", "setowner", "inheritance", "setintegritylevel", "restore",
		"g", "e", "p", "d", "r") {
		c.reads(target...)
		return
	}
	recursive := c.has("t", "r")
	verb, mode := "chmod", ""
	if c.name == "takeown" {
		verb = "chown"
	} else if i := max(strings.Index(all, "everyone"), strings.Index(all, "*s-1-1-0")); i >= 0 {
		mode, _, _ = strings.Cut(all[i:], " ")
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: verb, Mode: mode, Recursive: recursive}, target...)
}

func attribProgram(c *winCall) {
	var files []abstract.Arg
	changes := false
	for _, a := range c.args {
		switch {
		case strings.HasPrefix(a.Text, "+") || strings.HasPrefix(a.Text, "-") && len(a.Text) == 2:
			changes = true
		case !isSwitch(a):
			files = append(files, a)
		}
	}
	if !changes {
		c.reads(files...)
		return
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "chmod", Recursive: c.has("s")}, files...)
}

func setxProgram(c *winCall) {
	if list := c.operands(); len(list) > 1 {
		c.w.setEnvLasting(c.index, list[0], list[1], c.has("m"))
	}
}

// autostartVariables are variables of the environment that make programs load or run code.
var autostartVariables = []string{"path", "pathext", "psmodulepath", "node_options", "pythonstartup", "git_ssh_command",
	"cor_enable_profiling", "coreclr_enable_profiling", "comspec"}

// setEnvLasting sets a variable of the environment permanently, for the person or for the whole machine.
func (w *interpreter) setEnvLasting(index int, name, v abstract.Arg, machine bool) {
	low := strings.ToLower(name.Text)
	code := slices.Contains(autostartValues, low) || slices.Contains(autostartVariables, low)
	whose := "environment "
	if machine {
		whose = "machine environment "
	}
	w.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "set", Persistence: code && low != "path", Command: index},
		abstract.Concat(abstract.Word(whose), name))
	w.setEnv(name.Text, v)
}

// adminProgram is for programs that configure Windows.
func adminProgram(c *winCall) {
	all := " " + strings.ToLower(shell.JoinWords(c.args).Text) + " "
	switch c.name {
	case "ntdsutil":
		if strings.Contains(all, "ifm") || strings.Contains(all, "dsrm") || strings.Contains(all, "snapshot") {
			c.reads(abstract.Word("C:/Windows/NTDS/ntds.dit"))
		}
		c.system("set", "directory")
	case "manage-bde":
		c.changesUnless("status")
	case "dism":
		if !strings.Contains(all, "/get-") && !strings.Contains(all, "/check") && !strings.Contains(all, "/scan") {
			c.system("set", "windows image")
		}
	case "pnputil":
		c.changesUnless("enum-drivers", "enum-devices", "e")
	case "secedit":
		c.changesUnless("export", "analyze", "validate")
	default:
		c.system("set", c.name)
	}
}
