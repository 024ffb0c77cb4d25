package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// puts reads the files that the commands of a file transfer send; the row names the options
// that contain the commands.
func puts(c *shell.Call) {
	for _, code := range c.Opts.All(c.Words...) {
		putsFiles(c, code, abstract.Arg{})
	}
}

// putsFiles reads the files that put FILE, mput FILE… and mirror -R DIR send, and records
// those that land in a system directory of the other machine.
func putsFiles(c *shell.Call, code, host abstract.Arg) {
	there := ""
	for _, line := range strings.FieldsFunc(code.Text, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := fieldsOf(code.With(line))
		if len(f) < 2 {
			continue
		}
		files := slices.DeleteFunc(slices.Clone(f[1:]), func(a abstract.Arg) bool { return a.HasPrefix("-") })
		switch back := len(files) < len(f)-1; {
		case f[0].Is("put", "send", "append", "reput") && len(files) > 0:
			c.Reads(files[0])
			landsThere(c, host, there, append(files, abstract.Word("."))[1])
		case f[0].Is("cd") && len(files) > 0:
			there = path.Join(there, files[0].Text)
			if strings.HasPrefix(files[0].Text, "/") {
				there = files[0].Text
			}
		case f[0].Is("rm", "rename", "chmod", "chown", "ln", "symlink", "rmdir", "mkdir") && len(files) > 0:
			landsThere(c, host, there, files[len(files)-1])
		case f[0].Is("mput"):
			landsThere(c, host, there, abstract.Word("."))
			c.Reads(files...)
		case f[0].Is("mirror") && back && slices.ContainsFunc(f, func(a abstract.Arg) bool { return a.Is("-R", "--reverse") }):
			c.ReadsTree(abstract.FirstOr(append(files, abstract.Word("."))))
		}
	}
}

// landsThere records a file that a transfer writes under a directory of another machine.
func landsThere(c *shell.Call, host abstract.Arg, dir string, name abstract.Arg) {
	if host.Text == "" || !name.Known() {
		return
	}
	if !strings.HasPrefix(name.Text, "/") {
		name.Text = path.Join(dir, name.Text)
	}
	landsInSystem(c, host.With(host.Text+":"+name.Text))
}

// browse opens pages. Whatever a browser is given in an address goes to the host.
func browse(c *shell.Call) {
	pages := slices.DeleteFunc(slices.Clone(c.Opts.Operands), func(a abstract.Arg) bool { return !abstract.IsURL(a) })
	if len(pages) == 0 {
		c.Process()
	}
	for _, u := range pages {
		requests(c, request{method: "fetch"}, u)
	}
}

// givesSecrets records the arguments of an unknown program: it may read the files that they
// name, which matters if those contain secrets.
func givesSecrets(c *shell.Call) {
	mayRead(c, c.Opts.Operands)
}

// mayRead records words of a command as files that it may read.
func mayRead(c *shell.Call, words []abstract.Arg) {
	for _, a := range words {
		if a.Known() && !abstract.IsURL(a) && strings.ContainsAny(a.Text, "./") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Guessed: true}, a)
		}
	}
}
