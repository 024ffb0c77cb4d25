package rego

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// NotFired is a rule that did not fire although its facts were true: how far it
// was evaluated, and what stopped it.
type NotFired struct {
	ID   string `json:"id"`
	At   Stop   `json:"at"`           // in the rule
	In   []Stop `json:"in,omitempty"` // in what it evaluates there, the outermost first
	Held int    `json:"held"`         // lines of the rule before the one that stopped it, except a test of the phase
	Left int    `json:"left"`         // lines after it
	// About counts the lines before it that are specific to this call, including those in
	// what the rule evaluates: that the call changes files, or that it runs a program, does
	// not count.
	About int `json:"about"`
}

// Stop is an expression that is false.
type Stop struct {
	File   string   `json:"file"` // layer/path
	Line   int      `json:"line"`
	Col    int      `json:"column"`
	Text   string   `json:"text"`
	Values []string `json:"values,omitempty"` // name = value, of the last that was tried
	Absent []string `json:"absent,omitempty"` // fields in it that do not exist
}

// Ask evaluates a document of the policy other than the decision, such as
// data.reviewer.scores.risk, as JSON decodes it (numbers are json.Number). If
// it is undefined, ok is false.
func (h *Host) Ask(ctx context.Context, in *engine.Input, findings []engine.Finding, path string) (value any, ok bool, err error) {
	rs, err := h.ask(ctx, in, findings, path, nil)
	if err != nil || len(rs) == 0 {
		return nil, false, err
	}
	return rs[0].Expressions[0].Value, true, nil
}

func (h *Host) ask(ctx context.Context, in *engine.Input, findings []engine.Finding, path string,
	tracer topdown.QueryTracer) (opa.ResultSet, error) {
	options := []func(*opa.Rego){
		opa.Query(path), opa.Compiler(h.compiler), opa.Store(h.store), opa.Transaction(h.txn),
		opa.Capabilities(Capabilities()), opa.ParsedInput(h.encode.input(in, findings)),
	}
	rules := []opa.EvalOption{opa.EvalTransaction(h.txn)}
	if tracer != nil {
		base := strings.HasPrefix(path, "data.reviewer.") // the index leaves out rules with an absent field; other layers have few rules
		rules = append(rules, opa.EvalQueryTracer(tracer), opa.EvalRuleIndexing(base))
	}
	q, err := opa.New(options...).PrepareForEval(ctx)
	var rs opa.ResultSet
	if err == nil {
		rs, err = q.Eval(ctx, rules...)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", path, err)
	}
	return rs, nil
}

// NotFired lists the rules that did not fire, closest first. A rule of the base layer
// whose facts (the tests on input that OPA looks up before it evaluates) are false is
// not among them.
func (h *Host) NotFired(ctx context.Context, in *engine.Input, findings []engine.Finding) ([]NotFired, error) {
	t := &missTracer{input: h.encode.input(in, findings), data: h.datum(ctx), frames: map[uint64]*frame{}, fired: map[string]bool{},
		nearest: map[string]*frame{}}
	var errs []error
	for _, path := range h.firingSets() {
		_, err := h.ask(ctx, in, findings, path, t)
		errs = append(errs, err)
	}
	var all []NotFired
	for id, f := range t.nearest {
		if !t.fired[id] {
			all = append(all, t.silent(id, f))
		}
	}
	slices.SortFunc(all, func(a, b NotFired) int { return cmp.Or(a.Left-b.Left, strings.Compare(a.ID, b.ID)) })
	return all, errors.Join(errs...)
}

// datum returns the data at a reference; nil if there is none.
func (h *Host) datum(ctx context.Context) func(ast.Ref) ast.Value {
	return func(ref ast.Ref) ast.Value {
		path, err := storage.NewPathForRef(ref)
		if err != nil {
			return nil
		}
		found, err := h.store.Read(ctx, h.txn, path)
		if err != nil {
			return nil
		}
		v, err := ast.InterfaceToValue(found)
		if err != nil {
			return nil
		}
		return v
	}
}

// firingSets are the documents in which rules fire: those of each layer that has
// any.
func (h *Host) firingSets() []string {
	paths := map[string]bool{}
	for _, m := range h.compiler.Modules {
		for _, r := range m.Rules {
			if memberOf(r) != "" && decides(r) {
				paths[strings.ReplaceAll(pathOf(r), "/", ".")] = true
			}
		}
	}
	return slices.Sorted(func(yield func(string) bool) {
		for p := range paths {
			if !yield(p) {
				return
			}
		}
	})
}

// decides reports whether a rule decides about an action.
func decides(r *ast.Rule) bool {
	path := pathOf(r)
	return path == idsPath || slices.Contains(firesPaths, path) ||
		strings.HasPrefix(path, "data/policies/") && strings.HasSuffix(path, "/"+findingsName)
}

