package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, m *Meter, method, url string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

func TestCounts(t *testing.T) {
	m := New()
	m.Compiled()
	m.Declined()
	m.Answered("allow", "claude-code/s1", 2*time.Millisecond)
	m.Answered("block", "claude-code/s1", time.Millisecond)
	m.Answered("", "", time.Minute)
	m.Reviewed(true, false)
	m.Reviewed(false, true)
	m.ReviewedLate("block")
	m.ReviewedLate("block")
	code, text := get(t, m, http.MethodGet, "http://127.0.0.1:9464/metrics")
	for _, line := range []string{`answers_total{decision="allow"} 1`, `answers_total{decision="block"} 1`, `answers_total{decision="failure"} 1`,
		"declined_total 1", "slow_reviews_total 1", "early_answers_total 1", `late_reviews_total{result="block"} 2`, "policy_compilations_total 1", "sessions 1", `answer_seconds_bucket{le="0.0005"} 0`, `answer_seconds_bucket{le="0.001"} 1`,
		`answer_seconds_bucket{le="0.0025"} 2`, `answer_seconds_bucket{le="30"} 2`, `answer_seconds_bucket{le="+Inf"} 3`, "answer_seconds_count 3",
		"answer_seconds_sum 60.003"} {
		if !strings.Contains(text, "reviewer_resident_"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	if code != http.StatusOK || strings.Contains(text, "s1") {
		t.Errorf("%d\n%s", code, text)
	}
}

func TestRefused(t *testing.T) {
	for url, want := range map[string]int{"http://127.0.0.1:1/healthz": 200, "http://localhost:1/healthz": 200, "http://[::1]:1/healthz": 200,
		"http://evil.example:1/metrics": 403, "http://10.0.0.1:1/metrics": 403, "http://127.0.0.1:1/": 404, "http://127.0.0.1:1/debug/pprof/": 404} {
		if code, _ := get(t, New(), http.MethodGet, url); code != want {
			t.Errorf("%s: %d, want %d", url, code, want)
		}
	}
	if code, _ := get(t, New(), http.MethodPost, "http://127.0.0.1:1/metrics"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", code)
	}
}

func TestPlaces(t *testing.T) {
	for _, place := range []string{"", "0.0.0.0:0", "[::]:0", "10.0.0.1:0", ":9464", "localhost:0", "127.0.0.1", "127.0.0.1:x", "example.com:80"} {
		if l, err := Listen(place); err == nil {
			t.Errorf("%s: listens at %s", place, l.Addr())
		}
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := New()
	ended := make(chan struct{})
	go func() { m.Serve(l); close(ended) }()
	r, err := http.Get("http://" + l.Addr().String() + "/healthz")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", r, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}

func TestRequests(t *testing.T) {
	m := New()
	m.Requested("listQuestions", 200) // the API is off
	if _, text := get(t, m, http.MethodGet, "http://127.0.0.1:9464/metrics"); strings.Contains(text, "api_requests") {
		t.Error(text)
	}
	m.ServesAPI(func() (int, error) { return 3, nil })
	m.Requested("answerQuestion", 403)
	m.Requested("answerQuestion", 403)
	m.Requested("", 404)
	_, text := get(t, m, http.MethodGet, "http://127.0.0.1:9464/metrics")
	for _, line := range []string{`api_requests_total{operation="answerQuestion",status="403"} 2`, `api_requests_total{operation="none",status="404"} 1`, "questions_waiting 3"} {
		if !strings.Contains(text, "reviewer_resident_"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}
