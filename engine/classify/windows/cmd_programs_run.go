package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// RunsCode says that a program runs what is in these files. What lies on
// another host has been seen by nobody.
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

// inlineScript says that an argument is code itself.
func inlineScript(low string) bool {
	for _, lead := range []string{"javascript:", "vbscript:", "script:", "about:"} {
		if strings.Contains(low, lead) {
			return true
		}
	}
	return false
}

// hostProgram runs code of a file for which it was not made to be looked at:
// scripts, libraries, panels.
func hostProgram(c *winCall) {
	all := strings.ToLower(shell.JoinWords(c.args).Text)
	if c.name == "rundll32" && strings.Contains(all, "comsvcs") && (strings.Contains(all, "minidump") || strings.Contains(all, "#24")) {
		c.w.signal(engine.SignalCredential)
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

// proxyProgram starts what stands behind its switches.
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
