package main

import (
	"context"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/audit"
)

// words reports the agents whose latest session came from a process that does not count as a person's client: what is
// typed there permits nothing.
func (e *examination) words(context.Context) {
	store, err := e.a.OpenStore()
	if err != nil {
		return // reported by another check
	}
	sessions, err := store.Sessions()
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	for _, s := range e.agents {
		i := slices.IndexFunc(sessions, func(one audit.Session) bool { return one.Key.Harness == s.Agent.Name && one.Client != nil })
		if i < 0 || sessions[i].Client.Missing == "" {
			continue
		}
		e.say("warn", "%s: what was typed in its latest session, %s, did not count as a person's words, so it could only forbid: %s. "+
			"`reviewer session mine` in a terminal of your own confirms a session", s.Agent.Name, sessions[i].Key.Session, sessions[i].Client.Missing)
	}
}
