// Command soak puts a resident process and its clients under load for minutes: there are many
// sessions, clients and the process are killed at random, and the policy changes. Afterwards
// every call that was answered must be in the log exactly once, the log must verify and replay,
// and the process must not have grown. `make soak` runs it.
//
// One call in twenty is denied, in a session of its own. Out of scope: which calls are denied.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

func main() {
	var s soak
	flag.StringVar(&s.bin, "bin", "bin", "the `folder` with reviewer and reviewer-hook")
	flag.DurationVar(&s.time, "time", 10*time.Minute, "how long calls are made")
	flag.IntVar(&s.sessions, "sessions", 200, "sessions, which take turns in making calls")
	flag.IntVar(&s.workers, "workers", 16, "calls at the same time")
	flag.DurationVar(&s.life, "life", 2*time.Second, "how long a resident process lives on average before it is killed")
	flag.Float64Var(&s.clients, "clients", 0.02, "the share of calls that are made by the client, a tenth of which is killed")
	total := flag.Int("questions", 0, "make this `number` of calls that wait for a person, instead of calls for a time")
	flag.Parse()
	if err := s.run(*total); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak is one run.
type soak struct {
	bin               string
	time, life        time.Duration
	clients           float64
	sessions, workers int

	home, work string
	calm       atomic.Bool // nobody is killed any more
	answered   sync.Map    // calls that got an answer, by id
	made       sync.Map    // all calls
	served     [2]atomic.Int64
	again      atomic.Int64 // calls that were made again after the process had been killed
	kills      [2]atomic.Int64
	reloads    atomic.Int64
	wrong      atomic.Int64
	pid        atomic.Int64 // of the resident process
}

// The two ways to make a call, in the counts above.
const (
	bySocket = iota
	byClient
)

func (s *soak) run(questions int) error {
	var err error
	if s.bin, err = filepath.Abs(s.bin); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "soak") // short, for the socket
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.home, s.work = filepath.Join(dir, "state"), filepath.Join(dir, "work")
	if err := errors.Join(os.MkdirAll(filepath.Join(s.home, "policy"), 0o700), os.MkdirAll(s.work, 0o700)); err != nil {
		return err
	}
	if questions > 0 {
		return s.askQuestions(questions)
	}
	stop := make(chan struct{})
	var helpers, callers sync.WaitGroup
	for _, f := range []func(<-chan struct{}){s.keepServing, s.reload, s.kill} {
		helpers.Go(func() { f(stop) })
	}
	end := time.Now().Add(s.time)
	for w := range s.workers {
		callers.Go(func() { s.calls(w, end) })
	}
	memory := s.watchMemory()
	callers.Wait()
	close(stop)
	helpers.Wait()
	fmt.Printf("%s: %d calls over the socket, %d by clients, %d made again; killed: %d resident processes, %d clients; %d policies\n",
		s.time, s.served[bySocket].Load(), s.served[byClient].Load(), s.again.Load(),
		s.kills[bySocket].Load(), s.kills[byClient].Load(), s.reloads.Load())
	if n := s.wrong.Load(); n > 0 {
		return fmt.Errorf("%d answers are wrong", n)
	}
	return errors.Join(s.checkLog(), s.check("verify"), s.check("replay"), memory())
}

// pause waits, and reports whether to continue.
func pause(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(d):
		return true
	}
}

// keepServing starts the resident process again whenever it has ended.
func (s *soak) keepServing(stop <-chan struct{}) {
	for {
		cmd := exec.Command(filepath.Join(s.bin, "reviewer"), "serve", "--home", s.home, "--idle", "0")
		var text bytes.Buffer
		cmd.Stderr = &text
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		s.pid.Store(int64(cmd.Process.Pid))
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }() // it is killed
		select {
		case <-stop:
			_ = cmd.Process.Kill()
			<-ended
			return
		case <-ended:
			if text.Len() > 0 {
				fmt.Fprintf(os.Stderr, "the resident process ended: %s\n", text.Bytes())
			}
		}
	}
}

