package rego

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// decideDespite decides once more without the failing rules, and then counts
// each with its strictest outcome: a rule that cannot be evaluated
// fires.
func (h *Host) decideDespite(ctx context.Context, value ast.Value) (engine.Decision, error) {
	q, err := h.prepare(ctx, false)
	if err != nil {
		return engine.Decision{}, err
	}
	var failures []topdown.Error
	term, err := h.eval(ctx, q, value, opa.EvalBuiltinErrorList(&failures))
	if err != nil {
		return engine.Decision{}, err
	}
	d, err := decode(term)
	if err != nil {
		return engine.Decision{}, err
	}
	for i := range failures {
		h.count(&d, &failures[i])
	}
	return d, nil
}

// count adds a failed rule to a decision, once.
func (h *Host) count(d *engine.Decision, e *topdown.Error) {
	r, named := h.verdicts[h.ruleOf(e)]
	if !named {
		r = engine.RuleResult{ID: h.ruleOf(e), Decision: engine.Block, Severity: "critical"}
	}
	for _, known := range d.Errors {
		if known.Rule == r.ID {
			return
		}
	}
	message := fmt.Sprintf("rule could not be evaluated: %s", e.Message)
	d.Errors = append(d.Errors, engine.RuleError{Rule: r.ID, Message: message})
	r.Message = message
	if r.Decision == engine.Modify {
		r.Decision = engine.Block // the modified form is unknown
	}
	others := slices.DeleteFunc(d.Rules, func(o engine.RuleResult) bool { return o.ID == r.ID })
	d.Rules = append([]engine.RuleResult{r}, others...)
	if r.Decision.Strictness() > d.Decision.Strictness() {
		d.Decision, d.Reason = r.Decision, message
	}
	if r.Decision.Strictness() > d.Enforced.Strictness() {
		d.Enforced = r.Decision
		d.Text = fmt.Sprintf("A rule of the policy (%s) could not be evaluated, so its strictest outcome applies: %s. "+
			"A person can see details with `reviewer audit why {id}`. (reviewer {id})", r.ID, e.Message)
	}
	if len(d.Alternatives) == 0 && d.Decision != engine.Allow {
		d.Alternatives = []string{"tell the person that this rule of the policy fails"}
	}
}

// ruleOf names the rule that failed: the outermost frame of the stack that is
// in a rule of a set whose member is a constant, as `fires contains "id"` is,
// or an object with a constant id, as those of other layers are.
func (h *Host) ruleOf(e *topdown.Error) string {
	for i := len(e.StackTrace) - 1; i >= 0; i-- {
		if id := h.ruleAt(e.StackTrace[i].Location); id != "" {
			return id
		}
	}
	return h.ruleAt(e.Location)
}

func (h *Host) ruleAt(at *ast.Location) string {
	if at == nil {
		return ""
	}
	id, row := "", 0
	for _, m := range h.compiler.Modules {
		for _, r := range m.Rules {
			if r.Location.File == at.File && r.Location.Row <= at.Row && r.Location.Row > row {
				id, row = memberOf(r), r.Location.Row
			}
		}
	}
	return id
}

// verdicts reads the catalogues: what each rule does when it fires.
func verdicts(data map[string]any) map[string]engine.RuleResult {
	all := map[string]engine.RuleResult{}
	base, _ := data["reviewer"].(map[string]any)
	addVerdicts(all, base)
	layers, _ := data["policies"].(map[string]any)
	for _, l := range layers {
		m, _ := l.(map[string]any)
		addVerdicts(all, m)
	}
	return all
}

func addVerdicts(all map[string]engine.RuleResult, at map[string]any) {
	rows, _ := at["catalog"].(map[string]any)
	for id, v := range rows {
		row, _ := v.(map[string]any)
		decision, _ := row["decision"].(string)
		severity, _ := row["severity"].(string)
		if decision == "" {
			continue
		}
		all[id] = engine.RuleResult{ID: id, Decision: engine.Verdict(decision), Severity: severity}
	}
}
