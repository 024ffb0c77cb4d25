//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A force push runs with a lease: it overwrites what the agent has seen, and
// nothing that someone else pushed meanwhile.
func TestForcePushRunsWithLease(t *testing.T) {
	each(t, func(s *stage) {
		s.share()
		s.install("user")
		s.commit("second try")
		run := s.prompt(Script{Shell("git push --force origin topic")})
		if got, want := s.topic(), s.head(); got != want {
			s.t.Errorf("the remote's topic is %s, want %s; the model was told:\n%s", got, want, told(run))
		}
		s.wantRewritten(call(1, 1), "git push --force origin topic", "git push --force-with-lease origin topic")
		s.wantTold(run, "git push --force-with-lease origin topic")
		s.wantChain()
	})
}

func TestForcePushSparesOthersWork(t *testing.T) {
	each(t, func(s *stage) {
		s.share()
		s.install("user")
		s.commit("second try")
		others := s.pushByAnother()
		run := s.prompt(Script{Shell("git push --force origin topic")})
		if got := s.topic(); got != others {
			s.t.Errorf("the remote's topic is %s, want the other's %s", got, others)
		}
		s.wantRewritten(call(1, 1), "git push --force origin topic", "git push --force-with-lease origin topic")
		s.wantTold(run, "stale info")
		s.wantChain()
	})
}

// Hooks of the person and of the project that name different programs: the
// client calls both, and whichever input it takes is the one that was reviewed.
func TestRewrittenTwiceTheSame(t *testing.T) {
	each(t, func(s *stage) {
		s.share()
		s.install("user")
		s.reviewer = filepath.Join(filepath.Dir(s.reviewer), "other", "reviewer")
		s.copyProgram(s.reviewer)
		s.install("project")
		s.commit("second try")
		s.prompt(Script{Shell("git push --force origin topic")})
		if got, want := s.topic(), s.head(); got != want {
			s.t.Errorf("the remote's topic is %s, want %s", got, want)
		}
		s.wantRewritten(call(1, 1), "git push --force origin topic", "git push --force-with-lease origin topic")
		if n := s.count(`"duplicate"`); n == 0 {
			s.t.Error("there is no record of the second hook")
		}
		s.wantChain()
	})
}

// A file that git does not know is saved before it is deleted, and the model is told.
func TestUntrackedFileIsSaved(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.must(os.WriteFile(filepath.Join(s.Project, "draft.txt"), []byte("dear Kim\n"), 0o644))
		run := s.prompt(Script{Shell("rm draft.txt && echo gone > mark")})
		s.want("project/draft.txt", false)
		s.want("project/mark", true)
		s.wantTold(run, "reviewer saved what this call destroys (./draft.txt)")
		if out := s.ok("checkpoint", "list", "--all", "--home", s.state); !strings.Contains(out, "saved what it destroys") {
			s.t.Errorf("the checkpoints are\n%s", out)
		}
		s.wantChain()
	})
}

// A file that git does not know and that cannot be saved goes into the trash, and comes back.
func TestUntrackedFileGoesToTheTrash(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		draft := filepath.Join(s.Project, "draft of a letter.txt")
		s.must(os.WriteFile(draft, []byte("dear Kim\n"), 0o644))
		run := s.prompt(Script{Shell("rm -f 'draft of a letter.txt' & wait; echo gone > mark")})
		s.want("project/draft of a letter.txt", false)
		s.want("project/mark", true)
		s.wantRewritten(call(1, 1), "rm -f 'draft of a letter.txt' & wait; echo gone > mark",
			s.reviewer+" trash --ignore-missing 'draft of a letter.txt' & wait; echo gone > mark")
		s.wantTold(run, " trash ")
		s.ok("trash", "--restore", draft)
		if got, err := os.ReadFile(draft); string(got) != "dear Kim\n" {
			s.t.Errorf("it came back as %q (%v)", got, err)
		}
		s.wantChain()
	})
}

