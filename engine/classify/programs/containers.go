package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// operandsOf returns the operands after the names of subcommands.
func operandsOf(c *shell.Call) []abstract.Arg {
	_, rest := shell.CutSubs(c.Subs, c.Opts.Operands)
	return rest
}

// container runs a command in a container. Changes to the container's own files end with
// the container; changes to mounts happen here.
func container(c *shell.Call) {
	c.Process()
	argv, p := containerOf(c)
	givesImage(c, p.Mounts)
	if p.Reaches {
		c.Signal(engine.SignalContainerHost)
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec", Object: "host"}, abstract.Word(c.Name))
	}
	if entry, ok := c.Opts.Get("--entrypoint"); ok && entry.Text != "" {
		argv = append([]abstract.Arg{entry}, argv...)
	}
	if p.Isolated {
		c.MakesContainer(operandsOf(c)[0])
	}
	inContainer(c, p, argv)
}

// composed runs a command in a container of a compose project.
func composed(c *shell.Call) {
	c.Process()
	argv, p := containerOf(c)
	givesImage(c, p.Mounts)
	p.Wrapper, p.Isolated = "compose", p.Isolated && c.Opts.Has("--rm")
	inContainer(c, p, argv)
}

func inContainer(c *shell.Call, p shell.Venue, argv []abstract.Arg) {
	if len(argv) > 0 {
		c.At(p, func() {
			passEnvironment(c, c.Opts)
			c.Shell.Invoke(argv, c.Node)
		})
	}
}

// givesImage records the secrets that a new container gets: through mounts, variables and
// files of variables. Those of a compose project belong to the project.
func givesImage(c *shell.Call, mounts []shell.Mount) {
	operands := operandsOf(c)
	if len(operands) == 0 || c.Subs[len(c.Subs)-1] == "exec" {
		return
	}
	var files []abstract.Arg
	for _, m := range mounts {
		if m.On == c.Shell.Frame.Host {
			files = append(files, m.Host)
		}
	}
	c.Sweeps(files...)
	c.HandsImage(operands[0].Show(), append(files, c.Opts.All("--env-file")...), c.Opts.All("-e", "--env"))
}

// containerOf returns the place of docker run and docker exec, and what is run there.
// Changes to the files of a new container end with it; volumes remain.
func containerOf(c *shell.Call) (argv []abstract.Arg, p shell.Venue) {
	o, operands := c.Opts, operandsOf(c)
	if len(operands) == 0 {
		return nil, p
	}
	name := operands[0]
	if given, ok := o.Get("--name"); ok {
		name = given
	}
	p = shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("container", name), Isolated: c.Subs[len(c.Subs)-1] != "exec"}
	if w, ok := o.Get("-w", "--workdir"); ok {
		p.Dir = w.Value()
	}
	for _, v := range append(o.All("-v", "--volume"), o.All("--mount")...) {
		if m, ok := mountOf(c, v); ok {
			p.Mounts = append(p.Mounts, m)
		}
	}
	if p.Reaches = hostAccess(c, o, p.Mounts); p.Reaches {
		p.Mounts = append(p.Mounts, shell.Mount{Host: abstract.Word("/dev"), On: c.Shell.Frame.Host, Inside: "/dev"},
			shell.Mount{Host: abstract.Word("/proc/sys"), On: c.Shell.Frame.Host, Inside: "/proc/sys"})
	}
	return operands[1:], p
}

// passEnvironment sets the variables that a container is given.
func passEnvironment(c *shell.Call, o options.Options) {
	for _, e := range o.All("-e", "--env") {
		if name, v, ok := strings.Cut(e.Text, "="); ok {
			c.Shell.Scope.SetText(name, e.With(v))
		}
	}
}

