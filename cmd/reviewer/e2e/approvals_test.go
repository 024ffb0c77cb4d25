//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// A rule of the user: a release needs approval.
const releaseRule = `- id: release_needs_approval
  title: A release
  severity: high
  decision: ask
  match: {phases: [pre]}
  when: 'action.commands.exists(c, c.name == "touch")'
  message: "This makes a release: {command}"
  remediation: prepare the release notes first
`

// A question waits while the client runs without a person at it. One is approved from another
// terminal, and the call runs; another is denied with a message, which the model reads; nobody
// answers the third, which is denied in time. Each record says who decided.
func TestQuestionsWait(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.must(os.MkdirAll(filepath.Join(s.state, "policy", "rules", "shop"), 0o700))
		s.must(os.WriteFile(filepath.Join(s.state, "policy", "rules", "shop", "release.yaml"), []byte(releaseRule), 0o600))
		s.configure("approvals: {queue: always, wait_seconds: 40}\n")
		s.personCode()
		done, over := make(chan []string, 1), make(chan struct{})
		go func() {
			done <- s.answerQuestions(over, []string{"approve", "ID"}, []string{"deny", "ID", "--message", "use the staging host"})
		}()
		run := s.prompt(Script{Shell("touch first"), Shell("touch second"), Shell("touch third")})
		close(over)
		if failed := <-done; len(failed) > 0 {
			t.Fatal(failed)
		}
		s.want("project/first", true)
		s.want("project/second", false)
		s.want("project/third", false)
		s.wantHeard(run, 2, "The user denied this call", "use the staging host")
		s.wantHeard(run, 3, "nobody answered in time")
		if got, want := s.decided(), []string{"approve person terminal and code", "deny person terminal and code", "deny timeout "}; !slices.Equal(got, want) {
			t.Errorf("decided by %q, want %q", got, want)
		}
		s.wantChain()
	})
}

// A session that is stopped while a question waits: the call does not run, and neither does
// one that was approved a moment before.
func TestStopEndsQuestions(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.must(os.MkdirAll(filepath.Join(s.state, "policy", "rules", "shop"), 0o700))
		s.must(os.WriteFile(filepath.Join(s.state, "policy", "rules", "shop", "release.yaml"), []byte(releaseRule), 0o600))
		s.configure("approvals: {queue: always, wait_seconds: 30}\n")
		s.personCode()
		done, over := make(chan []string, 1), make(chan struct{})
		go func() { done <- s.answerQuestions(over, []string{"stop"}) }()
		s.prompt(Script{Shell("touch first"), Shell("echo 2 > second")})
		close(over)
		if failed := <-done; len(failed) > 0 {
			t.Fatal(failed)
		}
		s.want("project/first", false)
		s.want("project/second", false)
		if got, want := s.decided(), []string{"stop", "deny stop "}; !slices.Equal(got, want) {
			t.Errorf("decided by %q, want %q", got, want)
		}
	})
}

// answerQuestions answers one question after another, as a person at another terminal does,
// and returns what failed. It ends with the run.
func (s *stage) answerQuestions(over <-chan struct{}, answers ...[]string) (failed []string) {
	answered := ""
	for _, answer := range answers {
		id, ended := "", false
		await.Holds(func() bool {
			select {
			case <-over:
				ended = true
			default:
			}
			id = s.waitingQuestion()
			return ended || id != "" && id != answered
		})
		if id == "" || id == answered {
			return append(failed, "no question waits")
		}
		answered = id
		args := append([]string{s.reviewer, "approvals"}, answer...)
		if answer[0] == "stop" {
			args = []string{s.reviewer, "session", "stop", s.session, "--reason", "wrong branch"}
		}
		line := strings.ReplaceAll(shellLine(append(args, "--home", s.state)), "'ID'", id)
		cmd := exec.Command("script", "-q", "-e", "-c", line, "/dev/null")
		cmd.Dir, cmd.Env, cmd.Stdin = s.Project, s.programEnv(), strings.NewReader(s.code+"\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			failed = append(failed, fmt.Sprintf("%v: %v\n%s", answer, err, out))
		}
	}
	return failed
}

// waitingQuestion returns the id of a question that waits; empty: none does.
func (s *stage) waitingQuestion() string {
	line := shellLine([]string{s.reviewer, "approvals", "list", "--format", "json", "--home", s.state})
	cmd := exec.Command("script", "-q", "-e", "-c", line, "/dev/null")
	cmd.Dir, cmd.Env = s.Project, s.programEnv()
	out, _ := cmd.Output() // without a list nothing waits yet
	var d struct{ Questions []struct{ ID string } }
	if json.Unmarshal(out, &d) != nil || len(d.Questions) == 0 {
		return ""
	}
	return d.Questions[0].ID
}

// decided lists the control records of the session.
func (s *stage) decided() []string {
	s.t.Helper()
	var list []string
	for _, r := range s.records() {
		var line struct {
			Control *struct {
				Do      string
				Decided *struct{ Who, Channel string } `json:"decided_by"`
			}
		}
		s.must(json.Unmarshal([]byte(r.raw), &line))
		switch c := line.Control; {
		case c == nil || c.Do == "key":
		case c.Decided == nil:
			list = append(list, c.Do)
		default:
			list = append(list, c.Do+" "+c.Decided.Who+" "+c.Decided.Channel)
		}
	}
	return list
}