// kill ends the resident process at random times, but not in the last third, in which its
// memory is watched.
func (s *soak) kill(stop <-chan struct{}) {
	began := time.Now()
	for pause(stop, time.Duration(rand.Int64N(int64(2*s.life)))) {
		if time.Since(began) > s.time*2/3 {
			s.calm.Store(true)
			return
		}
		if p, err := os.FindProcess(int(s.pid.Load())); err == nil && p.Kill() == nil {
			s.kills[bySocket].Add(1)
		}
	}
}

// reload changes the policy.
func (s *soak) reload(stop <-chan struct{}) {
	path := filepath.Join(s.home, "policy", "settings.yaml")
	for n := 0; pause(stop, 2*time.Second); n++ {
		text := fmt.Appendf(nil, "risk:\n  risk_threshold: 0.%d\n", 61+n%30)
		if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		s.reloads.Add(1)
	}
}

// calls makes the calls of some sessions until the end.
func (s *soak) calls(worker int, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		session := worker + s.workers*rand.IntN(max(s.sessions/s.workers, 1))
		call := fmt.Sprintf("c%d-%d", worker, n)
		if n%20 == 0 {
			s.call("denied-"+call, call, "mkfs.ext4 /dev/sdb1")
		} else {
			s.call(fmt.Sprint("s", session), call, "go test ./basket -run "+call)
		}
	}
}

// call makes one call: some by the client, the others over the socket. As an agent
// does, it continues once it has an answer, and otherwise asks again.
func (s *soak) call(session, call, command string) {
	id := session + "/" + call
	s.made.Store(id, true)
	input := fmt.Appendf(nil, `{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
		`"tool_input":{"command":%q},"tool_use_id":%q,"prompt_id":"p"}`, session, s.work, command, call)
	if rand.Float64() >= s.clients {
		exit, err := s.ask(input)
		if err == nil {
			s.served[bySocket].Add(1)
			s.note(id, exit)
			return
		}
		s.again.Add(1)
	}
	if exit, ok := s.client(input); ok {
		s.served[byClient].Add(1)
		s.note(id, exit)
	}
}

// note remembers that a call was answered: a denial is an answer, too.
func (s *soak) note(id string, exit int) {
	s.answered.Store(id, true)
	want := 0
	if strings.HasPrefix(id, "denied-") {
		want = 2
	}
	if exit != want && s.wrong.Add(1) < 10 {
		fmt.Fprintf(os.Stderr, "%s: exit code %d\n", id, exit)
	}
}

func (s *soak) args() []string {
	return []string{"hook", "claude-code", "PreToolUse", "--home", s.home}
}

func (s *soak) ask(input []byte) (exit int, err error) {
	a, _, err := serve.Ask(s.home, &wire.Request{Home: s.home, Once: "x", Args: s.args(), Env: os.Environ(), Input: input}, time.Minute)
	if err == nil && a.Status != wire.Answered {
		err = errors.New("nothing was reviewed")
	}
	if err != nil {
		return 0, err
	}
	return int(a.Exit), nil
}

// client runs the client, which is killed now and then.
func (s *soak) client(input []byte) (exit int, ok bool) {
	cmd := exec.Command(filepath.Join(s.bin, "reviewer-hook"), s.args()...)
	cmd.Env = append(os.Environ(), "REVIEWER_NO_RESIDENT=1")
	cmd.Stdin = bytes.NewReader(input)
	if err := cmd.Start(); err != nil {
		return 1, true
	}
	if rand.IntN(10) == 0 && !s.calm.Load() {
		time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
		if cmd.Process.Kill() == nil {
			s.kills[byClient].Add(1)
		}
	}
	_ = cmd.Wait() // the exit code counts
	return cmd.ProcessState.ExitCode(), cmd.ProcessState.ExitCode() >= 0
}
