// Package classify says what an agent's event means: it turns an engine.Event
// into engine.Facts on which two organisations agree. Raw bytes are
// interpreted in memory (shell, PowerShell, paths, URLs, code), then every
// string that leaves is masked and shortened.
//
// Not its business: verdicts, scores, thresholds and lists that an
// organisation may want to edit (policy), the session's history (engine), and
// the wire formats of agents (engine/harness). Nothing here runs a program or
// opens a connection; files are looked at only through World.
package classify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Version is raised by hand when the facts of some event change, so that
// replays can tell facts of different classifiers apart.
const Version = 5

// Classifier makes facts of events. The same event in the same world has the
// same facts. It holds no state and may be used by several goroutines.
type Classifier struct {
	World   World
	MAC     func([]byte) string // keyed digest in lower-case hex, at least 16 digits
	Limit   int                 // bytes of facts as JSON; 0: engine.MaxFacts
	Program string              // absolute path of reviewer, which calls may be rewritten to use; empty: not known
}

// Classify returns the facts of an event. workspace is the session's pinned
// folder, absolute; empty: none. An error means that nothing could be made of
// the event, and the caller must treat the call as not allowed.
func (c *Classifier) Classify(ctx context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	if c.MAC == nil || len(c.MAC(nil)) < 16 {
		return engine.Facts{}, errors.New("classify event: no MAC of at least 16 hex digits; set Classifier.MAC")
	}
	if err := ctx.Err(); err != nil {
		return engine.Facts{}, fmt.Errorf("classify event: %w", err)
	}
	m := &masker{mac: c.MAC, personal: e.Redact}
	facts := engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool, CWD: e.CWD, Mode: e.Mode, PromptID: e.PromptID}}
	switch e.Phase {
	case engine.PhasePrompt:
		f := m.contentOf(e.Prompt)
		facts.Event.Prompt = &f
		facts.Event.Goal = m.goalOf(e.Prompt, c.marker(workspace))
	case engine.PhasePre, engine.PhasePost:
		if err := c.action(&facts, m, e, workspace); err != nil {
			return engine.Facts{}, fmt.Errorf("classify %s: %w", clip(m.text(e.Tool), 60), err)
		}
	}
	maskEvent(&facts.Event, m)
	if e.Phase == engine.PhasePost && e.Result != nil {
		facts.Event.Result = m.result(e.Result, facts.Action, c.marker(workspace))
	}
	limit := c.Limit
	if limit == 0 {
		limit = engine.MaxFacts
	}
	shorten(&facts, limit, c.MAC)
	return facts, nil
}

func maskEvent(e *engine.EventFacts, m *masker) {
	e.Name, e.Tool, e.CWD, e.Mode, e.PromptID = m.text(e.Name), m.text(e.Tool), m.text(e.CWD), m.text(e.Mode), m.text(e.PromptID)
}

// action reads the call and fills in what it means.
func (c *Classifier) action(facts *engine.Facts, m *masker, e engine.Event, workspace string) error {
	canonical, args, err := decodeArgs(e.Args)
	if err != nil {
		return err
	}
	facts.Args = c.MAC(canonical)
	m.learnName(e.Tool)
	learn(m, args)
	res := newResolver(c.World, workspace)
	in := c.shellInput(e.CWD)
	in.disk = newCodeDisk(res)
	r := read(e.Tool, args, in)
	learn(m, in.disk.texts())
	if len(canonical) > 0 && canonical[0] != '{' {
		r.refuse("input")
	}
	a := assemble(r, res)
	masked := m.arguments(r)
	facts.Event.Args = masked.object(args, "")
	a.Contents = masked.facts
	a.Resource = resource(r, facts.Event.Args)
	a.Fingerprint = c.MAC(append([]byte(e.Tool+"\x00"), canonical...))[:16]
	a.Tokens = sketch(facts.Event.Args)
	a.Marks = c.marker(workspace).ofAction(markedTexts(r))
	maskAction(a, m)
	a.Words = actionWords(a, facts.Event.Args)
	facts.Action = a
	return nil
}

// shellInput is what is known where a call runs.
func (c *Classifier) shellInput(cwd string) shellInput {
	in := shellInput{cwd: value{text: cwd}, home: c.World.Home, program: c.Program, guard: c.World.Guard, listDir: c.listDir(), knows: programKnowledge()}
	if cwd == "" {
		in.cwd = value{sure: unknown}
	}
	return in
}