// missTracer watches rules while they are evaluated.
type missTracer struct {
	input   ast.Value
	data    func(ast.Ref) ast.Value
	frames  map[uint64]*frame // by query
	fired   map[string]bool
	nearest map[string]*frame // by the id of the rule: of several bodies the one that came furthest
}

// frame is one evaluation of a body: how far it came.
type frame struct {
	rule  *ast.Rule // nil: a part of one, such as what follows not
	id    string    // of the rule that fires; empty: another rule refers to it
	depth int       // index of the furthest expression that failed
	stop  *topdown.Event
	in    []*frame // the bodies that the expression evaluated
	asked []*frame // the bodies that the current expression evaluated
}

// Enabled implements topdown.QueryTracer.
func (t *missTracer) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (t *missTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent implements topdown.QueryTracer.
func (t *missTracer) TraceEvent(e topdown.Event) {
	switch e.Op {
	case topdown.EnterOp:
		t.enter(&e)
	case topdown.EvalOp:
		if f := t.frames[e.QueryID]; f != nil {
			f.asked = nil
		}
	case topdown.FailOp:
		t.fail(&e)
	case topdown.ExitOp:
		if f := t.frames[e.QueryID]; f != nil && f.id != "" {
			t.fired[f.id] = true
		}
	}
}

func (t *missTracer) enter(e *topdown.Event) {
	f := &frame{depth: -1}
	if rule, ok := e.Node.(*ast.Rule); ok {
		f.rule = rule
		if decides(rule) {
			f.id = memberOf(rule)
		}
	}
	t.frames[e.QueryID] = f
	if above := t.frames[e.ParentID]; above != nil {
		above.asked = append(above.asked, f)
	}
}

func (t *missTracer) fail(e *topdown.Event) {
	f := t.frames[e.QueryID]
	expr, _ := e.Node.(*ast.Expr)
	if f == nil || expr == nil || expr.Index < f.depth {
		return
	}
	f.depth, f.stop, f.in = expr.Index, e, f.asked
	if f.id == "" {
		return
	}
	if old := t.nearest[f.id]; old == nil || f.left() <= old.left() {
		t.nearest[f.id] = f
	}
}

// left counts the lines of the body after the one that failed. What a line of
// the source was compiled to counts once.
func (f *frame) left() int {
	at, rows := f.stop.Location, map[int]bool{}
	for _, e := range f.rule.Body[min(f.depth+1, len(f.rule.Body)):] {
		if e.Location != nil && e.Location.Row > at.Row {
			rows[e.Location.Row] = true
		}
	}
	return len(rows)
}

// held counts the lines of the body before the one that failed.
func (f *frame) held() int {
	at, rows := f.stop.Location, map[int]bool{}
	for _, e := range f.rule.Body[:min(f.depth, len(f.rule.Body))] {
		if e.Location != nil && e.Location.Row < at.Row && !asksPhase(e) {
			rows[e.Location.Row] = true
		}
	}
	return len(rows)
}

// asksPhase reports whether an expression tests the phase, which is not specific to a
// call.
func asksPhase(e *ast.Expr) bool {
	found := false
	ast.WalkRefs(e, func(r ast.Ref) bool {
		found = found || r.String() == "input.phase"
		return false
	})
	return found
}

func (t *missTracer) silent(id string, f *frame) NotFired {
	s := NotFired{ID: id, At: t.stopOf(f), Held: f.held(), Left: f.left(), About: f.about()}
	for inner := f.inner(); inner != nil && len(s.In) < 3; inner = inner.inner() {
		if at := t.stopOf(inner); at.Text != s.At.Text {
			s.In = append(s.In, at)
		}
	}
	return s
}

// inner returns what failed in the bodies that a body evaluated: of several the one
// that came furthest.
func (f *frame) inner() *frame {
	var best *frame
	for _, one := range f.in {
		if one.stop != nil && one.rule != nil && (best == nil || one.left() <= best.left()) {
			best = one
		}
	}
	return best
}

func (t *missTracer) stopOf(f *frame) Stop {
	at := f.stop.Location
	s := Stop{File: at.File, Line: at.Row, Col: at.Col, Text: strings.Join(strings.Fields(string(at.Text)), " ")}
	s.Values, s.Absent = t.values(f.stop)
	return s
}

// values returns the values of the names in an expression, if they are short, and those of its fields that do not exist.
func (t *missTracer) values(e *topdown.Event) (all, absent []string) {
	body, err := ast.ParseBodyWithOpts(string(e.Location.Text), ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return nil, nil // a part of an expression
	}
	note := func(text string, v ast.Value) {
		line := text + " = " + brief(v)
		if v != nil && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Ref:
			v, field := t.find(x, e)
			switch {
			case v != nil:
				note(x.String(), v)
				return true
			case field && !slices.Contains(absent, x.String()):
				absent = append(absent, x.String())
			}
		case ast.Var:
			if v := local(x, e); v != nil {
				note(string(x), v)
			}
		}
		return false
	}).Walk(body)
	return all, absent
}

