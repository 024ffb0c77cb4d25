package uicmd

import (
	"context"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// mostProjects is of how many projects, the latest ones, the instruction files are shown.
const mostProjects = 3

func (b *book) policy(ctx context.Context) (pages.Page, error) {
	p := pages.Policy{Frame: b.frame("Policy", "policy.html")}
	status := releasecmd.StatusOf(ctx, b.log, b.now().UnixMilli())
	p.Problems, p.Digest = status.Problems, status.Policy
	p.Trust = string(status.Trust.State) + term.After(", ", status.Trust.File) + term.After(", expires ", status.Trust.Expires)
	for _, l := range status.Layers {
		one := pages.Layer{Layer: l.Layer, From: l.From + term.After(", ", l.At), Problems: l.Problems, Expires: "never"}
		if a := l.Activation; a != nil {
			one.Release, one.Signed, one.Channel = strings.TrimSpace(a.Name+" "+a.Version), active.SignedBy(a.Release), a.Channel
			if a.Expires > 0 {
				one.Expires = time.UnixMilli(a.Expires).In(b.zone).Format(time.DateOnly)
			}
		}
		if l.Stale {
			one.Problems = append(one.Problems, "expired, or too old for its channel")
		}
		p.Layers = append(p.Layers, one)
	}
	if err := b.rules(&p); err != nil {
		p.Problems = append(p.Problems, cli.Masked(err.Error()))
	}
	b.instructions(&p)
	return p, nil
}

// rules lists the rules of the active policy, and those of earlier ones that fired.
func (b *book) rules(p *pages.Policy) error {
	e, err := cli.MachineAt(b.log.Dir).Effective("")
	known := map[string]catalogue.Entry{}
	var all []catalogue.Entry
	if err == nil {
		all = catalogue.Of(e)
	}
	for _, r := range all {
		known[r.ID] = r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fired := map[string]bool{}
	for _, r := range b.index.Rules() {
		fired[r.ID] = true
		one := ruleOf(known[r.ID])
		one.Rule, one.ID, one.Wait = r, r.ID, pages.Seconds(r.WaitMS, r.Waited)
		if one.Title == "" {
			one.Title, one.Layer = r.ID, "not in the active policy"
		}
		p.Fired = append(p.Fired, one)
	}
	for _, r := range all {
		if !fired[r.ID] {
			p.Silent = append(p.Silent, ruleOf(r))
		}
	}
	return err
}

func ruleOf(r catalogue.Entry) pages.Fired {
	one := pages.Fired{ID: r.ID, Title: r.Title, Decision: r.Decision, Harm: r.Harm, Layer: r.Layer}
	if r.Enforcement != "enforce" {
		one.Off = r.Enforcement
	}
	return one
}

// instructions adds the instruction files of the latest projects.
func (b *book) instructions(p *pages.Policy) {
	type project struct{ folder, agent string }
	var projects []project
	seen := map[string]bool{}
	b.mu.Lock()
	for _, s := range b.index.Sessions() {
		if s.Workspace != "" && !seen[s.Workspace] && len(projects) < mostProjects {
			seen[s.Workspace] = true
			projects = append(projects, project{s.Workspace, s.Key.Harness})
		}
	}
	b.mu.Unlock()
	read := map[string]bool{}
	for _, one := range projects {
		doc, err := explaincmd.InstructionsIn(b.app, []string{one.folder}, one.agent)
		if err != nil {
			continue // the folder may be gone
		}
		for _, f := range doc.Files {
			if read[f.Path] {
				continue
			}
			read[f.Path] = true
			shown := pages.Instruction{Path: f.Path, Problem: f.Problem, Trusted: f.Trusted}
			for _, s := range f.Sentences {
				shown.Sentences = append(shown.Sentences, pages.Sentence{Line: s.Line, Text: s.Text, Meaning: doc.Meaning(s),
					Statements: len(s.Statements) > 0})
			}
			p.Instructions = append(p.Instructions, shown)
		}
	}
}
