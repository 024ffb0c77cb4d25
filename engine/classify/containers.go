package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// containerPrograms are the container tools and their orchestrators.
func containerPrograms(name string) program {
	switch name {
	case "docker", "podman", "nerdctl", "finch", "lima":
		return program{first: true, values: " -H -c -l --host --context --config --log-level --connection --url ", run: docker}
	case "docker-compose", "podman-compose":
		return program{first: true, values: composeValues, run: compose}
	case "kubectl", "oc", "k", "microk8s.kubectl":
		return program{values: kubeValues, own: true, run: kubectl}
	case "helm":
		return program{values: helmValues, run: helm}
	case "kubeadm", "minikube", "kind", "k3d", "k3s-uninstall.sh", "eksctl", "kops", "argocd", "flux", "istioctl":
		return program{values: " -p --profile --name -n --namespace --cluster --region ", run: clusters}
	}
	return program{}
}

const (
	composeValues = " -f --file -p --project-name --env-file --profile --project-directory --ansi --parallel --progress "
	buildValues   = " -f --file -t --tag --build-arg --target --platform --progress --cache-from --cache-to --secret --ssh -o --output --network --label --iidfile "
	kubeValues    = " -n --namespace --context --cluster --kubeconfig -f --filename -l --selector -o --output --field-selector -c --container --user --as --grace-period --timeout --token -s --server --replicas --tail --since -k --kustomize --image --restart --env --port --type -p --patch --from-literal --from-file "
	helmValues    = " -n --namespace --kube-context --kube-apiserver --kube-as-group --kube-as-user --kube-ca-file --kube-tls-server-name --kube-token --kubeconfig --burst-limit --qps --registry-config --repository-cache --repository-config -f --values --set --set-string --set-file --version --repo --timeout --history-max -o --output --cascade --description --keyring "
	runValues     = " -v --volume --mount -p --publish -e --env --env-file --name -w --workdir -u --user --network --net --entrypoint -l --label -h --hostname --add-host --memory -m --cpus --gpus --device --cap-add --cap-drop --security-opt --pid --ipc --uts --userns --restart --log-driver --log-opt --platform --shm-size --tmpfs --ulimit --volumes-from --link --dns --ip --runtime --cidfile --pull --stop-signal --health-cmd -a --attach --annotation --expose --group-add --detach-keys --cgroupns --sysctl --index -c --cpu-shares "
)

func docker(c *call) {
	rest := c.opts.operands
	if len(rest) == 0 {
		return
	}
	sub := rest[0]
	args := rest[1:]
	c.subs = subName(sub)
	if far, ok := farDaemon(c.opts); ok {
		host := c.s.frame.host
		c.s.frame.host = c.s.hostName("docker", far)
		defer func() { c.s.frame.host = host }()
	}
	if sub.is("container", "image", "volume", "network", "system", "builder", "buildx", "context", "compose", "swarm", "stack", "service", "secret", "node", "machine", "pod", "config", "plugin", "manifest") && len(args) > 0 {
		if sub.is("compose") {
			o := parseOptions(args, program{first: true, values: composeValues})
			c.composeSub(o)
			return
		}
		group := sub
		sub, args = args[0], args[1:]
		c.subs = append(c.subs, sub.show())
		if !group.is("container") {
			c.dockerGroup(group.text, sub, args)
			return
		}
	}
	c.dockerSub(sub, args)
}

// farDaemon is the machine of a daemon that is reached by a network: containers
// run there, and what they see of a machine is of that one.
func farDaemon(o options) (arg, bool) {
	for _, a := range append(o.all("-H", "--host"), o.all("--url")...) {
		if isURL(a) && !a.hasPrefix("unix://") && !a.hasPrefix("npipe://") && !a.hasPrefix("fd://") {
			name := a.with(a.text[strings.Index(a.text, "://")+3:])
			name.text = hostText(name.text)
			return name, !loopback(name.text)
		}
	}
	return arg{}, false
}

