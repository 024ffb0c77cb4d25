// Package timeline tells what happened in a session: one entry for each prompt, call with its outcome,
// manual override and intervention, in the order of the log.
//
// Out of scope: where the records come from, and how entries are shown.
package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Entry is one line of a session's timeline: an action with its outcome, a prompt,
// a manual override, an intervention, or an event of the agent.
type Entry struct {
	ID       string              `json:"id"`
	T        int64               `json:"-"`     // Unix milliseconds
	Time     string              `json:"time"`  // the same in RFC 3339
	After    int64               `json:"after"` // milliseconds since the session began
	Kind     engine.Kind         `json:"kind"`
	Agent    string              `json:"agent"`
	Call     string              `json:"call,omitempty"` // the agent's id of it
	Tool     string              `json:"tool,omitempty"`
	What     string              `json:"what,omitempty"`
	Answer   engine.Verdict      `json:"answer,omitempty"`
	Decision engine.Verdict      `json:"decision,omitempty"` // the decision, if it differs because policy only observes
	Outcome  engine.Outcome      `json:"outcome,omitempty"`
	Error    string              `json:"error,omitempty"`   // class of the error that the call ended in
	Failure  string              `json:"failure,omitempty"` // why there is no decision
	Saved    string              `json:"saved,omitempty"`   // what the call destroys and where it is stored
	Form     string              `json:"form,omitempty"`    // the modified form of the call
	Rules    []engine.RuleResult `json:"rules,omitempty"`
	Patterns []engine.Finding    `json:"patterns,omitempty"`
	Labels   []engine.Label      `json:"labels,omitempty"`  // that the session has since this call
	Written  []string            `json:"written,omitempty"` // paths that the call writes
	Deleted  []string            `json:"deleted,omitempty"`
	Prompt   *Prompt             `json:"prompt,omitempty"`
	Control  *engine.Control     `json:"control,omitempty"`
	Act      *engine.Act         `json:"act,omitempty"`
}

// Prompt is the contents of the log of a prompt.
type Prompt struct {
	Bytes      int64              `json:"bytes"`
	Intents    []engine.Intent    `json:"intents,omitempty"`
	Names      []string           `json:"names,omitempty"`
	Statements []engine.Statement `json:"statements,omitempty"`
	Unread     []string           `json:"unread,omitempty"` // sentences that seem to forbid something and were not understood
}

// Timeline collects the entries of a session from its records, in order.
type Timeline struct {
	start   int64
	labels  map[int64][]engine.Label // by the record since which the session has them
	Entries []*Entry
	open    map[[2]string]*Entry // by agent and call: those whose end is unknown
}

// New begins the timeline of a session that began at a time, with its state now.
func New(start int64, state *history.State) *Timeline {
	t := &Timeline{start: start, labels: map[int64][]engine.Label{}, open: map[[2]string]*Entry{}}
	for _, l := range engine.Labels() {
		if n, known := state.Labels[l]; known {
			t.labels[n] = append(t.labels[n], engine.Label(l))
		}
	}
	return t
}

// Add adds a record.
func (t *Timeline) Add(r *engine.Record) {
	switch r.Kind {
	case engine.KindPre:
		t.call(r)
	case engine.KindPost:
		t.end(r)
	case engine.KindPrompt:
		t.unknown("")
		t.put(r).Prompt = promptOf(r)
	case engine.KindStop:
		t.unknown(actor(r))
		t.put(r).What = "the agent's turn ends"
	case engine.KindAct:
		if r.Act.OfFiles() {
			t.files(r)
			return
		}
		t.put(r).Act = r.Act
	case engine.KindControl:
		t.decided(r.Control)
		t.put(r).Control = r.Control
	case engine.KindNote:
		t.note(r)
	}
}

func (t *Timeline) put(r *engine.Record) *Entry {
	m := &Entry{ID: r.ID(), T: r.T, Time: term.Time(r.T), After: r.T - t.start, Kind: r.Kind, Agent: actor(r), Call: r.Call}
	t.Entries = append(t.Entries, m)
	return m
}

func actor(r *engine.Record) string { return cmp.Or(r.Agent, engine.MainAgent) }

func (t *Timeline) call(r *engine.Record) {
	m := t.put(r)
	m.Answer, m.Outcome = engine.AnswerOf(r).Effect, engine.OutcomePending
	if m.Answer == engine.Block {
		m.Outcome = engine.OutcomeDenied
	}
	m.Form = explaincmd.OtherForm(r)
	m.addDecision(t, r)
	m.addEffects(r)
	if r.Call != "" {
		t.open[[2]string{m.Agent, r.Call}] = m
	}
}

