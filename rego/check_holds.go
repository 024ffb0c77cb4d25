package rego

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// cannotHold explains why a rule's body can never be true, where that can be
// seen: something that is always false, or two demands on one value that
// exclude each other.
func (w *walker) cannotHold(r *ast.Rule) {
	d := demands{alias: map[ast.Var]*ast.Term{}, of: map[string]*demand{}, lengths: w.Words.Lengths}
	for _, e := range r.Body {
		if len(e.With) > 0 {
			continue
		}
		if holds, constant := constantly(e); constant && holds == e.Negated {
			w.wrong(e.Location, "rule.never", "%s never fires: this is always false", ruleName(r))
			return
		}
		why := d.add(e)
		if why == "" {
			why = w.absentIn(d, e)
		}
		if why != "" {
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
		if len(t) == 3 && ast.IsScalar(t[1].Value) && ast.IsScalar(t[2].Value) {
			return compared(operator(t[0]), ast.Compare(t[1].Value, t[2].Value))
		}
	}
	return false, false
}

func operator(t *ast.Term) string { return t.Value.String() }

func compared(op string, c int) (holds, known bool) {
	holds, known = map[string]bool{"eq": c == 0, "equal": c == 0, "neq": c != 0, "lt": c < 0, "lte": c <= 0, "gt": c > 0, "gte": c >= 0}[op]
	return holds, known
}

// demands are a body's conditions on each value.
type demands struct {
	alias map[ast.Var]*ast.Term // a name for a reference
	of    map[string]*demand    // by how the value is written

	lengths map[string]int // of windows
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
	if ast.IsScalar(a.Value) && !ast.IsScalar(b.Value) {
		op, a, b = mirrored[op], b, a
	}
	if v, isVar := a.Value.(ast.Var); isVar && op == "eq" && !e.Negated {
		if _, isRef := b.Value.(ast.Ref); isRef && d.alias[v] == nil {
			d.alias[v] = b
			return ""
		}
	}
	if !ast.IsScalar(b.Value) {
		return ""
	}
	if e.Negated {
		op = map[string]string{"eq": "neq", "equal": "neq"}[op] // an undefined value is neither less nor greater
	}
	return cmp.Or(d.beyond(d.key(a), op, b, e), d.demand(a).ask(op, b, e))
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
	sign := signs[op]
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
	if ast.IsScalar(x.Value) {
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
		all = all && ast.IsScalar(item.Value)
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

// beyond explains why a comparison with a number is never true; empty: it may be.
func (d *demands) beyond(key, op string, with *ast.Term, e *ast.Expr) string {
	path, of := strings.CutPrefix(key, "input.")
	r, known := engine.RangeOf(path, d.lengths)
	if n, isNumber := with.Value.(ast.Number); of && known && isNumber && signs[op] != "" {
		if f, exact := n.Float64(); exact && !r.Allows(signs[op], f) {
			return fmt.Sprintf("`%s` is never true, since %s is %s", e.Location.Text, key, r)
		}
	}
	return ""
}

// absentIn explains why a field is absent in the phase that another condition names; empty: it may be there.
func (w *walker) absentIn(d demands, e *ast.Expr) (why string) {
	phase := d.of["input.phase"]
	if phase == nil || e.Negated {
		return ""
	}
	ast.WalkTerms(e, func(t *ast.Term) bool {
		_, made := w.parts[fmt.Sprint(t.Location)] // of a finding, which has a message for that
		for field, in := range engine.Present {
			there := *phase.Demand
			if there.OneOf(strconv.Quote(in)); !made && strings.HasPrefix(t.String()+".", "input."+field+".") && !there.Possible() {
				why = fmt.Sprintf("input.%s is only present in phase %s, and `%s` excludes that", field, in, phase.first)
			}
		}
		return made
	})
	return why
}

var signs = map[string]string{"eq": "==", "equal": "==", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}

// mirrored has the operators for sides in the other order.
var mirrored = map[string]string{"eq": "eq", "equal": "eq", "neq": "neq", "lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}

// texts finds built-ins whose arguments cannot be meant: a prefix or a pattern and a text in the wrong order, a format with more or
// fewer verbs than values, and an order between a number and a text.
func (w *walker) texts(name string, args []*ast.Term, known []*shape) {
	if len(args) < 2 {
		return
	}
	last := len(args) - 1
	kinds := [2]string{}
	for i := range kinds {
		if known[i] != nil {
			kinds[i] = known[i].kind
		}
	}
	if signs[name] != "" && (kinds == [2]string{number, text} || kinds == [2]string{text, number}) {
		w.wrong(args[0].Location, "rego.type", "this compares a %s with a %s, and every number is less than every text; write both as numbers",
			kinds[0], kinds[1])
	}
	if _, fixed := args[last].Value.(ast.String); fixed && (name == "regex.match" || name == "glob.match") &&
		known[0] != nil && known[0].kind == text && known[0].name != "" {
		w.remark(args[0].Location, "rego.swapped", "the first argument of %s is the pattern, and %s is a value of the call; "+
			"write the pattern first", name, args[0].Location.Text)
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
		if n, known := engine.Verbs(string(text)); isArray && known && n != values.Len() {
			w.remark(args[0].Location, "rego.format", "the format has %s, and the list %s; give each verb one value",
				engine.Counted(int64(n), "verb", "verbs"), engine.Counted(int64(values.Len()), "value", "values"))
		}
	}
}

// condition warns about a condition that is true for each call: a set or a list, also an empty one, and a count, also 0.
func (w *walker) condition(e *ast.Expr, t *ast.Term) {
	if !w.report || w.silent || len(e.With) > 0 {
		return
	}
	what, instead := "", ""
	if call, isCall := e.Terms.([]*ast.Term); isCall && len(call) == 2 && slices.Contains([]string{"count", "sum"}, operator(call[0])) {
		what, instead = "0", "%[1]s > 0"
	} else if t != nil && w.alwaysThere(t) {
		what, instead = "empty", "count(%[1]s) > 0"
	}
	written := strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(string(e.Location.Text), "not")), "\n")
	switch {
	case what == "":
	case e.Negated:
		w.remark(e.Location, "rego.always", "not %s is never true, since %[1]s is true also if it is %s; write not "+instead, written, what)
	default:
		w.remark(e.Location, "rego.always", "%s is true also if it is %s, so it limits nothing; write "+instead, written, what)
	}
}

// alwaysThere reports whether a term is a set or a list that always exists: one of the call, or a rule of several values.
func (w *walker) alwaysThere(t *ast.Term) bool {
	ref, isRef := t.Value.(ast.Ref)
	if !isRef {
		_, isSet := t.Value.(*ast.SetComprehension)
		_, isList := t.Value.(*ast.ArrayComprehension)
		return isSet || isList
	}
	if d := w.rules[slashed(ref)]; d != nil && ref.HasPrefix(ast.DefaultRootRef) {
		return !slices.ContainsFunc(d.rules, func(r *ast.Rule) bool { return r.Head.RuleKind() != ast.MultiValue })
	}
	is := w.ref(ref)
	return ref.HasPrefix(ast.InputRootRef) && ref.IsGround() && is != nil && is.kind == array && !w.optional(ref)
}

// elements warns about conditions on two commands of a call where one is meant: c.name == "git", and
// input.action.commands[_].sub[_] == "push".
func (c *checker) elements(r *ast.Rule) {
	const list = "input.action.commands"
	var named, other *ast.Term
	for _, e := range r.Body {
		if d, isSome := e.Terms.(*ast.SomeDecl); isSome {
			if call, in := d.Symbols[0].Value.(ast.Call); in && call[len(call)-1].String() == list {
				named = d.Symbols[0]
			}
			continue
		}
		terms, _ := e.Terms.([]*ast.Term)
		for _, t := range terms {
			ref, isRef := t.Value.(ast.Ref)
			if !isRef || len(ref) < 5 || ref[:3].String() != list {
				continue
			}
			switch at, isVar := ref[3].Value.(ast.Var); {
			case ref[4].Equal(ast.InternedTerm("name")):
				named = cmp.Or(named, t)
			case isVar && at.IsWildcard():
				other = t
			}
		}
	}
	if named != nil && other != nil {
		c.remark(other.Location, "rego.elements", "%s is about any command of the call, and not the one that line %d is about; "+
			"ask for it about that one, with some c in %s", other.Location.Text, named.Location.Row, list)
	}
}
