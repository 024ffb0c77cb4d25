package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// resolvePS returns the cmdlet that an alias stands for; programs lose their
// path and .exe.
func resolvePS(name string) string {
	low := strings.ToLower(name)
	if i := strings.LastIndexAny(low, `/\`); i >= 0 {
		low = low[i+1:]
	}
	low = strings.TrimSuffix(low, ".exe")
	if full, ok := psAliases[low]; ok {
		return full
	}
	return low
}

// psAliases are those that PowerShell defines itself.
var psAliases = map[string]string{
	"rm": "remove-item", "ri": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "rmdir": "remove-item",
	"cp": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mv": "move-item", "move": "move-item", "mi": "move-item", "ren": "rename-item", "rni": "rename-item",
	"ni": "new-item", "md": "new-item", "mkdir": "new-item", "sc": "set-content", "ac": "add-content", "clc": "clear-content", "gc": "get-content", "cat": "get-content", "type": "get-content",
	"gci": "get-childitem", "ls": "get-childitem", "dir": "get-childitem", "gi": "get-item", "iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest",
	"irm": "invoke-restmethod", "iex": "invoke-expression", "icm": "invoke-command", "saps": "start-process", "start": "start-process", "kill": "stop-process", "spps": "stop-process",
	"sp": "set-itemproperty", "rp": "remove-itemproperty", "cd": "set-location", "sl": "set-location", "chdir": "set-location", "echo": "write-output", "tee": "tee-object", "ipmo": "import-module",
	"pwsh": "powershell", "sal": "set-alias", "nal": "new-alias", "%": "foreach-object", "?": "where-object",
}

func (s *powerShell) run(c *psCall) {
	s.record(c)
	s.redirects(c)
	if slices.Contains(c.flags, "-confirm:$false") {
		s.out.signals[engine.SignalUnconfirmed] = true
	}
	if c.has("-whatif", 4) {
		s.out.signals[engine.SignalDryRun] = true
		return
	}
	if !s.files(c) && !s.services(c) && !s.code(c) {
		s.other(c)
	}
}

// files handles cmdlets that act on files. It says whether c is one.
func (s *powerShell) files(c *psCall) bool {
	recursive, forced := c.has("-recurse", 2), c.has("-force", 3)
	each := func(kind engine.EffectKind, verb string, list []psWord) {
		for _, w := range list {
			s.add(c, rawEffect{kind: kind, verb: verb, target: pathOf(w), recursive: recursive, forced: forced})
		}
	}
	two := c.targets()
	dest, named := c.named["-destination"]
	if !named && len(two) > 1 {
		two, dest = two[:len(two)-1], two[len(two)-1]
		named = true
	}
	switch c.name {
	case "remove-item", "clear-recyclebin":
		recursive = recursive || len(c.operands) > 0 && slices.ContainsFunc(c.operands, func(w psWord) bool { return strings.EqualFold(w.text, "/s") })
		c.operands = slices.DeleteFunc(c.operands, func(w psWord) bool { return !w.quoted && len(w.text) == 2 && w.text[0] == '/' })
		list := c.targets()
		if len(list) == 0 {
			list = []psWord{{value: value{sure: unknown}}}
		}
		each(engine.EffectFileDelete, "delete", list)
	case "clear-content":
		each(engine.EffectFileWrite, "truncate", c.targets())
	case "set-content", "out-file", "new-item", "export-csv", "export-clixml", "tee-object":
		list := c.targets()
		each(engine.EffectFileWrite, "write", list[:min(1, len(list))])
	case "add-content":
		list := c.targets()
		each(engine.EffectFileWrite, "append", list[:min(1, len(list))])
	case "copy-item":
		each(engine.EffectFileRead, "read", two)
		if named {
			each(engine.EffectFileWrite, "copy", []psWord{dest})
		}
	case "move-item":
		each(engine.EffectFileDelete, "move", two)
		if named {
			each(engine.EffectFileWrite, "write", []psWord{dest})
		}
	case "rename-item":
		each(engine.EffectFileWrite, "move", two[:min(1, len(two))])
	case "get-content", "get-item", "get-childitem":
		if slices.ContainsFunc(c.targets(), func(w psWord) bool { return strings.HasPrefix(strings.ToLower(w.text), "env:") }) {
			s.out.signals[engine.SignalEnvDump] = true
			return true
		}
		each(engine.EffectFileRead, "read", c.targets())
	case "expand-archive":
		each(engine.EffectFileWrite, "extract", []psWord{c.named["-destinationpath"]})
	default:
		return false
	}
	return true
}

// services handles the network and the system.
func (s *powerShell) services(c *psCall) bool {
	switch c.name {
	case "invoke-webrequest", "invoke-restmethod", "start-bitstransfer":
		s.request(c)
	case "stop-computer", "restart-computer", "shutdown":
		s.out.signals[engine.SignalPower] = true
		s.system(c, "power", false)
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "format", "diskpart":
		s.out.signals[engine.SignalDiskWrite] = true
		s.system(c, "format", false)
	case "register-scheduledtask", "new-service", "register-wmievent", "set-wmiinstance", "register-scheduledjob", "schtasks":
		s.out.signals[engine.SignalPersistence] = true
		s.system(c, "schedule", true)
	case "set-itemproperty", "new-itemproperty", "reg":
		run := slices.ContainsFunc(c.words, func(w psWord) bool { return strings.Contains(strings.ToLower(w.text), `\run`) })
		s.system(c, "registry", run)
	case "stop-process", "taskkill":
		target := value{sure: unknown}
		if len(c.operands) > 0 {
			target = c.operands[len(c.operands)-1].value
		} else if w, ok := c.named["-name"]; ok {
			target = w.value
		}
		s.add(c, rawEffect{kind: engine.EffectProcess, verb: "kill", target: target})
	case "start-process":
		s.add(c, rawEffect{kind: engine.EffectProcess, verb: "exec", target: value{sure: unknown}, privileged: strings.EqualFold(c.named["-verb"].text, "runas")})
		for _, w := range c.words[1:] {
			if strings.Contains(strings.ToLower(w.text), "powershell") || strings.Contains(strings.ToLower(w.text), "cmd") {
				s.opaque("code", w.text)
			}
		}
	default:
		return false
	}
	return true
}

func (s *powerShell) system(c *psCall, verb string, persistence bool) {
	s.add(c, rawEffect{kind: engine.EffectSystemCall, verb: verb, target: value{sure: unknown}, persistence: persistence})
}

// request is a web request, sending where it has a body.
func (s *powerShell) request(c *psCall) {
	url, ok := c.named["-uri"]
	if !ok {
		url = psWord{value: value{sure: unknown}}
		if src, named := c.named["-source"]; named {
			url = src
		} else if len(c.operands) > 0 {
			url = c.operands[0]
		}
	}
	e := rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: url.value}
	method := strings.ToLower(c.named["-method"].text)
	_, body := c.named["-body"]
	file, infile := c.named["-infile"]
	if body || infile || method != "" && method != "get" && method != "head" {
		e.verb, e.egress = "send", true
		s.out.signals[engine.SignalPipeExternal] = true
	}
	s.add(c, e)
	if infile {
		s.add(c, rawEffect{kind: engine.EffectFileRead, verb: "read", target: pathOf(file)})
	}
	for _, n := range []string{"-outfile", "-o", "-destination"} {
		if out, ok := c.named[n]; ok {
			s.add(c, rawEffect{kind: engine.EffectFileWrite, verb: "download", target: pathOf(out)})
		}
	}
}

// code handles what runs code.
func (s *powerShell) code(c *psCall) bool {
	switch c.name {
	case "invoke-expression":
		s.expression(c)
	case "powershell":
		s.nested(c)
	case "cmd":
		s.cmd(c)
	case "add-type", "import-module", "invoke-wmimethod", "invoke-cimmethod":
		s.opaque("code", c.name)
	case "invoke-command":
		if _, remote := c.named["-computername"]; remote {
			s.add(c, rawEffect{kind: engine.EffectNetwork, verb: "exec", target: c.named["-computername"].value, egress: true})
		}
	default:
		return false
	}
	return true
}

func (s *powerShell) expression(c *psCall) {
	arg, ok := c.named["-command"]
	if !ok && len(c.operands) > 0 {
		arg, ok = c.operands[0], true
	}
	if ok && arg.sure == literal && !arg.block && !arg.method {
		s.source(arg.text)
		return
	}
	if s.fetches {
		s.out.signals[engine.SignalRemoteCode] = true
	}
	s.opaque("code", "Invoke-Expression")
}

// nested is powershell -Command … or -EncodedCommand …
func (s *powerShell) nested(c *psCall) {
	for i, w := range c.words[1:] {
		low := strings.ToLower(w.text)
		rest := c.words[i+2:]
		switch {
		case len(rest) > 0 && len(low) >= 2 && (strings.HasPrefix("-encodedcommand", low) || low == "-ec"):
			s.encoded(rest[0])
			return
		case len(rest) > 0 && len(low) >= 2 && strings.HasPrefix("-command", low):
			s.joined(rest)
			return
		case len(low) >= 2 && strings.HasPrefix("-file", low):
			s.opaque("code", "-File")
			return
		}
	}
	if len(c.operands) > 0 {
		s.joined(c.operands)
	}
}

// joined runs words as one text.
func (s *powerShell) joined(words []psWord) {
	var texts []string
	for _, w := range words {
		if w.sure != literal && !w.block {
			s.opaque("code", w.text)
			return
		}
		texts = append(texts, w.text)
	}
	s.source(strings.Join(texts, " "))
}

// cmd reads cmd /c COMMAND as far as the commands are the same.
func (s *powerShell) cmd(c *psCall) {
	for i, w := range c.words {
		if low := strings.ToLower(w.text); low == "/c" || low == "/k" || low == "/r" {
			s.joined(c.words[i+1:])
			return
		}
	}
}

// psReading are verbs of cmdlets that change nothing.
const psReading = wordlist(`get test select where foreach sort measure write format out convertto convertfrom join split resolve compare group show find read wait start-sleep tee push pop set-location set-variable set-alias new-alias new-variable new-object new-timespan new-guid`)

// psControl are words of the language.
const psControl = wordlist(`if else elseif foreach for while do switch try catch finally function param return begin process end throw break continue exit in until trap filter class using data`)

// other is any command that the tables do not know.
func (s *powerShell) other(c *psCall) {
	verb, noun, cmdlet := strings.Cut(c.name, "-")
	switch {
	case psControl.has(c.name):
		s.out.commands = s.out.commands[:c.index]
	case psReading.has(c.name) || cmdlet && psReading.has(verb):
	case cmdlet && noun != "" && strings.Trim(c.name, "abcdefghijklmnopqrstuvwxyz-") == "" && psVerbs.has(verb):
		s.system(c, verb, false)
	default:
		s.external(c)
	}
}

// psVerbs are the approved verbs that change something.
const psVerbs = wordlist(`set new remove clear stop start restart suspend resume enable disable install uninstall add register unregister update invoke mount dismount reset restore save publish unpublish send grant revoke block unblock move rename copy initialize repair import export enter exit connect disconnect debug limit lock unlock protect unprotect complete confirm deny approve`)

// external is a program, which does the same under any shell.
func (s *powerShell) external(c *psCall) {
	var argv []string
	for i, w := range c.words {
		switch {
		case i == 0:
			argv = append(argv, quoteWord(strings.TrimSuffix(w.text, ".exe")))
		case w.sure != literal:
			argv = append(argv, `"$REVIEWER_UNKNOWN"`)
		default:
			argv = append(argv, quoteWord(w.text))
		}
	}
	sub := interpretShell(strings.Join(argv, " "), s.in)
	s.out.commands = s.out.commands[:c.index]
	r := reading{script: s.out}
	r.run(sub)
	s.out = r.script
	s.downloads(c, sub)
}

// downloads notes a URL among the arguments of a program that the shell's
// tables do not know: many of Windows' own programs fetch what they are given.
func (s *powerShell) downloads(c *psCall, sub script) {
	if slices.ContainsFunc(sub.effects, func(e rawEffect) bool { return e.kind == engine.EffectNetwork }) || len(c.words) == 0 {
		return
	}
	for _, w := range c.words[1:] {
		if w.sure == literal && webURL(w.text) {
			s.out.effects = append(s.out.effects, rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: w.value, command: min(c.index, len(s.out.commands)-1)})
		}
	}
}
