package uicmd

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/approvalscmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// record is the page about a record. explain: the policy that decided is evaluated again, for the near misses.
func (b *book) record(ctx context.Context, id string, explain bool) (pages.Page, error) {
	r, err := b.log.Find(id)
	if err != nil {
		return nil, notFound{"No record has the id " + id + ". Retention may have deleted it."}
	}
	key := engine.SessionKey{Harness: r.Harness, Session: r.Session}
	b.mu.Lock()
	folder, event := b.folders[key], b.index.Find(id)
	workspace := b.known[folder].Workspace
	b.mu.Unlock()
	word, what, why := explaincmd.Summary(r)
	p := pages.Record{Frame: b.frame("Record "+id, "sessions.html"), ID: id, Session: r.Session, SessionHref: sessionHref(folder), T: r.T,
		Word: strings.ToUpper(word[:1]) + word[1:], What: what, Why: why, Where: r.Harness + " in " + workspace,
		Hidden: hidden(what), Open: b.live}
	if folder == "" { // a record of the ledger
		p.Session, p.SessionHref, p.Where = "ledger", "sessions.html", "the ledger of this machine"
	}
	if r.Event != nil && r.Event.Tool != "" {
		p.Tool, p.What = r.Event.Tool, resourceOf(r)
		p.Hidden = hidden(p.What)
		p.Where += term.After(", working in ", r.Event.CWD) + term.After(", mode ", r.Event.Mode)
	}
	if r.Agent != "" && r.Agent != engine.MainAgent {
		p.Where += ", agent " + r.Agent
	}
	b.decision(&p, r)
	if event != nil {
		p.Harm = event.Harm
		p.Restore = restoreOf(event.ID, event.Point, event.Until, event.Files, event.Bytes, workspace)
	}
	if r.Action != nil {
		request := approval.Describe(r, workspace)
		p.Lists = append(p.Lists, callLists(&request)...)
		p.Changes = changes(approvalscmd.ChangesOf(b.log, &request))
	}
	if outcome, err := explaincmd.OutcomeOf(r, b.log.Records(key, r.N+1)); err == nil {
		p.Lists = append(p.Lists, texts("What followed", outcome)...)
	}
	if explain && r.Decision != nil {
		var text bytes.Buffer
		if err := explaincmd.WriteExplanation(ctx, b.app, &text, id); err != nil {
			fmt.Fprintf(&text, "The decision cannot be made again: %s\n", cli.Masked(err.Error()))
		}
		p.Explained = text.String()
	}
	return p, nil
}

// decision adds what was decided and answered.
func (b *book) decision(p *pages.Record, r *engine.Record) {
	fact := func(name, value string) {
		if value != "" {
			p.Facts = append(p.Facts, pages.Fact{Name: name, Value: value})
		}
	}
	if d := r.Decision; d != nil {
		if d.Enforced != d.Decision {
			fact("Policy", fmt.Sprintf("%s; answered %s, since the policy only observes", d.Decision, d.Enforced))
		}
		if d.Risk != nil {
			fact("Risk", fmt.Sprintf("%.2g, %s%s", d.Risk.Score, d.Risk.Level, term.After(": ", strings.Join(d.Risk.Factors, ", "))))
		}
		if i := d.Intervention; i != nil {
			fact("Intervention", i.Kind+term.After(" about ", i.Issue)+term.After(": ", i.Reason))
		}
		fact("Told the agent", d.Text)
	}
	if a := r.Answer; a != nil {
		fact("No decision", a.Failure)
		if a.Pending != nil {
			fact("Waited until", time.UnixMilli(a.Pending.Until).In(b.zone).Format("2006-01-02 15:04:05"))
		}
		if engine.AnswerOf(r).Effect == engine.Block && r.Kind == engine.KindPre {
			p.Question = "reviewer allow " + p.ID + " --once --reason TEXT"
		}
	}
	fact("Runs as", explaincmd.OtherForm(r))
	if by := r.By; by != nil {
		fact("Policy digest", by.Policy)
	}
	if c := r.Control; c != nil {
		fact("Choice", c.Do+" "+explaincmd.Chosen(c)+term.After(": ", c.Reason))
	}
}

func resourceOf(r *engine.Record) string {
	if r.Action == nil {
		return ""
	}
	return r.Action.Resource
}

func hidden(s string) string { return strings.Join(term.Hidden(s), ", ") }

// restoreOf says how the files that a call destroyed are restored; nil: none were saved.
func restoreOf(id, point string, until, files, size int64, workspace string) *pages.Restore {
	if point == "" {
		return nil
	}
	return &pages.Restore{
		Text: fmt.Sprintf("%s (%d bytes) were stored in checkpoint %s before the call, and are kept until %s.",
			engine.Counted(int(files), "file", "files"), size, point, time.UnixMilli(until).Format("2006-01-02")),
		Command: "cd " + harness.QuoteShell(filepath.ToSlash(workspace)) + "\nreviewer checkpoint restore " + id,
	}
}

// callLists describes a call: why policy answered as it did, and what the call would do.
func callLists(r *approval.Request) (lists []pages.List) {
	lists = append(lists, texts("Why", r.Reasons)...)
	if len(r.Rules) > 0 {
		l := pages.List{Title: "Rules that fired"}
		for _, rule := range r.Rules {
			text := strings.TrimPrefix(term.After(", ", rule.Severity)+term.After(", ", strings.ReplaceAll(rule.Harm, "_", " "))+
				term.After(": ", rule.Message), ", ")
			l.Items = append(l.Items, pages.Item{Word: string(rule.Decision), Name: rule.ID, Href: "policy.html#" + rule.ID, Text: text})
		}
		lists = append(lists, l)
	}
	does := pages.List{Title: "What it would do"}
	for i := range r.Effects {
		does.Items = append(does.Items, pages.Item{Text: approvalscmd.EffectText(&r.Effects[i])})
	}
	for _, s := range r.Signals {
		does.Items = append(does.Items, pages.Item{Word: "signal", Text: strings.ReplaceAll(string(s), "_", " ")})
	}
	for _, o := range r.Opaque {
		does.Items = append(does.Items, pages.Item{Word: "not understood", Text: o.Reason + term.After(" ", o.Where)})
	}
	if len(does.Items) > 0 {
		lists = append(lists, does)
	}
	return append(lists, texts("Safer ways", r.Safer)...)
}
