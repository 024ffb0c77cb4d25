package rego

import "github.com/agent-reviewer/reviewer/engine"

// ends are questions about what ends at a service or in a database.
func ends() []question {
	var all []question
	about := func(kind engine.EffectKind, verb, object, target string, loopback bool) {
		a := effect(kind, func(e *engine.Effect) {
			e.Verb, e.Object, e.Target, e.Loopback, e.Short, e.Location = verb, object, target, loopback, "", ""
		})
		a.Types = []engine.Type{engine.TypeMessage}
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
	return all
}