func (c *call) dockerSub(sub arg, args []arg) {
	switch {
	case sub.is("run", "create", "exec"):
		c.dockerRun(sub.text, args)
		return
	}
	values := " --filter --format -n --tail --since --until -s --signal -t --time -o --output -u --username -p --password -c --change -m --message -a --author "
	if sub.is("build", "buildx", "bake") {
		values = buildValues
	}
	o := parseOptions(args, program{values: values})
	c.opts = c.withSub(o)
	switch {
	case sub.is("rm"):
		c.containers("delete", o, o.has("-f", "--force"))
		if o.has("-v", "--volumes") && o.has("-f", "--force") {
			c.process()
		}
	case sub.is("rmi"):
		c.containers("delete", o, o.has("-f", "--force"))
	case sub.is("kill", "stop", "restart", "start", "pause", "unpause", "wait", "rename", "update"):
		c.emit(rawEffect{kind: engine.EffectProcess, verb: sub.text}, o.operands...)
	case sub.is("push"):
		c.signal(engine.SignalPublish)
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, reversible: engine.R5}, o.operand(0))
	case sub.is("pull", "login", "search"):
		c.fetches(word(c.name))
		c.out.taint = 0
	case sub.is("cp"):
		c.dockerCopy(o)
	case sub.is("save", "export"):
		c.writes("write", o.all("-o", "--output")...)
	case sub.is("ps", "images", "logs", "inspect", "version", "info", "top", "stats", "port", "diff", "history", "events"):
	default:
		c.process()
	}
}

// containers is an effect on containers and images, which come back by a
// rebuild or are lost with what is in them.
func (c *call) containers(verb string, o options, forced bool) {
	targets := o.operands
	if len(targets) == 0 {
		targets = []arg{word(c.name)}
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: verb, forced: forced}, targets...)
}

func (c *call) withSub(o options) options {
	names, rest := make([]arg, len(c.subs)), c.opts.operands
	for i, sub := range c.subs {
		names[i] = word(sub)
		if at := slices.IndexFunc(rest, func(a arg) bool { return a.is(sub) }); at >= 0 {
			names[i], rest = rest[at], rest[at+1:]
		}
	}
	o.operands = append(names, o.operands...)
	return o
}

func (c *call) dockerCopy(o options) {
	if len(o.operands) < 2 {
		return
	}
	from, to := o.operands[0], o.operands[1]
	if !strings.Contains(from.text, ":") {
		c.reads(from)
	}
	if !strings.Contains(to.text, ":") {
		c.writes("write", to)
	}
}

// dockerGroup is docker volume rm, docker system prune and their like.
func (c *call) dockerGroup(group string, sub arg, args []arg) {
	o := parseOptions(args, program{values: " --filter --format -d --driver -o --opt --name -t --tag -f --file --build-arg --platform "})
	if sub.is("prune", "rm", "remove", "leave", "reset") {
		o = parseOptions(args, program{values: " --filter --format "})
	}
	c.opts = c.withSub(o)
	switch {
	case sub.is("ls", "list", "inspect", "df", "info", "ps", "show", "logs", "use", "events"):
		return
	case group == "system" && sub.is("prune") && o.has("--volumes"):
		c.wipes("prune", "volume", o)
		c.containers("delete", o, o.has("-f", "--force"))
	case group == "volume" && sub.is("rm", "remove", "prune"),
		group == "swarm" && sub.is("leave"), group == "stack" && sub.is("rm", "remove", "down"), group == "secret" && sub.is("rm"), group == "system" && sub.is("reset"):
		c.wipes("wipe", group, o)
	case sub.is("prune", "rm", "remove"):
		c.containers("delete", o, o.has("-f", "--force"))
	case group == "image" && sub.is("push"):
		c.signal(engine.SignalPublish)
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, reversible: engine.R5}, firstOr(o.operands))
	default:
		c.process()
	}
}

// wipes is the end of what holds data or much else, on this machine's daemon.
func (c *call) wipes(verb, object string, o options) {
	forced := o.has("-f", "--force")
	c.signal(engine.SignalContainerWipe)
	if forced {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb, object: object, forced: forced, reversible: engine.R4}, firstOr(o.operands))
}

// dockerRun runs a command in a container. What it does to the container's own
// files ends with the container; what it does to mounts happens here.
func (c *call) dockerRun(verb string, args []arg) {
	o := parseOptions(args, program{first: true, values: runValues})
	c.opts = c.withSub(o)
	c.process()
	if len(o.operands) == 0 {
		return
	}
	p := c.container(verb, o)
	if p.reaches {
		c.signal(engine.SignalContainerHost)
	}
	argv := o.operands[1:]
	if entry, ok := o.get("--entrypoint"); ok && entry.text != "" {
		argv = append([]arg{entry}, argv...)
	}
	if len(argv) == 0 {
		return
	}
	c.at(p, func() {
		c.passEnvironment(o)
		c.s.invoke(argv, c.node)
	})
}

