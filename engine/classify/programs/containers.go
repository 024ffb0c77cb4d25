package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

const (
	composeValues = " -f --file -p --project-name --env-file --profile --project-directory --ansi --parallel --progress "
	buildValues   = " -f --file -t --tag --build-arg --target --platform --progress --cache-from --cache-to --secret --ssh -o --output --network --label --iidfile "
	kubeValues    = " -n --namespace --context --cluster --kubeconfig -f --filename -l --selector -o --output --field-selector -c --container --user --as --grace-period --timeout --token -s --server --replicas --tail --since -k --kustomize --image --restart --env --port --type -p --patch --from-literal --from-file "
	helmValues    = " -n --namespace --kube-context --kube-apiserver --kube-as-group --kube-as-user --kube-ca-file --kube-tls-server-name --kube-token --kubeconfig --burst-limit --qps --registry-config --repository-cache --repository-config -f --values --set --set-string --set-file --version --repo --timeout --history-max -o --output --cascade --description --keyring "
	runValues     = " -v --volume --mount -p --publish -e --env --env-file --name -w --workdir -u --user --network --net --entrypoint -l --label -h --hostname --add-host --memory -m --cpus --gpus --device --cap-add --cap-drop --security-opt --pid --ipc --uts --userns --restart --log-driver --log-opt --platform --shm-size --tmpfs --ulimit --volumes-from --link --dns --ip --runtime --cidfile --pull --stop-signal --health-cmd -a --attach --annotation --expose --group-add --detach-keys --cgroupns --sysctl --index -c --cpu-shares "
)

func docker(c *shell.Call) {
	rest := c.Opts.Operands
	if len(rest) == 0 {
		return
	}
	sub := rest[0]
	args := rest[1:]
	c.Subs = subName(sub)
	if far, ok := farDaemon(c.Opts); ok {
		host := c.Shell.Frame.Host
		c.Shell.Frame.Host = c.Shell.HostName("docker", far)
		defer func() { c.Shell.Frame.Host = host }()
	}
	if sub.Is("container", "image", "volume", "network", "system", "builder", "buildx", "context", "compose", "swarm", "stack", "service",
		"secret", "node", "machine", "pod", "config", "plugin", "manifest") && len(args) > 0 {
		if sub.Is("compose") {
			o := shell.ParseOptions(args, shell.Program{First: true, Values: composeValues})
			composeSub(c, o)
			return
		}
		group := sub
		sub, args = args[0], args[1:]
		c.Subs = append(c.Subs, sub.Show())
		if !group.Is("container") {
			dockerGroup(c, group.Text, sub, args)
			return
		}
	}
	dockerSub(c, sub, args)
}

// farDaemon is the machine of a daemon that is reached by a network: containers
// run there, and what they see of a machine is of that one.
func farDaemon(o shell.Options) (abstract.Arg, bool) {
	for _, a := range append(o.All("-H", "--host"), o.All("--url")...) {
		if abstract.IsURL(a) && !a.HasPrefix("unix://") && !a.HasPrefix("npipe://") && !a.HasPrefix("fd://") {
			name := a.With(a.Text[strings.Index(a.Text, "://")+3:])
			name.Text = hostText(name.Text)
			return name, !place.Loopback(name.Text)
		}
	}
	return abstract.Arg{}, false
}

func dockerSub(c *shell.Call, sub abstract.Arg, args []abstract.Arg) {
	switch {
	case sub.Is("run", "create", "exec"):
		dockerRun(c, sub.Text, args)
		return
	}
	values := " --filter --format -n --tail --since --until -s --signal -t --time -o --output -u --username -p --password -c --change " +
		"-m --message -a --author "
	if sub.Is("build", "buildx", "bake") {
		values = buildValues
	}
	o := shell.ParseOptions(args, shell.Program{Values: values})
	c.Opts = withSub(c, o)
	switch {
	case sub.Is("rm"):
		containers(c, "delete", o, o.Has("-f", "--force"))
		if o.Has("-v", "--volumes") && o.Has("-f", "--force") {
			c.Process()
		}
	case sub.Is("rmi"):
		containers(c, "delete", o, o.Has("-f", "--force"))
	case sub.Is("kill", "stop", "restart", "start", "pause", "unpause", "wait", "rename", "update"):
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: sub.Text}, o.Operands...)
	case sub.Is("push"):
		c.Signal(engine.SignalPublish)
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Reversible: engine.R5}, o.Operand(0))
	case sub.Is("pull", "login", "search"):
		c.Fetches(abstract.Word(c.Name))
		c.Out.Taint = 0
	case sub.Is("cp"):
		dockerCopy(c, o)
	case sub.Is("save", "export"):
		c.Writes("write", o.All("-o", "--output")...)
	case sub.Is("ps", "images", "logs", "inspect", "version", "info", "top", "stats", "port", "diff", "history", "events"):
	default:
		c.Process()
	}
}

