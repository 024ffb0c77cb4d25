package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// runsCode notes that a program runs the code in these files. Files on another host
// are unseen code.
func (c *winCall) runsCode(files ...abstract.Arg) {
	c.execs()
	for _, f := range files {
		low := strings.ToLower(f.Text)
		switch {
		case strings.Contains(low, "http://"), strings.Contains(low, "https://"), shareHost(f) != "":
			if i := strings.Index(low, "http"); i > 0 {
				f = f.With(f.Text[i:])
			}
			c.fetches(f)
			c.w.unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, c.name)
		case inlineScript(low):
			c.w.Opaque("code", c.name)
		}
	}
}

// inlineScript reports whether an argument is code itself.
func inlineScript(low string) bool {
	return slices.ContainsFunc([]string{"javascript:", "vbscript:", "script:", "about:"}, func(lead string) bool {
		return strings.Contains(low, lead)
	})
}

// hostProgram runs the code of a file: a script, a library, a control panel.
func hostProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	if c.name == "rundll32" && strings.Contains(all, "comsvcs") && (strings.Contains(all, "minidump") || strings.Contains(all, "#24")) {
		c.w.signal(engine.SignalCredential)
		c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "attach"}, abstract.UnknownArg())
	}
	if c.name == "rundll32" && strings.Contains(all, "keymgr.dll") {
		c.w.signal(engine.SignalCredential)
	}
	files := c.args
	if text, ok := c.w.written(abstract.FirstOr(c.operands())); ok {
		c.w.Opaque("code", c.name)
		files = append(files, text)
	}
	for i, a := range files { // /i:URL
		if isSwitch(a) {
			_, v, _ := strings.Cut(a.Text, ":")
			files = append(files[:i:i], append([]abstract.Arg{a.With(v)}, files[i+1:]...)...)
		}
	}
	c.runsCode(files...)
}

func msiexecProgram(c *winCall) {
	c.runsCode(c.operands()...)
	if c.has("i", "package", "a", "j", "x", "uninstall", "p", "update") || len(c.operands()) > 0 {
		c.system("install", "package")
	}
}

func runasProgram(c *winCall) {
	list := c.operands()
	if len(list) == 0 {
		return
	}
	c.w.signal(engine.SignalPrivilege)
	c.w.process(func() {
		c.w.under("runas", true, func() {
			c.w.frame.privileged = true
			c.w.embed(list[len(list)-1], "runas", c.w.cmd)
		})
	})
}

// forfilesProgram runs a command for each file that it finds.
func forfilesProgram(c *winCall) {
	code, ok := c.value("c")
	if !ok {
		c.reads(abstract.FirstOr(c.operands()))
		return
	}
	dir, given := c.value("p")
	if !given {
		dir = abstract.Word(".")
	}
	mask, given := c.value("m")
	if !given {
		mask = abstract.Word("*")
	}
	if c.has("s") {
		dir = abstract.Concat(dir, abstract.Word("/**"))
	}
	found := abstract.Concat(abstract.Concat(dir, abstract.Word("/")), mask).Text
	for _, name := range []string{"@path", "@file", "@relpath", "@PATH", "@FILE", "@fname"} {
		code = code.With(strings.ReplaceAll(code.Text, name, found))
	}
	c.w.process(func() { c.w.embed(code, "forfiles", c.w.cmd) })
}

// proxyProgram starts what follows its switches.
func proxyProgram(c *winCall) {
	rest := c.operands()
	if a, ok := c.value("a", "appvscript"); ok {
		rest = []abstract.Arg{a}
	}
	if c.name == "explorer" || len(rest) == 0 {
		c.execs()
		return
	}
	if strings.HasPrefix(c.name, "syncappv") {
		c.w.Opaque("code", c.name)
		return
	}
	c.w.process(func() { c.w.under(c.name, true, func() { c.w.start(rest[0], rest[1:]) }) })
}

// psexecValued are options of psexec and winrs that take a value.
var psexecValued = []string{"-u", "-p", "-w", "-n", "-r", "-i", "-a", "/u", "/p", "-csrc", "-clist"}

