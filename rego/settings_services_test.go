package rego

import "github.com/agent-reviewer/reviewer/engine"

// typeOf is what the classifier calls an action with such an effect.
var typeOf = map[engine.EffectKind]engine.Type{
	engine.EffectNetwork: engine.TypeNetworkRequest, engine.EffectSystemCall: engine.TypeSystemCommand, engine.EffectProcess: engine.TypeFileRead,
}

// ends are questions about what ends at a service or in a database.
func ends() []question {
	var all []question
	about := func(kind engine.EffectKind, verb, object, target string, loopback bool) {
		a := effect(kind, func(e *engine.Effect) {
			e.Verb, e.Object, e.Target, e.Loopback, e.Short, e.Location = verb, object, target, loopback, "", ""
		})
		a.Types = []engine.Type{typeOf[kind]}
		all = append(all, ask(a))
	}
	about(engine.EffectNetwork, "delete", "disk", "cloudctl", false)
	about(engine.EffectNetwork, "delete", "project", "cloudctl", false)
	about(engine.EffectNetwork, "delete", "disk", "https://prod.example.com/disks/1", false)
	about(engine.EffectNetwork, "delete", "order", "http://localhost:9200/orders", true)
	about(engine.EffectProcess, "delete", "toggle", "flagctl", false)
	about(engine.EffectProcess, "delete", "toggle", "flatpak", false)
	about(engine.EffectSystemCall, "drop", "table", "postgres:///shop", false)
	about(engine.EffectSystemCall, "drop", "table", "postgres:///shop_test", false)
	about(engine.EffectSystemCall, "drop", "table", "sql:///", false)
	for _, object := range []string{"record", "ruleset", "refund", "email"} {
		about(engine.EffectNetwork, "send", object, "cloudctl", false)
	}
	about(engine.EffectNetwork, "send", "", "https://api.stripe.com/v1", false)
	about(engine.EffectNetwork, "send", "", "https://hooks.slack.com/x", false)
	about(engine.EffectNetwork, "grant", "owner", "cloudctl", false)
	return append(all, infrastructure()...)
}

// infrastructure is about the ends that signals name, and what runs instead.
func infrastructure() []question {
	end := func(c engine.Command, verb, object, target string) question {
		a := commanded(c, engine.EffectNetwork, func(e *engine.Effect) { e.Verb, e.Object, e.Target = verb, object, target }, engine.SignalInfraDelete)
		a.Types = []engine.Type{engine.TypeNetworkRequest}
		return ask(a)
	}
	prune := commanded(engine.Command{Name: "docker", Sub: []string{"system", "prune"}, Flags: []string{"--volumes"}}, engine.EffectSystemCall, func(e *engine.Effect) {
		e.Verb, e.Object = "prune", "volume"
	}, engine.SignalContainerWipe)
	return []question{
		end(engine.Command{Name: "terraform", Sub: []string{"destroy"}}, "delete", "stack", "terraform"),
		end(engine.Command{Name: "aws"}, "disable", "versioning", "aws"),
		end(engine.Command{Name: "aws"}, "disable", "trail", "aws"),
		end(engine.Command{Name: "kubectl", Flags: []string{"--context=kind-shop"}}, "delete", "pod", "kubernetes"),
		ask(prune),
	}
}
