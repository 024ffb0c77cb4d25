// Package metrics counts the work of the resident process, and serves the counts on this
// machine.
//
// Out of scope: the numbers of the log, which `reviewer audit stats` counts.
package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// latencyBounds are the upper bounds of the histogram's buckets, in seconds.
func latencyBounds() []float64 {
	return []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30}
}

// maxSessions bounds the sessions that are distinguished.
const maxSessions = 100_000

// Meter counts what the resident process does. None of it leaves the process unless it is
// requested at the address of --metrics.
type Meter struct {
	// Cache returns how many documents of policies were found in the cache, and how many were
	// not; nil: there is none.
	Cache func() (hits, misses int64)

	began time.Time

	mu        sync.Mutex
	answers   map[string]int // by decision
	inProcess int            // requests that were left to a process of their own
	compiled  int
	sessions  map[string]struct{}
	buckets   []int
	seconds   float64
	reviews   reviews
	requests  requests
}

// New returns a meter that starts now.
func New() *Meter {
	return &Meter{began: time.Now(), answers: map[string]int{}, sessions: map[string]struct{}{}, buckets: make([]int, len(latencyBounds())+1)}
}

// Answered counts an answer. An empty decision is a failure.
func (m *Meter) Answered(decision, session string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[cmp.Or(decision, "failure")]++
	if session != "" && len(m.sessions) < maxSessions {
		m.sessions[session] = struct{}{}
	}
	i, _ := slices.BinarySearch(latencyBounds(), took.Seconds())
	m.buckets[i]++
	m.seconds += took.Seconds()
}

// Declined counts a request that was left to a separate process.
func (m *Meter) Declined() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inProcess++
}

// Compiled counts a policy that is read and compiled.
func (m *Meter) Compiled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compiled++
}

// write prints the counts in the text format of Prometheus.
func (m *Meter) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP reviewer_resident_%s %s\n# TYPE reviewer_resident_%[1]s %[3]s\n", name, help, kind)
	}
	head("answers_total", "counter", "Events that were answered, by what the agent was told.")
	for _, decision := range slices.Sorted(maps.Keys(m.answers)) {
		fmt.Fprintf(w, "reviewer_resident_answers_total{decision=%q} %d\n", decision, m.answers[decision])
	}
	head("declined_total", "counter", "Requests that the hooks had to review themselves.")
	fmt.Fprintf(w, "reviewer_resident_declined_total %d\n", m.inProcess)
	m.writeLatency(w, head)
	m.reviews.write(w, head)
	m.writeCache(w, head)
	head("policy_compilations_total", "counter", "How often a policy was read and compiled.")
	fmt.Fprintf(w, "reviewer_resident_policy_compilations_total %d\n", m.compiled)
	m.requests.write(w, head)
	head("sessions", "gauge", "Sessions with an event since the process started.")
	fmt.Fprintf(w, "reviewer_resident_sessions %d\n", len(m.sessions))
	head("age_seconds", "gauge", "How long the process has run.")
	fmt.Fprintf(w, "reviewer_resident_age_seconds %.3f\n", time.Since(m.began).Seconds())
}

func (m *Meter) writeCache(w io.Writer, head func(name, kind, help string)) {
	if m.Cache == nil {
		return
	}
	hits, misses := m.Cache()
	head("cache_hits_total", "counter", "Documents of the policy that were found in the cache (cache.enabled).")
	fmt.Fprintf(w, "reviewer_resident_cache_hits_total %d\n", hits)
	head("cache_misses_total", "counter", "Documents of the policy that were looked up in the cache and not found.")
	fmt.Fprintf(w, "reviewer_resident_cache_misses_total %d\n", misses)
}

func (m *Meter) writeLatency(w io.Writer, head func(name, kind, help string)) {
	head("answer_seconds", "histogram", "From the request to its answer.")
	total := 0
	for i, n := range m.buckets {
		total += n
		le := "+Inf"
		if bounds := latencyBounds(); i < len(bounds) {
			le = fmt.Sprint(bounds[i])
		}
		fmt.Fprintf(w, "reviewer_resident_answer_seconds_bucket{le=%q} %d\n", le, total)
	}
	fmt.Fprintf(w, "reviewer_resident_answer_seconds_sum %g\nreviewer_resident_answer_seconds_count %d\n", m.seconds, total)
}

// ServeHTTP answers /metrics and /healthz. A page in a browser that resolves a name of its own
// to this machine is refused.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if addr, e := netip.ParseAddr(host); err != nil || host != "localhost" && (e != nil || !addr.IsLoopback()) {
		http.Error(w, "ask for the address of this machine", http.StatusForbidden)
		return
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.write(w)
	case r.URL.Path == "/healthz":
		fmt.Fprintln(w, "ok")
	default:
		http.NotFound(w, r)
	}
}

// Listen opens an address that no other machine can reach.
func Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("%q is not an address for metrics; expected a loopback address and a port, such as 127.0.0.1:9464", address)
	}
	return net.Listen("tcp", at.String())
}

// Serve answers at a listener until it is closed.
func (m *Meter) Serve(l net.Listener) {
	s := &http.Server{Handler: m, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaxHeaderBytes: 16 << 10}
	if err := s.Serve(l); !errors.Is(err, net.ErrClosed) {
		_ = l.Close() // hooks are answered whether or not they are counted
	}
}
