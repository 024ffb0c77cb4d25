//go:build e2e && linux

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
)

// A lock is a client whose hooks a repository can turn off, unless they are managed.
type lock struct {
	client     string
	file, text string // in the repository
	named      string // the same file, which names reviewer's hook; empty: the client has no such list
}

func locks() []lock {
	return []lock{
		{client: "claude-code", file: ".claude/settings.json", text: `{"disableAllHooks":true}`},
		{client: "codex", file: ".codex/config.toml", text: "[features]\nhooks = false\n"},
		{client: "gemini", file: ".gemini/settings.json", text: `{"hooksConfig":{"enabled":false}}`,
			named: `{"hooksConfig":{"disabled":["reviewer"]}}`},
		{client: "copilot", file: ".github/copilot/settings.json", text: `{"disableAllHooks":true}`},
		{client: "qwen", file: ".qwen/settings.json", text: `{"disableAllHooks":true}`},
		{client: "droid", file: ".factory/hooks.json", text: `{"hooksDisabled":true}`},
	}
}

// A repository turns off the hooks of a user in each of these clients: a call runs that policy denies.
// It does not turn off managed ones.
func TestManaged(t *testing.T) {
	deny := answers()[1]
	for _, l := range locks() {
		t.Run(l.client, func(t *testing.T) {
			c := installedFor(t, l.client)
			for name, want := range map[string]Outcome{"user": Ran, "managed": Told} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := newStage(t, c)
					s.write(filepath.Join(s.project, l.file), l.text)
					if want == Told {
						s.manage()
					}
					run := s.play(deny)
					if got := s.outcome(deny, run); got != want {
						t.Errorf("%s with %s of the repository: %s, want %s\n%s", name, l.file, got, want, s.story(run))
					}
				})
			}
		})
	}
}

// OpenCode loads the managed plugin, too; it has no switch for plugins in its settings.
func TestManagedPlugin(t *testing.T) {
	s := newStage(t, installedFor(t, "opencode"))
	s.manage()
	deny := answers()[1]
	if run := s.play(deny); s.outcome(deny, run) != Told {
		t.Errorf("%s, want %s\n%s", s.outcome(deny, run), Told, s.story(run))
	}
}

// A repository that names the managed hook of Gemini CLI turns it off. What policy writes as the client's
// own rules is denied anyway; other calls run. doctor reports the file.
func TestNamedHook(t *testing.T) {
	i := slices.IndexFunc(locks(), func(l lock) bool { return l.named != "" })
	l := locks()[i]
	c := installedFor(t, l.client)
	for command, want := range map[string]Outcome{"echo hi > mark; mkfs.none --version": Blocked, answers()[1].Command: Ran} {
		s := newStage(t, c)
		s.write(filepath.Join(s.project, l.file), l.named)
		s.manage()
		cell := Cell{Name: "named", Command: command}
		run := s.play(cell)
		if got := s.outcome(cell, run); got != want {
			t.Errorf("%s: %s, want %s\n%s", command, got, want, s.story(run))
		}
		if want == Blocked && !strings.Contains(s.story(run), "reviewer: this writes to a disk") {
			t.Errorf("the model was told another reason\n%s", s.story(run))
		}
		cmd := exec.Command(s.wrap[0], append(s.wrap[1:], s.reviewer, "doctor", "settings", "--home", s.state)...)
		cmd.Dir, cmd.Env = s.project, s.environment()
		out, _ := cmd.CombinedOutput() // its status says that there are problems
		for _, line := range []string{"names reviewer's hook (reviewer), so it does not run here, even if it is managed",
			"reviewer.toml has the 4 rules of the policy that gemini applies itself"} {
			if !strings.Contains(string(out), line) {
				t.Errorf("doctor does not say %q:\n%s", line, out)
			}
		}
	}
}

// inNamespace runs the rest of its arguments where what is written to /etc is in a folder of the stage.
// The machine's own /etc stays as it is.
const inNamespace = `mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0/etc,workdir=$0/work" /etc && exec "$@"`

// manage makes the stage install managed hooks, in an /etc of its own.
func (s *stage) manage() {
	s.Helper()
	if os.Geteuid() != 0 {
		s.Skip("only root can put another /etc in its place")
	}
	system := filepath.Join(s.dir, "system")
	for _, folder := range []string{"etc", "work"} {
		s.must(os.MkdirAll(filepath.Join(system, folder), 0o755))
	}
	s.wrap = []string{"unshare", "--mount", "sh", "-c", inNamespace, system}
	s.driver.hooks = func(s *stage) {
		cmd := exec.Command(s.wrap[0], append(s.wrap[1:], s.reviewer, "install", s.client.Name, "--managed", "--home", s.state, "--enforcement", "enforce")...)
		cmd.Dir, cmd.Env = s.project, append(s.environment(), "PATH="+filepath.Dir(s.client.Command[0])+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Fatalf("reviewer install --managed: %v\n%s", err, out)
		}
	}
}

// start is how the stage's client is started.
func (s *stage) start() live.Start {
	return live.Start{Command: append(slices.Clone(s.wrap), s.client.Command...), Model: s.model, Limit: limit}
}
