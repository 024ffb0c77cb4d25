package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// hop is the grammar of a program that runs code in another place.
type hop struct {
	kind   string // what its host is called by: ssh, vm, container, pod, app
	sub    string // words that come first, each behind options
	values string // its options that take a value
	names  int    // operands that name the place
	name   string // options whose value names it
	code   string // options whose value is code for a shell there
	joined bool   // the operands are put together and parsed as shell code there
	remote bool   // it is reached by a network
}

const sshValues = " -p -i -l -o -F -J -L -R -D -W -b -c -e -m -E -I -M -O -Q -S -w -B -P --ssh "

// hopsOf is the table of hops; some programs have several.
func hopsOf(name string) []hop {
	switch name {
	case "lxc", "incus":
		return []hop{{kind: "container", sub: "exec", names: 1, values: " --cwd --env --user --group --mode "}}
	case "multipass":
		return []hop{{kind: "vm", sub: "exec", names: 1, values: " -d --working-directory "}}
	case "limactl":
		return []hop{{kind: "vm", sub: "shell", names: 1, values: " --workdir --shell "}}
	case "lima", "orb":
		return []hop{{kind: "vm", name: "-m --machine", values: " -m --machine -u --user -w --workdir "}}
	case "colima", "minikube":
		return []hop{{kind: "vm", sub: "ssh", name: "-p --profile", values: " -p --profile -n --node ", joined: true}}
	case "podman":
		return []hop{{kind: "vm", sub: "machine ssh", names: 1, values: " --username ", joined: true}}
	case "docker-machine":
		return []hop{{kind: "vm", sub: "ssh", names: 1, joined: true}}
	case "vagrant":
		return []hop{{kind: "vm", sub: "ssh", code: "-c --command", values: " -c --command "}}
	case "wsl": // its files are not all its own: the drives of the machine are below /mnt
		return []hop{{kind: "wsl", name: "-d --distribution", values: " -d --distribution -u --user --cd --shell-type ", joined: true}}
	case "machinectl":
		return []hop{{kind: "container", sub: "shell", names: 1, values: " -E --setenv --uid -M -H "}}
	case "adb":
		return []hop{{kind: "device", sub: "shell", name: "-s", values: " -s -t -H -P -L ", joined: true}}
	}
	return remoteHopsOf(name)
}

// remoteHopsOf is the table of hops to machines of a provider.
func remoteHopsOf(name string) []hop {
	switch name {
	case "gcloud":
		h := hop{kind: "ssh", sub: "compute ssh", names: 1, code: "--command", values: " --command --zone --project --ssh-flag " +
			"--ssh-key-file --account --configuration --container --port ", remote: true}
		beta, alpha := h, h
		beta.sub, alpha.sub = "beta "+h.sub, "alpha "+h.sub
		return []hop{h, beta, alpha}
	case "aws":
		values := " --profile --region --output --query --endpoint-url --parameters --document-name --targets --instance-ids --target " +
			"--comment --timeout-seconds --cluster --task --container --command "
		return []hop{
			{kind: "ssh", sub: "ssm send-command", name: "--instance-ids --targets", code: "--parameters", values: values, remote: true},
			{kind: "ssh", sub: "ssm start-session", name: "--target", code: "--parameters", values: values, remote: true},
			{kind: "app", sub: "ecs execute-command", name: "--task", code: "--command", values: values, remote: true},
		}
	case "az":
		values := " -g --resource-group -n --name --command-id --scripts --parameters --exec-command " +
			"-c --command --subscription --container-name "
		return []hop{
			{kind: "ssh", sub: "vm run-command invoke", name: "-n --name", code: "--scripts", values: values, remote: true},
			{kind: "app", sub: "container exec", name: "-n --name", code: "--exec-command", values: values, remote: true},
			{kind: "pod", sub: "aks command invoke", name: "-n --name", code: "-c --command", values: values, remote: true},
		}
	case "fly", "flyctl":
		values := " -a --app -C --command -r --region -u --user --machine --select -g --process-group "
		return []hop{
			{kind: "app", sub: "ssh console", name: "-a --app", code: "-C --command", values: values, remote: true},
			{kind: "app", sub: "machine exec", names: 1, values: values, joined: true, remote: true},
		}
	case "heroku":
		h := hop{kind: "app", sub: "run", name: "-a --app", values: " -a --app -r --remote -s --size -e --env --type ",
			joined: true, remote: true}
		later := h
		later.sub = "run:detached"
		return []hop{h, later}
	case "doctl":
		return []hop{{kind: "ssh", sub: "compute ssh", names: 1, code: "--ssh-command", values: " --ssh-command --ssh-user --ssh-port " +
			"--ssh-key-path -t --access-token --context ", remote: true}}
	}
	return otherHopsOf(name)
}

