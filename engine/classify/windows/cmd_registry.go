package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// registry is a change of the registry: set, delete or import.
func (w *interpreter) registry(index int, verb string, key, name abstract.Arg, forced bool) {
	full := registryKey(key.Text)
	e := abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Recursive: verb == "delete" && name.Text == "", Forced: forced,
		Command: index, Host: w.frame.host}
	e.Persistence = verb == "set" && autostart(full, name)
	e.Target = key.With(full).Value()
	w.add(e)
}

// registryKey is the one spelling of a key: HKLM\Software\….
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
var registryHives = []string{
	"hklm:", "hkcu:", "hkcr:", "hku:", "hkcc:", "hkey_local_machine", "hkey_current_user", "hkey_classes_root", "hkey_users",
	"hkey_current_config",
}

// isRegistry tells a key from a path, as PowerShell writes keys.
func isRegistry(text string) bool {
	low := strings.ToLower(text)
	if i := strings.Index(low, "::"); i >= 0 {
		low = low[i+2:]
	}
	hive, _, _ := strings.Cut(strings.ReplaceAll(low, "/", `\`), `\`)
	return slices.Contains(registryHives, hive)
}

// autostartKeys hold what Windows starts by itself: at boot, at logon, or in
// the place of another program. Parts of the key, in lower case.
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

// autostartValues do the same as one value of a key that holds others too.
var autostartValues = []string{
	"appinit_dlls", "loadappinit_dlls", "bootexecute", "setupexecute", "execute", "s0initialcommand", "userinitmprlogonscript",
	"scrnsave.exe", "autorun", "load", "cor_profiler", "cor_profiler_path", "coreclr_profiler", "clxdllpath", "startup-path",
	"initialprogram", "shell", "userinit", "notify", "gpextensions", "verifierdlls", "globalflag", "debugger", "monitorprocess",
	"imagepath", "servicedll", "nativeimage_debugger", "startupprograms", "psmodulepath",
}

// autostart says that a value names what runs later.
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

// accountsFile is where Windows keeps the hashes of passwords, and vaultFolder
// where a person's own are.
const (
	accountsFile = "C:/Windows/System32/config/SAM"
	vaultFolder  = "AppData/Local/Microsoft/Credentials" // below a home directory
)

// secretHive says that a key is one of the parts of the registry that hold passwords.
func secretHive(key string) bool {
	low := strings.ToLower(registryKey(key))
	for _, hive := range []string{`hklm\sam`, `hklm\security`} {
		if low == hive || strings.HasPrefix(low, hive+`\`) {
			return true
		}
	}
	return false
}

// regProgram is reg.exe.
func regProgram(c *winCall) {
	verb, key := c.sub(0), abstract.Arg{}
	if list := c.operands(); len(list) > 1 {
		key = list[1]
	}
	name, _ := c.value("v")
	switch verb {
	case "add":
		c.w.registry(c.index, "set", key, name, c.has("f"))
	case "delete":
		c.w.registry(c.index, "delete", key, name, c.has("f"))
	case "copy", "restore", "load", "unload", "flags":
		c.w.registry(c.index, "set", key, abstract.Arg{}, c.has("f"))
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