// container is the place of docker run and docker exec. What a new container
// does to its own files ends with it; what lies in volumes stays.
func (c *call) container(verb string, o options) venue {
	name := o.operand(0)
	if given, ok := o.get("--name"); ok {
		name = given
	}
	p := venue{wrapper: c.name, host: c.s.hostName("container", name), isolated: verb != "exec"}
	if w, ok := o.get("-w", "--workdir"); ok {
		p.dir = w.value()
	}
	for _, v := range append(o.all("-v", "--volume"), o.all("--mount")...) {
		if m, ok := c.mountOf(v); ok {
			p.mounts = append(p.mounts, m)
		}
	}
	if p.reaches = hostAccess(o, p.mounts); p.reaches {
		p.mounts = append(p.mounts, mount{host: word("/dev"), on: c.s.frame.host, inside: "/dev"}, mount{host: word("/proc/sys"), on: c.s.frame.host, inside: "/proc/sys"})
	}
	return p
}

// passEnvironment sets the variables that a container is given.
func (c *call) passEnvironment(o options) {
	for _, e := range o.all("-e", "--env") {
		if name, v, ok := strings.Cut(e.text, "="); ok {
			c.s.scope.setText(name, e.with(v))
		}
	}
}

// mountOf reads -v host:inside:ro and --mount type=bind,source=…,target=….
func (c *call) mountOf(v arg) (mount, bool) {
	var m mount
	var from arg
	if strings.Contains(v.text, "=") && !v.hasPrefix("/") {
		for _, field := range strings.Split(v.text, ",") {
			key, val, _ := strings.Cut(field, "=")
			switch key {
			case "source", "src":
				from = v.with(val)
			case "target", "dst", "destination":
				m.inside = path.Clean(val)
			case "readonly", "ro":
				m.readonly = val != "false" && val != "0"
			}
		}
	} else if parts := strings.Split(v.text, ":"); len(parts) > 1 {
		from, m.inside = v.with(parts[0]), path.Clean(parts[1])
		m.readonly = len(parts) > 2 && slices.Contains(strings.Split(parts[2], ","), "ro")
	}
	if from.text == "" || m.inside == "" {
		return mount{}, false
	}
	if !strings.ContainsAny(from.text, "/.~"+holes) { // the name of a volume
		m.host, m.on = word(m.inside), c.s.hostName("volume", from)
		return m, true
	}
	m.host, m.on = joinDir(c.s.scope.dirs[0], from).arg(), c.s.frame.host
	return m, true
}

// hostAccess tells whether a container can reach beyond its walls.
func hostAccess(o options, mounts []mount) bool {
	for _, m := range mounts {
		if m.host.is("/", "/etc", "/root", "/home", "/var/run/docker.sock", "/run/docker.sock", "/proc", "/sys", "/dev", "/boot", "/usr", "/var") {
			return true
		}
	}
	for _, names := range [][]string{{"--pid", "host"}, {"--ipc", "host"}, {"--userns", "host"}, {"--security-opt", "seccomp=unconfined"}, {"--security-opt", "apparmor=unconfined"}, {"--cap-add", "ALL"}, {"--cap-add", "SYS_ADMIN"}} {
		for _, v := range o.all(names[0]) {
			if v.is(names[1]) {
				return true
			}
		}
	}
	return o.has("--privileged")
}

func compose(c *call) { c.composeSub(c.opts) }

func (c *call) composeSub(global options) {
	if len(global.operands) == 0 {
		return
	}
	sub := global.operands[0]
	if c.name == "docker" || c.name == "podman" {
		c.subs = []string{"compose", sub.show()}
	} else {
		c.subs = []string{sub.show()}
	}
	args := global.operands[1:]
	if sub.is("run", "exec") {
		o := parseOptions(args, program{first: true, values: runValues})
		c.opts = c.withSub(o)
		c.process()
		if len(o.operands) > 1 {
			p := c.container(sub.text, o)
			p.wrapper, p.isolated = "compose", sub.is("run") && o.has("--rm")
			c.at(p, func() {
				c.passEnvironment(o)
				c.s.invoke(o.operands[1:], c.node)
			})
		}
		return
	}
	o := parseOptions(args, program{values: " -t --timeout --scale --tail --since "})
	o.flags = append(global.flags[:len(global.flags):len(global.flags)], o.flags...) // which file and project
	c.opts = c.withSub(o)
	switch {
	case sub.is("down", "rm") && o.has("-v", "--volumes"):
		c.signal(engine.SignalContainerWipe)
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "wipe", object: "volume", reversible: engine.R4}, word("volumes"))
	case sub.is("ps", "logs", "config", "images", "top", "version", "ls", "port", "events"):
	default:
		c.process()
	}
}

