package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
)

// Memory is what a process that lasts knows of the chains on disk: which it folded from their first line, and where each
// of them ended. So it notices what a program of the same user cuts, rewrites or removes. It is safe for concurrent use; all
// stores of one process share it.
type Memory struct {
	mu     sync.Mutex
	ends   map[string]seen // by folder
	before map[string]seen // of the process whose work this one continues
	parts  map[string][]Wrote
}

// seen is a line that a process knows, and what it knows of those after it.
type seen struct {
	chain string
	n     int64
	head  string
	from  int64   // lines up to this one are those of others
	told  []Wrote // by hooks
}

// last returns the newest known line of the chain in a folder, and whether this process folded it.
func (m *Memory) last(dir string) (s seen, known, folded bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, folded = m.ends[dir]
	if known = folded; !known {
		s, known = m.before[dir]
	}
	s.told = slices.Clone(m.parts[dir])
	slices.SortFunc(s.told, func(a, b Wrote) int { return cmp.Compare(a.After, b.After) })
	if !known && len(s.told) > 0 {
		first := s.told[0]
		s.chain, s.n, s.head, s.from, known = first.Chain, first.After, first.Before, first.After, true
	}
	return s, known, folded
}

// heard reports whether this process or a hook wrote a line after which a chain has a hash.
func (s *seen) heard(r *engine.Record, head string) bool {
	if r.N <= s.n {
		return r.N > s.from
	}
	return slices.ContainsFunc(s.told, func(w Wrote) bool {
		return w.Chain == r.Chain && w.After < r.N && (r.N < w.N || r.N == w.N && head == w.Head)
	})
}

// end returns the number of the newest known line.
func (s *seen) end() int64 {
	n := s.n
	for _, w := range s.told {
		n = max(n, w.N)
	}
	return n
}

// keep remembers where a chain ends.
func (m *Memory) keep(c *chain) {
	if m == nil || c.state.Empty() || c.ends != "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ends == nil {
		m.ends = map[string]seen{}
	}
	m.ends[c.dir] = seen{chain: c.state.Chain, n: c.state.N, head: c.end.Head}
	left := slices.DeleteFunc(m.parts[c.dir], func(w Wrote) bool { return w.N <= c.state.N })
	if delete(m.parts, c.dir); len(left) > 0 {
		m.parts[c.dir] = left
	}
}

// handed is an entry of the file that hands a Memory over.
type handed struct {
	Dir   string `json:"dir"`
	Chain string `json:"chain"`
	N     int64  `json:"n"`
	Head  string `json:"head"`
	From  int64  `json:"from,omitempty"`
}

// Write writes what m knows for the process that continues.
func (m *Memory) Write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []handed
	known := maps.Clone(m.before)
	if known == nil {
		known = map[string]seen{}
	}
	maps.Copy(known, m.ends)
	for dir, s := range known {
		list = append(list, handed{dir, s.chain, s.n, s.head, s.from})
	}
	return json.NewEncoder(w).Encode(list)
}

// Read adds what the process before knew. Chains are folded from their first lines again.
func (m *Memory) Read(r io.Reader) error {
	var list []handed
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return fmt.Errorf("read what the process before knew: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = map[string]seen{}
	for _, h := range list {
		m.before[h.Dir] = seen{chain: h.Chain, n: h.N, head: h.Head, from: h.From}
	}
	return nil
}

// Visit is what a process that answers one event does in the log, for the process that lasts: that one takes these lines for
// those of a hook.
type Visit struct {
	Alone bool        // no process lasts that heard what people wrote before, so that it no longer makes policy milder
	Tell  func(Wrote) // is called with each part that was written, before others can read it
}

// Wrote is a part of a session's chain.
type Wrote struct {
	Folder string `json:"folder"` // of the session
	Chain  string `json:"chain"`
	After  int64  `json:"after"` // number of the line before the part; 0: the part begins the chain
	Before string `json:"before"`
	N      int64  `json:"n"` // number of its last line
	Head   string `json:"head"`
}

// tell reports what was written while the chain was locked.
func (v *Visit) tell(h *lockedChain) {
	if v != nil && v.Tell != nil && h.wrote && h.key != (engine.SessionKey{}) {
		v.Tell(Wrote{filepath.Base(h.c.dir), h.c.state.Chain, h.before.N, h.before.Head, h.c.state.N, h.c.end.Head})
	}
}

// maxParts bounds the parts of a chain that were not read yet.
const maxParts = 64

// Hear takes the lines that a hook wrote for lines of a hook. home is the state directory.
func (m *Memory) Hear(home string, r io.Reader) error {
	var w Wrote
	if err := json.NewDecoder(r).Decode(&w); err != nil {
		return fmt.Errorf("read what a hook wrote: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.parts == nil {
		m.parts = map[string][]Wrote{}
	}
	dir := filepath.Join((&Store{Dir: home}).sessionsDir(), filepath.Base(w.Folder))
	if m.parts[dir] = append(m.parts[dir], w); len(m.parts[dir]) > maxParts {
		delete(m.parts, dir)
	}
	return nil
}

// unheard makes a chain look for lines that no hook is known to have written: they may say anything.
func (c *chain) unheard(known bool) {
	if c.watched = true; !known {
		c.seen.from = math.MaxInt64 // they may be those of hooks that came before
	}
}

// watch follows what ends because of a line from the disk. What people wrote before this process began ends; after
// a line that appeared since, nothing counts that is not signed.
func (c *chain) watch(r *engine.Record) {
	switch {
	case !c.watched:
	case r.Kind == engine.KindControl && r.Control != nil && r.Control.Of == "" && r.Control.Do == engine.ControlExpire:
		switch r.Control.Mode {
		case engine.ExpireNothing:
		case engine.ExpireWords, engine.ExpirePermits:
			if c.ends == engine.ExpireWords {
				c.ends = ""
			}
		default:
			c.ends = ""
		}
	case c.seen.heard(r, c.end.Head):
	case r.N > c.seen.from && slices.Contains([]engine.Kind{engine.KindPrompt, engine.KindPre, engine.KindPost}, r.Kind):
		c.ends = engine.ExpireAll
	case (r.Kind == engine.KindPrompt || r.Kind == engine.KindPost) && c.ends == "":
		c.ends = engine.ExpireWords
	}
}

// heed ends what counts no longer because of what watch found.
func (h *lockedChain) heed() error {
	mode, why := h.c.ends, "what people wrote before no longer counts: the resident process that received it has ended"
	if mode == engine.ExpireAll {
		why = "what people wrote and what results showed no longer counts: the log has lines that no hook is known to have written"
	}
	if v := h.s.Visit; mode == "" && v != nil && v.Alone && !h.c.began {
		mode = engine.ExpireWords
	}
	if h.c.began = true; mode == "" || mode == engine.ExpireWords && !h.c.state.Heeds() {
		h.c.ends = ""
		return nil
	}
	err := h.choose(engine.Control{Do: engine.ControlExpire, Mode: mode, By: "reviewer", Reason: why})
	if err == nil {
		h.c.ends = ""
	}
	return err
}