// containers is an effect on containers and images, which come back by a
// rebuild or are lost with what is in them.
func containers(c *shell.Call, verb string, o shell.Options, forced bool) {
	targets := o.Operands
	if len(targets) == 0 {
		targets = []abstract.Arg{abstract.Word(c.Name)}
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Forced: forced}, targets...)
}

func withSub(c *shell.Call, o shell.Options) shell.Options {
	names, rest := make([]abstract.Arg, len(c.Subs)), c.Opts.Operands
	for i, sub := range c.Subs {
		names[i] = abstract.Word(sub)
		if at := slices.IndexFunc(rest, func(a abstract.Arg) bool { return a.Is(sub) }); at >= 0 {
			names[i], rest = rest[at], rest[at+1:]
		}
	}
	o.Operands = append(names, o.Operands...)
	return o
}

func dockerCopy(c *shell.Call, o shell.Options) {
	if len(o.Operands) < 2 {
		return
	}
	from, to := o.Operands[0], o.Operands[1]
	if !strings.Contains(from.Text, ":") {
		c.Reads(from)
	}
	if !strings.Contains(to.Text, ":") {
		c.Writes("write", to)
	}
}

// dockerGroup is docker volume rm, docker system prune and their like.
func dockerGroup(c *shell.Call, group string, sub abstract.Arg, args []abstract.Arg) {
	o := shell.ParseOptions(args, shell.Program{Values: " --filter --format -d --driver -o --opt --name -t --tag -f --file --build-arg " +
		"--platform "})
	if sub.Is("prune", "rm", "remove", "leave", "reset") {
		o = shell.ParseOptions(args, shell.Program{Values: " --filter --format "})
	}
	c.Opts = withSub(c, o)
	switch {
	case sub.Is("ls", "list", "inspect", "df", "info", "ps", "show", "logs", "use", "events"):
		return
	case group == "system" && sub.Is("prune") && o.Has("--volumes"):
		wipes(c, "prune", "volume", o)
		containers(c, "delete", o, o.Has("-f", "--force"))
	case group == "volume" && sub.Is("rm", "remove", "prune"),
		group == "swarm" && sub.Is("leave"), group == "stack" && sub.Is("rm", "remove", "down"), group == "secret" && sub.Is("rm"), group == "system" && sub.Is("reset"):
		wipes(c, "wipe", group, o)
	case sub.Is("prune", "rm", "remove"):
		containers(c, "delete", o, o.Has("-f", "--force"))
	case group == "image" && sub.Is("push"):
		c.Signal(engine.SignalPublish)
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Reversible: engine.R5}, abstract.FirstOr(o.Operands))
	default:
		c.Process()
	}
}

// wipes is the end of what holds data or much else, on this machine's daemon.
func wipes(c *shell.Call, verb, object string, o shell.Options) {
	forced := o.Has("-f", "--force")
	c.Signal(engine.SignalContainerWipe)
	if forced {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Object: object, Forced: forced, Reversible: engine.R4},
		abstract.FirstOr(o.Operands))
}

// dockerRun runs a command in a container. What it does to the container's own
// files ends with the container; what it does to mounts happens here.
func dockerRun(c *shell.Call, verb string, args []abstract.Arg) {
	o := shell.ParseOptions(args, shell.Program{First: true, Values: runValues})
	c.Opts = withSub(c, o)
	c.Process()
	if len(o.Operands) == 0 {
		return
	}
	p := container(c, verb, o)
	if p.Reaches {
		c.Signal(engine.SignalContainerHost)
	}
	argv := o.Operands[1:]
	if entry, ok := o.Get("--entrypoint"); ok && entry.Text != "" {
		argv = append([]abstract.Arg{entry}, argv...)
	}
	if len(argv) == 0 {
		return
	}
	c.At(p, func() {
		passEnvironment(c, o)
		c.Shell.Invoke(argv, c.Node)
	})
}

