package rego

import (
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// document reads fields of an object. A field of a type other than the expected one
// is an error of the policy, kept until the end.
type document struct {
	obj ast.Object
	err error
}

// decode reads the decision document. What is absent keeps its zero value;
// decision and enforced must be there.
func decode(t *ast.Term) (engine.Decision, error) {
	obj, ok := t.Value.(ast.Object)
	if !ok {
		return engine.Decision{}, fmt.Errorf("%s is not an object", Entry)
	}
	d := document{obj: obj}
	out := engine.Decision{
		Decision: engine.Verdict(d.text("decision")), Enforced: engine.Verdict(d.text("enforced")),
		Reason: d.text("reason"), Reasons: d.texts("reasons"), Explanation: d.text("explanation"),
		Rules: d.rules(), Risk: d.risk(), Rationality: d.rationality(), SideEffects: d.sideEffects(),
		Confidence: d.number("confidence"), Alternatives: d.texts("alternatives"),
		Obligations: d.texts("obligations"), Saves: d.indexes("saves"), Intervention: d.intervention(),
		Rewrite: d.rewrite(), Otherwise: d.otherwise(),
		Grant: d.flag("grant"), Proof: d.proof(), Text: d.text("text"), Told: d.texts("told"), Notice: d.text("notice"),
		Source: d.text("source"), Uses: d.texts("uses"),
	}
	if out.Told == nil && d.get("told") != nil {
		out.Told = []string{} // patterns fired, and the agent read none of their messages
	}
	if out.Decision == "" || out.Enforced == "" {
		d.fail("decision", "is missing, or enforced is")
	}
	d.known("decision", "enforced", "reason", "reasons", "explanation", "rules", "risk", "rationality", "side_effects",
		"confidence", "alternatives", "obligations", "saves", "interventions", "rewrite", "otherwise", "grant", "proof", "text", "told", "notice",
		"source", "uses")
	return out, d.err
}

// known refuses fields that nothing reads, since their values would be lost.
func (d *document) known(fields ...string) {
	d.obj.Foreach(func(k, _ *ast.Term) {
		if s, ok := k.Value.(ast.String); !ok || !slices.Contains(fields, string(s)) {
			d.fail(k.String(), "is an unknown field")
		}
	})
}

func (d *document) fail(field, what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s.%s %s", Entry, field, what)
	}
}

func (d *document) get(field string) ast.Value {
	if t := d.obj.Get(ast.InternedTerm(field)); t != nil {
		return t.Value
	}
	return nil
}

func (d *document) text(field string) string {
	switch v := d.get(field).(type) {
	case nil:
	case ast.String:
		return string(v)
	default:
		d.fail(field, "is not a string")
	}
	return ""
}

func (d *document) number(field string) float64 {
	switch v := d.get(field).(type) {
	case nil:
	case ast.Number:
		if f, ok := v.Float64(); ok {
			return f
		}
	default:
		d.fail(field, "is not a number")
	}
	return 0
}

func (d *document) flag(field string) bool {
	switch v := d.get(field).(type) {
	case nil:
	case ast.Boolean:
		return bool(v)
	default:
		d.fail(field, "is not a boolean")
	}
	return false
}

// each calls fn for the members of a list or set.
func (d *document) each(field string, fn func(*ast.Term)) {
	switch v := d.get(field).(type) {
	case nil:
	case *ast.Array:
		v.Foreach(fn)
	case ast.Set:
		v.Foreach(fn)
	default:
		d.fail(field, "is not a list")
	}
}

func (d *document) texts(field string) []string {
	var out []string
	d.each(field, func(t *ast.Term) {
		s, ok := t.Value.(ast.String)
		if !ok {
			d.fail(field, "contains something that is not a string")
		}
		out = append(out, string(s))
	})
	return out
}

func (d *document) indexes(field string) []int64 {
	var out []int64
	d.each(field, func(t *ast.Term) {
		n, ok := t.Value.(ast.Number)
		i, whole := n.Int64()
		if !ok || !whole || i < 0 {
			d.fail(field, "contains something that is not an index")
		}
		out = append(out, i)
	})
	return out
}

// sub reads a nested object; nil if it is absent.
func (d *document) sub(field string) *document {
	switch v := d.get(field).(type) {
	case nil, ast.Null:
	case ast.Object:
		return &document{obj: v}
	default:
		d.fail(field, "is not an object")
	}
	return nil
}

// take records the error of a nested object.
func (d *document) take(field string, s *document) {
	if s.err != nil {
		d.fail(field, s.err.Error())
	}
}

func (d *document) rules() []engine.RuleResult {
	var out []engine.RuleResult
	d.each("rules", func(t *ast.Term) {
		obj, ok := t.Value.(ast.Object)
		if !ok {
			d.fail("rules", "contains something that is not an object")
			return
		}
		r := &document{obj: obj}
		out = append(out, engine.RuleResult{
			ID: r.text("id"), Decision: engine.Verdict(r.text("decision")), Severity: r.text("severity"),
			Message: r.text("message"), Enforcement: r.text("enforcement"), Harm: r.text("harm"), Limit: r.flag("limit"),
		})
		d.take("rules", r)
	})
	return out
}

func (d *document) risk() *engine.Risk {
	s := d.sub("risk")
	if s == nil {
		return nil
	}
	defer d.take("risk", s)
	return &engine.Risk{Score: s.number("score"), Level: s.text("level"), Factors: s.texts("factors")}
}

func (d *document) rationality() *engine.Rationality {
	s := d.sub("rationality")
	if s == nil {
		return nil
	}
	r := &engine.Rationality{
		Score: s.number("score"), Level: s.text("level"), Issues: s.texts("issues"),
		Suggestions: s.texts("suggestions"), Components: map[string]float64{},
	}
	if c := s.sub("components"); c != nil {
		c.obj.Foreach(func(k, _ *ast.Term) {
			if name, ok := k.Value.(ast.String); ok {
				r.Components[string(name)] = c.number(string(name))
			}
		})
		s.take("components", c)
	}
	d.take("rationality", s)
	return r
}

func (d *document) sideEffects() *engine.SideEffects {
	s := d.sub("side_effects")
	if s == nil {
		return nil
	}
	defer d.take("side_effects", s)
	return &engine.SideEffects{
		Severity: s.text("severity"), Severities: s.texts("severities"), Reversible: s.flag("reversible"),
		Kinds: s.texts("kinds"), Mitigations: s.texts("mitigations"),
	}
}

// intervention returns the first of the list: policy gives at most one.
func (d *document) intervention() *engine.Intervention {
	var out *engine.Intervention
	d.each("interventions", func(t *ast.Term) {
		obj, ok := t.Value.(ast.Object)
		if !ok {
			d.fail("interventions", "contains something that is not an object")
		}
		if !ok || out != nil {
			return
		}
		s := &document{obj: obj}
		out = &engine.Intervention{
			Kind: s.text("kind"), Issue: s.text("issue"), Attempt: int64(s.number("attempt")),
			Factor: s.number("factor"), Request: s.text("request"), Progress: s.text("progress"), Reason: s.text("reason"),
			Checkpoint: s.text("checkpoint"), Asks: s.flag("asks"), Does: s.texts("does"),
		}
		d.take("interventions", s)
	})
	return out
}
