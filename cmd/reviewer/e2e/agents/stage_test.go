//go:build e2e && linux

package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// noProxy is an address at which nothing listens.
const noProxy = "http://127.0.0.1:9"

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
	model    *Model
}

func newStage(t *testing.T, c Installed) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{T: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "shop"), outside: filepath.Join(dir, "photos"),
		state: filepath.Join(dir, "state"), reviewer: filepath.Join(dir, "bin", "reviewer"), client: c, driver: drivers()[c.Name]}
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

// writeJSON writes a document into the home.
func (s *stage) writeJSON(name string, doc any) {
	s.Helper()
	raw, err := json.MarshalIndent(doc, "", "  ")
	s.must(err)
	s.write(filepath.Join(s.home, name), string(raw))
}

// environment is built from nothing: what the person who runs the tests has set for their
// own agent must not reach this one. What a client loads from the network at its start goes
// to a proxy that does not exist.
func (s *stage) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "PWD=" + s.project, "TMPDIR=" + s.dir,
		"SHELL=/bin/bash", "TERM=dumb", "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1",
		"HTTP_PROXY=" + noProxy, "HTTPS_PROXY=" + noProxy, "http_proxy=" + noProxy, "https_proxy=" + noProxy, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}
}

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

// A Run is what came out of one run of a client.
type Run struct {
	Requests []Request
	Output   string // the client's, both streams
	Took     time.Duration
	Hung     bool // ended by the test
}

// limit is the time that a client has for a run.
const limit = 4 * time.Minute

// run gives the client a prompt and a scripted model, and waits for its end.
func (s *stage) run(script Script, before func(step int)) Run {
	s.Helper()
	var err error
	s.model, err = StartModel(script)
	s.must(err)
	defer s.model.Close()
	s.model.BeforeStep = before
	s.driver.configure(s)
	s.install()
	if s.standIn != "" {
		s.replace(s.standIn)
	}
	start, output := time.Now(), &bytes.Buffer{}
	hung := s.start(output)
	return Run{s.model.Requests(), output.String(), time.Since(start), hung}
}

// exists reports whether a path is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
