package reuse

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Values are the documents of one evaluation, as they become known. It is the cache of the
// evaluation. What is computed under `with` is in frames of its own, and never reused.
type Values struct {
	topdown.VirtualCache // everything that is not a document
	plan                 *Plan
	input                ast.Value
	depth                int
	slots                []slot

	pair *Pair   // nil: nothing is reused
	from *Values // the other evaluation
	same []bool  // whether each document has the value that it has there
}

// slot is a document in one evaluation.
type slot struct {
	term  *ast.Term // nil: undefined
	known bool
}

// Begin returns the cache for an evaluation.
func (p *Plan) Begin(input ast.Value) *Values {
	return &Values{VirtualCache: topdown.NewVirtualCache(), plan: p, input: input, slots: make([]slot, len(p.docs))}
}

// Push implements topdown.VirtualCache.
func (v *Values) Push() { v.depth++; v.VirtualCache.Push() }

// Pop implements topdown.VirtualCache.
func (v *Values) Pop() { v.depth--; v.VirtualCache.Pop() }

// Get implements topdown.VirtualCache.
func (v *Values) Get(ref ast.Ref) (*ast.Term, bool) {
	n := v.document(ref)
	if n < 0 {
		return v.VirtualCache.Get(ref)
	}
	s := v.slot(n)
	return s.term, s.known && s.term == nil
}

// Put implements topdown.VirtualCache.
func (v *Values) Put(ref ast.Ref, value *ast.Term) {
	if n := v.document(ref); n >= 0 {
		v.slots[n] = slot{value, true}
	} else {
		v.VirtualCache.Put(ref, value)
	}
}

func (v *Values) document(ref ast.Ref) int {
	if v.depth > 0 {
		return -1
	}
	return v.plan.root.find(ref)
}

// slot returns what is known about a document, here or where it has the same value.
func (v *Values) slot(n int) slot {
	if s := v.slots[n]; s.known || v.same == nil || !v.same[n] {
		return s
	}
	v.slots[n] = v.from.slot(v.pair.docs[n])
	return v.slots[n]
}

// Pair is two plans, and which of their documents could have the same values.
type Pair struct {
	from, to *Plan
	docs     []int      // of each document of to, its number in from; -1: it is not there
	own      []bool     // it is computed with the same rules and data there, except through other documents
	whole    []bool     // likewise, through all documents
	reads    [][]uint64 // bits of to.inputs, through all documents
	differ   []int      // documents that are not whole
}

// NewPair compares two plans.
func NewPair(from, to *Plan) *Pair {
	p := &Pair{from: from, to: to}
	words := (len(to.inputs) + 63) / 64
	for n, d := range to.docs {
		other, known := from.number[d.path]
		own := known && from.docs[other].own == d.own
		whole, reads := own, make([]uint64, words)
		for _, i := range d.inputs {
			reads[i/64] |= 1 << (i % 64)
		}
		for _, dep := range d.deps {
			whole = whole && p.whole[dep]
			for i, bits := range p.reads[dep] {
				reads[i] |= bits
			}
		}
		if !known {
			other = -1
		}
		p.docs, p.own, p.whole, p.reads = append(p.docs, other), append(p.own, own), append(p.whole, whole), append(p.reads, reads)
		if !whole {
			p.differ = append(p.differ, n)
		}
	}
	return p
}

// Compute evaluates the document at a path with a cache. undefined: term is nil.
type Compute func(path string, values *Values) (term *ast.Term, err error)

// Begin returns the cache for an evaluation of the second plan with what the first has
// computed. A document that differs is computed under both plans, since most often its
// value is the same nevertheless; then those that refer to it are the same, too.
func (p *Pair) Begin(from *Values, input ast.Value, before, now Compute) *Values {
	v := p.to.Begin(input)
	v.pair, v.from = p, from
	changed := p.changedInputs(from.input, input)
	v.same = make([]bool, len(p.docs))
	if changed == nil {
		copy(v.same, p.whole)
	} else {
		for n := range p.docs {
			v.same[n] = p.whole[n] && !overlap(p.reads[n], changed)
		}
	}
	for _, n := range p.differ {
		v.same[n] = p.own[n] && v.depsSame(n) && !v.readsChanged(n, changed) || v.proven(n, before, now)
	}
	return v
}

func (v *Values) depsSame(n int) bool {
	for _, dep := range v.plan.docs[n].deps {
		if !v.same[dep] {
			return false
		}
	}
	return true
}

func (v *Values) readsChanged(n int, changed []uint64) bool {
	if changed != nil {
		for _, i := range v.plan.docs[n].inputs {
			if changed[i/64]&(1<<(i%64)) != 0 {
				return true
			}
		}
	}
	return false
}

// proven computes a document under both plans and reports whether its value is the same.
func (v *Values) proven(n int, before, now Compute) bool {
	if v.pair.docs[n] < 0 || v.pair.own[n] && !v.from.slot(v.pair.docs[n]).known {
		return false
	}
	was, ok := v.from.computed(v.pair.docs[n], before)
	if !ok {
		return false
	}
	is, ok := v.computed(n, now)
	return ok && identical(was, is)
}

// identical is more than equality: 1 and 1.0 are written differently.
func identical(a, b *ast.Term) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b) && a.String() == b.String()
}

func (v *Values) computed(n int, compute Compute) (*ast.Term, bool) {
	if s := v.slot(n); s.known {
		return s.term, true
	}
	term, err := compute(v.plan.docs[n].path, v)
	if err != nil {
		return nil, false
	}
	v.slots[n] = slot{term, true}
	return term, true
}

// Same reports whether a document has the same value as in the other evaluation.
func (v *Values) Same(path string) bool {
	n, known := v.plan.number[path]
	return known && v.same != nil && v.same[n]
}

// changedInputs returns the parts of the input that differ, as bits; nil: none.
func (p *Pair) changedInputs(was, is ast.Value) []uint64 {
	if was == is {
		return nil
	}
	var changed []uint64
	for i, ref := range p.to.inputs {
		if !equalAt(was, is, ref[1:]) {
			if changed == nil {
				changed = make([]uint64, (len(p.to.inputs)+63)/64)
			}
			changed[i/64] |= 1 << (i % 64)
		}
	}
	return changed
}

func equalAt(was, is ast.Value, path ast.Ref) bool {
	a, aerr := was.Find(path)
	b, berr := is.Find(path)
	if aerr != nil || berr != nil {
		return aerr != nil && berr != nil
	}
	return a.Compare(b) == 0
}

func overlap(a, b []uint64) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
