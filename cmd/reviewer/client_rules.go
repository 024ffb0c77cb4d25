package main

import (
	"bytes"
	"context"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// clientRules returns the denials that the policy wants agents to apply themselves.
func clientRules(home string) ([]settings.ClientRule, error) {
	eff, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return nil, err
	}
	var rules []settings.ClientRule
	for _, r := range eff.Settings.Guard.ClientRules {
		rules = append(rules, settings.ClientRule{Agent: r.Agent, Tools: r.Tools, Pattern: r.Pattern, Message: r.Message})
	}
	return rules, nil
}

// ownRules reports whether an agent's own rules are those of the policy, where its hooks are managed.
func (e *examination) ownRules(ctx context.Context, s standingOf, p settings.Places) {
	for _, l := range s.Agent.Targets(p, settings.LayerManaged) {
		if !s.Managed || !l.Format.Rules {
			continue
		}
		command, err := commandOfHook(ctx, e.home, e.wishOf(s.Own))
		if err == nil {
			command.Rules, err = clientRules(e.home)
		}
		if err != nil {
			e.say("fail", "%s: the rules of %s cannot be compared with the policy: %v", l.Path, s.Agent.Name, err)
			continue
		}
		e.compareRules(s.Agent, l, command)
	}
}

func (e *examination) compareRules(agent settings.Agent, l settings.Layer, command settings.HookCommand) {
	again := "; `reviewer install " + agent.Name + " --managed` writes them"
	now, err := readOptional(l.Path)
	var want []byte
	if err == nil {
		want, err = l.Format.Install(now, command)
	}
	switch {
	case err != nil:
		e.say("fail", "%s: %v", l.Path, err)
	case now == nil:
		e.say("fail", "%s is missing: if a repository names the hook of %s, nothing is denied%s", l.Path, agent.Name, again)
	case !bytes.Equal(now, want):
		e.say("fail", "%s: these are not the rules of the policy (guard.client_rules)%s", l.Path, again)
	default:
		e.say("ok", "%s has the %s of the policy that %s applies itself", l.Path,
			term.Counted(rulesFor(agent, command), "rule", "rules"), agent.Name)
	}
}

func rulesFor(agent settings.Agent, command settings.HookCommand) int {
	n := 0
	for _, r := range command.Rules {
		if r.Agent == agent.Name {
			n++
		}
	}
	return n
}
