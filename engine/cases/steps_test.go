package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// told is a step in a line.
func told(s Step) string {
	if s.Control != nil {
		return fmt.Sprintf("%d %s of %q", s.Time/1000%100, s.Control.Do, s.Of)
	}
	e := s.Event
	line := fmt.Sprintf("%d %s %s %s %s in %s %s", s.Time/1000%100, e.Phase, e.Call, e.Tool, e.Args, e.CWD, e.Mode)
	if e.Result != nil {
		line += fmt.Sprintf(" failed=%t output=%s", e.Result.Failed, e.Result.Output)
	}
	return line
}

func TestSteps(t *testing.T) {
	c := parse(t, `
name: a
mode: default
events:
  - {Read: src/a.go, result: {output: text}}
  - {mcp__db__drop: {table: x}, at: +30s, cwd: src, mode: plan}
  - {Bash: make, times: 2, result: failed}
  - {result: {args: {table: y}}, call: 2}
  - {allow: session, call: 3}
  - {stop: enough}
  - {resume: go}
  - {phase: stop, expect: {decision: allow}}
`)[0]
	steps, err := c.Steps()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		got = append(got, told(s))
	}
	want := []string{
		`0 start    in /srv/shop default`,
		`1 pre call-1 Read {"file_path":"/srv/shop/src/a.go"} in /srv/shop default`,
		`1 post call-1 Read {"file_path":"/srv/shop/src/a.go"} in /srv/shop default failed=false output="text"`,
		`31 pre call-2 mcp__db__drop {"table":"x"} in /srv/shop/src plan`,
		`32 pre call-3 Bash {"command":"make"} in /srv/shop/src plan`,
		`32 post call-3 Bash {"command":"make"} in /srv/shop/src plan failed=true output=""`,
		`32 pre call-4 Bash {"command":"make"} in /srv/shop/src plan`,
		`32 post call-4 Bash {"command":"make"} in /srv/shop/src plan failed=true output=""`,
		`33 post call-2 mcp__db__drop {"table":"y"} in /srv/shop/src plan failed=false output=""`,
		`34 allow_session of "call-3"`,
		`35 stop of ""`,
		`36 resume of ""`,
		`37 stop    in /srv/shop/src plan`,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

// What is expected of a call that happens several times is so of the last.
func TestExpectedOfTheLast(t *testing.T) {
	c := parse(t, "name: a\nevents: [{Bash: ls, times: 3, result: ok, expect: {decision: allow}}]")[0]
	steps, err := c.Steps()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		if want := i == len(steps)-2; (s.Expect != nil) != want {
			t.Errorf("step %d (%s): expects something: %t, want %t", i, told(s), s.Expect != nil, want)
		}
		if s.Loose != (s.Event.Phase == engine.PhasePost) {
			t.Errorf("step %d (%s) is loose: %t", i, told(s), s.Loose)
		}
	}
}

func TestStepErrors(t *testing.T) {
	for name, test := range map[string][2]string{
		"no such call": {"name: a\nevents:\n  - {Bash: ls}\n  - {result: ok, call: 2, expect: {decision: allow}}", "a.yaml:4: event 2: 1 call before this event, but it is about number 2"},
		"backwards":    {"name: a\nevents:\n  - {Bash: ls, at: 2020-01-01T00:00:00Z, expect: {decision: allow}}", "a.yaml:3: event 1: at: 2020-01-01T00:00:00Z is before the previous event"},
	} {
		_, err := parse(t, test[0])[0].Steps()
		if err == nil || !strings.Contains(err.Error(), test[1]) {
			t.Errorf("%s: %v, want %q in it", name, err, test[1])
		}
	}
}

func TestPath(t *testing.T) {
	known := Case{Workspace: "/srv/shop", Home: "/home/anna"}
	none := Case{Workspace: noWorkspace, Home: "/home/anna"}
	for _, test := range []struct {
		c          Case
		name, want string
	}{
		{known, "a.txt", "/srv/shop/a.txt"}, {known, "./src/../a.txt", "/srv/shop/a.txt"}, {known, "../a", "/srv/a"},
		{known, "~", "/home/anna"}, {known, "~/x", "/home/anna/x"}, {known, "~x", "/srv/shop/~x"}, {known, "/a//b/", "/a/b"},
		{none, "a.txt", "/a.txt"},
	} {
		if got := test.c.Path(test.name); got != test.want {
			t.Errorf("%s is %s, want %s", test.name, got, test.want)
		}
	}
}

// {n} counts the calls of an event that happens several times, and every says
// how long the pauses are.
func TestNumberedCalls(t *testing.T) {
	c := parse(t, "name: a\nevents: [{Write: 'src/{n}.go', times: 3, every: 2s, result: {output: 'wrote {n}'}}, {Bash: 'echo {n}', expect: {decision: allow}}]")[0]
	steps, err := c.Steps()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		if s.Event.Phase == engine.PhasePre {
			got = append(got, fmt.Sprintf("%d %s", (s.Event.Time-steps[0].Event.Time)/1000, s.Event.Args))
		}
	}
	want := []string{
		`1 {"content":"text\n","file_path":"/srv/shop/src/1.go"}`, `3 {"content":"text\n","file_path":"/srv/shop/src/2.go"}`,
		`5 {"content":"text\n","file_path":"/srv/shop/src/3.go"}`, `6 {"command":"echo {n}"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
