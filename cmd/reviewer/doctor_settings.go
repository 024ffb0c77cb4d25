package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codexserver"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// layerFindings is the findings of one settings file.
type layerFindings struct {
	layer, path string
	settings.Findings
}

// standingOf is what was found in all settings of an agent.
type standingOf struct {
	agent    settings.Agent
	layers   []layerFindings
	own      []settings.OwnHook // that the client starts
	named    bool               // messages name the agent: it is not just Claude Code
	managed  bool               // managed settings are among their places
	pinned   bool               // and prevent other settings from turning them off
	lockable bool               // there are managed settings that reviewer can write
	silenced []string           // files whose entries the client ignores
	broken   []checkResult      // files that cannot be read
}

// survey reads the settings of all agents. Those for which reviewer is installed are examined; if it is
// installed for none, Claude Code is.
func (e *examination) survey() {
	p, err := signed.Places(e.a)
	if err != nil {
		return // reported by the check of the settings
	}
	var all []standingOf
	for _, agent := range settings.Agents() {
		all = append(all, e.standingOf(agent, p))
	}
	e.agents, e.others = nil, nil
	none := !slices.ContainsFunc(all, standingOf.installed)
	for _, s := range all {
		switch {
		case s.installed() || none && s.agent.Name == harness.ClaudeCode:
			e.agents = append(e.agents, s)
		case present(s.agent, p):
			e.others = append(e.others, s)
		}
	}
	for i := range e.agents {
		e.agents[i].named = len(e.agents) > 1 || e.agents[i].agent.Name != harness.ClaudeCode
	}
}

func (s standingOf) installed() bool { return len(s.own)+len(s.silenced) > 0 }

func (e *examination) standingOf(agent settings.Agent, p settings.Places) standingOf {
	s := standingOf{agent: agent, lockable: len(agent.Targets(p, settings.LayerManaged)) > 0}
	if agent.Name == harness.ClaudeCode {
		if raw, err := cli.RegistrySettings(); err != nil {
			s.broken = append(s.broken, checkResult{Result: "fail", Text: err.Error()})
		} else if raw != nil {
			found := agent.Layers(p)[0].Format.Inspect(raw, e.version)
			s.layers = append(s.layers, layerFindings{settings.LayerManaged, cli.RegistryPlace, found})
		}
	}
	for _, l := range agent.Layers(p) {
		for _, path := range signed.Files(l) {
			s.read(l, path, e.version)
		}
	}
	s.sort()
	return s
}

func (s *standingOf) read(l settings.Layer, path, version string) {
	raw, err := readOptional(path)
	switch {
	case err != nil:
		s.broken = append(s.broken, checkResult{Result: "fail", Text: fmt.Sprintf("%s settings: %v", l.Name, err)})
	case raw != nil:
		s.layers = append(s.layers, layerFindings{l.Name, path, l.Format.Inspect(raw, version)})
	}
}

// sort separates entries that the client starts from those that it ignores, because managed
// settings allow no others.
func (s *standingOf) sort() {
	only := slices.ContainsFunc(s.layers, func(f layerFindings) bool {
		return f.layer == settings.LayerManaged && f.AllowManagedHooksOnly
	})
	for _, f := range s.layers {
		managed := f.layer == settings.LayerManaged
		switch {
		case len(f.Own) == 0 || f.Problem != "":
		case only && !managed:
			s.silenced = append(s.silenced, f.path)
		default:
			s.own = append(s.own, f.Own...)
			s.managed = s.managed || managed
			s.pinned = s.pinned || managed && f.Pinned
		}
	}
}

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
		e.own = append(e.own, s.own...)
		for _, path := range s.silenced {
			if s.managed {
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
		for _, r := range s.broken {
			e.say(r.Result, "%s", r.Text)
		}
		for _, f := range s.layers {
			if f.Problem != "" {
				e.say("fail", "%s: the client ignores these settings: %s", f.path, f.Problem)
			}
		}
		e.say("warn", "%s is on this machine, and its calls are not reviewed: run `reviewer install %s`", s.agent.Name, s.agent.Name)
	}
}

// files reports the problems of the files of an agent.
func (e *examination) files(s standingOf) {
	for _, r := range s.broken {
		e.say(r.Result, "%s", r.Text)
	}
	for _, f := range s.layers {
		e.file(s, f)
	}
}

