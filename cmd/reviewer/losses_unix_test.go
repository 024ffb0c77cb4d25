//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// lossCase is a command that loses content of the project of testdata/losses/project.sh, with the answer to it:
//
//	saved  it runs after a save of what it destroys
//	runs   it runs after the checkpoint before each call that may change files
//	trash  it runs in a form that moves what it deletes to the trash
//	ask    a person is asked
//	deny   it does not run
//
// In a file, a line is an answer and a command, with names of programs in brackets that a machine may lack; lines
// that begin with a tab continue the command, and an empty line or # is a comment.
type lossCase struct {
	place, answer, command string
	needs                  []string
}

func lossCases(t *testing.T) []lossCase {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(atStart.repository, "testdata", "losses", "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	var list []lossCase
	seen := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if more, ok := strings.CutPrefix(line, "\t"); ok && len(list) > 0 {
				list[len(list)-1].command += "\n" + more
				continue
			}
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			answer, command, _ := strings.Cut(line, " ")
			c := lossCase{place: fmt.Sprintf("%s:%d", filepath.Base(name), n+1), answer: answer, command: strings.TrimLeft(command, " ")}
			if rest, ok := strings.CutPrefix(c.command, "["); ok && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "[") {
				needs, rest, _ := strings.Cut(rest, "] ")
				c.needs, c.command = strings.Fields(needs), rest
			}
			list = append(list, c)
		}
	}
	for _, c := range list {
		if !slices.Contains([]string{"saved", "runs", "trash", "ask", "deny"}, c.answer) {
			t.Errorf("%s: unknown answer %q", c.place, c.answer)
		}
		if seen[c.command] != "" {
			t.Errorf("%s: %s has the same command", c.place, seen[c.command])
		}
		seen[c.command] = c.place
	}
	return list
}

// TestLosses: whatever a command loses that may run, its checkpoint restores, byte for byte, with modes and links; and
// everything that git had is still there. Every sixth command is tried; all with REVIEWER_EVERY=1 (`make fidelity`).
func TestLosses(t *testing.T) {
	for _, bin := range []string{"bash", "git", "tar"} {
		if _, err := exec.LookPath(bin); err != nil {
			t.Skip(bin + " is not installed")
		}
	}
	all := lossCases(t)
	if len(all) < 300 {
		t.Errorf("there are %d commands; 300 are promised", len(all))
	}
	policy, err := wiring.Compile(t.Context(), wiringtest.Effective(t))
	if err != nil {
		t.Fatal(err)
	}
	left := "/tmp/reviewer-losses-gone.md" // of the one command that writes outside the workspace
	forget := func() { _ = os.Remove(left) }
	forget()
	t.Cleanup(forget)
	p := newLossProject(t, policy)
	checked := sweep.Count(t, "commands that lose content")
	var mu sync.Mutex
	classes := map[string]int{}
	t.Run("commands", func(t *testing.T) {
		for i, c := range all {
			if !sweep.Has(i, 6) {
				continue
			}
			t.Run(c.place, func(t *testing.T) {
				t.Parallel()
				class := c.answer
				for _, bin := range c.needs {
					if _, err := exec.LookPath(bin); err != nil {
						class = "skipped: " + bin + " is not installed"
					}
				}
				if class == c.answer {
					p.try(t, c)
					checked.Add(1)
				}
				mu.Lock()
				defer mu.Unlock()
				classes[class]++
			})
		}
	})
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		t.Logf("%4d %s", classes[class], class)
	}
}

// lossProject is the project that each command gets a copy of.
type lossProject struct {
	policy  *review.Policy
	dir     string
	objects string // names of all that git has: of commits, the stash and the index
}

