package main

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// channels reports, for each way of acting on an agent, whether it is enforced, advisory or not
// covered, and why; for several agents, without the reasons. The problems of the settings themselves
// are those of another check.
func (e *examination) channels(context.Context) {
	for _, s := range e.agents {
		if len(e.agents) > 1 {
			e.summary(s)
			continue
		}
		for _, w := range engine.Ways() {
			support, why := s.way(w)
			e.say(wordOf(support), "%s, %s: %s: %s", s.Agent.Name, w, support, why)
		}
	}
}

// summary reports the ways of an agent in one line.
func (e *examination) summary(s standingOf) {
	ways := map[engine.Support][]string{}
	for _, w := range engine.Ways() {
		support, _ := s.way(w)
		ways[support] = append(ways[support], string(w))
	}
	var parts []string
	for _, support := range []engine.Support{engine.SupportEnforced, engine.SupportAdvisory, engine.SupportNone} {
		if len(ways[support]) > 0 {
			parts = append(parts, string(support)+": "+strings.Join(ways[support], ", "))
		}
	}
	e.say("info", "%s: %s (`reviewer agents %s` gives the reasons)", s.Agent.Name, strings.Join(parts, "; "), s.Agent.Name)
}

func wordOf(s engine.Support) string {
	if s == engine.SupportEnforced {
		return "ok"
	}
	return "info"
}

// way returns how far a way works with the hooks that are installed. A repository
// can turn off what the agent enforces unless the settings are managed.
func (s standingOf) way(w engine.Way) (engine.Support, string) {
	c := s.Agent.Channels.Of(w)
	installed := func(p engine.Phase) bool {
		return slices.ContainsFunc(s.Own, func(h settings.OwnHook) bool { return s.Agent.Phase(h.Event) == p })
	}
	switch {
	case c.Support == engine.SupportNone:
		return c.Support, c.How
	case !slices.ContainsFunc(c.Phases, installed):
		return engine.SupportNone, "reviewer is not called at the events that this needs"
	case c.Support == engine.SupportEnforced && !s.Managed && s.Agent.Off != "":
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
	e.channelProblems(store)
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
	if u.Unseen > 0 {
		e.say("warn", "%s shown to nobody; see `reviewer notify list`, and set a channel with about: [approvals] (docs/notifications.md)",
			term.Counted(u.Unseen, "question was", "questions were"))
	}
	if u.Failed+u.Waiting+u.Unseen == 0 && err == nil {
		e.say("ok", "no notification failed or is pending")
	}
}

// channelProblems reports channels for notifications that cannot be used, and settings that may be
// unintended.
func (e *examination) channelProblems(store *audit.Store) {
	problems, err := notifycmd.ChannelProblems(e.a, store)
	if err != nil {
		return // the settings have their own check
	}
	for _, p := range problems {
		word := "info"
		if p.Broken {
			word = "warn"
		}
		e.say(word, "channel %s: %s", p.Channel, cli.Masked(p.Text))
	}
}

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
		i := slices.IndexFunc(sessions, func(one audit.Session) bool {
			return one.Key.Harness == s.Agent.Name && one.Client != nil
		})
		if i < 0 || sessions[i].Client.Missing == "" {
			continue
		}
		one := sessions[i]
		e.say("warn", "%s: what was typed in its latest session, %s, did not count as a person's words, so it could only forbid: "+
			"%s. `reviewer session mine` in a terminal of your own confirms a session", s.Agent.Name, one.Key.Session, one.Client.Missing)
	}
}
