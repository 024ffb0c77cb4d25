package reuse

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Memory keeps the values of documents of one policy by the parts of the input that they
// read. A document whose parts have the same values again is not evaluated again, so an
// evaluation with a memory has the same result as one without. Documents that read the time
// or raw arguments are not kept, nor those that are hardly ever found again. It is safe for
// concurrent use.
type Memory struct {
	plan   *Plan
	limits Limits
	counts *Counts
	of     []int // the group of each document; -1: it is not kept

	mu     sync.Mutex
	groups []group
	seen   []seen // the values of each part of the input
	size   int
	era    int       // raised when the memory is emptied
	until  time.Time // when it is emptied
}

// Limits bound a memory.
type Limits struct {
	Size int           // values, of documents and of parts of the input
	Life time.Duration // after this time the memory is emptied
	Now  func() time.Time
}

// Counts are the documents that were found in memories, and those that were not.
type Counts struct{ Hits, Misses atomic.Int64 }

// group is the documents that read the same parts of the input, and thus have the same key.
type group struct {
	inputs       []int
	kept         map[string]map[int]*ast.Term // by key, then by document; nil: undefined
	hits, misses int
}

// seen is the values that a part of the input had, with a number for each.
type seen struct {
	byHash map[int][]numbered
	last   uint32
}

// missing is the number of a part that an input does not have.
const missing = 1

type numbered struct {
	value  ast.Value
	number uint32
}

// trial is the number of lookups after which a group is given up, unless half of them
// succeeded.
const trial = 64

// NewMemory returns a memory for the documents of a plan.
func NewMemory(p *Plan, l Limits, c *Counts) *Memory {
	m := &Memory{plan: p, limits: l, counts: c, of: make([]int, len(p.docs))}
	reads := p.allReads()
	byReads := map[string]int{}
	for n := range p.docs {
		m.of[n] = -1
		if !p.keepable(reads[n]) {
			continue
		}
		key := ""
		for _, i := range reads[n] {
			key += string(rune(i))
		}
		g, known := byReads[key]
		if !known {
			g = len(m.groups)
			byReads[key] = g
			m.groups = append(m.groups, group{inputs: reads[n]})
		}
		m.of[n] = g
	}
	return m
}

// allReads lists the parts of the input that each document reads, directly or through
// others.
func (p *Plan) allReads() [][]int {
	all := make([][]int, len(p.docs))
	for n, d := range p.docs {
		set := map[int]bool{}
		for _, i := range d.inputs {
			set[i] = true
		}
		for _, dep := range d.deps {
			for _, i := range all[dep] {
				set[i] = true
			}
		}
		for i := range p.inputs {
			if set[i] {
				all[n] = append(all[n], i)
			}
		}
	}
	return all
}

// keepable reports whether the values of these parts are compared exactly, and can occur
// again. Numbers in raw arguments can be equal and yet be written differently.
func (p *Plan) keepable(reads []int) bool {
	for _, i := range reads {
		switch path := p.inputs[i]; {
		case len(path) == 1, path[1].Equal(ast.StringTerm("time")):
			return false
		case path[1].Equal(ast.StringTerm("event")) && (len(path) == 2 || path[2].Equal(ast.StringTerm("args"))):
			return false
		}
	}
	return true
}

// Begin returns the cache for an evaluation.
func (m *Memory) Begin(input ast.Value) *Remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.limits.Now(); !now.Before(m.until) || m.size >= m.limits.Size {
		m.empty(now)
	}
	return &Remembered{Values: *m.plan.Begin(input), memory: m, era: m.era,
		numbers: make([]uint32, len(m.plan.inputs)), keys: make([]string, len(m.groups))}
}

func (m *Memory) empty(now time.Time) {
	m.size, m.until, m.seen = 0, now.Add(m.limits.Life), make([]seen, len(m.plan.inputs))
	m.era++
	for i := range m.groups {
		m.groups[i].kept = map[string]map[int]*ast.Term{}
	}
}

// Remembered is the cache of an evaluation with a memory.
type Remembered struct {
	Values
	memory  *Memory
	era     int
	numbers []uint32 // of the parts of this input; 0: not known yet
	keys    []string // of the groups; empty: not known yet
}

// Get implements topdown.VirtualCache.
func (r *Remembered) Get(ref ast.Ref) (*ast.Term, bool) {
	n := r.document(ref)
	if n < 0 {
		return r.VirtualCache.Get(ref)
	}
	if !r.slots[n].known {
		term, known := r.memory.find(r, n)
		r.slots[n] = slot{term, known}
	}
	return r.slots[n].term, r.slots[n].known && r.slots[n].term == nil
}

// Put implements topdown.VirtualCache.
func (r *Remembered) Put(ref ast.Ref, value *ast.Term) {
	n := r.document(ref)
	r.Values.Put(ref, value)
	if n >= 0 {
		r.memory.keep(r, n, value)
	}
}

func (m *Memory) find(r *Remembered, n int) (*ast.Term, bool) {
	if m.of[n] < 0 {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g := &m.groups[m.of[n]]
	if r.era != m.era || g.useless() {
		return nil, false
	}
	term, known := g.kept[m.key(r, m.of[n])][n]
	if known {
		g.hits++
		m.counts.Hits.Add(1)
	} else {
		g.misses++
		m.counts.Misses.Add(1)
	}
	return term, known
}

func (m *Memory) keep(r *Remembered, n int, term *ast.Term) {
	if m.of[n] < 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g := &m.groups[m.of[n]]
	if r.era != m.era || g.useless() {
		return
	}
	key := m.key(r, m.of[n])
	if g.kept[key] == nil {
		g.kept[key] = map[int]*ast.Term{}
	}
	if _, known := g.kept[key][n]; !known {
		m.size++
	}
	g.kept[key][n] = term
}

func (g *group) useless() bool { return g.hits+g.misses >= trial && g.hits < g.misses }

// key identifies the values of the parts of the input that a group reads.
func (m *Memory) key(r *Remembered, g int) string {
	if r.keys[g] != "" {
		return r.keys[g]
	}
	key := []byte{0} // none is empty
	for _, i := range m.groups[g].inputs {
		if r.numbers[i] == 0 {
			r.numbers[i] = m.number(i, r.input)
		}
		key = binary.LittleEndian.AppendUint32(key, r.numbers[i])
	}
	r.keys[g] = string(key)
	return r.keys[g]
}

// number returns the number of the value of a part: equal values have the same.
func (m *Memory) number(i int, input ast.Value) uint32 {
	v, err := input.Find(m.plan.inputs[i][1:])
	if err != nil {
		return missing
	}
	s, hash := &m.seen[i], v.Hash()
	for _, old := range s.byHash[hash] {
		if old.value.Compare(v) == 0 {
			return old.number
		}
	}
	if s.byHash == nil {
		s.byHash, s.last = map[int][]numbered{}, missing
	}
	s.last++
	m.size++
	s.byHash[hash] = append(s.byHash[hash], numbered{v, s.last})
	return s.last
}