func newLossProject(t *testing.T, policy *review.Policy) *lossProject {
	t.Helper()
	p := &lossProject{policy: policy, dir: filepath.Join(t.TempDir(), "shop")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := lossCommand(t, p.dir, "bash", filepath.Join(atStart.repository, "testdata", "losses", "project.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := lossCommand(t, p.dir, "bash", "-c",
		`git rev-list --all --reflog --objects | cut -d' ' -f1; git ls-files -s | cut -d' ' -f2`).Output()
	if err != nil {
		t.Fatal(err)
	}
	p.objects = string(out)
	return p
}

// lossCommand is a program that knows nothing of the person who runs the tests.
func lossCommand(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	home := filepath.Join(filepath.Dir(dir), "home")
	cmd.Env = []string{"PATH=" + atStart.path, "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "TERM=dumb", "EDITOR=true", "TMPDIR=" + filepath.Dir(dir), "REVIEWER_HOME=" + filepath.Join(filepath.Dir(dir), "state")}
	return cmd
}

// try lets a command be reviewed, run and undone.
func (p *lossProject) try(t *testing.T, c lossCase) {
	dir := t.TempDir()
	root, state := filepath.Join(dir, "shop"), filepath.Join(dir, "state")
	if out, err := lossCommand(t, p.dir, "bash", "-c", `mkdir "$1/home" && cp -a . "$1/shop"`, "bash", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwx", root).Run() }) // so that it can be removed
	before := lossFiles(t, root)
	log := &audit.Store{Dir: state, Env: cli.Environment()}
	answer := p.review(t, log, "PreToolUse", c, root)
	list, r := p.checkpoints(t, log, root)
	got, command := string(answer.Effect), c.command
	switch answer.Effect {
	case engine.Modify:
		var args struct{ Command string }
		if err := json.Unmarshal(answer.Args, &args); err != nil {
			t.Fatal(err)
		}
		got, command = "trash", args.Command
	case engine.Block:
		got = "deny"
	case engine.Allow, engine.Warn:
		got = "runs"
		if len(list) > 0 && list[len(list)-1].Save != nil {
			got = "saved"
		}
	}
	if got != c.answer {
		t.Errorf("%s: %s\nit is answered with %s, expected %s: %s", c.place, c.command, got, c.answer, answer.Text)
	}
	if after := lossFiles(t, root); !maps.Equal(before, after) {
		t.Errorf("the review itself changed files: %s", lossDifferences(before, after))
	}
	if got == "ask" || got == "deny" {
		return
	}
	out, err := lossCommand(t, root, "bash", "-c", command).CombinedOutput()
	spoiled := lossFiles(t, root)
	if maps.Equal(before, spoiled) && runtime.GOOS == "linux" { // other systems have other options
		t.Errorf("%s: %s\nchanged nothing: %v\n%s", c.place, c.command, err, out)
	}
	p.review(t, log, "PostToolUse", c, root)
	if len(list) == 0 {
		t.Errorf("%s: %s\nruns without a checkpoint: %s", c.place, c.command, lossDifferences(before, spoiled))
		return
	}
	back := checkpoint.RestoreRequest{To: list[len(list)-1].ID, Session: "s", Time: time.Now().UnixMilli()}
	if _, err := r.Restore(t.Context(), back); err != nil {
		t.Errorf("%s: %s\nrestore: %v", c.place, c.command, err)
	}
	if after := lossFiles(t, root); !maps.Equal(before, after) {
		t.Errorf("%s: %s\nis not restored: %s", c.place, c.command, lossDifferences(before, after))
	}
	check := lossCommand(t, root, "git", "cat-file", "--batch-check")
	check.Stdin = strings.NewReader(p.objects)
	if out, err := check.Output(); err != nil || bytes.Contains(out, []byte(" missing")) {
		t.Errorf("%s: %s\ngit has lost objects: %v", c.place, c.command, err)
	}
}

// review lets the hook's code answer an event of the command.
func (p *lossProject) review(t *testing.T, log *audit.Store, event string, c lossCase, root string) engine.Answer {
	t.Helper()
	doc := map[string]any{"hook_event_name": event, "session_id": "s", "tool_use_id": "c", "cwd": root, "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]string{"command": c.command}}
	if event == "PostToolUse" {
		doc["tool_response"] = map[string]any{"stdout": "", "stderr": "", "interrupted": false}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := harness.DecodeClaudeCode(event, raw, root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reviewer(t.Context(), lossApp(root), source{
		load:  func(context.Context, *audit.Store, string) (*review.Policy, error) { return p.policy, nil },
		under: func(log *audit.Store, _ *review.Policy) *audit.Store { return log },
	}, log)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Handle(t.Context(), e)
	if err != nil {
		t.Fatalf("%s: %v", c.place, err)
	}
	return answer
}

func lossApp(root string) *cli.App {
	dir := filepath.Dir(root)
	vars := map[string]string{"HOME": filepath.Join(dir, "home"), "REVIEWER_HOME": filepath.Join(dir, "state"), "PATH": atStart.path}
	return &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Env: func(name string) string { return vars[name] }}, Home: vars["REVIEWER_HOME"], Pid: nobody}
}

func (p *lossProject) checkpoints(t *testing.T, log *audit.Store, root string) ([]checkpoint.Checkpoint, *checkpoint.Store) {
	t.Helper()
	world, err := lossApp(root).World(log.Dir)
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	o, err := snapshots.Options(log, world, real, &p.policy.Settings.Checkpoints, p.policy.Rows)
	if err != nil {
		t.Fatal(err)
	}
	store, err := checkpoint.Open(snapshots.Folder(log.Dir), real, o)
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	return list, store
}

// lossFiles describes everything in a project except what git keeps of it: mode, content, target of a link, and of a hard
// link its first name.
func lossFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	files, first := map[string]string{}, map[osfile.ID]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == filepath.Join(root, ".git") {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text += lossContent(name, info)
			if id, ok := osfile.IdentifyInfo(info); ok && osfile.Links(info) > 1 {
				if first[id] == "" {
					first[id] = rel
				}
				text += " is " + first[id]
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err != nil {
				return err
			}
			text += " to " + to
		}
		files[rel] = text
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

// lossContent returns the content of a file, whatever its mode is.
func lossContent(name string, info fs.FileInfo) string {
	b, err := os.ReadFile(name)
	if os.IsPermission(err) && os.Chmod(name, 0o600) == nil {
		b, err = os.ReadFile(name)
		err = errors.Join(err, os.Chmod(name, info.Mode().Perm()))
	}
	return fmt.Sprintf(" %q %v", b, err)
}

func lossDifferences(before, after map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if is, there := after[name]; !there {
			fmt.Fprintf(&b, "\n  %q is gone", name)
		} else if is != before[name] {
			fmt.Fprintf(&b, "\n  %q was %.120s, is %.120s", name, before[name], is)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[name]; !there {
			fmt.Fprintf(&b, "\n  %q is new", name)
		}
	}
	return b.String()
}