// end adds the outcome to a call. A call that was never reviewed gets an entry of
// its own.
func (t *Timeline) end(r *engine.Record) {
	key := [2]string{actor(r), r.Call}
	m := t.open[key]
	delete(t.open, key)
	if m == nil {
		m = t.put(r)
		m.addEffects(r)
	}
	m.Outcome = engine.OutcomeUnknown
	if r.Event != nil && r.Event.Result != nil {
		m.Outcome, m.Error = r.Event.Result.Outcome, r.Event.Result.Class
	}
	m.addDecision(t, r)
}

// files notes what was saved before a call, or that it did not run because its files could not be stored.
func (t *Timeline) files(r *engine.Record) {
	m, c := t.open[[2]string{actor(r), r.Call}], r.Act.Checkpoint
	switch {
	case m == nil || c == nil:
	case c.Saved != nil:
		m.Saved = explaincmd.Saved(c)
	case r.Act.Unsaved():
		if m.Answer, m.Failure = c.Effect, c.Failure; c.Effect == engine.Block {
			m.Outcome = engine.OutcomeDenied
		}
	}
}

// decided notes that a call that waited for an answer did not run.
func (t *Timeline) decided(c *engine.Control) {
	for _, m := range t.Entries {
		if c.Do == engine.ControlDeny && m.ID == c.Record {
			m.Outcome = engine.OutcomeDenied
		}
	}
}

// unknown notes that the outcome of an agent's open calls will never be known; of all
// agents' calls if it names none.
func (t *Timeline) unknown(agent string) {
	for key, m := range t.open {
		if agent != "" && key[0] != agent {
			continue
		}
		if m.Outcome == engine.OutcomePending {
			m.Outcome = engine.OutcomeUnknown
		}
	}
}

// note adds entries about the session and its log, without the agent's messages.
func (t *Timeline) note(r *engine.Record) {
	switch r.Phase {
	case "", engine.PhaseStart, engine.PhaseEnd, engine.PhaseAgentStart, engine.PhaseAgentStop:
	default:
		return
	}
	if r.Note != nil && r.Note.What != "duplicate" {
		t.put(r).What = r.Note.What + term.After(": ", r.Note.Detail)
	}
}

// addDecision adds the decision.
func (m *Entry) addDecision(t *Timeline, r *engine.Record) {
	for _, f := range r.Findings {
		if f.Level != "" {
			m.Patterns = append(m.Patterns, f)
		}
	}
	m.Labels = append(m.Labels, t.labels[r.N]...)
	if d := r.Decision; d != nil {
		m.Rules = append(m.Rules, d.Rules...)
		if d.Decision != d.Enforced {
			m.Decision = d.Decision
		}
	}
	if r.Answer != nil && r.Answer.Failure != "" {
		m.Failure = r.Answer.Failure
	}
}