// container is the place of docker run and docker exec. What a new container
// does to its own files ends with it; what lies in volumes stays.
func container(c *shell.Call, verb string, o shell.Options) shell.Venue {
	name := o.Operand(0)
	if given, ok := o.Get("--name"); ok {
		name = given
	}
	p := shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("container", name), Isolated: verb != "exec"}
	if w, ok := o.Get("-w", "--workdir"); ok {
		p.Dir = w.Value()
	}
	for _, v := range append(o.All("-v", "--volume"), o.All("--mount")...) {
		if m, ok := mountOf(c, v); ok {
			p.Mounts = append(p.Mounts, m)
		}
	}
	if p.Reaches = hostAccess(o, p.Mounts); p.Reaches {
		p.Mounts = append(p.Mounts, shell.Mount{Host: abstract.Word("/dev"), On: c.Shell.Frame.Host, Inside: "/dev"},
			shell.Mount{Host: abstract.Word("/proc/sys"), On: c.Shell.Frame.Host, Inside: "/proc/sys"})
	}
	return p
}

// passEnvironment sets the variables that a container is given.
func passEnvironment(c *shell.Call, o shell.Options) {
	for _, e := range o.All("-e", "--env") {
		if name, v, ok := strings.Cut(e.Text, "="); ok {
			c.Shell.Scope.SetText(name, e.With(v))
		}
	}
}

// mountOf reads -v host:inside:ro and --mount type=bind,source=…,target=….
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

// hostAccess tells whether a container can reach beyond its walls.
func hostAccess(o shell.Options, mounts []shell.Mount) bool {
	for _, m := range mounts {
		if m.Host.Is("/", "/etc", "/root", "/home", "/var/run/docker.sock", "/run/docker.sock", "/proc", "/sys", "/dev",
			"/boot", "/usr", "/var") {
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

func compose(c *shell.Call) { composeSub(c, c.Opts) }

func composeSub(c *shell.Call, global shell.Options) {
	if len(global.Operands) == 0 {
		return
	}
	sub := global.Operands[0]
	if c.Name == "docker" || c.Name == "podman" {
		c.Subs = []string{"compose", sub.Show()}
	} else {
		c.Subs = []string{sub.Show()}
	}
	args := global.Operands[1:]
	if sub.Is("run", "exec") {
		o := shell.ParseOptions(args, shell.Program{First: true, Values: runValues})
		c.Opts = withSub(c, o)
		c.Process()
		if len(o.Operands) > 1 {
			p := container(c, sub.Text, o)
			p.Wrapper, p.Isolated = "compose", sub.Is("run") && o.Has("--rm")
			c.At(p, func() {
				passEnvironment(c, o)
				c.Shell.Invoke(o.Operands[1:], c.Node)
			})
		}
		return
	}
	o := shell.ParseOptions(args, shell.Program{Values: " -t --timeout --scale --tail --since "})
	o.Flags = append(global.Flags[:len(global.Flags):len(global.Flags)], o.Flags...) // which file and project
	c.Opts = withSub(c, o)
	switch {
	case sub.Is("down", "rm") && o.Has("-v", "--volumes"):
		c.Signal(engine.SignalContainerWipe)
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "wipe", Object: "volume", Reversible: engine.R4}, abstract.Word("volumes"))
	case sub.Is("ps", "logs", "config", "images", "top", "version", "ls", "port", "events"):
	default:
		c.Process()
	}
}

func kubectl(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	if o.Has("--help", "-h") && len(o.Operands) < 2 {
		c.Signal(engine.SignalDryRun)
		return
	}
	if o.Has("--dry-run") {
		for _, opt := range o.List {
			if opt.Name == "--dry-run" && !opt.Value.Is("none", "false") {
				c.Signal(engine.SignalDryRun)
				return
			}
		}
	}
	host := abstract.Word("kubernetes")
	switch {
	case sub.Is("delete", "drain", "evict"):
		kubeDelete(c, o)
	case sub.Is("scale") && zeroReplicas(o), sub.Is("replace") && o.Has("--force"):
		c.Signal(engine.SignalInfraDelete)
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Reversible: engine.R3}, host)
	case sub.Is("exec", "run", "debug"):
		kubeExec(c)
	case sub.Is("get", "describe") && strings.Contains(o.Operand(1).Text, "secret"):
		c.Signal(engine.SignalCredential)
		c.Fetches(host)
	case sub.Is("get", "describe", "logs", "top", "explain", "api-resources", "api-versions", "version", "cluster-info", "diff", "auth", "config", "wait", "rollout", "events"):
		if sub.Is("rollout") && !o.Operand(1).Is("status", "history") {
			c.Sends("send", host)
			return
		}
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
	case sub.Is("cp"):
		for _, a := range o.Operands[1:] {
			if !strings.Contains(a.Text, ":") {
				c.Reads(a)
			}
		}
		c.Sends("send", host)
	case sub.Is("port-forward", "proxy"):
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "listen"}, abstract.Word("localhost"))
	case sub.Is("create", "adm") && changed(c, kubeGrant(c), false, host):
	default:
		for _, f := range o.All("-f", "--filename") {
			if abstract.IsURL(f) {
				c.Signal(engine.SignalRemoteCode)
				c.Fetches(f)
			} else {
				c.Reads(f)
			}
		}
		c.Sends("send", host)
	}
}

