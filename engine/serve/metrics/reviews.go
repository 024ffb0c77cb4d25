package metrics

import (
	"fmt"
	"io"
)

// reviews counts how events were reviewed.
type reviews struct {
	slow int
}

// Reviewed counts an answer by how it was reviewed. Slow: it took more CPU time than the policy
// expects.
func (m *Meter) Reviewed(slow bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slow {
		m.reviews.slow++
	}
}

func (r *reviews) write(w io.Writer, head func(name, kind, help string)) {
	head("slow_reviews_total", "counter", "Reviews that took more CPU time than performance.max_review_time_ms.")
	fmt.Fprintf(w, "reviewer_resident_slow_reviews_total %d\n", r.slow)
}
