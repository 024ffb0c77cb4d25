package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// questions is a run in which every call waits for a person, while the resident process and
// the clients are killed at random and sessions are stopped.
type questions struct {
	*soak
	total int
	next  atomic.Int64
	store *audit.Store
	key   audit.Signer // of the person who answers

	mu       sync.Mutex
	accepted map[string][]engine.Control // answers that were taken, by question
	at       map[string]time.Time        // of an approval
	said     map[string]int              // exit code that the agent got, by call
	delays   []time.Duration             // from approval to the end of the hook
	twice    atomic.Int64                // answers that were refused because another came first
}

const askingRule = `- id: asks
  title: Everything is asked about
  severity: high
  decision: ask
  match: {phases: [pre]}
  when: 'action.commands.exists(c, c.name == "touch")'
  message: "A question: {command}"
  remediation: wait
`

// ownKey makes an approval code, and returns the key that it yields.
func ownKey(log *audit.Store) (audit.Signer, error) {
	codes := &code.Store{Log: log, Cheap: true}
	secret, err := codes.Set(context.Background(), "soak", nil)
	if err != nil {
		return nil, err
	}
	return codes.Unlock(context.Background(), secret)
}

func (s *soak) askQuestions(total int) error {
	store := &audit.Store{Dir: s.home}
	key, err := ownKey(store)
	if err != nil {
		return err
	}
	q := &questions{soak: s, total: total, store: store, key: key, accepted: map[string][]engine.Control{},
		at: map[string]time.Time{}, said: map[string]int{}}
	rules := filepath.Join(s.home, "policy", "rules", "soak")
	err = errors.Join(os.MkdirAll(rules, 0o700), os.WriteFile(filepath.Join(rules, "asks.yaml"), []byte(askingRule), 0o600),
		os.WriteFile(filepath.Join(s.home, "policy", "settings.yaml"), []byte("approvals: {queue: always, wait_seconds: 20}\n"), 0o600))
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var helpers, callers sync.WaitGroup
	for _, f := range []func(<-chan struct{}){s.keepServing, q.killServer, q.answer, q.answer, q.stopSessions} {
		helpers.Go(func() { f(stop) })
	}
	for w := range s.workers {
		callers.Go(func() { q.calls(w) })
	}
	callers.Wait()
	close(stop)
	helpers.Wait()
	slices.Sort(q.delays)
	if len(q.delays) == 0 {
		return errors.New("no question was approved")
	}
	fmt.Printf("%d questions: %d answers taken, %d refused because another was first; "+
		"killed: %d resident processes, %d clients; %d sessions stopped\n", total, len(q.accepted), q.twice.Load(),
		s.kills[bySocket].Load(), s.kills[byClient].Load(), s.reloads.Load())
	fmt.Printf("from approval to the end of the hook: median %v, 99 %% %v, longest %v\n", q.delays[len(q.delays)/2].Round(time.Millisecond),
		q.delays[len(q.delays)*99/100].Round(time.Millisecond), q.delays[len(q.delays)-1].Round(time.Millisecond))
	return errors.Join(q.checkAnswers(), s.check("verify"), s.check("replay"))
}

// calls makes calls, eight workers in a session.
func (q *questions) calls(worker int) {
	for {
		n := q.next.Add(1)
		if n > int64(q.total) {
			return
		}
		session, call := fmt.Sprint("q", worker/8), fmt.Sprintf("c%d", n)
		input := fmt.Appendf(nil, `{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"touch %s"},"tool_use_id":%q,"prompt_id":"p"}`, session, q.work, call, call)
		for range 5 { // an agent without an answer asks again
			exit, ok := q.client(input)
			if ok {
				q.told(session+"/"+call, exit)
				break
			}
		}
	}
}

func (q *questions) told(id string, exit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.said[id] = exit
	if t, ok := q.at[id]; ok && exit == 0 {
		q.delays = append(q.delays, time.Since(t))
	}
}

// client runs the client; one in ten is killed while it waits.
func (q *questions) client(input []byte) (exit int, ok bool) {
	cmd := exec.Command(filepath.Join(q.bin, "reviewer-hook"), append(q.args(), "--timeout", "60")...)
	cmd.Env = append(os.Environ(), "REVIEWER_NO_RESIDENT=1")
	cmd.Stdin = bytes.NewReader(input)
	if err := cmd.Start(); err != nil {
		return 2, true
	}
	if rand.IntN(10) == 0 {
		time.AfterFunc(time.Duration(rand.Int64N(int64(time.Second))), func() {
			if cmd.Process.Kill() == nil {
				q.kills[byClient].Add(1)
			}
		})
	}
	_ = cmd.Wait() // the exit code counts
	return cmd.ProcessState.ExitCode(), cmd.ProcessState.ExitCode() >= 0
}

