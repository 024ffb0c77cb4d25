package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// requests counts the requests to the HTTP API.
type requests struct {
	counts  map[request]int
	waiting func() (int, error) // questions that wait; nil: the API is off
}

type request struct {
	operation string
	status    int
}

// ServesAPI includes the counts of the HTTP API. waiting counts the questions that wait.
func (m *Meter) ServesAPI(waiting func() (int, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = requests{map[request]int{}, waiting}
}

// Requested counts a request to the HTTP API. An empty operation stands for an unknown
// path, or for a request that was refused before its path was examined.
func (m *Meter) Requested(operation string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests.counts != nil {
		m.requests.counts[request{cmp.Or(operation, "none"), status}]++
	}
}

func (r *requests) write(w io.Writer, head func(name, kind, help string)) {
	if r.counts == nil {
		return
	}
	head("api_requests_total", "counter", "Requests to the HTTP API, by operation and status.")
	byName := func(a, b request) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.status, b.status))
	}
	for _, one := range slices.SortedFunc(maps.Keys(r.counts), byName) {
		fmt.Fprintf(w, "reviewer_resident_api_requests_total{operation=%q,status=\"%d\"} %d\n", one.operation, one.status, r.counts[one])
	}
	if n, err := r.waiting(); err == nil {
		head("questions_waiting", "gauge", "Questions that wait for a person.")
		fmt.Fprintf(w, "reviewer_resident_questions_waiting %d\n", n)
	}
}
