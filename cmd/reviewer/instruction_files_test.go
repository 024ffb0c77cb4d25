package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

var updateInstructions = flag.Bool("update-instructions", false, "write what happens to the calls of testdata/instructions")

// TestInstructionFiles makes the calls of testdata/instructions, of a third of the files unless REVIEWER_EVERY=1 (`make fidelity`) is set.
// What is held, and what is wrongly held, is as the files say.
func TestInstructionFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/instructions/*/*.md")
	if err != nil || len(files) != 30 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		if !*updateInstructions && !sweep.Has(i, 3) {
			continue
		}
		t.Run(strings.TrimPrefix(file, "testdata/instructions/"), func(t *testing.T) {
			t.Parallel()
			instructionFile(t, file)
		})
	}
}

// instructionFile makes the calls of one file, each in a session of its own.
func instructionFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	calls := strings.TrimSuffix(file, ".md") + ".tsv"
	raw, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	a := &faking{spokenHome: newSpokenHome(t)}
	a.write(t, "CLAUDE.md", string(text))
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, line := range lines {
		for _, call := range strings.Split(line, "\t")[2:4] {
			if kind, path, _ := strings.Cut(call, ": "); (kind == "Edit" || kind == "Read") && !strings.HasPrefix(path, "~") {
				a.write(t, path, "x\n")
			}
		}
	}
	for i, line := range lines {
		fields := strings.Split(line, "\t")
		from := fmt.Sprintf("CLAUDE.md:%s says", fields[0])
		got := "free"
		if fields[2] != "-" {
			got = a.heldBy(t, fmt.Sprint("v", i), fields[2], from)
		}
		got += "\t" + a.heldBy(t, fmt.Sprint("f", i), fields[3], "CLAUDE.md:")
		if want := strings.Join(fields[4:], "\t"); got != want && !*updateInstructions {
			t.Errorf("%s:%s: %s, %s: %q, want %q", file, fields[0], fields[2], fields[3], got, want)
		}
		lines[i] = strings.Join(append(slices.Clone(fields[:4]), got), "\t")
	}
	if *updateInstructions {
		if err := os.WriteFile(calls, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// heldBy makes a call in a new session, and returns whether it is held with a text, or stopped for another reason.
func (a *faking) heldBy(t *testing.T, session, call, text string) string {
	kind, arg, _ := strings.Cut(call, ": ")
	path := filepath.Join(a.dir, "shop", arg)
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		path = filepath.Join(a.dir, "home", rest)
	}
	input := map[string]object{"Bash": {"command": arg}, "Edit": {"file_path": path, "old_string": "x", "new_string": "y"},
		"Write": {"file_path": path, "content": "y\n"}, "Read": {"file_path": path}}[kind]
	answer := a.event(t, engine.PhasePre, session, object{"tool_name": kind, "tool_input": input, "tool_use_id": "c"})
	switch {
	case !stopped(answer):
		return "free"
	case strings.Contains(answer.Text, text):
		return "held"
	}
	return "stopped"
}
