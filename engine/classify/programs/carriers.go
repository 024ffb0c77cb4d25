package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// puts reads the files that commands of a file transfer send, which are
// the values of the options that the row names.
func puts(c *shell.Call) {
	for _, code := range c.Opts.All(c.Words...) {
		putsFiles(c, code)
	}
}

// putsFiles reads the files that put FILE, mput FILE… and mirror -R DIR send.
func putsFiles(c *shell.Call, code abstract.Arg) {
	for _, line := range strings.FieldsFunc(code.Text, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := fieldsOf(code.With(line))
		if len(f) < 2 {
			continue
		}
		files := slices.DeleteFunc(slices.Clone(f[1:]), func(a abstract.Arg) bool { return a.HasPrefix("-") })
		switch back := len(files) < len(f)-1; {
		case f[0].Is("put", "send", "append", "reput") && len(files) > 0:
			c.Reads(files[0])
		case f[0].Is("mput"):
			c.Reads(files...)
		case f[0].Is("mirror") && back && slices.ContainsFunc(f, func(a abstract.Arg) bool { return a.Is("-R", "--reverse") }):
			c.ReadsTree(abstract.FirstOr(append(files, abstract.Word("."))))
		}
	}
}

// browse opens pages. What a browser is told in an address goes to the host.
func browse(c *shell.Call) {
	pages := slices.DeleteFunc(slices.Clone(c.Opts.Operands), func(a abstract.Arg) bool { return !abstract.IsURL(a) })
	if len(pages) == 0 {
		c.Process()
	}
	for _, u := range pages {
		requests(c, request{method: "fetch"}, u)
	}
}

// givesSecrets notes the arguments of a program about which nothing is known: it
// may read the files that they name, which is worth mentioning if those hold secrets.
func givesSecrets(c *shell.Call) {
	mayRead(c, c.Opts.Operands)
}

// mayRead notes words of a command as files that it may read.
func mayRead(c *shell.Call, words []abstract.Arg) {
	for _, a := range words {
		if a.Known() && !abstract.IsURL(a) && strings.ContainsAny(a.Text, "./") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Guessed: true}, a)
		}
	}
}
