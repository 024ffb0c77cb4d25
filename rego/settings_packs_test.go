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
	return []question{
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
		"git.protected": {}, "guard.traces": {}, "inbound.logins": {}, "secrets.searchers": {}, "secrets.hunted": {}, "secrets.exports": {}, "secrets.variables": {}, "secrets.unnamed": {}, "secrets.stores": {}, "secrets.images": {}, "hosts.drops": {}, "hosts.metadata": {},
		"packages.known": {"expresss"}, "packages.lockfiles": {}, "packages.popular.npm": {}, "packages.popular.python": {},
	}
}