// kubeGrant is a role that somebody is given: create clusterrolebinding
// --clusterrole=cluster-admin, adm policy add-cluster-role-to-user cluster-admin.
func kubeGrant(c *shell.Call) change {
	o := c.Opts
	if strings.HasPrefix(o.Operand(2).Text, "add-") && strings.Contains(o.Operand(2).Text, "-role-to-") {
		return change{"grant", rightName(o.Operand(3).Text)}
	}
	return optionChanges(c, o.Operands, c.Args)
}

func zeroReplicas(o shell.Options) bool {
	n, ok := o.Get("--replicas")
	return ok && n.Is("0")
}

func kubeDelete(c *shell.Call, o shell.Options) {
	c.Signal(engine.SignalInfraDelete)
	kind := kubeKind(o.Operand(1).Text)
	switch kind {
	case "namespace", "persistentvolume", "persistentvolumeclaim", "customresourcedefinition", "all", "node", "statefulset":
		c.Signal(engine.SignalContainerWipe)
	}
	if o.Has("--all", "-A", "--all-namespaces") {
		c.Signal(engine.SignalContainerWipe)
	}
	if o.Has("--force", "--now") {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Recursive: o.Has("--all"), Forced: o.Has("--force"),
		Reversible: engine.R5, Object: kind}, abstract.Word("kubernetes"))
}

// kubeShort are the short names of kinds that hold data or others.
var kubeShort = map[string]string{
	"ns": "namespace", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "crd": "customresourcedefinition",
	"no": "node", "sts": "statefulset", "po": "pod", "deploy": "deployment", "svc": "service", "cm": "configmap", "ing": "ingress",
}

// kubeKind is the kind of pods, pod/web and po.
func kubeKind(name string) string {
	kind, _, _ := strings.Cut(strings.ToLower(name), "/")
	kind, _, _ = strings.Cut(kind, ".")
	kind = operation.PlainNoun(operation.Singular(kind))
	if long := kubeShort[kind]; long != "" {
		return long
	}
	return kind
}

// kubeExec is kubectl exec POD -- command, and run and debug of a new pod.
func kubeExec(c *shell.Call) {
	connects(c, abstract.Word("kubernetes"))
	pod := c.Opts.Operand(1)
	for i, a := range c.Args {
		if a.Is("--") && i+1 < len(c.Args) {
			c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("pod", pod)}, func() { c.Shell.Invoke(c.Args[i+1:], c.Node) })
			return
		}
	}
}

func helm(c *shell.Call) {
	sub := c.Opts.Operand(0)
	c.Subs = subName(sub)
	if c.Opts.Has("--dry-run") {
		c.Signal(engine.SignalDryRun)
		return
	}
	switch {
	case sub.Is("uninstall", "delete", "del", "un"):
		c.Signal(engine.SignalInfraDelete)
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Reversible: engine.R5}, abstract.Word("kubernetes"))
	case sub.Is("install", "upgrade", "rollback"):
		c.Sends("send", abstract.Word("kubernetes"))
	case sub.Is("push"):
		publishes(c, "send", "helm")
	case sub.Is("template", "lint", "list", "ls", "status", "show", "get", "history", "version", "search", "env"):
	default:
		c.Process()
	}
}

// managed is what a tool for clusters talks to: argocd to a server of its own,
// whatever context it is given.
func managed(tool string) string {
	if tool == "argocd" {
		return tool
	}
	return "kubernetes"
}

func clusters(c *shell.Call) {
	first := c.Opts.Operand(0)
	c.Subs = subName(first)
	local := c.Name == "minikube" || c.Name == "kind" || c.Name == "k3d"
	for _, a := range c.Opts.Operands {
		if a.Is("delete", "destroy", "reset", "uninstall") && !local {
			c.Signal(engine.SignalInfraDelete)
			_, object, _ := operationOf(c, c.Opts.Operands)
			c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Reversible: engine.R5, Object: object},
				abstract.Word(managed(c.Name)))
			return
		}
	}
	c.Process()
}
