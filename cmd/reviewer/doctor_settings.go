package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/codexserver"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// standingOf is what was found in all settings of an agent.
type standingOf struct {
	installed.Standing
	named    bool // messages name the agent: it is not just Claude Code
	lockable bool // there are managed settings that reviewer can write
}

// survey reads the settings of all agents. Those for which reviewer is installed are examined; if it is
// installed for none, Claude Code is.
func (e *examination) survey() {
	p, err := signed.Places(e.a)
	if err != nil {
		return // reported by the check of the settings
	}
	var all []standingOf
	reader := installed.Reader{Client: e.version}
	for _, agent := range settings.Agents() {
		all = append(all, standingOf{Standing: reader.Read(agent, p), lockable: len(agent.Targets(p, settings.LayerManaged)) > 0})
	}
	e.agents, e.others = nil, nil
	none := !slices.ContainsFunc(all, standingOf.installed)
	for _, s := range all {
		switch {
		case s.installed() || none && s.Agent.Name == harness.ClaudeCode:
			e.agents = append(e.agents, s)
		case present(s.Agent, p):
			e.others = append(e.others, s)
		}
	}
	for i := range e.agents {
		e.agents[i].named = len(e.agents) > 1 || e.agents[i].Agent.Name != harness.ClaudeCode
	}
}

func (s standingOf) installed() bool { return len(s.Own)+len(s.Silenced) > 0 }

// settings reports what was found in the settings of each agent, and starts the hooks.
func (e *examination) settings(ctx context.Context) {
	p, err := signed.Places(e.a)
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	for _, s := range e.agents {
		e.files(s)
		e.ownRules(ctx, s, p)
		e.own = append(e.own, s.Own...)
		for _, path := range s.Silenced {
			if s.Managed {
				break // the entry there is asked instead
			}
			e.say("fail", "%s: managed settings allow only managed hooks, so this hook does not run; install with --managed", path)
		}
		e.installed(ctx, s)
	}
	e.uncovered()
}

// uncovered lists agents on this machine for which reviewer is not installed. A file that cannot be read
// may be the reason.
func (e *examination) uncovered() {
	for _, s := range e.others {
		for _, text := range s.Broken {
			e.say("fail", "%s", text)
		}
		for _, f := range s.Files {
			if f.Problem != "" {
				e.say("fail", "%s: the client ignores these settings: %s", f.Path, f.Problem)
			}
		}
		e.say("warn", "%s is on this machine, and its calls are not reviewed: run `reviewer install %s`", s.Agent.Name, s.Agent.Name)
	}
}

// files reports the problems of the files of an agent.
func (e *examination) files(s standingOf) {
	for _, text := range s.Broken {
		e.say("fail", "%s", text)
	}
	for _, f := range s.Files {
		e.file(s, f)
	}
}

func (e *examination) file(s standingOf, f installed.File) {
	if f.Problem != "" {
		e.say("fail", "%s: the client ignores these settings: %s", f.Path, f.Problem)
		return
	}
	for _, off := range f.Off {
		e.switchedOff(s, f, off)
	}
	for _, v := range f.Env {
		e.say("warn", "%s: env %s affects the hook: %s", f.Path, v.Name, v.Why)
	}
	for _, h := range f.Foreign {
		e.say("warn", "%s: another hook on %s (%s) can rewrite a call after it was reviewed", f.Path, h.Event, term.OneLine(h.What, 60))
		if h.Type == "http" {
			e.say("warn", "%s: the hook on %s over HTTP is advisory: if nobody answers at its address, the call runs", f.Path, h.Event)
		}
	}
	e.ownProblems(s, f)
	e.questions(s, f)
}

func (e *examination) switchedOff(s standingOf, f installed.File, off settings.Off) {
	switch {
	case off.Always:
		e.say("fail", "%s: %s, so it does not run here, even if it is managed; remove this setting", f.Path, off.Name)
	case s.Agent.Name != harness.ClaudeCode && s.Pinned:
		e.say("warn", "%s: %s has no effect on reviewer, whose hooks are managed", f.Path, off.Name)
	case !s.lockable:
		e.say("fail", "%s: %s turns reviewer off here; remove it", f.Path, off.Name)
	default:
		e.say("fail", "%s: %s turns reviewer off here; remove it, or install with --managed", f.Path, off.Name)
	}
}

