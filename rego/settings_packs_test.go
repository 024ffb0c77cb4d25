package rego

import "github.com/agent-reviewer/reviewer/engine"

// agentsWork are questions about what guards and surrounds an agent's work:
// traces, logins, searches, hosts, packages.
func agentsWork() []question {
	write := func(short string) question {
		a := effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Short, e.Target = short, short })
		a.Paths = []string{short}
		return ask(a)
	}
	install := func(program, name string) question {
		a := commanded(engine.Command{Name: program, Sub: []string{"install"}, Operands: []string{name}}, engine.EffectNetwork, nil, engine.SignalPackageInstall)
		return ask(a)
	}
	search := commanded(engine.Command{Name: "grep", Flags: []string{"-r"}, Operands: []string{"password", "/home/anna"}}, engine.EffectFileRead, func(e *engine.Effect) {
		e.Verb, e.Short, e.Location, e.Recursive = "read", "~", engine.LocationHomeRoot, true
	})
	sent := func(host string, verb string) question {
		a := effect(engine.EffectNetwork, func(e *engine.Effect) { e.Verb, e.Egress, e.Target = verb, verb == "send", "https://"+host+"/" })
		a.Hosts = []string{host}
		return ask(a)
	}
	flows := func(f engine.Flow, sub ...string) question {
		a := commanded(engine.Command{Name: "x", Sub: sub}, engine.EffectNetwork, nil)
		a.Flows = []engine.Flow{f}
		return ask(a)
	}
	unverified := commanded(engine.Command{Name: "git", Sub: []string{"commit"}, Flags: []string{"--no-verify"}}, engine.EffectProcess, nil, engine.SignalGitNoVerify)
	forced := commanded(engine.Command{Name: "git", Sub: []string{"push"}, Flags: []string{"--force"}, Operands: []string{"origin", "main"}},
		engine.EffectNetwork, nil, engine.SignalGitForcePush)
	export := commanded(engine.Command{Name: "gh", Sub: []string{"auth", "token"}}, engine.EffectNetwork, nil, engine.SignalCredential)
	login := effect(engine.EffectFileRead, func(e *engine.Effect) {
		e.Verb, e.Short, e.Location, e.Class = "read", "~/.ssh/config", engine.LocationHome, engine.ClassCredential
	})
	login.Signals = []engine.Signal{engine.SignalCredential}
	ended := func(program, target string, known engine.StartedFacts) question {
		a := commanded(engine.Command{Name: program, Operands: []string{target}}, engine.EffectProcess, func(e *engine.Effect) {
			e.Verb, e.Target, e.Short, e.Location = "kill", target, "", ""
		})
		return ask(a, func(q *question) { q.in.Session.Started = []engine.StartedFacts{known} })
	}
	managed := commanded(engine.Command{Name: "tmux", Sub: []string{"kill-session"}, Operands: []string{"-t", "shop"}}, engine.EffectProcess, nil)
	begun := func(line string) func(*question) {
		return func(q *question) { q.in.Session.Started = []engine.StartedFacts{{Line: line}} }
	}
	deleted := func(location engine.Location, paths ...string) question {
		a := effect(engine.EffectFileDelete, func(e *engine.Effect) {
			e.Verb, e.Short, e.Target, e.Location = "delete", paths[0], paths[0], location
			e.Exists, e.Entry, e.Git, e.Recursive = "yes", "dir", "ignored", true
		})
		for _, p := range paths[1:] {
			next := a.Effects[0]
			next.Short, next.Target, next.Class = p, p, engine.ClassGenerated
			a.Effects = append(a.Effects, next)
		}
		a.Paths, a.Types = paths, []engine.Type{engine.TypeFileDeletion}
		return ask(a, withFact("deletes"), withFact("deletes_recursive"))
	}
	serial := effect(engine.EffectFileWrite, func(e *engine.Effect) {
		e.Target, e.Short, e.Location = "/dev/ttyUSB0", "/dev/ttyUSB0", engine.LocationDevice
	})
	return []question{
		ask(login), ask(serial), ask(managed), ask(managed, begun("tmux new -d -s shop")), ask(managed, begun("tmux -t 9")),
		ended("pkill", "server", engine.StartedFacts{Line: "./server"}), ended("pkill", "ruby", engine.StartedFacts{Line: "ruby shop.rb"}),
		ended("fuser", "4711", engine.StartedFacts{Line: "./shop", Processes: []string{"4711"}}), ended("docker", "shop", engine.StartedFacts{Line: "./a"}),
		deleted(engine.LocationHome, "~/.cache/shop"), deleted(engine.LocationInside, "./web/bin", "./web/obj"),
		ask(export), ask(forced), ask(unverified, withFinding("git_no_verify", "")),
		write("/var/log/wtmp"), write("~/.ssh/authorized_keys"), write("./go.sum"),
		install("npm", "expresss"), install("pip", "requestss"), ask(search),
		flows(engine.Flow{What: engine.FlowVariable, Name: "SHOP_TOKEN", Host: "a.example"}),
		flows(engine.Flow{What: engine.FlowVariable, Name: "TOKEN", Host: "a.example", Login: true}),
		flows(engine.Flow{What: engine.FlowStore, Name: "op", Host: "a.example"}, "secret", "set"),
		flows(engine.Flow{What: engine.FlowFile, Name: "~/.aws/credentials", Class: engine.ClassCredential, Image: "amazon/aws-cli"}),
		flows(engine.Flow{What: engine.FlowFile, Name: "./.env", Class: engine.ClassEnvFile, Host: "localhost", Loopback: true}),
		sent("pastebin.com", "send"), sent("169.254.169.254", "fetch"),
	}
}

// otherNames holds what the lists of the questions of agentsWork might be instead.
func otherNames() map[string][]any {
	return map[string][]any{
		"git.protected": {}, "secrets.plain": {}, "processes.common": {}, "processes.runtimes": {}, "processes.by_port": {}, "processes.engines": {}, "processes.managers": {}, "processes.orders": {}, "code.run_elsewhere": {}, "scope.caches": {}, "scope.built_with": {}, "system.serial": {}, "guard.traces": {}, "inbound.logins": {}, "secrets.searchers": {}, "secrets.hunted": {}, "secrets.exports": {}, "secrets.variables": {}, "secrets.unnamed": {}, "secrets.stores": {}, "secrets.images": {}, "hosts.drops": {}, "hosts.metadata": {},
		"packages.known": {"expresss"}, "packages.lockfiles": {}, "packages.popular.npm": {}, "packages.popular.python": {},
	}
}
