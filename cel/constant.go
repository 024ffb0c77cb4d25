package cel

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/debug"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxAtoms limits the comparisons of one expression that are examined together.
const maxAtoms = 10

// constants reports the first part of a condition that is the same whatever its comparisons give: A || !A.
func (i *linter) constants() {
	before := len(i.found)
	visit(i.ast.Expr(), func(e ast.Expr) {
		if len(i.found) > before || !logical(e) && !i.comparesItself(e) {
			return
		}
		t := table{keys: map[string]int{}}
		f := t.formula(e)
		if len(t.atoms) > maxAtoms {
			return
		}
		switch always, never := t.always(f); {
		case never:
			i.wrong(e, "cel.never", "this can never be true: whatever the call is, its parts contradict each other")
		case always:
			i.wrong(e, "cel.always", "this is always true, whatever the call is, so it limits nothing: remove it, or correct what it compares").
				Warning = i.part != "when" || !i.open || e.ID() != i.ast.Expr().ID()
		}
	})
}

func logical(e ast.Expr) bool {
	return isCall(e, operators.LogicalAnd) || isCall(e, operators.LogicalOr)
}

// comparesItself reports a comparison whose result is known without the input: a == a, size(a) >= 0.
func (i *linter) comparesItself(e ast.Expr) bool {
	t := table{keys: map[string]int{}}
	f := t.formula(e)
	return f.op == "constant" && e.Kind() == ast.CallKind && signs[e.AsCall().FunctionName()] != ""
}

// formula is a condition reduced to its comparisons.
type formula struct {
	op    string // and, or, not, atom, constant
	parts []formula
	atom  int
	value bool
}

// atom is a comparison about which only its text is known.
type atom struct {
	subject, value string // of subject == value: at most one value of a subject is true at once
	member         string // the list that has an item if this is true
	empty          string // the list that has none if this is true

	compared, sign string // of compared < than, or another sign
	than           float64
}

type table struct {
	keys  map[string]int
	atoms []atom
}

// shape is an expression as text, without its place.
func shape(e ast.Expr) string { return debug.ToDebugString(e) }

func (t *table) formula(e ast.Expr) formula {
	if e.Kind() == ast.LiteralKind {
		if b, ok := e.AsLiteral().(types.Bool); ok {
			return formula{op: "constant", value: bool(b)}
		}
	}
	if e.Kind() == ast.CallKind {
		args := e.AsCall().Args()
		switch name := e.AsCall().FunctionName(); {
		case name == operators.LogicalAnd || name == operators.LogicalOr:
			f := formula{op: "or"}
			if name == operators.LogicalAnd {
				f.op = "and"
			}
			for _, a := range args {
				f.parts = append(f.parts, t.formula(a))
			}
			return f
		case name == operators.LogicalNot:
			return not(t.formula(args[0]))
		case signs[name] != "" && len(args) == 2:
			return t.comparison(name, args[0], args[1])
		case name == operators.In && len(args) == 2:
			return t.atom(shape(e), atom{member: shape(args[1])})
		}
	}
	if list := existsOver(e); list != nil {
		return t.atom(shape(e), atom{member: shape(list)})
	}
	return t.atom(shape(e), atom{})
}

func not(f formula) formula { return formula{op: "not", parts: []formula{f}} }

func (t *table) atom(key string, a atom) formula {
	n, known := t.keys[key]
	if !known {
		n = len(t.atoms)
		t.keys[key], t.atoms = n, append(t.atoms, a)
	}
	return formula{op: "atom", atom: n}
}