// ownProblems lists the problems of reviewer's entries, each once: ten
// events of an old client have the same one.
func (e *examination) ownProblems(s standingOf, f installed.File) {
	events := map[string][]string{}
	for _, h := range f.Own {
		for _, problem := range h.Problems {
			events[problem] = append(events[problem], h.Event)
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(events)) {
		e.say("fail", "%s: %s (%s); `reviewer install` fixes it", f.Path, problem, strings.Join(events[problem], ", "))
	}
}

// of names an agent in a message.
func (s standingOf) of() string {
	if !s.named {
		return ""
	}
	return " of " + s.Agent.Name
}

func (e *examination) installed(ctx context.Context, s standingOf) {
	gates := 0
	for _, h := range s.Own {
		if s.Agent.Phase(h.Event) != engine.PhasePre {
			continue
		}
		gates++
		if err := e.denial(ctx, s.Agent, h); err != nil {
			e.say("fail", "the installed hook%s does not deny: %v", s.of(), err)
		} else {
			e.say("ok", "the installed hook%s %s denies unreadable input", s.of(), h.Program)
		}
		if e.prove {
			e.sampled(ctx, s, h)
		}
		if h.Open {
			e.say("warn", "the installed hook%s has no guard, because the shell that starts it is not known: "+
				"if %s is missing or killed, the call runs", s.of(), h.Program)
		}
		if filepath.Clean(h.Home) != filepath.Clean(e.home) && e.home != "" {
			e.say("warn", "the installed hook%s keeps its state in %s, not in %s", s.of(), h.Home, e.home)
		}
	}
	switch {
	case gates == 0:
		e.say("fail", "reviewer is not installed for this folder: run `reviewer install %s`", s.Agent.Name)
	case len(s.missing()) > 0:
		e.say("fail", "reviewer is not called%s at %s, so a stopped session may continue or results go unseen; `reviewer install` fixes it",
			map[bool]string{true: " by " + s.Agent.Name}[s.named], strings.Join(s.missing(), ", "))
	}
	if gates == 0 {
		return
	}
	if s.Agent.Name == harness.Codex {
		e.trustOfCodex(ctx)
	}
	e.limits(s)
}

// limits lists what the installation of an agent does not prevent.
func (e *examination) limits(s standingOf) {
	switch {
	case s.Managed:
	case !s.named:
		e.say("warn", "advisory: a repository can turn reviewer off with disableAllHooks; "+
			"settings installed with --managed cannot be turned off")
	case s.Agent.Off != "":
		e.say("warn", "advisory: a repository can turn reviewer off in %s (%s)%s", s.Agent.Name, s.Agent.Off,
			map[bool]string{true: "; install with --managed to prevent that"}[s.lockable])
	}
	for _, limit := range s.Agent.Limits {
		e.say("info", "%s: %s", s.Agent.Name, limit)
	}
}

// missing lists the events at which no entry calls reviewer.
func (s standingOf) missing() []string {
	return slices.DeleteFunc(slices.Clone(s.Agent.Events), settings.Findings{Own: s.Own}.Installed)
}

// trustOfCodex asks Codex whether it runs reviewer's hooks: one that it does not trust is skipped without
// a message.
func (e *examination) trustOfCodex(ctx context.Context) {
	h, _ := harness.Find(harness.Codex)
	program := programOf(h)
	if program == "" {
		e.say("warn", "codex is not on PATH, so it could not be asked whether it trusts the hooks")
		return
	}
	folder, err := os.Getwd()
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	hooks, err := codexserver.List(ctx, program, folder)
	if err != nil {
		e.say("fail", "codex could not be asked whether it trusts the hooks: %v", err)
		return
	}
	var skipped []string
	own := 0
	for _, hook := range hooks {
		if !settings.OwnLine(harness.Codex, hook.Command) {
			continue
		}
		if own++; !hook.Runs() {
			skipped = append(skipped, hook.Key)
		}
	}
	switch {
	case own == 0:
		e.say("fail", "codex lists no hook of reviewer for this folder, so its calls are not reviewed; "+
			"perhaps hooks are turned off, or the project is not trusted")
	case len(skipped) > 0:
		e.say("fail", "codex skips %s of reviewer, since it does not trust them as they are now: run `reviewer install codex`",
			engine.Counted(len(skipped), "hook", "hooks"))
	default:
		e.say("ok", "codex trusts the %s of reviewer", engine.Counted(own, "hook", "hooks"))
	}
}

// wishOf returns the choice of program that was made earlier.
func (e *examination) wishOf(own []settings.OwnHook) wish {
	for _, h := range own {
		if !isHookClient(h.Program) {
			return unwanted
		}
	}
	return unsaid
}

// repair installs again wherever reviewer is installed.
func (e *examination) repair(ctx context.Context) error {
	e.survey()
	quiet := *e.a
	quiet.Stdout = io.Discard
	var failed error
	for _, s := range e.agents {
		var done []string
		for _, f := range s.Files {
			if len(f.Own) == 0 || slices.Contains(done, f.Layer) {
				continue
			}
			done = append(done, f.Layer)
			o := installOptions{layer: f.Layer, wish: e.wishOf(f.Own), kept: true}
			failed = errors.Join(failed, install(ctx, &quiet, e.out, o, []settings.Agent{s.Agent}, false))
		}
	}
	return failed
}