// otherHopsOf is the table of platforms and of tools for many machines at once.
func otherHopsOf(name string) []hop {
	switch name {
	case "railway", "render":
		return []hop{{kind: "app", sub: "ssh", name: "-s --service", values: " -s --service -p --project -e --environment ",
			joined: true, remote: true}}
	case "dokku":
		return []hop{{kind: "app", sub: "run", names: 1, joined: true, remote: true},
			{kind: "app", sub: "enter", names: 1, joined: true, remote: true}}
	case "cf":
		return []hop{{kind: "app", sub: "ssh", names: 1, code: "-c --command", values: " -c --command -i -L --process ", remote: true}}
	case "eb":
		return []hop{{kind: "app", sub: "ssh", code: "-c --command", values: " -c --command -n -i --instance -e --custom ", remote: true}}
	case "gh":
		return []hop{{kind: "ssh", sub: "codespace ssh", name: "-c --codespace", values: " -c --codespace -R --repo --profile --server-port ",
			joined: true, remote: true}}
	case "tsh":
		return []hop{{kind: "ssh", sub: "ssh", names: 1, values: " -l --login -p --port --proxy --user --cluster -i ",
			joined: true, remote: true}}
	case "nomad":
		return []hop{{kind: "app", sub: "alloc exec", names: 1, values: " -task -job ", remote: true}}
	case "oc":
		return []hop{{kind: "pod", sub: "rsh", names: 1, values: " -n --namespace -c --container --context --shell ", remote: true}}
	case "pdsh", "pssh", "parallel-ssh", "clush":
		return []hop{{kind: "ssh", name: "-w -H -h --host --hosts -g", values: " -w -H -h -g -l -t -u -f -o -e -p -x --host --hosts --user " +
			"--timeout ", joined: true, remote: true}}
	case "salt":
		return []hop{{kind: "ssh", sub: "", names: 2, values: " -t --timeout -c --config-dir ", joined: true, remote: true}}
	}
	return nil
}

// hops runs the code that the program takes to another place; false if it takes
// none.
func hops(c *shell.Call) bool {
	for _, h := range hopsOf(c.Name) {
		if t, ok := h.read(c.Args); ok && t.leads(h) {
			travel(c, h, t)
			return true
		}
	}
	return false
}

// trip is a call of a hop, taken apart.
type trip struct {
	opts shell.Options
	subs []string
	host abstract.Arg
	rest []abstract.Arg // the command, or its code
	code bool           // rest is one piece of code
}

// read takes the arguments of a hop apart; false if another subcommand is meant.
func (h hop) read(args []abstract.Arg) (trip, bool) {
	t := trip{opts: shell.Options{Parsed: true}, host: abstract.UnknownArg()}
	grammar := shell.Program{First: true, Values: h.values}
	take := func() { // options up to the next operand
		o := shell.ParseOptions(args, grammar)
		t.opts.List, t.opts.Flags, args = append(t.opts.List, o.List...), append(t.opts.Flags, o.Flags...), o.Operands
	}
	take()
	for _, word := range strings.Fields(h.sub) {
		if !startsWith(args, word) {
			return t, false
		}
		t.subs, t.opts.Operands = append(t.subs, word), append(t.opts.Operands, args[0])
		args = args[1:]
		take()
	}
	for i := 0; i < h.names && len(args) > 0; i++ {
		if i == 0 {
			t.host = args[0]
		}
		t.opts.Operands = append(t.opts.Operands, args[0])
		args = args[1:]
		take()
	}
	if name, ok := t.opts.Get(strings.Fields(h.name)...); ok && h.name != "" {
		t.host = name
	}
	t.rest = args
	if code, ok := t.opts.Get(strings.Fields(h.code)...); ok && h.code != "" {
		t.rest, t.code = []abstract.Arg{commandsOf(code)}, true
	}
	return t, true
}

// leads tells whether code goes there: a hop without a subcommand of its own
// does other things too.
func (t trip) leads(h hop) bool { return h.sub != "" || len(t.rest) > 0 }

// commandsOf is the code in a list of parameters: commands=["a","b"].
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

func travel(c *shell.Call, h hop, t trip) {
	c.Known, c.Opts, c.Subs = true, t.opts, t.subs
	name := t.host.With(hostText(t.host.Text))
	if h.remote {
		connects(c, name)
	} else {
		c.Process()
	}
	c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName(h.kind, name)}, func() { arrive(c, t, h.joined) })
}

// arrive runs in the other place what was taken there.
func arrive(c *shell.Call, t trip, joined bool) {
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

// connects is the request by which code gets to another machine. A command that
// is known whole tells that machine nothing; what local files or commands say,
// or what is piped there, leaves this one.
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
	t, _ := hop{names: 1, values: sshValues}.read(c.Args)
	c.Opts = t.opts
	if len(t.opts.Operands) == 0 {
		return
	}
	if c.Opts.Has("-R", "-D", "-w") || c.Opts.Has("-L") && c.Opts.Has("-g") {
		c.Signal(engine.SignalTunnel)
	}
	sshOptions(c)
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

// sshOptions runs the commands that options of ssh name, which run here.
func sshOptions(c *shell.Call) {
	for _, o := range c.Opts.All("-o") {
		key, v, _ := strings.Cut(strings.ReplaceAll(o.Text, " ", "="), "=")
		if strings.EqualFold(key, "ProxyCommand") || strings.EqualFold(key, "LocalCommand") {
			c.Shell.CommandVariable(v, o)
		}
	}
}

// hostText is the host of ssh://user@host:port, user@host or host.
func hostText(text string) string {
	text = strings.TrimPrefix(text, "ssh://")
	text = text[strings.LastIndexByte(text, '@')+1:]
	if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	return text
}
