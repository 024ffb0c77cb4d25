package rego

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// cannotHold explains why a rule's body can never be true, where that can be
// seen: something that is always false, or two demands on one value that
// exclude each other.
func (w *walker) cannotHold(r *ast.Rule) {
	d := demands{alias: map[ast.Var]*ast.Term{}, of: map[string]*demand{}}
	for _, e := range r.Body {
		if len(e.With) > 0 {
			continue
		}
		if holds, constant := constantly(e); constant && holds == e.Negated {
			w.wrong(e.Location, "rule.never", "%s never fires: this is always false", ruleName(r))
			return
		}
		if why := d.add(e); why != "" {
			w.wrong(e.Location, "rule.never", "%s never fires: %s", ruleName(r), why)
			return
		}
	}
}

// ruleName returns a rule's name for messages: the id for which it decides, else its
// name.
func ruleName(r *ast.Rule) string {
	if id := memberOf(r); id != "" {
		return "rule " + id
	}
	return "this body of " + last(pathOf(r))
}

func constantly(e *ast.Expr) (holds, constant bool) {
	switch t := e.Terms.(type) {
	case *ast.Term:
		if b, ok := t.Value.(ast.Boolean); ok {
			return bool(b), true
		}
	case []*ast.Term:
		if len(t) == 3 && scalar(t[1]) && scalar(t[2]) {
			return compared(operator(t[0]), ast.Compare(t[1].Value, t[2].Value))
		}
	}
	return false, false
}

func operator(t *ast.Term) string { return t.Value.String() }

func compared(op string, c int) (holds, known bool) {
	switch op {
	case "eq", "equal":
		return c == 0, true
	case "neq":
		return c != 0, true
	case "lt":
		return c < 0, true
	case "lte":
		return c <= 0, true
	case "gt":
		return c > 0, true
	case "gte":
		return c >= 0, true
	}
	return false, false
}

func scalar(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		return true
	}
	return false
}

// demands are a body's conditions on each value.
type demands struct {
	alias map[ast.Var]*ast.Term // a name for a reference
	of    map[string]*demand    // by how the value is written
}

type demand struct {
	*engine.Demand
	first string // the first condition on it, for the message
}

// add records one expression; it returns why the expression contradicts an earlier
// one.
func (d *demands) add(e *ast.Expr) string {
	t, ok := e.Terms.([]*ast.Term)
	if !ok || len(t) != 3 {
		return ""
	}
	op, a, b := operator(t[0]), t[1], t[2]
	if op == "internal.member_2" {
		return d.member(e, a, b)
	}
	if scalar(a) && !scalar(b) {
		sides := map[string]string{"eq": "eq", "equal": "eq", "neq": "neq", "lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}
		op, a, b = sides[op], b, a
	}
	if v, isVar := a.Value.(ast.Var); isVar && op == "eq" && !e.Negated {
		if _, isRef := b.Value.(ast.Ref); isRef && d.alias[v] == nil {
			d.alias[v] = b
			return ""
		}
	}
	if !scalar(b) {
		return ""
	}
	if e.Negated {
		op = map[string]string{"eq": "neq", "equal": "neq"}[op] // an undefined value is neither less nor greater
	}
	return d.demand(a).ask(op, b, e)
}

// demand returns the conditions on a value so far; nil if it cannot be identified, or
// is several values.
func (d *demands) demand(t *ast.Term) *demand { return d.keyed(d.key(t)) }

func (d *demands) keyed(key string) *demand {
	if key == "" {
		return nil
	}
	if d.of[key] == nil {
		d.of[key] = &demand{Demand: engine.NewDemand()}
	}
	return d.of[key]
}

func (d *demands) key(t *ast.Term) string {
	switch v := t.Value.(type) {
	case ast.Var:
		if r := d.alias[v]; r != nil {
			return r.String()
		}
		return t.String()
	case ast.Ref:
		if head, ok := v[0].Value.(ast.Var); ok && d.alias[head] != nil {
			return d.alias[head].String() + strings.TrimPrefix(v.String(), string(head))
		}
		return v.String()
	}
	return ""
}

// ask adds a comparison with a constant.
func (d *demand) ask(op string, with *ast.Term, e *ast.Expr) string {
	sign := map[string]string{"eq": "==", "equal": "==", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}[op]
	if d == nil || sign == "" && op != "neq" {
		return ""
	}
	if n, isNumber := with.Value.(ast.Number); isNumber && sign != "" {
		if f, ok := n.Float64(); ok {
			d.Number(sign, f)
		}
	}
	switch value := with.Value.String(); {
	case sign == "==":
		d.OneOf(value)
	case op == "neq":
		d.NoneOf(value)
	}
	return d.verdict(e)
}

// verdict reports whether any value is still possible.
func (d *demand) verdict(e *ast.Expr) string {
	written := string(e.Location.Text)
	if d.Possible() {
		d.first = cmp.Or(d.first, written)
		return ""
	}
	return "`" + written + "` and `" + d.first + "` exclude each other"
}

// member records that a value is, or is not, in a list.
func (d *demands) member(e *ast.Expr, x, list *ast.Term) string {
	if scalar(x) {
		if d.key(list) == "" {
			return ""
		}
		return d.keyed(x.Value.String()+" in "+d.key(list)).is(!e.Negated, e)
	}
	asked := d.demand(x)
	words, constant := constants(list)
	if asked == nil || !constant {
		return ""
	}
	if e.Negated {
		asked.NoneOf(words...)
	} else {
		asked.OneOf(words...)
	}
	return asked.verdict(e)
}

// is records that an expression must be true.
func (d *demand) is(holds bool, e *ast.Expr) string {
	d.OneOf(strconv.FormatBool(holds))
	return d.verdict(e)
}

// constants lists the members of a list of constants.
func constants(t *ast.Term) (words []string, all bool) {
	all = true
	see := func(item *ast.Term) {
		all = all && scalar(item)
		words = append(words, item.Value.String())
	}
	switch v := t.Value.(type) {
	case ast.Set:
		v.Foreach(see)
	case *ast.Array:
		v.Foreach(see)
	default:
		return nil, false
	}
	return words, all
}

// texts finds built-ins for texts whose arguments cannot be meant: a prefix and a text in the wrong order, and a format with more
// or fewer verbs than values.
func (w *walker) texts(name string, args []*ast.Term) {
	if len(args) < 2 {
		return
	}
	text, isText := args[0].Value.(ast.String)
	if !isText {
		return
	}
	switch name {
	case "startswith", "endswith":
		if _, constant := args[1].Value.(ast.String); !constant {
			w.remark(args[0].Location, "rego.swapped", "%s asks whether the text %s begins or ends with the second argument; write %s(%s, %s)",
				name, args[0], name, args[1].Location.Text, args[0])
		}
	case "sprintf":
		values, isArray := args[1].Value.(*ast.Array)
		if n, known := verbs(string(text)); isArray && known && n != values.Len() {
			w.remark(args[0].Location, "rego.format", "the format has %s, and the list %s; give each verb one value",
				engine.Counted(int64(n), "verb", "verbs"), engine.Counted(int64(values.Len()), "value", "values"))
		}
	}
}

// verbs counts the verbs of a format; it is not known for one that numbers its values.
func verbs(format string) (n int, known bool) {
	for rest := format; ; n++ {
		_, after, more := strings.Cut(rest, "%")
		after = strings.TrimLeft(after, "+-# 0123456789.")
		switch {
		case !more:
			return n, true
		case strings.HasPrefix(after, "["), strings.HasPrefix(after, "*"), after == "":
			return 0, false
		case after[0] == '%':
			n--
		}
		rest = after[1:]
	}
}
