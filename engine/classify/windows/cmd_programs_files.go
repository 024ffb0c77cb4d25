package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

func certutilProgram(c *winCall) {
	list := c.operands()
	switch {
	case c.has("urlcache", "url", "ping", "verifyctl"):
		for _, a := range list {
			if abstract.IsURL(a) {
				c.fetches(a)
			}
		}
		if n := len(list); n > 1 && !abstract.IsURL(list[n-1]) && !c.has("url", "ping") {
			c.writes("download", list[n-1])
			c.w.store(list[n-1], abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
		}
	case c.has("decode", "decodehex", "encode", "encodehex"):
		if len(list) > 1 {
			c.reads(list[0])
			c.writes("write", list[1])
			c.w.store(list[1], abstract.Arg{Text: abstract.HoleText, Taint: abstract.Decoded}, false)
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
	if c.has("upload") || strings.Contains(strings.ToLower(shell.JoinWords(c.args).Text), "/upload") {
		verb = "send"
	}
	if i, ok := c.find([]string{"setnotifycmdline"}); ok {
		c.installs("schedule", "bits job")
		if i+2 < len(c.args) {
			c.w.process(func() { c.w.embed(shell.JoinWords(c.args[i+2:]), "bitsadmin", c.w.cmd) })
		}
	}
	for i, a := range c.args {
		if !abstract.IsURL(a) {
			continue
		}
		if verb == "send" {
			c.sends(verb, a)
		} else {
			c.fetches(a)
		}
		if i+1 < len(c.args) && !isSwitch(c.args[i+1]) && verb == "fetch" {
			c.writes("download", c.args[i+1])
			c.w.store(c.args[i+1], abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
		}
	}
}

// copyProgram runs programs that copy files: the last path is the destination.
func copyProgram(c *winCall) {
	var paths []abstract.Arg
	for _, a := range c.args {
		switch {
		case abstract.IsURL(a) || strings.Contains(strings.ToLower(a.Text), "url:http"):
			at := strings.Index(strings.ToLower(a.Text), "http")
			if c.name == "certreq" {
				c.w.signal(engine.SignalPipeExternal)
				c.sends("send", a.With(a.Text[at:]))
			} else {
				c.fetches(a.With(a.Text[at:]))
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

// copies runs copy and similar commands: sources, then the destination.
func (c *winCall) copies(list []abstract.Arg, verb string) {
	if len(list) == 0 {
		return
	}
	sources, dest := list, abstract.Word(".")
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
	e := abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "copy", Recursive: true}
	if c.has("move", "mov") {
		c.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: c.has("move")}, list[0])
		e.Verb = "write"
	} else {
		c.reads(list[0])
	}
	c.emit(e, list[1])
	if c.has("mir", "purge") {
		c.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Contents: true}, list[1])
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

// vaultProgram runs programs that manage stored passwords.
func vaultProgram(c *winCall) {
	if c.has("list", "listcreds", "listproperties", "s") {
		c.w.signal(engine.SignalCredential)
		c.reads(abstract.Word("~/" + vaultFolder))
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

// directoryProgram runs programs that query or change the domain.
func directoryProgram(c *winCall) {
	if c.name == "setspn" && c.has("a", "s", "d", "r") || c.name == "klist" && c.sub(0) == "purge" || c.name == "ldifde" && c.has("i") ||
		c.name == "csvde" && c.has("i") {
		c.system("set", "directory")
	}
}

// wslManages are options of wsl.exe that run nothing inside it.
var wslManages = []string{"--shutdown", "--terminate", "-t", "--install", "--list", "-l", "--status", "--update",
	"--set-default", "--export", "--import"}

// wslProgram runs Linux inside Windows.
func wslProgram(c *winCall) {
	if c.name == "bash" {
		c.external()
		return
	}
	for i, a := range c.args {
		switch {
		case a.Text == "--unregister":
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Recursive: true}, abstract.FirstOr(c.args[i+1:]))
			return
		case slices.Contains(wslManages, a.Text):
			return
		case a.Text == "-d" || a.Text == "--distribution" || a.Text == "-u" || a.Text == "--user":
			continue
		case a.Text == "-e" || a.Text == "--exec" || a.Text == "--" ||
			!isSwitch(a) && (i == 0 || !slices.Contains([]string{"-d", "-u", "--user", "--distribution"}, c.args[i-1].Text)):
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
