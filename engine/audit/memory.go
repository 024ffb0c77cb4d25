package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
)

// Memory is what a process that lasts knows of the chains on disk: which it folded from their first line, and where each
// of them ended. So it notices what a program of the same user cuts, rewrites or removes. It is safe for concurrent use; all
// stores of one process share it.
type Memory struct {
	mu     sync.Mutex
	ends   map[string]seen // by folder
	before map[string]seen // of the process whose work this one continues, or of hooks
	parts  map[string][]Wrote
}

// seen is a line that a process knows.
type seen struct {
	chain string
	n     int64
	head  string
	from  int64 // lines up to this one are those of others
}

// last returns the newest known line of the chain in a folder, and whether this process folded it.
func (m *Memory) last(dir string) (s seen, known, folded bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, folded = m.ends[dir]; folded {
		s, known = m.join(dir, s, true)
		m.ends[dir] = s
		return s, true, true
	}
	s, known = m.before[dir]
	if s, known = m.join(dir, s, known); known {
		if m.before == nil {
			m.before = map[string]seen{}
		}
		m.before[dir] = s
	}
	return s, known, false
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
		m.before[h.Dir] = seen{h.Chain, h.N, h.Head, h.From}
	}
	return nil
}
