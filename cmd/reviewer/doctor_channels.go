package main

import (
	"context"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// channels reports, for each way of acting on the agent, whether it is enforced, advisory or
// not covered, and why. The problems of the settings themselves are those of another
// check.
func (e *examination) channels(context.Context) {
	quiet := &examination{a: e.a, out: &term.Output{Format: "json"}, home: e.home, version: e.version}
	own, managed, _, _ := quiet.entries()
	for _, name := range harness.Installable() {
		h, _ := harness.Find(name)
		for _, w := range engine.Ways() {
			support, why := standing(h.Channels.Of(w), own, managed)
			word := "info"
			if support == engine.SupportEnforced {
				word = "ok"
			}
			e.say(word, "%s, %s: %s: %s", h.Name, w, support, why)
		}
	}
}

// standing returns how far a way works with the hooks that are installed. What the agent
// enforces, a repository can switch off unless the settings are managed.
func standing(c engine.Channel, own []harness.OwnHook, managed bool) (engine.Support, string) {
	installed := func(p engine.Phase) bool {
		return slices.ContainsFunc(own, func(h harness.OwnHook) bool { return harness.PhaseOf(h.Event) == p })
	}
	switch {
	case c.Support == engine.SupportNone:
		return c.Support, c.How
	case !slices.ContainsFunc(c.Phases, installed):
		return engine.SupportNone, "reviewer is not called at the events for it"
	case c.Support == engine.SupportEnforced && !managed:
		return engine.SupportAdvisory, c.How + "; a repository can turn it off, unless reviewer is installed with --managed"
	}
	return c.Support, c.How
}

// notifications reports those that could not be delivered, and those that wait.
func (e *examination) notifications(context.Context) {
	store, err := e.a.OpenStore()
	if err != nil {
		return // already reported
	}
	u, err := notifycmd.FindUndelivered(store)
	if err != nil {
		e.say("fail", "notifications: %v", err)
	}
	if u.Failed > 0 {
		e.say("warn", "%s could not be delivered, the last one to %s; see `reviewer notify list`, repair the channel, "+
			"and send them again with `reviewer notify deliver --retry`", term.Counted(u.Failed, "notification", "notifications"), u.Last)
	}
	if u.Waiting > 0 {
		e.say("warn", "%s not delivered yet; `reviewer notify deliver` sends them now",
			term.Counted(u.Waiting, "notification is", "notifications are"))
	}
	if u.Failed+u.Waiting == 0 && err == nil {
		e.say("ok", "no notification is undelivered")
	}
}