// mountOf parses -v host:inside:ro and --mount type=bind,source=…,target=….
func mountOf(c *shell.Call, v abstract.Arg) (shell.Mount, bool) {
	var m shell.Mount
	var from abstract.Arg
	if strings.Contains(v.Text, "=") && !v.HasPrefix("/") {
		for _, field := range strings.Split(v.Text, ",") {
			key, val, _ := strings.Cut(field, "=")
			switch key {
			case "source", "src":
				from = v.With(val)
			case "target", "dst", "destination":
				m.Inside = path.Clean(val)
			case "readonly", "ro":
				m.Readonly = val != "false" && val != "0"
			}
		}
	} else if parts := strings.Split(v.Text, ":"); len(parts) > 1 {
		from, m.Inside = v.With(parts[0]), path.Clean(parts[1])
		m.Readonly = len(parts) > 2 && slices.Contains(strings.Split(parts[2], ","), "ro")
	}
	if from.Text == "" || m.Inside == "" {
		return shell.Mount{}, false
	}
	if !strings.ContainsAny(from.Text, "/.~"+abstract.Holes) { // the name of a volume
		m.Host, m.On = abstract.Word(m.Inside), c.Shell.HostName("volume", from)
		return m, true
	}
	m.Host, m.On = abstract.JoinDir(c.Shell.Scope.Dirs[0], from).Arg(), c.Shell.Frame.Host
	return m, true
}

// hostAccess reports whether a container can access its host.
func hostAccess(c *shell.Call, o options.Options, mounts []shell.Mount) bool {
	rows := c.Shell.In.Rows
	for _, m := range mounts {
		if m.Host.Is(rows.Words("services.host_folders")...) || slices.Contains(rows.Words("services.engines"), path.Base(m.Host.Text)) {
			return true
		}
	}
	for _, names := range [][]string{{"--pid", "host"}, {"--ipc", "host"}, {"--userns", "host"}, {"--security-opt", "seccomp=unconfined"},
		{"--security-opt", "apparmor=unconfined"}, {"--cap-add", "ALL"}, {"--cap-add", "SYS_ADMIN"}} {
		for _, v := range o.All(names[0]) {
			if v.Is(names[1]) {
				return true
			}
		}
	}
	return o.Has("--privileged")
}

// grantsRole handles adm policy add-cluster-role-to-user ROLE NAME.
func grantsRole(c *shell.Call) {
	changed(c, change{"grant", rightName(c.Opts.Operand(3).Text)}, false, c.Service)
}

// kubeDelete handles kubectl delete: deleting some kinds also deletes many other objects.
func kubeDelete(c *shell.Call) {
	o := c.Opts
	c.Signal(engine.SignalInfraDelete)
	kind := kubeKind(c, o.Operand(1).Text)
	if listed(c, "data_kinds", kind) || o.Has("--all", "-A", "--all-namespaces") {
		c.Signal(engine.SignalContainerWipe)
	}
	if o.Has("--force", "--now") {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Recursive: o.Has("--all"), Forced: o.Has("--force"),
		Reversible: engine.R5, Object: kind}, c.Service)
}

// kubeKind returns the kind of pods, pod/web and po.
func kubeKind(c *shell.Call, name string) string {
	kind, _, _ := strings.Cut(strings.ToLower(name), "/")
	kind, _, _ = strings.Cut(kind, ".")
	kind = operation.PlainNoun(operation.Singular(kind))
	if long := listedAs(c, "kind_names", kind); long != "" {
		return long
	}
	return kind
}

// kubeExec handles kubectl exec POD -- command, and run and debug of a new pod.
func kubeExec(c *shell.Call) {
	connects(c, c.Service)
	for _, manifest := range c.Opts.All("--overrides") {
		for _, command := range tasks.Manifest(manifest.Text) {
			c.Shell.Embed(manifest.With(command), "manifest", false)
		}
	}
	pod := c.Opts.Operand(1)
	for i, a := range c.Args {
		if a.Is("--") && i+1 < len(c.Args) {
			c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("pod", pod)}, func() { c.Shell.Invoke(c.Args[i+1:], c.Node) })
			return
		}
	}
}