// find follows a reference into the data, the input or a local variable. It reports whether it is a field of one of the
// last two, whose value is known.
func (t *missTracer) find(ref ast.Ref, e *topdown.Event) (v ast.Value, field bool) {
	head, ok := ref[0].Value.(ast.Var)
	if !ok || len(ref) < 2 || !ref.IsGround() && len(ref.GroundPrefix()) != len(ref) {
		return nil, false
	}
	if head == ast.DefaultRootDocument.Value {
		return t.data(ref), false
	}
	from := local(head, e)
	if head == ast.InputRootDocument.Value {
		from = t.input
	}
	if from == nil {
		return nil, false
	}
	v, err := from.Find(ref[1:])
	if err != nil {
		return nil, true
	}
	return v, true
}

// local returns the value of a variable as it is written; nil: it has none.
func local(name ast.Var, e *topdown.Event) ast.Value {
	for generated, meta := range e.LocalMetadata {
		if meta.Name == name && e.Locals != nil {
			if v := e.Locals.Get(generated); v != nil {
				return v
			}
		}
	}
	return nil
}

// brief returns a short text for a value: for an object, without empty members.
func brief(v ast.Value) string {
	const most = 70
	var text string
	if doc, err := ast.JSON(v); err == nil {
		if m, ok := doc.(map[string]any); ok {
			maps.DeleteFunc(m, func(_ string, v any) bool { return v == "" || v == false || v == json.Number("0") })
		}
		raw, err := json.Marshal(doc)
		if err == nil {
			text = string(raw)
		}
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// Places returns the first place of each rule that can fire, as layer/path:line.
func (h *Host) Places() map[string]string {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(h.compiler.Modules)) {
		for _, r := range h.compiler.Modules[name].Rules {
			if id := memberOf(r); id != "" && decides(r) && all[id] == "" {
				all[id] = fmt.Sprintf("%s:%d", r.Location.File, r.Location.Row)
			}
		}
	}
	return all
}

// commonFields are the facts whose values many unrelated calls share, so that a match
// is not specific to a call.
var commonFields = map[string]bool{"phase": true, "facts": true, "types": true, "kind": true, "verb": true}

// about counts the true lines before the one that failed that are specific to this
// call, in the body and in the helpers that its last line refers to.
func (f *frame) about() int {
	n := 0
	for ; f != nil && f.stop != nil && f.rule != nil; f = f.inner() {
		rows := map[int]bool{}
		for _, e := range f.rule.Body[:min(f.depth, len(f.rule.Body))] {
			if e.Location != nil && e.Location.Row < f.stop.Location.Row && specific(e, f.rule.Module) {
				rows[e.Location.Row] = true
			}
		}
		n += len(rows)
	}
	return n
}

// specific reports whether an expression compares a fact of the call with a string or
// with a list of the policy's data. Something that must not be true, a setting, or a
// list whose members are only tried one by one is not specific. The expression is read
// as it is written, since the compiler moves references to lines of their own.
func specific(e *ast.Expr, m *ast.Module) bool {
	text := string(e.Location.Text)
	body, err := ast.ParseBodyWithOpts(text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil || e.Negated || strings.HasPrefix(text, "some ") || !compares(body[0]) {
		return false
	}
	constant, fact := false, false
	look := func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.String:
			constant = true
		case ast.Ref:
			constant = constant || v.HasPrefix(ast.DefaultRootRef)
			fact = fact || ofCall(v, m)
			return true // the fields of a reference are texts, too
		case ast.Var:
			fact = true
		}
		return false
	}
	for _, operand := range body[0].Operands() {
		ast.WalkTerms(operand, look)
	}
	return constant && fact
}

// compares reports whether an expression is a call of a built-in that is true or false.
func compares(e *ast.Expr) bool {
	if !e.IsCall() {
		return false
	}
	b := ast.BuiltinMap[e.Operator().String()]
	return b != nil && b.Decl.Result().String() == "boolean"
}

// ofCall reports whether a reference is to a fact that is not common: not to data, and
// not to what a rule of the module results in.
func ofCall(ref ast.Ref, m *ast.Module) bool {
	name, _ := ref[len(ref)-1].Value.(ast.String)
	if commonFields[string(name)] || ref.HasPrefix(ast.DefaultRootRef) {
		return false
	}
	return !slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return r.Head.Ref()[0].Value.Compare(ref[0].Value) == 0 })
}
