package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
)

// Visit is what a process that answers one event does in the log, for the process that lasts: that one takes these lines for
// those of a hook. A Visit is safe for concurrent use.
type Visit struct {
	Alone bool // no process lasts that heard what people wrote before, so that it no longer makes policy milder

	mu    sync.Mutex
	wrote map[string]Wrote
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

// add records what was written while the chain was locked.
func (v *Visit) add(h *lockedChain) {
	if v == nil || !h.wrote || h.key == (engine.SessionKey{}) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wrote == nil {
		v.wrote = map[string]Wrote{}
	}
	w, known := v.wrote[h.c.dir]
	if !known || w.Head != h.before.Head {
		w = Wrote{Folder: filepath.Base(h.c.dir), Chain: h.c.state.Chain, After: h.before.N, Before: h.before.Head}
	}
	w.N, w.Head = h.c.state.N, h.c.end.Head
	v.wrote[h.c.dir] = w
}

// Wrote returns what was written so far.
func (v *Visit) Wrote() []Wrote {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []Wrote
	for _, w := range v.wrote {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Wrote) int { return cmp.Compare(a.Folder, b.Folder) })
	return list
}

// maxParts bounds the parts of a chain that wait for those before them.
const maxParts = 64

// Hear takes the lines that a hook wrote for lines of a hook. home is the state directory.
func (m *Memory) Hear(home string, r io.Reader) error {
	var list []Wrote
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return fmt.Errorf("read what a hook wrote: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.parts == nil {
		m.parts = map[string][]Wrote{}
	}
	for _, w := range list {
		dir := filepath.Join((&Store{Dir: home}).sessionsDir(), filepath.Base(w.Folder))
		m.parts[dir] = append(m.parts[dir], w)
		if len(m.parts[dir]) > maxParts {
			delete(m.parts, dir)
		}
	}
	return nil
}

// join adds to the newest known line of a chain the parts that hooks wrote after it.
func (m *Memory) join(dir string, s seen, known bool) (seen, bool) {
	parts := m.parts[dir]
	delete(m.parts, dir)
	slices.SortFunc(parts, func(a, b Wrote) int { return cmp.Compare(a.After, b.After) })
	for _, w := range parts {
		if !known {
			s, known = seen{chain: w.Chain, n: w.After, head: w.Before, from: w.After}, true
		}
		if w.Chain == s.chain && w.After == s.n && w.Before == s.head {
			s.n, s.head = w.N, w.Head
		}
	}
	return s, known
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
		if c.ends != engine.ExpireAll || r.Control.Mode != engine.ExpireWords && r.Control.Mode != engine.ExpirePermits {
			c.ends = ""
		}
	case r.N > c.seen.from && r.N <= c.seen.n: // known
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
