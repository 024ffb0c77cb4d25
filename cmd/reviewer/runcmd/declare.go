package runcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/run"
)

// Prompt records an event as the hook of an agent does.
type Prompt func(context.Context, *cli.App, *audit.Store, engine.Event) error

// declared is what the person who starts a run says about its sessions.
type declared struct {
	who    string
	act    *signed.Act // signs the wider scope
	scope  []string    // as the log has paths
	goal   string
	prompt Prompt
}

// declare reads what the flags declare. It counts like a prompt, so it is accepted only where one would be: an
// agent cannot start a run for itself with a wider scope, or with a goal of its own.
func (p *plan) declare(prompt Prompt) error {
	if len(p.flags.scope) == 0 && p.flags.goal == "" {
		return nil
	}
	d := &declared{goal: strings.TrimSpace(p.flags.goal), prompt: prompt}
	if p.flags.goal != "" && d.goal == "" {
		return cli.Usage("--goal: expected what the user asks for")
	}
	var err error
	if d.who, err = p.app.NoAgent("declaring the scope or the goal of a run"); err != nil {
		if d.goal == "" && len(p.beyond) == 0 {
			return nil // the scope only limits what the run may change
		}
		return err
	}
	for _, path := range p.beyond {
		short, err := sessioncmd.ScopePath(p.app, p.policy.log, p.dir, path)
		if err != nil {
			return cli.Usage("--scope: %v", err)
		}
		d.scope = append(d.scope, short)
	}
	if len(d.scope) > 0 {
		if d.act, err = signed.Ask(context.Background(), p.app, p.policy.log, "declaring a scope outside the workspace"); err != nil {
			return err
		}
	}
	p.declared = d
	return nil
}

// scopeOf sorts the paths of --scope, without links: those in the workspace, to which changes are limited, and others.
func (p *plan) scopeOf(list []string) (scope, beyond []string, err error) {
	for _, path := range list {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir, path)
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, nil, cli.Usage("--scope: %v; create it first", err)
		}
		if !inside(real, p.dir) {
			beyond = append(beyond, real)
			continue
		}
		if p.profile == profileObserve {
			return nil, nil, cli.Usage("--scope %s: the observe profile confines nothing, and the workspace is in scope; "+
				"add --profile workspace or strict", path)
		}
		scope = append(scope, real)
	}
	return scope, beyond, nil
}

// declare records what was declared in the log of a session of the run, once.
func (o *observer) declare(f *followed) {
	d := o.p.declared
	if d == nil || f.declared || f.next == 1 || !o.belongs(f) { // or its log has not begun
		return
	}
	f.declared = true
	ctx, cancel := context.WithTimeout(context.Background(), logWait)
	defer cancel()
	for _, short := range d.scope {
		if err := sessioncmd.AddScope(ctx, o.p.policy.log, f.key, d.act, short); err != nil {
			o.note("undeclared", o.p.mask(fmt.Sprintf("scope %s: %v", short, err)), run.Event{})
		}
	}
	if d.goal == "" {
		return
	}
	event := engine.Event{Harness: f.key.Harness, Session: f.key.Session, Phase: engine.PhasePrompt, Name: harness.UserPromptSubmit,
		CWD: o.p.dir, Prompt: d.goal}
	if err := d.prompt(ctx, o.p.app, o.p.policy.log, event); err != nil {
		o.note("undeclared", o.p.mask(fmt.Sprintf("goal: %v", err)), run.Event{})
		return
	}
	o.note("declared", o.p.mask("the goal, by "+d.who), run.Event{})
}

// belongs reports whether a session is one of this run. The stream of the command is not enough: everything inside can write to it. The
// session must work in the folder of the run, and have begun during it, unless the command says that it continues this one.
func (o *observer) belongs(f *followed) bool {
	list, err := o.p.policy.log.Written(o.began.UnixMilli())
	if err != nil {
		return false // the log's own commands report damage
	}
	for _, one := range list {
		if one.Key == f.key && o.ours(one.Key.Harness, one.Workspace) {
			return f.first >= f.since || o.continues(f.key.Session)
		}
	}
	return false
}

// continues reports whether the command continues a session: this one, or, if it names none, the last.
func (o *observer) continues(session string) bool {
	for i, word := range o.p.command {
		if o.p.mask(word) == session {
			return true
		}
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "--continue", "-c", "--last":
			return true
		case "--resume", "-r", "resume":
			if value == "" && i+1 < len(o.p.command) {
				value = o.p.command[i+1]
			}
			if value == "" || strings.HasPrefix(value, "-") || o.p.mask(value) == session {
				return true
			}
		}
	}
	return false
}
