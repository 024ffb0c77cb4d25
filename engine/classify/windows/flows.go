package windows

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Secrets that a command sends to another host are found as in package shell: each
// secret is a bit of the taint of the texts that contain part of it.

// asVariable returns the value of a variable of the environment.
func (w *interpreter) asVariable(name string, v abstract.Arg) abstract.Arg {
	if upper := strings.ToUpper(name); !w.in.PlainName(name) && !w.in.PlainName(upper) {
		v.Taint |= w.Secret(abstract.Secret{What: engine.FlowVariable, Name: upper})
	}
	return v
}

// fileTaint returns the taint of the contents of a file with secrets; 0 if it is not
// one.
func (w *interpreter) fileTaint(f abstract.Arg) abstract.Taint {
	dir := w.dirs[0]
	target := anchor(winPath(f), dir)
	class := w.in.SecretClass(dir, target)
	if class == "" {
		return 0
	}
	return w.Secret(abstract.Secret{What: engine.FlowFile, Path: abstract.JoinDir(dir, target.Arg()), Class: class})
}

// hands notes the secrets in some values that are sent to the hosts of the effects
// with index since and above.
func (w *interpreter) hands(since int, values ...handed) {
	for _, e := range w.Out.Effects[min(since, len(w.Out.Effects)):] {
		if e.Kind != engine.EffectNetwork || e.Verb == "listen" {
			continue
		}
		to := shell.HostOf(e.Target.Arg())
		for _, v := range values {
			w.Flow(w.in, e.Command, to, v.text, v.login)
		}
	}
}

// handed is a value of a command's arguments.
type handed struct {
	text  abstract.Arg
	login bool // it is for authentication
}

// handed lists the values that a command is given, those in tables one by one.
func (c *psCall) handed() []handed {
	var list []handed
	for _, name := range slices.Sorted(maps.Keys(c.given)) {
		list = c.w.valuesOf(list, "-"+name, c.given[name])
	}
	for _, v := range c.operands {
		list = c.w.valuesOf(list, "", v)
	}
	if c.in != nil {
		list = c.w.valuesOf(list, "", *c.in)
	}
	return list
}

func (w *interpreter) valuesOf(list []handed, name string, v psValue) []handed {
	login := w.saysWho(name)
	for _, item := range v.items {
		list = append(list, handed{item, login})
	}
	for _, key := range slices.Sorted(maps.Keys(v.hash)) {
		list = w.valuesOf(list, key, v.hash[key])
	}
	return list
}

// saysWho reports whether a header or an option is for authentication.
func (w *interpreter) saysWho(name string) bool {
	return slices.ContainsFunc(w.in.Rows.Words("flows.login_headers"), func(pattern string) bool { return wildcard.Text(pattern, name) }) ||
		slices.Contains(w.in.Rows.Words("flows.login_options"), "-"+name)
}