// decodeArgs returns the canonical bytes of a call's arguments, and the
// arguments where they are an object. No arguments are an empty object.
func decodeArgs(raw json.RawMessage) ([]byte, map[string]any, error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	canonical, err := engine.Canonical(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read arguments: %w", err)
	}
	v, err := engine.DecodeStrict(canonical)
	if err != nil {
		return nil, nil, fmt.Errorf("read arguments: %w", err)
	}
	args, _ := v.(map[string]any)
	return canonical, args, nil
}

// learn lets the masker see all texts of the arguments before any leaves.
func learn(m *masker, v any) {
	switch v := v.(type) {
	case string:
		m.learn(v)
		m.learnCoded(v)
	case []string:
		for _, item := range v {
			m.learn(item)
		}
	case []any:
		if argv, ok := stringList(v); ok {
			m.learn(quoteAll(argv)) // an option and its value may be two items
		}
		for _, item := range v {
			learn(m, item)
		}
	case map[string]any:
		for k, item := range v {
			m.learn(k)
			if s, ok := item.(string); ok {
				m.learn(k + "=" + s)
			}
			learn(m, item)
		}
	}
}

// maxNames bounds how many names of a directory a pattern is matched against.
const maxNames = 2000

// listDir gives the interpreter a look at directories.
func (c *Classifier) listDir() func(string) ([]string, error) {
	if c.World.ReadDir == nil {
		return nil
	}
	return func(dir string) ([]string, error) {
		list, err := c.World.ReadDir(dir, maxNames+1)
		if err != nil {
			return nil, err
		}
		if len(list) > maxNames {
			return nil, errTooLong
		}
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.Name()
		}
		slices.Sort(names)
		return names, nil
	}
}

// result describes what a call came to; a is what it was, nil where that is not
// known.
func (m *masker) result(r *engine.Result, a *engine.Action, k *marker) *engine.ResultFacts {
	f := &engine.ResultFacts{Outcome: engine.OutcomeRan, Interrupted: r.Interrupted, MS: max(r.DurationMS, 0)}
	switch {
	case r.Refused:
		f.Outcome = engine.OutcomeDenied
	case r.Failed:
		f.Outcome = engine.OutcomeFailed
	}
	text := outputText(r.Output)
	if f.Outcome != engine.OutcomeRan {
		f.Class = errorClass(m.text(clip(r.Error, maxError)))
		if f.Outcome == engine.OutcomeFailed {
			f.Trouble = troubleOf(r.Error, a != nil && a.Check)
		}
		if text == "" {
			text = r.Error
		}
	}
	content := m.contentOf(text)
	f.Content = &content
	if k != nil {
		f.Marks = k.ofOutput(text, a)
		if asked := asksForSecret(a); asked || len(content.Secrets) > 0 {
			f.Secrets = k.ofFound(text, asked)
		}
	}
	return f
}

// maxError is how much of an error's text is looked at for its class: the
// first lines.
const maxError = 16 << 10

// resource returns the one thing that names the call for access rules.
func resource(r *reading, masked map[string]any) string {
	for _, name := range r.tool.resource {
		if s, ok := masked[name].(string); ok && s != "" {
			return s
		}
	}
	b, err := engine.CanonicalOf(masked)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func maskAction(a *engine.Action, m *masker) {
	a.Name, a.Resource = m.text(a.Name), m.text(a.Resource)
	for i := range a.Commands {
		c := &a.Commands[i]
		c.Name, c.Sub, c.Flags, c.Operands = m.text(c.Name), m.texts(c.Sub), m.texts(c.Flags), m.texts(c.Operands)
	}
	a.Paths = m.texts(a.Paths)
	folded := m.folded()
	for i, h := range a.Hosts {
		a.Hosts[i] = m.host(folded, h)
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		e.Target, e.Short, e.Host = m.text(e.Target), m.text(e.Short), m.text(e.Host)
		if e.Kind == engine.EffectNetwork {
			e.Target, e.Short = m.host(folded, e.Target), m.host(folded, e.Short)
		}
	}
	for i := range a.Opaque {
		a.Opaque[i].Where = m.text(a.Opaque[i].Where)
	}
}