// remoteProgram runs a command on another machine.
func remoteProgram(c *winCall) {
	host, rest := abstract.Arg{}, c.args
	for len(rest) > 0 {
		a := rest[0]
		low := strings.ToLower(a.Text)
		switch {
		case strings.HasPrefix(a.Text, `\\`):
			host = a.With(strings.TrimLeft(a.Text, `\`))
		case strings.HasPrefix(low, "-r:") || strings.HasPrefix(low, "/r:"):
			host = a.With(a.Text[3:])
		case slices.Contains(psexecValued, low):
			rest = rest[min(1, len(rest)-1):]
		case !isSwitch(a):
			c.remote(host, rest)
			return
		}
		rest = rest[1:]
	}
}

func (c *winCall) remote(host abstract.Arg, command []abstract.Arg) {
	w := c.w
	if host.Text == "" || slices.Contains([]string{"localhost", "127.0.0.1", "."}, strings.ToLower(host.Text)) {
		w.process(func() { w.under(c.name, true, func() { w.start(command[0], command[1:]) }) })
		return
	}
	c.sends("exec", host)
	w.elsewhere(c.name, host, func() { w.start(command[0], command[1:]) })
}

// registry notes a change of the registry: set, delete or import.
func (w *interpreter) registry(index int, verb string, key, name, data abstract.Arg, forced bool) {
	full := registryKey(key.Text)
	e := abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Recursive: verb == "delete" && name.Text == "", Forced: forced,
		Command: index, Host: w.frame.host}
	e.Persistence = verb == "set" && autostart(full, name)
	e.Object = registryValue(name, data)
	e.Target = key.With(full).Value()
	w.add(e)
}

// registryValue returns a value of a key, as NAME or NAME=DATA. Data is included only
// if it is a number or a short word: longer data may be a secret.
func registryValue(name, data abstract.Arg) string {
	if name.Text == "" || !name.Known() {
		return ""
	}
	text := strings.ToLower(strings.Trim(data.Text, `"'$ `))
	if !data.Known() || text == "" || len(text) > 10 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return strings.Trim(name.Text, `"'`)
	}
	return strings.Trim(name.Text, `"'`) + "=" + text
}

// registryKey returns the canonical spelling of a key: HKLM\Software\….
func registryKey(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, `"`), "/", `\`)
	if i := strings.Index(text, "::"); i >= 0 {
		text = text[i+2:]
	}
	if strings.HasPrefix(text, `\\`) { // \\HOST\HKLM\…
		if _, rest, ok := strings.Cut(text[2:], `\`); ok {
			text = rest
		}
	}
	hive, rest, _ := strings.Cut(text, `\`)
	hive = strings.ToUpper(strings.TrimSuffix(hive, ":"))
	switch hive {
	case "HKEY_LOCAL_MACHINE":
		hive = "HKLM"
	case "HKEY_CURRENT_USER":
		hive = "HKCU"
	case "HKEY_CLASSES_ROOT":
		hive = "HKCR"
	case "HKEY_USERS":
		hive = "HKU"
	case "HKEY_CURRENT_CONFIG":
		hive = "HKCC"
	}
	return strings.TrimSuffix(hive+`\`+strings.Trim(rest, `\`), `\`)
}

// registryHives are the roots of the registry, as cmd.exe and PowerShell write them.
var registryHives = []string{"hklm:", "hkcu:", "hkcr:", "hku:", "hkcc:", "hkey_local_machine", "hkey_current_user",
	"hkey_classes_root", "hkey_users", "hkey_current_config"}

// isRegistry reports whether a path is a registry key in PowerShell's notation.
func isRegistry(text string) bool {
	low := strings.ToLower(text)
	if i := strings.Index(low, "::"); i >= 0 {
		low = low[i+2:]
	}
	hive, _, _ := strings.Cut(strings.ReplaceAll(low, "/", `\`), `\`)
	return slices.Contains(registryHives, hive)
}

// autostartKeys are parts of keys, in lower case, with programs that Windows starts
// automatically: at boot, at logon, or instead of another program.
var autostartKeys = []string{
	`\currentversion\run`, `\currentversion\runonce`, `\currentversion\runservices`, `\currentversion\policies\explorer\run`,
	`\currentversion\winlogon`, `\image file execution options\`, `\silentprocessexit\`, `\active setup\installed components`,
	`\explorer\shell folders`, `\explorer\user shell folders`, `\explorer\sharedtaskscheduler`, `\explorer\shellserviceobjects`,
	`\explorer\shellexecutehooks`, `\explorer\browser helper objects`, `\command processor`, `\inprocserver32`, `\localserver32`,
	`\treatas`, `\shell\open\command`, `\shell\runas\command`, `\control\print\monitors`, `\control\print\environments`, `\currentcontrolset\services`,
	`\session manager\appcertdlls`, `\control\lsa`, `\control\networkprovider\order`, `\appcompatflags\custom`, `\appcompatflags\installedsdb`,
	`\accessibility\ats`, `\terminal server\addins`, `\windows error reporting\hangs`, `\office test\special\perf`, `\schedule\taskcache`,
	`\group policy\scripts`, `\system\scripts`, `\microsoft\netsh`, `\.netframework`, `\protocols\filter`, `\terminal services\initialprogram`,
}

// autostartValues do the same as one value among others of a key.
var autostartValues = []string{"appinit_dlls", "loadappinit_dlls", "bootexecute", "setupexecute", "execute",
	"s0initialcommand", "userinitmprlogonscript", "scrnsave.exe", "autorun", "load", "cor_profiler", "cor_profiler_path",
	"coreclr_profiler", "clxdllpath", "startup-path", "initialprogram", "shell", "userinit", "notify", "gpextensions",
	"verifierdlls", "globalflag", "debugger", "monitorprocess", "imagepath", "servicedll", "nativeimage_debugger",
	"startupprograms", "psmodulepath"}

// autostart reports whether a value names a program that runs later.
func autostart(key string, name abstract.Arg) bool {
	low := strings.ToLower(key)
	for _, part := range autostartKeys {
		if i := strings.Index(low, part); i >= 0 {
			end := i + len(part)
			return strings.HasSuffix(part, `\`) || end == len(low) || low[end] == '\\' || strings.HasPrefix(low[end:], "once") ||
				strings.HasPrefix(low[end:], "ex") || strings.HasPrefix(low[end:], "services")
		}
	}
	return slices.Contains(autostartValues, strings.ToLower(name.Text))
}

// accountsFile contains Windows' password hashes, and vaultFolder a user's stored
// passwords.
const (
	accountsFile = "C:/Windows/System32/config/SAM"
	vaultFolder  = "AppData/Local/Microsoft/Credentials" // under a home directory
)

// secretHive reports whether a key contains passwords.
func secretHive(key string) bool {
	low := strings.ToLower(registryKey(key))
	return slices.ContainsFunc([]string{`hklm\sam`, `hklm\security`}, func(hive string) bool {
		return low == hive || strings.HasPrefix(low, hive+`\`)
	})
}

// regProgram runs reg.exe.
func regProgram(c *winCall) {
	verb, key := c.sub(0), abstract.Arg{}
	if list := c.operands(); len(list) > 1 {
		key = list[1]
	}
	name, _ := c.value("v")
	switch verb {
	case "add":
		data, _ := c.value("d")
		c.w.registry(c.index, "set", key, name, data, c.has("f"))
	case "delete":
		c.w.registry(c.index, "delete", key, name, abstract.Arg{}, c.has("f"))
	case "copy", "restore", "load", "unload", "flags":
		c.w.registry(c.index, "set", key, abstract.Arg{}, abstract.Arg{}, c.has("f"))
	case "import":
		c.reads(key)
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "import", Persistence: true}, abstract.Word("registry"))
	case "save", "export":
		if verb == "save" && strings.EqualFold(registryKey(key.Text), `hklm\system`) || secretHive(key.Text) {
			c.reads(abstract.Word(accountsFile))
		}
		if list := c.operands(); len(list) > 2 {
			c.writes("write", list[2])
		}
	case "query":
		if secretHive(key.Text) {
			c.reads(abstract.Word(accountsFile))
		}
	}
}