func kubectl(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	if o.has("--help", "-h") && len(o.operands) < 2 {
		c.signal(engine.SignalDryRun)
		return
	}
	if o.has("--dry-run") {
		for _, opt := range o.list {
			if opt.name == "--dry-run" && !opt.value.is("none", "false") {
				c.signal(engine.SignalDryRun)
				return
			}
		}
	}
	host := word("kubernetes")
	switch {
	case sub.is("delete", "drain", "evict"):
		c.kubeDelete(o)
	case sub.is("scale") && zeroReplicas(o), sub.is("replace") && o.has("--force"):
		c.signal(engine.SignalInfraDelete)
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, reversible: engine.R3}, host)
	case sub.is("exec", "run", "debug"):
		c.kubeExec()
	case sub.is("get", "describe") && strings.Contains(o.operand(1).text, "secret"):
		c.signal(engine.SignalCredential)
		c.fetches(host)
	case sub.is("get", "describe", "logs", "top", "explain", "api-resources", "api-versions", "version", "cluster-info", "diff", "auth", "config", "wait", "rollout", "events"):
		if sub.is("rollout") && !o.operand(1).is("status", "history") {
			c.sends("send", host)
			return
		}
		c.fetches(host)
		c.out.taint &^= fetched
	case sub.is("cp"):
		for _, a := range o.operands[1:] {
			if !strings.Contains(a.text, ":") {
				c.reads(a)
			}
		}
		c.sends("send", host)
	case sub.is("port-forward", "proxy"):
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "listen"}, word("localhost"))
	case sub.is("create", "adm") && c.changed(kubeGrant(o, c.args), false, host):
	default:
		for _, f := range o.all("-f", "--filename") {
			if isURL(f) {
				c.signal(engine.SignalRemoteCode)
				c.fetches(f)
			} else {
				c.reads(f)
			}
		}
		c.sends("send", host)
	}
}

// kubeGrant is a role that somebody is given: create clusterrolebinding
// --clusterrole=cluster-admin, adm policy add-cluster-role-to-user cluster-admin.
func kubeGrant(o options, args []arg) change {
	if strings.HasPrefix(o.operand(2).text, "add-") && strings.Contains(o.operand(2).text, "-role-to-") {
		return change{"grant", rightName(o.operand(3).text)}
	}
	return optionChanges(o.operands, args)
}

func zeroReplicas(o options) bool {
	n, ok := o.get("--replicas")
	return ok && n.is("0")
}

func (c *call) kubeDelete(o options) {
	c.signal(engine.SignalInfraDelete)
	kind := kubeKind(o.operand(1).text)
	switch kind {
	case "namespace", "persistentvolume", "persistentvolumeclaim", "customresourcedefinition", "all", "node", "statefulset":
		c.signal(engine.SignalContainerWipe)
	}
	if o.has("--all", "-A", "--all-namespaces") {
		c.signal(engine.SignalContainerWipe)
	}
	if o.has("--force", "--now") {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, recursive: o.has("--all"), forced: o.has("--force"), reversible: engine.R5, object: kind}, word("kubernetes"))
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
	kind = plainNoun(singular(kind))
	if long := kubeShort[kind]; long != "" {
		return long
	}
	return kind
}

// kubeExec is kubectl exec POD -- command, and run and debug of a new pod.
func (c *call) kubeExec() {
	c.connects(word("kubernetes"))
	pod := c.opts.operand(1)
	for i, a := range c.args {
		if a.is("--") && i+1 < len(c.args) {
			c.at(venue{wrapper: c.name, host: c.s.hostName("pod", pod)}, func() { c.s.invoke(c.args[i+1:], c.node) })
			return
		}
	}
}

func helm(c *call) {
	sub := c.opts.operand(0)
	c.subs = subName(sub)
	if c.opts.has("--dry-run") {
		c.signal(engine.SignalDryRun)
		return
	}
	switch {
	case sub.is("uninstall", "delete", "del", "un"):
		c.signal(engine.SignalInfraDelete)
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, reversible: engine.R5}, word("kubernetes"))
	case sub.is("install", "upgrade", "rollback"):
		c.sends("send", word("kubernetes"))
	case sub.is("push"):
		c.publishes("send", "helm")
	case sub.is("template", "lint", "list", "ls", "status", "show", "get", "history", "version", "search", "env"):
	default:
		c.process()
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

func clusters(c *call) {
	first := c.opts.operand(0)
	c.subs = subName(first)
	local := c.name == "minikube" || c.name == "kind" || c.name == "k3d"
	for _, a := range c.opts.operands {
		if a.is("delete", "destroy", "reset", "uninstall") && !local {
			c.signal(engine.SignalInfraDelete)
			_, object, _ := operation(c.opts.operands)
			c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, reversible: engine.R5, object: object}, word(managed(c.name)))
			return
		}
	}
	c.process()
}
