package trial

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Result is the outcome of one case.
type Result struct {
	Case     cases.Case
	Failures []Failure
	Seen     []Seen
	Records  []*engine.Record // of all events that were reviewed, in order
	Chain    []*engine.Record // all that was recorded
}

// Failure is an event whose result differs from the expected one.
type Failure struct {
	File   string
	Line   int
	What   string             // the event's number and the event in a few words
	Wrong  string             // the error, if it is not a difference
	Differ []cases.Difference // the expected and the actual values
	Why    []string           // the policy's answer, for the person who expected another
	Record *engine.Record     // nil: nothing was recorded
}

// Seen is the decision for an event about which a case expects something.
type Seen struct {
	Expect *cases.Expect
	Record *engine.Record
	Holds  bool // all expectations are met
}

// String describes the differences, in lines for a person.
func (f Failure) String() string {
	lines := []string{fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What)}
	if f.Wrong != "" {
		lines = append(lines, "    "+f.Wrong)
	}
	for _, d := range f.Differ {
		lines = append(lines, "    "+d.String())
	}
	for _, w := range f.Why {
		lines = append(lines, "    because "+w)
	}
	return strings.Join(lines, "\n")
}

// story is a case while it runs.
type story struct {
	c         cases.Case
	machine   *cases.Machine
	rehearsal *simulate.Rehearsal
	others    map[string]*simulate.Rehearsal // of other sessions in the workspace, by their ids
	start     func(session string) *simulate.Rehearsal
	calls     map[string]*engine.Record // by the call's id
	stopped   bool                      // of an incident: some call was
	whyNot    func(ids []string) []string
}

func newStory(c cases.Case, p *policy, env engine.Env) *story {
	s := &story{c: c, machine: c.Machine(), calls: map[string]*engine.Record{}}
	classifier := &classify.Classifier{World: s.world(), MAC: publicMAC, Secrets: bundles.BuiltInTokens(), Program: program}
	s.start = func(session string) *simulate.Rehearsal {
		r := simulate.Start(session, classifier, p.Policy, env)
		r.AnswerEarly()
		if c.Checkpoints {
			r.PretendCheckpoints()
		}
		return r
	}
	s.rehearsal = s.start("")
	return s
}

// in returns the rehearsal of the session in which a step happens.
func (s *story) in(step cases.Step) *simulate.Rehearsal {
	if !step.Elsewhere() {
		return s.rehearsal
	}
	if s.others == nil {
		s.others = map[string]*simulate.Rehearsal{}
		s.rehearsal.ShareWorkspace(s.sessions)
	}
	id := step.Event.Session
	if s.others[id] == nil {
		s.others[id] = s.start(id)
		s.others[id].ShareWorkspace(s.sessions)
	}
	return s.others[id]
}

// sessions lists all sessions of the case, in a fixed order.
func (s *story) sessions() []*simulate.Rehearsal {
	list := []*simulate.Rehearsal{s.rehearsal}
	for _, id := range slices.Sorted(maps.Keys(s.others)) {
		list = append(list, s.others[id])
	}
	return list
}

// program is the path of reviewer on the machines of cases.
const program = "/usr/local/bin/reviewer"

// publicMAC is a keyed digest whose key is public: a case contains no secrets, and is reproduced on every machine.
func publicMAC(b []byte) string {
	h := hmac.New(sha256.New, []byte("cases"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

func (s *story) world() classify.System {
	state := s.c.Path("~/.local/state/reviewer")
	w := classify.System{Home: s.c.Home, State: state, Guard: []string{state, "/etc/reviewer", s.c.Path("~/.local/bin/reviewer")},
		Programs: []string{s.c.Path("~/.local/bin/reviewer"), s.c.Path("~/.local/bin/reviewer-hook")}}
	if m := s.machine; m != nil {
		w.Lstat, w.Readlink, w.ReadDir, w.ReadFile = m.Lstat, m.Readlink, m.ReadDir, m.ReadFile
		w.ReadHead, w.Same = m.ReadHead, m.Same
	}
	if s.c.Git != nil {
		w.Git = func() func(string) string { return s.c.GitState }
		w.Unsaved = s.unsaved
	}
	return w
}

// unsaved returns the worst loss of a command that discards changes at or under a
// path, for files whose state the case gives. The stash is unknown.
func (s *story) unsaved(name string, what classify.Discard) string {
	states := s.c.GitStates(name)
	asked := map[string]bool{"dirty": what.Changes || what.Staged, "untracked": what.Untracked, "ignored": what.Ignored}
	if slices.Contains(states, cases.Conflict) && asked["dirty"] && !what.Sides {
		return "dirty"
	}
	for _, state := range []string{"dirty", "untracked", "ignored"} {
		if asked[state] && slices.Contains(states, state) {
			return state
		}
	}
	if len(states) == 0 || what.Stash {
		return ""
	}
	return "clean"
}

// stepping is a step with its result.
type stepping struct {
	cases.Step
	file   string
	result *Result
}

func (s stepping) wrong(f Failure) {
	f.File, f.Line, f.What = s.file, s.Line, fmt.Sprintf("event %d, %s", s.Number, s.Title)
	s.result.Failures = append(s.result.Failures, f)
}

func (s *story) step(ctx context.Context, step cases.Step, result *Result) {
	at := stepping{step, s.c.File, result}
	if step.Control != nil {
		if err := s.choose(step); err != nil {
			at.wrong(Failure{Wrong: err.Error()})
		}
		return
	}
	action, happened := s.in(step).Next(ctx, step.Event)
	if happened && s.machine != nil {
		s.machine.Put(step.Files)
	}
	switch {
	case !happened && !step.Loose:
		at.wrong(Failure{Wrong: "the call was blocked, so it has no result"})
	case action.Record == nil && action.Error != "":
		at.wrong(Failure{Wrong: "it could not be recorded: " + action.Error})
	case action.Record == nil && step.Expect != nil:
		at.wrong(Failure{Wrong: "the policy makes no decision about this event, so a case cannot expect anything from it"})
	case action.Record != nil:
		s.judge(at, action.Record)
	}
}

// choose records a manual override.
func (s *story) choose(step cases.Step) error {
	choice := *step.Control
	if step.Of != "" {
		rec := s.calls[step.Of]
		if rec == nil {
			return errors.New("the allowed call was not reviewed")
		}
		key, _ := rec.CallKey()
		choice.Record, choice.Print, choice.CWD = rec.ID(), key.Print, key.CWD
	}
	return s.in(step).Control(step.Time, choice)
}

func (s *story) judge(at stepping, rec *engine.Record) {
	at.result.Records = append(at.result.Records, rec)
	if rec.Phase == engine.PhasePre {
		s.calls[rec.Call] = rec
	}
	if !at.Elsewhere() {
		s.plot(at, rec)
	}
	if at.Expect == nil {
		return
	}
	differ := at.Expect.Compare(rec)
	at.result.Seen = append(at.result.Seen, Seen{at.Expect, rec, len(differ) == 0})
	if len(differ) > 0 {
		at.wrong(Failure{Differ: differ, Why: append(cases.Why(rec), s.whyNot(missing(at.Expect, rec))...), Record: rec})
	}
}