func (e *examination) file(s standingOf, f layerFindings) {
	if f.Problem != "" {
		e.say("fail", "%s: the client ignores these settings: %s", f.path, f.Problem)
		return
	}
	for _, off := range f.Off {
		e.switchedOff(s, f, off)
	}
	for _, v := range f.Env {
		e.say("warn", "%s: env %s affects the hook: %s", f.path, v.Name, v.Why)
	}
	for _, h := range f.Foreign {
		e.say("warn", "%s: another hook on %s (%s) can rewrite a call after it was reviewed", f.path, h.Event, term.OneLine(h.What, 60))
		if h.Type == "http" {
			e.say("warn", "%s: the hook on %s over HTTP is advisory: if nobody answers at its address, the call runs", f.path, h.Event)
		}
	}
	e.ownProblems(s, f)
	e.questions(s, f)
}

func (e *examination) switchedOff(s standingOf, f layerFindings, off settings.Off) {
	switch {
	case off.Always:
		e.say("fail", "%s: %s, so it does not run here, even if it is managed; remove this setting", f.path, off.Name)
	case s.agent.Name != harness.ClaudeCode && s.pinned:
		e.say("warn", "%s: %s has no effect on reviewer, whose hooks are managed", f.path, off.Name)
	case !s.lockable:
		e.say("fail", "%s: %s turns reviewer off here; remove it", f.path, off.Name)
	default:
		e.say("fail", "%s: %s turns reviewer off here; remove it, or install with --managed", f.path, off.Name)
	}
}

// ownProblems lists the problems of reviewer's entries, each once: ten
// events of an old client have the same one.
func (e *examination) ownProblems(s standingOf, f layerFindings) {
	events := map[string][]string{}
	for _, h := range f.Own {
		for _, problem := range h.Problems {
			events[problem] = append(events[problem], h.Event)
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(events)) {
		e.say("fail", "%s: %s (%s); `reviewer install` fixes it", f.path, problem, strings.Join(events[problem], ", "))
	}
}

// of names an agent in a message.
func (s standingOf) of() string {
	if !s.named {
		return ""
	}
	return " of " + s.agent.Name
}

func (e *examination) installed(ctx context.Context, s standingOf) {
	gates := 0
	for _, h := range s.own {
		if s.agent.Phase(h.Event) != engine.PhasePre {
			continue
		}
		gates++
		if err := e.denial(ctx, s.agent, h); err != nil {
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
		e.say("fail", "reviewer is not installed for this folder: run `reviewer install %s`", s.agent.Name)
	case len(s.missing()) > 0:
		e.say("fail", "reviewer is not called%s at %s, so a stopped session may continue or results go unseen; `reviewer install` fixes it",
			map[bool]string{true: " by " + s.agent.Name}[s.named], strings.Join(s.missing(), ", "))
	}
	if gates == 0 {
		return
	}
	if s.agent.Name == harness.Codex {
		e.trustOfCodex(ctx)
	}
	e.limits(s)
}

// limits lists what the installation of an agent does not prevent.
func (e *examination) limits(s standingOf) {
	switch {
	case s.managed:
	case !s.named:
		e.say("warn", "advisory: a repository can turn reviewer off with disableAllHooks; "+
			"settings installed with --managed cannot be turned off")
	case s.agent.Off != "":
		e.say("warn", "advisory: a repository can turn reviewer off in %s (%s)%s", s.agent.Name, s.agent.Off,
			map[bool]string{true: "; install with --managed to prevent that"}[s.lockable])
	}
	for _, limit := range s.agent.Limits {
		e.say("info", "%s: %s", s.agent.Name, limit)
	}
}

// missing lists the events at which no entry calls reviewer.
func (s standingOf) missing() []string {
	return slices.DeleteFunc(slices.Clone(s.agent.Events), settings.Findings{Own: s.own}.Installed)
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
		for _, f := range s.layers {
			if len(f.Own) == 0 || slices.Contains(done, f.layer) {
				continue
			}
			done = append(done, f.layer)
			o := installOptions{layer: f.layer, wish: e.wishOf(f.Own), kept: true}
			failed = errors.Join(failed, install(ctx, &quiet, e.out, o, []settings.Agent{s.agent}, false))
		}
	}
	return failed
}
