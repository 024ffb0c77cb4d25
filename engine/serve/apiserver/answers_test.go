package apiserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

func (b *bench) state(q approval.Request) approval.State {
	b.t.Helper()
	state, err := b.server.Queue.StateOf(q)
	if err != nil {
		b.t.Fatal(err)
	}
	return state
}

func TestAnswers(t *testing.T) {
	b := newBench(t)
	yes, no := b.ask("s1", 1, time.Minute), b.ask("s1", 2, time.Minute)
	if status, text := b.answer(yes, api.Answer{Digest: yes.Digest, Approve: true}); status != 200 || !strings.Contains(text, `"approved":true`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := b.answer(no, api.Answer{Digest: no.Digest, Message: "not with hunter2"}); status != 200 || !strings.Contains(text, `"approved":false`) {
		t.Errorf("%d %s", status, text)
	}
	if b.state(yes) != approval.Approved || b.state(no) != approval.Denied {
		t.Errorf("%s, %s", b.state(yes), b.state(no))
	}
	found := 0
	for r, err := range b.server.Queue.Log.Records(engine.SessionKey{Harness: "claude-code", Session: "s1"}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Control; c != nil && c.Do != engine.ControlKey {
			found++
			if c.By != "kim" || *c.Decided != (engine.Decided{Who: engine.DecidedPerson, Channel: "http"}) || c.Do == engine.ControlDeny && c.Reason != "not with [masked]" {
				t.Errorf("%+v, %+v", c, c.Decided)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d answers in the log", found)
	}
}

// A denial can stop the session as well, also if another answer was first.
func TestDenyAndStop(t *testing.T) {
	b := newBench(t)
	first, second, other := b.ask("s1", 1, time.Minute), b.ask("s1", 2, time.Minute), b.ask("s2", 3, time.Minute)
	if status, text := b.answer(first, api.Answer{Digest: first.Digest, Stop: true, Message: "wrong branch"}); status != 200 || !strings.Contains(text, `"stopped":true`) {
		t.Errorf("%d %s", status, text)
	}
	if b.state(first) != approval.Denied || b.state(second) != approval.Stopped || b.state(other) != approval.Pending {
		t.Errorf("%s, %s, %s", b.state(first), b.state(second), b.state(other))
	}
	if _, _, text := b.request("GET", "/v1/sessions/s1", nil); !strings.Contains(text, `"stopped":"wrong branch"`) {
		t.Error(text)
	}
	b.answer(other, api.Answer{Digest: other.Digest, Approve: true, Stop: true})
	if _, _, text := b.request("GET", "/v1/sessions/s2", nil); strings.Contains(text, `"stopped"`) {
		t.Errorf("stopped by an approval: %s", text)
	}
	if status, text := b.answer(other, api.Answer{Digest: other.Digest, Stop: true}); status != 409 || !strings.Contains(text, api.CodeAnswered) {
		t.Errorf("%d %s", status, text)
	}
	if _, _, text := b.request("GET", "/v1/sessions/s2", nil); !strings.Contains(text, `"stopped"`) {
		t.Errorf("not stopped: %s", text)
	}
}

func TestTooLate(t *testing.T) {
	b := newBench(t)
	late, stopped, withdrawn := b.ask("s1", 1, -time.Second), b.ask("s2", 2, time.Minute), b.ask("s3", 3, time.Minute)
	b.stop("s2")
	yes := func(q approval.Request) api.Answer { return api.Answer{Digest: q.Digest, Approve: true} }
	for range 2 {
		if status, text := b.answer(late, yes(late)); status != 410 || !strings.Contains(text, api.CodeLate) {
			t.Errorf("late: %d %s", status, text)
		}
		if status, text := b.answer(stopped, yes(stopped)); status != 409 || !strings.Contains(text, api.CodeStopped) {
			t.Errorf("stopped: %d %s", status, text)
		}
		for _, q := range []approval.Request{late, stopped} { // as the agent's process does
			if err := b.server.Queue.Remove(q.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if status, _ := b.answer(withdrawn, yes(withdrawn)); status != 200 {
		t.Errorf("in time: %d", status)
	}
	if err := b.server.Queue.Remove(withdrawn.ID); err != nil {
		t.Fatal(err)
	}
	if status, text := b.answer(withdrawn, yes(withdrawn)); status != 409 || !strings.Contains(text, api.CodeAnswered) {
		t.Errorf("again: %d %s", status, text)
	}
	status, _, text := b.request("GET", "/v1/approvals/"+withdrawn.ID, nil)
	if status != 409 {
		t.Errorf("shown: %d %s", status, text)
	}
}

func TestTwoPeopleAtOnce(t *testing.T) {
	b := newBench(t)
	for i := range 20 {
		q := b.ask("s1", i, time.Minute)
		got := make(chan int)
		for person := range 2 {
			go func() {
				status, _ := b.answer(q, api.Answer{Digest: q.Digest, Approve: person == 0})
				got <- status
			}()
		}
		if first, second := <-got, <-got; first+second != 200+409 {
			t.Errorf("%d and %d", first, second)
		}
	}
}

func TestBulk(t *testing.T) {
	b := newBench(t)
	a, c, untouched := b.ask("s1", 1, time.Minute), b.ask("s1", 2, time.Minute), b.ask("s1", 3, time.Minute)
	status, _, text := b.request("POST", "/v1/approvals/answer", api.Bulk{Answers: []api.BulkAnswer{
		{ID: a.ID, Digest: a.Digest, Approve: true}, {ID: c.ID, Digest: a.Digest, Approve: true}, {ID: "00000000-9", Digest: a.Digest}}})
	var all api.BulkResults
	if err := json.Unmarshal([]byte(text), &all); err != nil || status != 200 || len(all.Results) != 3 {
		t.Fatalf("%d %s", status, text)
	}
	for i, want := range []string{"200 ", "409 stale", "404 unknown_question"} {
		got := fmt.Sprint(all.Results[i].Status, " ")
		if e := all.Results[i].Refused; e != nil {
			got += e.Code
		}
		if got != want || (all.Results[i].Answered != nil) != (i == 0) {
			t.Errorf("%d: %s", i, got)
		}
	}
	if b.state(a) != approval.Approved || b.state(c) != approval.Pending || b.state(untouched) != approval.Pending {
		t.Errorf("%s, %s, %s", b.state(a), b.state(c), b.state(untouched))
	}
}

func TestManyQuestions(t *testing.T) {
	const many = 200
	b := newBench(t)
	for i := range many {
		b.ask(fmt.Sprint("s", i/16), i, time.Hour)
	}
	status, _, text := b.request("GET", "/v1/approvals", nil)
	var all api.Questions
	if err := json.Unmarshal([]byte(text), &all); err != nil || status != 200 || len(all.Questions) != many {
		t.Fatalf("%d, %d questions, %v", status, len(all.Questions), err)
	}
	var bulk api.Bulk
	for _, q := range all.Questions {
		bulk.Answers = append(bulk.Answers, api.BulkAnswer{ID: q.ID, Digest: q.Digest})
	}
	if status, _, text = b.request("POST", "/v1/approvals/answer", bulk); strings.Count(text, `"status":200`) != many {
		t.Errorf("%d: %d answered", status, strings.Count(text, `"status":200`))
	}
}

func TestSessions(t *testing.T) {
	b := newBench(t)
	q := b.ask("s1", 1, time.Minute)
	b.ask("s2", 2, time.Minute)
	b.stop("s2")
	status, _, text := b.request("GET", "/v1/sessions", nil)
	var all api.Sessions
	if err := json.Unmarshal([]byte(text), &all); err != nil || status != 200 || len(all.Sessions) != 2 {
		t.Fatalf("%d %s", status, text)
	}
	status, _, text = b.request("GET", "/v1/sessions/s1", nil)
	var one api.SessionDetail
	if err := json.Unmarshal([]byte(text), &one); err != nil || status != 200 || len(one.Questions) != 1 || one.Questions[0].ID != q.ID || one.Session.Stopped != "" {
		t.Errorf("%d %s", status, text)
	}
	if _, _, text = b.request("GET", "/v1/sessions/s2", nil); !strings.Contains(text, `"stopped":"enough"`) || !strings.Contains(text, `"questions":[]`) {
		t.Error(text)
	}
}

// An answer that was confirmed is in the log, whatever happens to the process afterwards; a new
// process goes on with the same questions.
func TestEndInTheMiddle(t *testing.T) {
	home := t.TempDir()
	b := benchAt(t, home, nil)
	var all []approval.Request
	for i := range 16 {
		all = append(all, b.ask("s1", i, time.Minute))
	}
	confirmed := make(chan string, len(all))
	for _, q := range all[:12] {
		go func() {
			defer func() { confirmed <- "" }()
			r, _ := newPost(b, q)
			if r == 200 {
				confirmed <- q.ID
			}
		}()
	}
	b.end()
	yes := map[string]bool{}
	for ended := 0; ended < 12; {
		if id := <-confirmed; id == "" {
			ended++
		} else {
			yes[id] = true
		}
	}
	next := benchAt(t, home, b.codes)
	for _, q := range all {
		if state := next.state(q); yes[q.ID] && state != approval.Approved {
			t.Errorf("%s was confirmed and is %s", q.ID, state)
		}
	}
	last := all[15]
	if status, _ := next.answer(last, api.Answer{Digest: last.Digest, Approve: true}); status != 200 {
		t.Errorf("the next process: %d", status)
	}
}