// addEffects adds the effects of the call.
func (m *Entry) addEffects(r *engine.Record) {
	if r.Event != nil {
		m.Tool = r.Event.Tool
	}
	if r.Action == nil {
		return
	}
	m.What = r.Action.Resource
	for i := range r.Action.Effects {
		switch e := &r.Action.Effects[i]; e.Kind {
		case engine.EffectFileWrite:
			m.Written = appendNew(m.Written, cmp.Or(e.Place(), e.Target, "?"))
		case engine.EffectFileDelete:
			m.Deleted = appendNew(m.Deleted, cmp.Or(e.Place(), e.Target, "?"))
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func promptOf(r *engine.Record) *Prompt {
	p := &Prompt{}
	if r.Event == nil {
		return p
	}
	if r.Event.Prompt != nil {
		p.Bytes = r.Event.Prompt.Bytes
	}
	if g := r.Event.Goal; g != nil {
		p.Intents, p.Names, p.Statements, p.Unread = g.Intents, g.Names, g.Statements, g.Unread
	}
	return p
}

// Pick returns the entries since a time, in Unix milliseconds, of one agent if it is not empty; with patterns, those with findings
// of patterns, without the rest.
func (t *Timeline) Pick(since int64, agent string, patterns bool) []*Entry {
	if patterns {
		for _, m := range t.Entries {
			m.Rules, m.Labels, m.Written, m.Deleted = nil, nil, nil, nil
		}
	}
	return slices.DeleteFunc(t.Entries, func(m *Entry) bool {
		return m.T < since || agent != "" && !m.by(agent) || patterns && len(m.Patterns) == 0
	})
}

// by reports whether an agent with this id or prefix did it. A manual override is not
// an agent's.
func (m *Entry) by(agent string) bool {
	return strings.HasPrefix(m.Agent, agent) && m.Prompt == nil && m.Control == nil
}

// Label is the answer to a call, or the kind of the entry.
func (m *Entry) Label() string {
	switch {
	case m.Answer != "":
		return string(m.Answer)
	case m.Control != nil:
		return m.Control.Do
	case m.Act != nil:
		return m.Act.Kind
	}
	return string(m.Kind)
}

// Who returns who did it: prompts and manual overrides are by people.
func (m *Entry) Who() string {
	if c := m.Control; c != nil && c.Decided != nil {
		return c.Decided.Who
	}
	if m.Prompt != nil || m.Control != nil {
		return "person"
	}
	return m.Agent
}

// Text names the subject of the entry.
func (m *Entry) Text() string {
	switch {
	case m.Prompt != nil:
		return m.Prompt.text()
	case m.Control != nil:
		c := m.Control
		return explaincmd.Chosen(c) + term.After(", of ", c.Record) + term.After(", ", c.Path) + term.After(": ", c.Reason)
	case m.Act != nil && m.Act.Taken != nil:
		return m.Act.Taken.From() + ": " + strings.TrimPrefix(m.Act.Result+"; "+m.Act.Taken.Text(), "; ")
	case m.Act != nil:
		return "of " + m.Act.Of + term.After(": ", m.Act.Result)
	}
	return strings.TrimSpace(m.Tool + " " + m.What)
}

func (p *Prompt) text() string {
	parts := []string{fmt.Sprintf("%d bytes", p.Bytes)}
	for _, words := range [][2]string{{"wants ", joined(p.Intents)}, {"names ", strings.Join(p.Names, ", ")}} {
		if words[1] != "" {
			parts = append(parts, words[0]+words[1])
		}
	}
	for _, s := range p.Statements {
		parts = append(parts, string(s.Kind)+" "+s.Act+term.After(" ", strings.Join(s.Objects, " ")))
	}
	for _, s := range p.Unread {
		parts = append(parts, fmt.Sprintf("not understood: %q", s))
	}
	return strings.Join(parts, "; ")
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// Detail is a line below an entry.
type Detail struct{ Colour, Text string }

const (
	faint  = "2"
	yellow = "33"
)

// Details lists the facts about an entry that its line does not show.
func (m *Entry) Details() []Detail {
	var list []Detail
	add := func(colour, before, text string) {
		if text != "" {
			list = append(list, Detail{colour, before + text})
		}
	}
	add(faint, "enforcement is observe; the decision was ", string(m.Decision))
	add(yellow, "no decision: ", m.Failure)
	add(yellow, "", m.Saved)
	add(faint, "", m.Form)
	for _, r := range m.Rules {
		if slices.ContainsFunc(m.Patterns, func(f engine.Finding) bool { return f.ID == r.ID }) {
			continue // shown below, with its measure
		}
		add(faint, "rule ", r.ID+" ("+string(r.Decision)+")"+term.After(": ", r.Message))
	}
	for _, f := range m.Patterns {
		add(yellow, "pattern ", patternText(f))
	}
	add(faint, "ended in: ", m.Error)
	add(faint, "", m.changes())
	add(yellow, "the session has now read: ", joined(m.Labels))
	return list
}

// changes describes what a call changed that its text does not show: a command may
// write anything.
func (m *Entry) changes() string {
	all := append(slices.Clone(m.Written), m.Deleted...)
	if m.Outcome == engine.OutcomeDenied || len(all) == 1 && strings.HasSuffix(m.What, strings.TrimPrefix(all[0], ".")) {
		return ""
	}
	return strings.Join(append(worded("writes ", m.Written), worded("deletes ", m.Deleted)...), "; ")
}

func worded(what string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	return []string{what + strings.Join(paths, ", ")}
}

// patternText describes a finding of a pattern.
func patternText(f engine.Finding) string {
	text := f.ID + " (" + f.Level + ")" + term.After(": ", f.Details)
	if f.Confidence > 0 {
		text += fmt.Sprintf(", confidence %.2g", f.Confidence)
	}
	return text
}

// Strong reports whether the line is about something unusual.
func (d Detail) Strong() bool { return d.Colour == yellow }
