package rego

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// rewrite reads the operations that policy asks for.
func (d *document) rewrite() []engine.Operation {
	var ops []engine.Operation
	d.each("rewrite", func(t *ast.Term) {
		obj, ok := t.Value.(ast.Object)
		if !ok {
			d.fail("rewrite", "contains something that is not an object")
			return
		}
		o := &document{obj: obj}
		ops = append(ops, engine.Operation{
			Op: o.text("op"), Command: o.index("command"), Flag: o.text("flag"), Arg: o.index("arg"),
			Field: o.text("field"), Value: o.scalar("value"),
		})
		o.known("op", "command", "flag", "arg", "field", "value")
		d.take("rewrite", o)
	})
	return ops
}

func (d *document) otherwise() *engine.Fallback {
	s := d.sub("otherwise")
	if s == nil {
		return nil
	}
	defer d.take("otherwise", s)
	return &engine.Fallback{Effect: engine.Verdict(s.text("effect")), Text: s.text("text")}
}

// proof is why a person need not be asked.
func (d *document) proof() *engine.Proof {
	s := d.sub("proof")
	if s == nil {
		return nil
	}
	defer d.take("proof", s)
	s.known("by", "approvals", "sessions", "days")
	return &engine.Proof{By: s.text("by"), Approvals: s.number("approvals"),
		Sessions: int64(s.number("sessions")), Days: int64(s.number("days"))}
}

// index reads a whole number that counts from 0.
func (d *document) index(field string) int {
	switch v := d.get(field).(type) {
	case nil:
	case ast.Number:
		if n, ok := v.Int(); ok && n >= 0 {
			return n
		}
		d.fail(field, "is not a non-negative whole number")
	default:
		d.fail(field, "is not a number")
	}
	return 0
}

// scalar reads a string, a number or a boolean.
func (d *document) scalar(field string) any {
	switch v := d.get(field).(type) {
	case nil:
	case ast.String:
		return string(v)
	case ast.Boolean:
		return bool(v)
	case ast.Number:
		if n, ok := v.Int64(); ok {
			return n
		}
		if f, ok := v.Float64(); ok {
			return f
		}
	default:
		d.fail(field, "is not a string, a number or a boolean")
	}
	return nil
}
