package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

func certutilProgram(c *winCall) {
	list := c.operands()
	switch {
	case c.has("urlcache", "url", "ping", "verifyctl"):
		for _, a := range list {
			if isURL(a) {
				c.fetches(a)
			}
		}
		if n := len(list); n > 1 && !isURL(list[n-1]) && !c.has("url", "ping") {
			c.writes("download", list[n-1])
			c.w.store(list[n-1], arg{text: holeText, taint: fetched}, false)
		}
	case c.has("decode", "decodehex", "encode", "encodehex"):
		if len(list) > 1 {
			c.reads(list[0])
			c.writes("write", list[1])
			c.w.store(list[1], arg{text: holeText, taint: decoded}, false)
		}
	case c.has("addstore", "delstore", "importpfx", "repairstore", "viewdelstore", "installcert"):
		c.system("set", "certificates")
	case c.has("exportpfx", "p12"):
		c.w.signal(engine.SignalCredential)
	default:
		c.reads(list[:min(1, len(list))]...)
	}
}

func bitsadminProgram(c *winCall) {
	verb := "fetch"
	if c.has("upload") || strings.Contains(strings.ToLower(joinWords(c.args).text), "/upload") {
		verb = "send"
	}
	if i, ok := c.find([]string{"setnotifycmdline"}); ok {
		c.installs("schedule", "bits job")
		if i+2 < len(c.args) {
			c.w.process(func() { c.w.embed(joinWords(c.args[i+2:]), "bitsadmin", c.w.cmd) })
		}
	}
	for i, a := range c.args {
		if !isURL(a) {
			continue
		}
		if verb == "send" {
			c.sends(verb, a)
		} else {
			c.fetches(a)
		}
		if i+1 < len(c.args) && !isSwitch(c.args[i+1]) && verb == "fetch" {
			c.writes("download", c.args[i+1])
			c.w.store(c.args[i+1], arg{text: holeText, taint: fetched}, false)
		}
	}
}

// copyProgram is for programs that bring a file from one place to another:
// the last path is where to.
func copyProgram(c *winCall) {
	var paths []arg
	for _, a := range c.args {
		switch {
		case isURL(a) || strings.Contains(strings.ToLower(a.text), "url:http"):
			at := strings.Index(strings.ToLower(a.text), "http")
			if c.name == "certreq" {
				c.w.signal(engine.SignalPipeExternal)
				c.sends("send", a.with(a.text[at:]))
			} else {
				c.fetches(a.with(a.text[at:]))
			}
		case !isSwitch(a):
			paths = append(paths, a)
		}
	}
	for i, p := range paths {
		if i == len(paths)-1 && (i > 0 || c.has("path", "d")) {
			c.writes("copy", p)
		} else {
			c.reads(p)
		}
	}
}

// copies is copy and its like: sources, then where to.
func (c *winCall) copies(list []arg, verb string) {
	if len(list) == 0 {
		return
	}
	sources, dest := list, word(".")
	if len(list) > 1 {
		sources, dest = list[:len(list)-1], list[len(list)-1]
	}
	c.reads(sources...)
	for _, s := range sources {
		if host := shareHost(s); host != "" {
			c.fetches(s)
		}
		if text, ok := c.w.written(s); ok {
			c.w.store(dest, text, false)
		}
	}
	c.writes(verb, dest)
}

func robocopyProgram(c *winCall) {
	list := c.operands()
	if len(list) < 2 {
		return
	}
	if c.has("l") {
		c.w.signal(engine.SignalDryRun)
		return
	}
	e := rawEffect{kind: engine.EffectFileWrite, verb: "copy", recursive: true}
	if c.has("move", "mov") {
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "move", recursive: c.has("move")}, list[0])
		e.verb = "write"
	} else {
		c.reads(list[0])
	}
	c.emit(e, list[1])
	if c.has("mir", "purge") {
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, contents: true}, list[1])
	}
}

func linkProgram(c *winCall) {
	list := c.operands()
	switch c.name {
	case "mklink":
		c.writes("link", list[:min(1, len(list))]...)
	case "dsrm", "dsadd", "dsmod":
		c.system("set", "directory")
	default:
		if len(list) > 1 || c.has("d", "r", "p") {
			c.system("set", c.name)
		}
	}
}

// vaultProgram hands out or keeps stored passwords.
func vaultProgram(c *winCall) {
	if c.has("list", "listcreds", "listproperties", "s") {
		c.w.signal(engine.SignalCredential)
		c.reads(word("~/" + vaultFolder))
		return
	}
	if len(c.args) > 0 && !c.has("?", "listschema") {
		c.system("set", "credentials")
	}
}

func ftpProgram(c *winCall) {
	if script, ok := c.value("s"); ok {
		c.reads(script)
	}
	list := c.operands()
	if len(list) > 0 {
		c.sends("send", list[0])
	}
}

// directoryProgram asks the domain; some change it.
func directoryProgram(c *winCall) {
	if c.name == "setspn" && c.has("a", "s", "d", "r") || c.name == "klist" && c.sub(0) == "purge" || c.name == "ldifde" && c.has("i") || c.name == "csvde" && c.has("i") {
		c.system("set", "directory")
	}
}

// wslManages are options of wsl.exe that run nothing inside of it.
var wslManages = []string{
	"--shutdown", "--terminate", "-t", "--install", "--list", "-l", "--status", "--update", "--set-default", "--export", "--import",
}

// wslProgram runs Linux inside of Windows.
func wslProgram(c *winCall) {
	if c.name == "bash" {
		c.external()
		return
	}
	for i, a := range c.args {
		switch {
		case a.text == "--unregister":
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "delete", recursive: true}, firstOr(c.args[i+1:]))
			return
		case slices.Contains(wslManages, a.text):
			return
		case a.text == "-d" || a.text == "--distribution" || a.text == "-u" || a.text == "--user":
			continue
		case a.text == "-e" || a.text == "--exec" || a.text == "--" ||
			!isSwitch(a) && (i == 0 || !slices.Contains([]string{"-d", "-u", "--user", "--distribution"}, c.args[i-1].text)):
			rest := c.args[i:]
			if isSwitch(a) {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				sub := c.w.call(rest[0], rest[1:])
				c.w.process(func() { c.w.under("wsl", true, sub.external) })
			}
			return
		}
	}
}
