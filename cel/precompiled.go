package cel

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"google.golang.org/protobuf/proto"

	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
)

// precompiledFormat is part of each sum. It changes with the format of the bytes.
const precompiledFormat = "reviewer compiled conditions 1"

// precompiledKey identifies an expression: its part of the condition determines which types it may
// have.
type precompiledKey struct{ part, text string }

// Precompile returns the compiled expressions of conditions as bytes, for CompileFrom. The same
// conditions give the same bytes.
func Precompile(conditions []Condition) ([]byte, error) {
	h, err := Compile(conditions)
	if err != nil {
		return nil, err
	}
	all := map[precompiledKey]*program{}
	for _, e := range h.expressions() {
		p, errs := e.compile()
		if len(errs) > 0 {
			return nil, join(errs)
		}
		all[precompiledKey{e.part, e.text + h.names.types(e.text)}] = p
	}
	sum := precompiledSum()
	out := slices.Clone(sum[:])
	text := func(s string) { out = append(binary.AppendUvarint(out, uint64(len(s))), s...) }
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b precompiledKey) int {
		return bytes.Compare([]byte(a.part+"\x00"+a.text), []byte(b.part+"\x00"+b.text))
	}) {
		checked, err := cel.AstToCheckedExpr(all[k].checked)
		if err != nil {
			return nil, fmt.Errorf("write %q: %w", k.text, err)
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(checked)
		if err != nil {
			return nil, fmt.Errorf("write %q: %w", k.text, err)
		}
		text(k.part)
		text(k.text)
		out = binary.AppendUvarint(out, all[k].max)
		text(string(raw))
	}
	return out, nil
}

// CompileFrom is Compile with the bytes that Precompile returned. Expressions that are in them are
// neither parsed nor checked, which is most of the work of a hook that compiles a condition. All
// others are compiled.
func CompileFrom(raw []byte, conditions []Condition) (*Host, error) {
	h, err := Compile(conditions)
	if err != nil {
		return nil, err
	}
	h.known = sync.OnceValue(func() map[precompiledKey]precompiled { return readPrecompiled(raw) })
	return h, nil
}

// precompiled is an expression that was compiled before.
type precompiled struct {
	max uint64 // its cost
	raw []byte // a CheckedExpr
}

// readPrecompiled lists the expressions in the bytes; none if they were written by another version.
func readPrecompiled(raw []byte) map[precompiledKey]precompiled {
	sum := precompiledSum()
	rest, ok := bytes.CutPrefix(raw, sum[:])
	if !ok {
		return nil
	}
	all := map[precompiledKey]precompiled{}
	r := &precompiledReader{rest: rest}
	for len(r.rest) > 0 && r.err == nil {
		k := precompiledKey{string(r.text()), string(r.text())}
		all[k] = precompiled{r.number(), r.text()}
	}
	if r.err != nil {
		return nil
	}
	return all
}

// precompiledReader reads numbers and texts.
type precompiledReader struct {
	rest []byte
	err  error
}

func (r *precompiledReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.err = nil, errors.New("compiled conditions are cut off")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *precompiledReader) text() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errors.New("compiled conditions are cut off")
		return nil
	}
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

// precompiledSum identifies what determines the bytes other than the expressions: their format, the
// version of the compiler, and the names and types that expressions may use.
func precompiledSum() [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", precompiledFormat, Version)
	types := newSchema()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(h, "%s\x00", name)
		for _, field := range types[name].names {
			fmt.Fprintf(h, "%s %s\x00", field, types[name].fields[field].Type)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// load is compile for an expression that was compiled before; nil: it was not.
func (l *language) load(e *expression, names *Names, known map[precompiledKey]precompiled) *program {
	k, there := known[precompiledKey{e.part, e.text + names.types(e.text)}]
	var checked exprpb.CheckedExpr
	if !there || proto.Unmarshal(k.raw, &checked) != nil {
		return nil
	}
	ast, err := cel.CheckedExprToAstWithSource(&checked, common.NewTextSource(e.text))
	if err != nil {
		return nil
	}
	p, err := l.plan(ast, k.max)
	if err != nil {
		return nil
	}
	return p
}

// plan makes the program of a checked expression with a cost.
func (l *language) plan(checked *cel.Ast, most uint64) (*program, error) {
	p := &program{checked: checked, max: most, limited: most > EvalLimit}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if p.limited {
		options = append(options, cel.CostLimit(EvalLimit))
	}
	var err error
	p.Program, err = l.env.Program(checked, options...)
	return p, err
}

// tooCostly reports whether a cost is known, and above the limit.
func tooCostly(most uint64) bool { return most >= refuseCost && most < math.MaxUint64 }
