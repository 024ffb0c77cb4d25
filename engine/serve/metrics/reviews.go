package metrics

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// reviews counts how events were reviewed.
type reviews struct {
	slow  int
	early int
	late  map[string]int // by result
}

// Reviewed counts an answer by how it was reviewed. Slow: it took more CPU time than the policy
// expects. Early: it was given before the review.
func (m *Meter) Reviewed(slow, early bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slow {
		m.reviews.slow++
	}
	if early {
		m.reviews.early++
	}
}

// ReviewedLate counts a review after the answer, by its result: the answer that the call would
// have had, or that the review failed.
func (m *Meter) ReviewedLate(result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reviews.late == nil {
		m.reviews.late = map[string]int{}
	}
	m.reviews.late[result]++
}

func (r *reviews) write(w io.Writer, head func(name, kind, help string)) {
	head("slow_reviews_total", "counter", "Reviews that took more CPU time than performance.max_review_time_ms.")
	fmt.Fprintf(w, "reviewer_resident_slow_reviews_total %d\n", r.slow)
	head("early_answers_total", "counter", "Calls that were answered before their review (mode: async).")
	fmt.Fprintf(w, "reviewer_resident_early_answers_total %d\n", r.early)
	head("late_reviews_total", "counter", "Reviews that were made after the answer, by what it would have been.")
	for _, result := range slices.Sorted(maps.Keys(r.late)) {
		fmt.Fprintf(w, "reviewer_resident_late_reviews_total{result=%q} %d\n", result, r.late[result])
	}
}
