package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// maxCodeRules limits the number of rules that are named for one file.
const maxCodeRules = 3

// judgeCode reports what policy would decide if the code that a call writes
// were run, and keeps the verdict where a person would be asked. So policy
// decides what counts as harm, by the rules that are active now, and a later call that
// runs the file need not be analysed again.
func (p *Policy) judgeCode(ctx context.Context, v *Result, r *engine.Record, h *history.State) error {
	if r.Action == nil || r.Phase != engine.PhasePre {
		return nil
	}
	for i := range r.Action.Code {
		c := &r.Action.Code[i]
		if !doesSomething(c) {
			continue
		}
		of, err := p.codeVerdict(ctx, c, &v.Decision, r, h)
		if err != nil {
			return fmt.Errorf("judge the code of %s: %w", c.Path, err)
		}
		if of != nil {
			v.Decision.Code = append(v.Decision.Code, *of)
		}
	}
	if len(v.Decision.Code) == 0 {
		return nil
	}
	return p.Settle(&v.Decision)
}

func doesSomething(c *engine.Code) bool { return len(c.Effects)+len(c.Signals) > 0 }

// writesCode reports whether a call writes code that is to be judged; nothing is known about a
// record without an action.
func writesCode(r *engine.Record) bool {
	return r.Action == nil || slices.ContainsFunc(r.Action.Code, func(c engine.Code) bool { return doesSomething(&c) })
}

// codeVerdict judges one file; nil: nobody would be asked about it. Rules that
// fire for the writing call regardless of its content do not count against the
// code.
func (p *Policy) codeVerdict(ctx context.Context, c *engine.Code, call *engine.Decision, r *engine.Record,
	h *history.State) (*engine.CodeVerdict, error) {
	run := Result{Input: history.NewInput(runOf(c, r), h, p.View)}
	if err := p.judge(ctx, &run); err != nil {
		return nil, err
	}
	d := &run.Decision
	if d.Decision.Strictness() < engine.Ask.Strictness() {
		return nil, nil
	}
	asking := slices.DeleteFunc(d.Rules, func(r engine.RuleResult) bool { return r.Decision.Strictness() < engine.Ask.Strictness() })
	of := &engine.CodeVerdict{Path: c.Path, Decision: d.Decision}
	said := call.RuleIDs()
	for _, rule := range asking {
		if !slices.Contains(said, rule.ID) && len(of.Rules) < maxCodeRules {
			of.Rules = append(of.Rules, rule.ID)
		}
	}
	if len(asking) > 0 && len(of.Rules) == 0 {
		return nil, nil
	}
	return of, nil
}

// runOf returns the record of a call that would run the code and nothing else.
func runOf(c *engine.Code, r *engine.Record) *engine.Record {
	run := *r
	run.Call, run.SHA, run.Action = "", nil, c.Action()
	run.Event = &engine.EventFacts{}
	if r.Event != nil {
		run.Event = &engine.EventFacts{Name: r.Event.Name, CWD: r.Event.CWD, Mode: r.Event.Mode, PromptID: r.Event.PromptID}
	}
	return &run
}
