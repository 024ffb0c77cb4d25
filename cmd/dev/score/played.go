package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// played is a session that was evaluated under a policy.
type played struct {
	Session string
	Agent   string
	Origin
	Calls []decided
	Found []Found
	Acted []Acted
	Stops []Stop
	Work  int64 // milliseconds of work; -1: the format has no times
	Said  []refused
}

// refused is a call that did not run according to the agent's transcript, because
// someone refused or stopped it.
type refused struct {
	tool, args string
	call       int // among the session's calls, from 0
}

// idle is how long a pause between two calls counts as work, at most, in
// milliseconds.
const idle = 10 * 60 * 1000

// session evaluates one session under the policy; the rows contain the arguments of
// its calls.
func (j judge) session(ctx context.Context, t transcript.Transcript) (played, error) {
	return j.sessionWith(ctx, t, classifier(beginning(t), trees(t, beginning(t))...))
}

// beginning returns the directory in which a session began.
func beginning(t transcript.Transcript) string {
	if calls := t.Calls(); len(calls) > 0 {
		return cmp.Or(calls[0].CWD, workspace)
	}
	return workspace
}

func (j judge) sessionWith(ctx context.Context, t transcript.Transcript, c engine.Classifier) (played, error) {
	p := played{Session: t.Session, Work: worked(t.Calls())}
	story := telling{unattended: j.unattended, index: map[string]int{}}
	rehearsal := j.startWith(t.Session, c)
	rehearsal.Recorded = true
	for _, e := range t.Events {
		a, _ := rehearsal.Next(ctx, e)
		switch e.Phase {
		case engine.PhasePrompt:
			story.prompt = e.Prompt
		case engine.PhasePre:
			d := decided{Row{ID: fmt.Sprint(a.Index), Path: t.Session, Tool: e.Tool, Command: string(e.Args), Source: "session"}, story.judged(e, a)}
			p.Calls = append(p.Calls, d)
			if d.stopped() {
				p.Stops = append(p.Stops, story.stop(t.Session, e, a, d))
			}
			story.called(e, a.Index)
		case engine.PhasePost:
			a.Index = story.index[e.Call]
			if e.Result != nil && (e.Result.Refused || e.Result.Interrupted) {
				p.Said = append(p.Said, refused{e.Tool, string(e.Args), a.Index})
			}
		}
		p.Found = append(p.Found, found(a, t.Session, a.Index)...)
		p.Acted = append(p.Acted, acted(a, t.Session, a.Index)...)
	}
	return p, ctx.Err()
}

// worked is the time between calls, with long pauses cut; -1: it is unknown.
func worked(calls []engine.Event) int64 {
	if len(calls) == 0 || slices.ContainsFunc(calls, func(e engine.Event) bool { return e.Time <= 0 }) {
		return -1
	}
	sum := int64(0)
	for i := 1; i < len(calls); i++ {
		sum += min(max(calls[i].Time-calls[i-1].Time, 0), idle)
	}
	return sum
}

// Stop is a call that the policy did not allow, with what is needed to judge whether
// that was right.
type Stop struct {
	Digest   string   `json:"digest"`
	Project  string   `json:"project"`
	Client   string   `json:"client"`
	Session  string   `json:"session"`
	Call     int      `json:"call"`
	Decision string   `json:"decision"`
	Rules    []string `json:"rules"`
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Tool     string   `json:"tool"`
	Action   string   `json:"action"`
	CWD      string   `json:"cwd,omitempty"`
	Mode     string   `json:"mode,omitempty"` // empty: unknown
	Attended bool     `json:"attended"`       // someone can be asked, as far as known
	Prompt   string   `json:"prompt,omitempty"`
	Before   []string `json:"before,omitempty"`
	Label    string   `json:"label,omitempty"`
}

// Displayed lengths of texts, in characters.
const (
	actionLength = 400
	promptLength = 200
	beforeLength = 120
)

// telling is the context of a call.
type telling struct {
	unattended []string       // modes in which nobody is asked
	index      map[string]int // of a call, by its id
	prompt     string
	before     []string
}

// judged counts a call as a question if it was denied only because nobody could be
// asked.
func (s *telling) judged(e engine.Event, a simulate.Action) verdict {
	v := verdictOf(a)
	if v.Effect != engine.Block || s.attended(e) || a.Record == nil || a.Record.Decision == nil {
		return v
	}
	says := func(verdict engine.Verdict) func(engine.RuleResult) bool {
		return func(r engine.RuleResult) bool { return r.Decision == verdict }
	}
	rules := a.Record.Decision.Rules
	if slices.ContainsFunc(rules, says(engine.Ask)) && !slices.ContainsFunc(rules, says(engine.Block)) {
		v.Effect = engine.Ask
	}
	return v
}

func (s *telling) attended(e engine.Event) bool { return !slices.Contains(s.unattended, e.Mode) }

func (s *telling) called(e engine.Event, index int) {
	s.index[e.Call] = index
	s.before = append(s.before, e.Tool+" "+short(actionOf(e.Args), beforeLength))
	s.before = s.before[max(0, len(s.before)-2):]
}

func (s *telling) stop(session string, e engine.Event, a simulate.Action, d decided) Stop {
	return Stop{
		Digest: stopDigest(session, cmp.Or(e.Call, d.ID), verdictOf(a).Effect), Session: session, Call: a.Index,
		Decision: string(d.Effect), Rules: d.Rules, Reason: a.Reason, Evidence: evidence(a),
		Tool: e.Tool, Action: short(actionOf(e.Args), actionLength), CWD: e.CWD, Mode: e.Mode,
		Attended: s.attended(e), Prompt: short(s.prompt, promptLength), Before: slices.Clone(s.before),
	}
}

// stopDigest identifies a stop without revealing its contents, so labels contain no
// data of other people.
func stopDigest(session, call string, effect engine.Verdict) string {
	sum := sha256.Sum256([]byte(session + "\x00" + call + "\x00" + string(effect)))
	return hex.EncodeToString(sum[:])
}

// evidence is the rules and patterns that fired: rules with their messages, and patterns with what they
// measured.
func evidence(a simulate.Action) []string {
	if a.Record == nil {
		return []string{a.Error}
	}
	var list []string
	if d := a.Record.Decision; d != nil {
		for _, r := range d.Rules {
			list = append(list, short(fmt.Sprintf("%s (%s): %s", r.ID, r.Decision, r.Message), actionLength))
		}
		if d.Risk != nil {
			list = append(list, fmt.Sprintf("risk %.2f", d.Risk.Score))
		}
	}
	for _, f := range a.Record.Findings {
		if f.Level != "" {
			list = append(list, short(fmt.Sprintf("%s %s %.3g %s", f.ID, f.Level, f.Measure, f.Details), actionLength))
		}
	}
	return list
}

// actionOf describes a call: its main argument, else all of them.
func actionOf(args []byte) string {
	var known struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(args, &known) == nil && known.Command != "" {
		return known.Command
	}
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

// short cuts a string to a number of characters, on one line.
func short(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	list := []rune(text)
	if len(list) <= most {
		return text
	}
	return string(list[:most-1]) + "…"
}