func (t *table) comparison(op string, a, b ast.Expr) formula {
	if a.Kind() == ast.LiteralKind && b.Kind() != ast.LiteralKind {
		op, a, b = mirrored(op), b, a
	}
	left, right := shape(a), shape(b)
	if left == right {
		return formula{op: "constant", value: op == operators.Equals || op == operators.LessEquals || op == operators.GreaterEquals}
	}
	if f, ok := t.size(op, a, b); ok {
		return f
	}
	equal, less, more := atom{}, atom{}, atom{}
	if b.Kind() == ast.LiteralKind {
		equal = atom{subject: left, value: right}
		if n, err := number(b.AsLiteral()); err == nil {
			equal.compared, equal.sign, equal.than = left, "==", n
			less, more = atom{compared: left, sign: "<", than: n}, atom{compared: left, sign: ">", than: n}
		}
	}
	switch op {
	case operators.Equals:
		return t.atom(left+" == "+right, equal)
	case operators.NotEquals:
		return not(t.atom(left+" == "+right, equal))
	case operators.GreaterEquals: // the opposite of less
		return not(t.atom(left+" < "+right, less))
	case operators.LessEquals:
		return not(t.atom(left+" > "+right, more))
	case operators.Less:
		return t.atom(left+" < "+right, less)
	}
	return t.atom(left+" > "+right, more)
}

// size is a comparison of a size with a number: a size is never negative, and 0 for an empty list.
func (t *table) size(op string, a, b ast.Expr) (formula, bool) {
	if !isCall(a, "size") || len(a.AsCall().Args()) != 1 || b.Kind() != ast.LiteralKind {
		return formula{}, false
	}
	n, ok := b.AsLiteral().(types.Int)
	if !ok {
		return formula{}, false
	}
	empty := t.sized
	switch {
	case n < 0:
		return formula{op: "constant", value: op == operators.NotEquals || op == operators.Greater || op == operators.GreaterEquals}, true
	case n == 0 && (op == operators.Less || op == operators.GreaterEquals):
		return formula{op: "constant", value: op == operators.GreaterEquals}, true
	case n == 0 && (op == operators.Equals || op == operators.LessEquals), n == 1 && op == operators.Less:
		return empty(a), true
	case n == 0, n == 1 && op == operators.GreaterEquals:
		return not(empty(a)), true
	}
	return formula{}, false
}

// sized is the comparison of a size with 0.
func (t *table) sized(size ast.Expr) formula {
	return t.atom(shape(size)+" == 0", atom{subject: shape(size), value: "0", empty: shape(size.AsCall().Args()[0])})
}

// existsOver returns the list of list.exists(x, …).
func existsOver(e ast.Expr) ast.Expr {
	if e.Kind() != ast.ComprehensionKind || !isCall(e.AsComprehension().LoopStep(), operators.LogicalOr) {
		return nil
	}
	return e.AsComprehension().IterRange()
}

// always reports whether a formula is true for all possible results of its comparisons, or for none.
func (t *table) always(f formula) (always, never bool) {
	always, never = true, true
	for bits := range 1 << len(t.atoms) {
		if !t.possible(bits) {
			continue
		}
		if f.holds(bits) {
			never = false
		} else {
			always = false
		}
	}
	return always, never
}

// possible reports whether comparisons can have these results together.
func (t *table) possible(bits int) bool {
	for x, a := range t.atoms {
		for y, b := range t.atoms {
			if x == y || bits>>x&1 == 0 || bits>>y&1 == 0 {
				continue
			}
			if a.subject != "" && a.subject == b.subject && a.value != b.value || a.empty != "" && a.empty == b.member {
				return false
			}
		}
	}
	return t.inRange(bits)
}

// inRange reports whether some number has these results of its comparisons with others.
func (t *table) inRange(bits int) bool {
	asked := map[string]*engine.Demand{}
	for x, a := range t.atoms {
		sign := a.sign
		if bits>>x&1 == 0 {
			sign = map[string]string{"<": ">=", ">": "<="}[sign]
		}
		if sign == "" {
			continue
		}
		if asked[a.compared] == nil {
			asked[a.compared] = engine.NewDemand()
		}
		if asked[a.compared].Number(sign, a.than); !asked[a.compared].Possible() {
			return false
		}
	}
	return true
}

func (f formula) holds(bits int) bool {
	switch f.op {
	case "constant":
		return f.value
	case "atom":
		return bits>>f.atom&1 == 1
	case "not":
		return !f.parts[0].holds(bits)
	}
	for _, p := range f.parts {
		if p.holds(bits) == (f.op == "or") {
			return f.op == "or"
		}
	}
	return f.op == "and"
}
