package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// hops runs the code that the program sends to another place; false: it sends none.
func hops(c *shell.Call, list []rows.Hop) bool {
	for _, h := range list {
		if h.Names != "" && !rows.Has(h.Names, c.Name) {
			continue
		}
		for _, sub := range orNone(rows.SubPatterns(h.Sub)) {
			if t, ok := read(h, sub, c.Args); ok && (h.Sub != "" || len(t.rest) > 0) {
				travel(c, h, t)
				return true
			}
		}
	}
	return false
}

// orNone returns a list of patterns, or the single one of a hop without a subcommand.
func orNone(list []rows.SubPattern) []rows.SubPattern {
	if len(list) == 0 {
		return []rows.SubPattern{nil}
	}
	return list
}

// remoteTarget is a parsed call of a hop.
type remoteTarget struct {
	opts options.Options
	subs []string
	host abstract.Arg
	rest []abstract.Arg // the command, or its code
	code bool           // rest is one piece of code
}

// read parses the arguments of a hop; false: another subcommand is called.
func read(h rows.Hop, sub rows.SubPattern, args []abstract.Arg) (remoteTarget, bool) {
	t := remoteTarget{opts: options.Options{Parsed: true}, host: abstract.UnknownArg()}
	grammar := options.Grammar{First: true, Values: padded(h.Values)}
	take := func() { // options up to the next operand
		o := options.Parse(args, grammar)
		t.opts.List, t.opts.Flags, args = append(t.opts.List, o.List...), append(t.opts.Flags, o.Flags...), o.Operands
	}
	take()
	for _, words := range sub {
		if !startsWith(args, words...) {
			return t, false
		}
		t.subs, t.opts.Operands = append(t.subs, args[0].Text), append(t.opts.Operands, args[0])
		args = args[1:]
		take()
	}
	for i := 0; i < int(h.Operands) && len(args) > 0; i++ {
		if i == 0 {
			t.host = args[0]
		}
		t.opts.Operands = append(t.opts.Operands, args[0])
		args = args[1:]
		take()
	}
	if name, ok := t.opts.Get(strings.Fields(h.Name)...); ok {
		t.host = name
	}
	t.rest = args
	if code, ok := t.opts.Get(strings.Fields(h.Code)...); ok {
		t.rest, t.code = []abstract.Arg{commandsOf(code)}, true
	}
	return t, true
}

// commandsOf returns the code in a list of parameters: commands=["a","b"].
func commandsOf(code abstract.Arg) abstract.Arg {
	list, ok := strings.CutPrefix(code.Text, "commands=")
	if !ok {
		list, ok = strings.CutPrefix(code.Text, "command=")
	}
	if !ok {
		return code
	}
	list = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(list), "["), "]")
	var lines []string
	for _, line := range strings.Split(list, `","`) {
		lines = append(lines, strings.Trim(line, `"' `))
	}
	return code.With(strings.Join(lines, "\n"))
}

func travel(c *shell.Call, h rows.Hop, t remoteTarget) {
	c.Known, c.Opts, c.Subs = true, t.opts, t.subs
	name := t.host.With(hostText(t.host.Text))
	if h.Remote {
		connects(c, name)
	} else {
		c.Process()
	}
	c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName(h.Kind, name)}, func() { arrive(c, t, h.Joined) })
}

// arrive runs, in the other place, the code that was sent there.
func arrive(c *shell.Call, t remoteTarget, joined bool) {
	switch in := c.Shell.Frame.Stdin; {
	case t.code:
		c.Shell.Embed(t.rest[0], c.Name, false)
	case len(t.rest) == 0:
		if in != nil {
			c.Shell.Embed(*in, c.Name, false)
		}
	case joined:
		c.Shell.Embed(shell.JoinWords(t.rest), c.Name, false)
	default:
		c.Shell.Invoke(t.rest, c.Node)
	}
}

// connects records the request that sends code to another machine. A completely known
// command discloses nothing to that machine; the contents of local files, the output of
// commands and piped data leave this one.
func connects(c *shell.Call, host abstract.Arg) {
	tells := slices.ContainsFunc(c.Args, func(a abstract.Arg) bool { return a.Taint&(abstract.Substituted|abstract.Filed) != 0 && !a.Known() })
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "exec", Egress: tells}, host)
	if in := c.Shell.Frame.Stdin; in != nil && !in.Known() {
		c.Sends("send", host)
	}
	c.Out.Taint |= abstract.Fetched
}

// ssh runs code on another host, or on this one under another name.
func ssh(c *shell.Call) {
	known, _, _ := c.Shell.In.Rows.Program(c.Name)
	t, _ := read(rows.Hop{Operands: 1, Values: known.Values}, nil, c.Args)
	c.Opts = t.opts
	sshOptions(c) // also where another program names the host: rsync -e 'ssh -o …'
	if len(t.opts.Operands) == 0 {
		return
	}
	if c.Opts.Has("-R", "-D", "-w") || c.Opts.Has("-L") && c.Opts.Has("-g") {
		c.Signal(engine.SignalTunnel)
	}
	host := t.host.With(hostText(t.host.Text))
	connects(c, host)
	p := shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("ssh", host), Dir: abstract.Value{Text: c.Shell.In.Home}}
	if place.Loopback(host.Text) {
		p.Host = c.Shell.Frame.Host
	}
	if p.Dir.Text == "" {
		p.Dir.Sure = abstract.Unknown
	}
	c.At(p, func() { arrive(c, t, true) })
}

// sshProgram runs the program with which scp and sftp connect: -S PROGRAM.
func sshProgram(c *shell.Call) {
	for _, program := range c.Opts.All("-S", "-D") {
		c.Shell.CommandVariable(program.Text, program)
	}
}

// sshOptions runs the commands in options of ssh, which run locally.
func sshOptions(c *shell.Call) {
	for _, o := range c.Opts.All("-o") {
		key, v := o.Text, ""
		if i := strings.IndexAny(o.Text, " ="); i >= 0 {
			key, v = o.Text[:i], strings.TrimLeft(o.Text[i:], " =")
		}
		if slices.ContainsFunc(c.Shell.In.Rows.Words("programs.ssh_commands"), func(w string) bool { return strings.EqualFold(w, key) }) {
			c.Shell.CommandVariable(v, o)
		}
	}
}

// hostText returns the host of ssh://user@host:port, user@host or host.
func hostText(text string) string {
	text = strings.TrimPrefix(text, "ssh://")
	text = text[strings.LastIndexByte(text, '@')+1:]
	if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	return text
}
