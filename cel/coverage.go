package cel

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/parser"
)

// Coverage records for each question inside conditions whether it was ever true
// and ever false. It is safe for concurrent use, and one may serve several
// hosts: the key is the condition's id and its text.
type Coverage struct {
	mu       sync.Mutex
	of       map[[3]string]*watched // id, part, text
	language *language              // that remembers how macros were written
}

// NewCoverage returns an empty Coverage.
func NewCoverage() *Coverage { return &Coverage{of: map[[3]string]*watched{}} }

// Cover makes the host record the results of its conditions, each in a second
// evaluation in addition to the one that counts. It must be called before the first
// evaluation.
func (h *Host) Cover(c *Coverage) {
	for _, e := range h.expressions() {
		e.cover = sync.OnceValue(func() *watched { return c.watch(h, e) })
	}
}

// Branch is a Boolean part of a condition.
type Branch struct {
	ID, Part     string // of the condition
	Line, Column int    // in the text of the part, from 1
	Text         string
	True, False  bool // whether it ever was
}

// Branches lists the branches of all conditions of a covered host, by id and place.
// Conditions that do not compile have none.
func (h *Host) Branches() []Branch {
	var all []Branch
	for _, e := range h.expressions() {
		if e.cover == nil {
			continue
		}
		for _, n := range e.cover().nodes {
			b := n.Branch
			b.True, b.False = n.yes.Load(), n.no.Load()
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b Branch) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(b.Part, a.Part), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// watched is an expression whose questions are observed.
type watched struct {
	program cel.Program // nil: it does not compile
	nodes   []*node     // as they are written
}

// node is a question and its results.
type node struct {
	Branch
	yes, no atomic.Bool
}

func (c *Coverage) watch(h *Host, e *expression) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [3]string{e.id, e.part, e.text}
	if w, known := c.of[key]; known {
		return w
	}
	c.of[key] = &watched{}
	if c.language == nil {
		c.language = h.tracking()
	}
	if c.language != nil {
		c.of[key] = c.language.watched(e)
	}
	return c.of[key]
}

// tracking is the host's language, which remembers how macros were written; nil
// if there is none.
func (h *Host) tracking() *language {
	l, err := h.language()
	if err != nil {
		return nil // each condition reports it
	}
	env, err := l.env.Extend(cel.EnableMacroCallTracking())
	if err != nil {
		return nil
	}
	return &language{env, l.types, l.names}
}

func (l *language) watched(e *expression) *watched {
	checked, issues := l.env.Compile(e.text)
	if issues.Err() != nil {
		return &watched{}
	}
	f := &questions{expression: e, tree: checked.NativeRep(), of: map[int64]*node{}}
	f.walk(f.tree.Expr())
	program, err := l.env.Program(checked, cel.CustomDecoratorV2(f.decorate), cel.CostLimit(refuseCost))
	if err != nil {
		return &watched{}
	}
	return &watched{program, f.list}
}

// questions finds the Boolean parts of an expression's source, without the
// parts to which macros such as exists expand.
type questions struct {
	*expression
	tree *ast.AST
	of   map[int64]*node
	list []*node
}

func (q *questions) walk(e ast.Expr) {
	written := q.written(e)
	if q.asks(e.ID(), written) {
		q.add(e.ID(), written)
	}
	for _, child := range children(written) {
		q.walk(child)
	}
}

// written is an expression before macros were expanded.
func (q *questions) written(e ast.Expr) ast.Expr {
	if call, macro := q.tree.SourceInfo().GetMacroCall(e.ID()); macro {
		return call
	}
	return e
}

// asks omits constants, and negations, whose operand is equivalent.
func (q *questions) asks(id int64, written ast.Expr) bool {
	constant := written.Kind() == ast.LiteralKind
	negation := written.Kind() == ast.CallKind && written.AsCall().FunctionName() == operators.LogicalNot
	return !constant && !negation && q.tree.GetType(id).IsExactType(types.BoolType)
}

func (q *questions) add(id int64, written ast.Expr) {
	text, err := parser.Unparse(written, q.tree.SourceInfo())
	if err != nil {
		text = q.text
	}
	at := q.tree.SourceInfo().GetLocationByOffset(q.start(id, written))
	n := &node{Branch: Branch{
		ID: q.id, Part: q.part, Line: at.Line(), Column: at.Column() + 1, Text: strings.Join(strings.Fields(text), " "),
	}}
	q.of[id] = n
	q.list = append(q.list, n)
}

// start returns where the leftmost part of an expression begins: CEL's own
// place of a call is that of its operator, or of its parenthesis.
func (q *questions) start(id int64, written ast.Expr) int32 {
	at, _ := q.tree.SourceInfo().GetOffsetRange(id)
	first := at.Start
	if written.Kind() == ast.CallKind {
		name := []rune(written.AsCall().FunctionName())
		if before := []rune(q.text)[:first]; strings.HasSuffix(string(before), string(name)) {
			first -= int32(len(name))
		}
	}
	for _, child := range children(written) {
		first = min(first, q.start(child.ID(), q.written(child)))
	}
	return first
}

func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.CallKind:
		c := e.AsCall()
		if c.IsMemberFunction() {
			return append([]ast.Expr{c.Target()}, c.Args()...)
		}
		return c.Args()
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var all []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			all = append(all, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return all
	}
	return nil
}

// decorate adds an observer to the questions of a program.
func (q *questions) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	n, asked := q.of[i.ID()]
	if _, constant := i.(interpreter.InterpretableConst); !asked || constant {
		return i, nil
	}
	if _, twice := i.(*observer); twice {
		return i, nil
	}
	return &observer{i, n}, nil
}

// observer is an evaluation step whose results are noted.
type observer struct {
	interpreter.InterpretableV2
	node *node
}

func (e *observer) Eval(vars interpreter.Activation) ref.Val {
	return e.note(e.InterpretableV2.Eval(vars))
}

func (e *observer) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return e.note(e.InterpretableV2.Exec(frame))
}

func (e *observer) note(v ref.Val) ref.Val {
	switch v {
	case types.True:
		e.node.yes.Store(true)
	case types.False:
		e.node.no.Store(true)
	}
	return v
}