// While a team only watches, the call runs as it is.
func TestObserveRewritesNothing(t *testing.T) {
	each(t, func(s *stage) {
		s.ok("install", "claude-code", "--user", "--home", s.state, "--enforcement", "observe")
		s.must(os.WriteFile(filepath.Join(s.Project, "draft.txt"), []byte("dear Kim\n"), 0o644))
		s.prompt(Script{Shell("rm draft.txt")})
		s.want("project/draft.txt", false)
		if out := s.ok("trash", "--list"); !strings.Contains(out, "nothing in the trash") {
			s.t.Errorf("the trash holds\n%s", out)
		}
		if got := s.verdicts()[call(1, 1)]; len(got) != 1 || got[0] != "modify" {
			s.t.Errorf("verdicts: %q, want one modify", got)
		}
		s.wantChain()
	})
}

// share gives the project a remote on this disk, with a branch topic that it has
// pushed before.
func (s *stage) share() {
	s.t.Helper()
	s.git(s.Project, "init", "-q", "--bare", "-b", "main", s.remote())
	s.git(s.Project, "remote", "add", "origin", s.remote())
	s.git(s.Project, "switch", "-q", "-c", "topic")
	s.commit("first try")
	s.git(s.Project, "push", "-q", "origin", "main", "topic")
}

func (s *stage) remote() string { return filepath.Join(filepath.Dir(s.Project), "remote.git") }

// commit puts another commit in the place of the branch's last one but the
// first, so that only a forced push can publish it.
func (s *stage) commit(message string) {
	s.t.Helper()
	s.git(s.Project, "reset", "-q", "--soft", "main")
	s.git(s.Project, "commit", "-q", "--allow-empty", "-m", message)
}

func (s *stage) pushByAnother() string {
	s.t.Helper()
	clone := filepath.Join(filepath.Dir(s.Project), "another")
	s.git(s.Project, "clone", "-q", "-b", "topic", s.remote(), clone)
	s.git(clone, "commit", "-q", "--allow-empty", "-m", "meanwhile")
	s.git(clone, "push", "-q", "origin", "topic")
	return s.topic()
}

func (s *stage) head() string  { return s.git(s.Project, "rev-parse", "HEAD") }
func (s *stage) topic() string { return s.git(s.remote(), "rev-parse", "topic") }

func (s *stage) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Kim", "-c", "user.email=kim@shop.example"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + s.Home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// wantRewritten asserts that the record of a call holds both of its forms, and
// that what ran is what was reviewed.
func (s *stage) wantRewritten(call, before, after string) {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Kind != "pre" || r.Call != call {
			continue
		}
		var forms struct {
			Event     struct{ Args struct{ Command string } }
			Answer    struct{ Effect string }
			Rewritten struct {
				Args     struct{ Command string }
				Decision string
				Failure  string
			}
		}
		s.must(json.Unmarshal([]byte(r.raw), &forms))
		was, is := forms.Event.Args.Command, forms.Rewritten.Args.Command
		if was != before || is != after || forms.Answer.Effect != "modify" || r.Decision.Decision != "modify" {
			s.t.Errorf("call %s: decision %s, answer %s, from %q to %q (%s), want modify from %q to %q",
				call, r.Decision.Decision, forms.Answer.Effect, was, is, forms.Rewritten.Failure, before, after)
		}
		if v := forms.Rewritten.Decision; v != "allow" && v != "warn" {
			s.t.Errorf("call %s: of the other form policy says %q", call, v)
		}
		if n := s.count("executed_differs"); n != 0 {
			s.t.Errorf("%d records say that something else ran", n)
		}
		return
	}
	s.t.Errorf("no record of call %s before it ran", call)
}

// count is the number of records in which a string stands.
func (s *stage) count(text string) (n int) {
	s.t.Helper()
	for _, r := range s.records() {
		if strings.Contains(r.raw, text) {
			n++
		}
	}
	return n
}

func (s *stage) wantTold(run Run, text string) {
	s.t.Helper()
	if got := told(run); !strings.Contains(got, text) {
		s.t.Errorf("the model was not told %q:\n%s", text, got)
	}
}