func (q *questions) killServer(stop <-chan struct{}) {
	for pause(stop, time.Second+time.Duration(rand.Int64N(int64(6*time.Second)))) {
		if p, err := os.FindProcess(int(q.pid.Load())); err == nil && p.Kill() == nil {
			q.kills[bySocket].Add(1)
		}
	}
}

// answer is a person; there are two, who answer whatever they see.
func (q *questions) answer(stop <-chan struct{}) {
	waiting := queue.Queue{Log: q.store}
	for pause(stop, 50*time.Millisecond) {
		list, err := waiting.Waiting()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		for i := range list {
			a := queue.Answer{ID: list[i].ID, Digest: list[i].Digest, Approve: rand.IntN(3) > 0, By: "soak", Channel: "soak", Signer: q.key}
			r, err := waiting.Answer(context.Background(), a)
			if err != nil {
				q.twice.Add(1)
				continue
			}
			q.mu.Lock()
			q.accepted[r.ID] = append(q.accepted[r.ID], engine.Control{Do: word(a.Approve), By: a.By})
			if rec, err := q.store.Find(r.ID); err == nil && a.Approve {
				q.at[rec.Session+"/"+rec.Call] = time.Now()
			}
			q.mu.Unlock()
		}
	}
}

func word(approve bool) string {
	if approve {
		return engine.ControlApprove
	}
	return engine.ControlDeny
}

// stopSessions stops a session now and then, and lets it continue a moment later.
func (q *questions) stopSessions(stop <-chan struct{}) {
	for pause(stop, 3*time.Second) {
		key := engine.SessionKey{Harness: "claude-code", Session: fmt.Sprint("q", rand.IntN(max(q.workers/8, 1)))}
		err := q.store.Control(context.Background(), key, engine.Control{Do: engine.ControlStop, Reason: "soak", By: "soak"}, nil)
		time.Sleep(500 * time.Millisecond)
		if err == nil {
			err = q.store.Control(context.Background(), key, engine.Control{Do: engine.ControlResume, By: "soak"}, q.key)
			q.reloads.Add(1)
		}
		if err != nil && !errors.Is(err, audit.ErrNoSession) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// outcome is what the log says about one call.
type outcome struct {
	id                        string
	pending                   bool
	approved, denied, resumed int // by people; by the hook
}

// checkAnswers compares the log with what people and agents saw.
func (q *questions) checkAnswers() error {
	calls, err := q.outcomes()
	if err != nil {
		return err
	}
	lost, doubled, unasked, kept := 0, 0, 0, 0
	byID := map[string]*outcome{}
	for _, c := range calls {
		byID[c.id] = c
		if c.approved+c.denied > 1 || c.resumed > 1 {
			doubled++
		}
		if c.resumed > 0 && c.approved == 0 {
			unasked++
		}
	}
	for id, taken := range q.accepted {
		c := byID[id]
		if c == nil || c.approved+c.denied != 1 || len(taken) != 1 {
			lost++
		}
	}
	for call, exit := range q.said {
		c := calls[call]
		if c == nil || c.pending && (exit == 0) != (c.resumed == 1) {
			kept++
		}
	}
	fmt.Printf("log: %d questions; answers lost %d, taken twice %d, calls without an answer %d, agents told something else %d\n",
		len(calls), lost, doubled, unasked, kept)
	if lost+doubled+unasked+kept > 0 {
		return errors.New("the log does not agree with the answers")
	}
	return nil
}

// outcomes reads the log.
func (q *questions) outcomes() (map[string]*outcome, error) {
	files, err := filepath.Glob(filepath.Join(q.home, "sessions", "*", "*.jsonl"))
	calls, byID := map[string]*outcome{}, map[string]*outcome{}
	for _, name := range files {
		f, e := os.Open(name)
		if e != nil {
			return nil, e
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var r engine.Record
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				return nil, fmt.Errorf("%s: a line is incomplete: %w", name, err)
			}
			note(&r, calls, byID)
		}
		err = errors.Join(err, in.Err(), f.Close())
	}
	return calls, err
}

// note adds a record to what is known about calls.
func note(r *engine.Record, calls, byID map[string]*outcome) {
	switch {
	case r.Kind == engine.KindPre:
		c := &outcome{id: r.ID(), pending: r.Answer != nil && r.Answer.Pending != nil}
		calls[r.Session+"/"+r.Call], byID[c.id] = c, c
	case r.Act != nil && r.Act.Kind == engine.ActResumed && byID[r.Act.Of] != nil:
		byID[r.Act.Of].resumed++
	case r.Control != nil && r.Control.Decided != nil && r.Control.Decided.Who == engine.DecidedPerson && byID[r.Control.Record] != nil:
		if r.Control.Do == engine.ControlApprove {
			byID[r.Control.Record].approved++
		} else {
			byID[r.Control.Record].denied++
		}
	}
}
