//go:build e2e && linux

package agents

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// report is what the run found, and is printed at its end.
var report results

// A result is what one cell of a client gave.
type result struct {
	cell      string
	got, want Outcome
	took      time.Duration
}

// results are those of one run, by client.
type results struct {
	mu      sync.Mutex
	clients []Installed
	cells   map[string][]result
}

func (r *results) add(c Installed, one result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cells == nil {
		r.cells = map[string][]result{}
	}
	if r.cells[c.Name] == nil {
		r.clients = append(r.clients, c)
	}
	r.cells[c.Name] = append(r.cells[c.Name], one)
}

// print writes a line for each client, and one for each cell in which it behaves
// differently from the version in its row does.
func (r *results) print(w io.Writer) {
	for _, c := range r.clients {
		var took time.Duration
		changed := ""
		for _, one := range r.cells[c.Name] {
			took += one.took
			if one.got != one.want {
				changed += fmt.Sprintf("  %s: %s, was %s\n", one.cell, one.got, one.want)
			}
		}
		version := c.Version
		if tested := c.Client.Version; tested != version {
			version += " (tested: " + tested + ")"
		}
		fmt.Fprintf(w, "%s %s: %d cells, %.0f s in the client\n%s", c.Name, version, len(r.cells[c.Name]), took.Seconds(), changed)
	}
}
