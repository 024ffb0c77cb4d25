//go:build e2e && linux

package agents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// program is the reviewer under test; TestMain builds it.
var program string

// A stage is one machine in small: a home, a project, a folder outside both, and a
// reviewer with a state of its own.
type stage struct {
	*testing.T
	dir, home, project, outside, state string

	reviewer string // the program that the hooks name
	client   Installed
	driver   driver
	timeout  int    // seconds for the hook before a call; 0: what is installed
	standIn  string // see Cell.StandIn
	model    *scripted.Model
	settings string         // of the policy in a run, besides those that let the model be reached
	before   func(step int) // is called before each answer of the model in a run
	runs     int            // of the client so far
	wrap     []string       // what starts the client and reviewer with an /etc of their own
}

func newStage(t *testing.T, c Installed) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{T: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "shop"), outside: filepath.Join(dir, "photos"),
		state: filepath.Join(dir, "state"), reviewer: filepath.Join(dir, "bin", "reviewer"), client: c, driver: driverOf(c.Name)}
	s.write(filepath.Join(s.outside, "beach.txt"), "a photograph\n")
	s.write(filepath.Join(s.project, "README.md"), "# shop\n")
	s.must(os.MkdirAll(s.home, 0o755))
	s.must(os.MkdirAll(filepath.Dir(s.reviewer), 0o755))
	s.must(os.Link(program, s.reviewer))
	s.script("git init -q -b main && git add -A && git -c user.name=Kim -c user.email=kim@shop.example commit -q -m first")
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) write(path, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	s.must(os.WriteFile(path, []byte(text), mode))
}

// place is where the client is started.
func (s *stage) place() live.Place {
	p := live.Place{Home: s.home, Project: s.project, Temp: s.dir, Path: os.Getenv("PATH")}
	if s.model != nil {
		p.URL = s.model.URL()
	}
	return p
}

func (s *stage) environment() []string { return s.driver.Environment(s.place()) }

// script runs code of a shell in the project.
func (s *stage) script(code string) {
	s.Helper()
	cmd := exec.Command("sh", "-c", code)
	cmd.Dir, cmd.Env = s.project, s.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", code, err, out)
	}
}

// review calls reviewer as a person would.
func (s *stage) review(args ...string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, "--home", s.state)...)
	cmd.Dir, cmd.Env = s.project, s.environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("reviewer %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// install puts the hooks in place as a user does, and shortens their time-out if the cell has
// another one.
func (s *stage) install() {
	s.Helper()
	if s.driver.hooks != nil {
		s.driver.hooks(s)
	} else {
		s.installWith(filepath.Dir(s.client.Command[0]))
	}
	if s.timeout != 0 && s.driver.file != "" {
		s.shorten()
	}
}

// installWith runs `reviewer install` with a folder, in which the client may be, in the path.
func (s *stage) installWith(folder string) {
	s.Helper()
	cmd := exec.Command(s.reviewer, "install", s.client.Name, "--user", "--home", s.state, "--enforcement", "enforce")
	cmd.Dir, cmd.Env = s.project, append(s.environment(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("reviewer install: %v\n%s", err, out)
	}
}

// shorten changes the time-out of the hook before a call, which is 60 s.
func (s *stage) shorten() {
	s.Helper()
	path := filepath.Join(s.home, s.driver.file)
	before, err := os.ReadFile(path)
	s.must(err)
	after := regexp.MustCompile(`(?s)(`+s.driver.pre+`\W.*?\b)60(000)?\b`).ReplaceAllString(string(before), "${1}"+strconv.Itoa(s.timeout)+"${2}")
	if after == string(before) {
		s.Fatalf("no time-out of 60 s in %s:\n%s", path, before)
	}
	s.write(path, after)
}

// replace puts a script at the reviewer's path, which passes on each event but the one
// before a call. "none" removes the program.
func (s *stage) replace(code string) {
	s.Helper()
	s.must(os.Remove(s.reviewer))
	if code == "none" {
		return
	}
	s.write(s.reviewer, "#!/bin/sh\nREAL='"+program+"'\nexport REAL\ncase \" $* \" in *\" "+s.driver.pre+" \"*) ;; *) exec \"$REAL\" \"$@\" ;; esac\n"+code+"\n")
}

// limit is the time that a client has for a run.
const limit = 8 * time.Minute

// run gives the client a prompt and a scripted model, and waits for its end.
func (s *stage) run(script scripted.Script, before func(step int)) live.Run {
	s.Helper()
	var err error
	s.model, err = scripted.Start(script)
	s.must(err)
	defer s.model.Close()
	s.model.BeforeStep = before
	if s.runs++; s.runs > 1 { // a session has no two calls with one id
		run := s.runs
		s.model.CallID = func(n, k int) string { return fmt.Sprintf("call_%d_%d_%d", run, n, k) }
	}
	start := s.start()
	s.must(s.driver.Prepare(s.Context(), s.place(), start))
	if s.driver.prepare != nil {
		s.driver.prepare(s)
	}
	s.install()
	if s.standIn != "" {
		s.replace(s.standIn)
	}
	run, err := s.driver.Run(s.Context(), s.place(), start)
	s.must(err)
	return run
}

// exists reports whether a path is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
