package classify

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/google/go-cmp/cmp"
)

var updateShell = flag.Bool("update-shell", false, "rewrite the expectations in testdata/shell")

// The world of the cases: an ordinary project of an ordinary person.
func shellCaseInput() shell.Input {
	dirs := map[string][]string{
		"/srv/shop":     {"api", "build", "go.mod", "web"},
		"/srv/shop/api": {"main.go"},
		"/srv/shop/web": {"index.html"},
		"/bin":          {"cat", "ls", "rm", "sh"},
	}
	return shell.Input{
		Cwd:  abstract.Value{Sure: abstract.Literal, Text: "/srv/shop"},
		Home: "/home/ana", Program: "/opt/reviewer", Knows: programs.Knowledge(classifytest.Rows()), Rows: classifytest.Rows(),
		ListDir: func(dir string) ([]string, error) {
			if names, ok := dirs[dir]; ok {
				return names, nil
			}
			return nil, os.ErrNotExist
		},
	}
}

// TestShell runs the cases in testdata/shell. A case is a command ("$ ", and
// "> " for each further line), then what it would do, one fact per line.
func TestShell(t *testing.T) {
	files, err := filepath.Glob("testdata/shell/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runShellCases(t, file) })
	}
}

func runShellCases(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		head, src, want := splitShellCase(block)
		if src == "" {
			out = append(out, block)
			continue
		}
		got := renderScript(shell.Interpret(src, shellCaseInput()))
		out = append(out, strings.Join(slices.Concat(head, got), "\n"))
		if diff := cmp.Diff(want, got); diff != "" && !*updateShell {
			t.Errorf("%s\n(-want +got):\n%s", src, diff)
		}
	}
	if *updateShell {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// splitShellCase takes a block apart: its comments and input, the command, and what
// is expected.
func splitShellCase(block string) (head []string, src string, want []string) {
	var lines []string
	for _, line := range strings.Split(block, "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			want = append(want, line)
			continue
		case strings.HasPrefix(line, "$ "), strings.HasPrefix(line, "> "):
			lines = append(lines, line[2:])
		case line == ">":
			lines = append(lines, "")
		}
		head = append(head, line)
	}
	return head, strings.Join(lines, "\n"), want
}

// renderScript writes what a script does in the form of the case files.
func renderScript(s abstract.Script) []string {
	var out []string
	for _, c := range s.Commands {
		out = append(out, "  run "+renderShellCommand(c))
	}
	for _, e := range s.Effects {
		out = append(out, "  "+renderRaw(e))
	}
	var signals []string
	for id := range s.Signals {
		signals = append(signals, "  signal "+string(id))
	}
	slices.Sort(signals)
	out = append(out, signals...)
	for _, o := range s.Opaque {
		out = append(out, "  opaque "+o.Reason)
	}
	return slices.Compact(out)
}

func renderShellCommand(c engine.Command) string {
	words := slices.Concat([]string{c.Name}, c.Sub, c.Flags)
	for _, o := range c.Operands {
		words = append(words, strings.ReplaceAll(o, "\n", "⏎"))
	}
	if len(c.Wrappers) > 0 {
		words = append(words, "[under "+strings.Join(c.Wrappers, " ")+"]")
	}
	if len(c.Via) > 0 {
		words = append(words, "[via "+strings.Join(c.Via, " ")+"]")
	}
	return strings.Join(words, " ")
}

func renderRaw(e abstract.RawEffect) string {
	words := []string{string(e.Kind), e.Verb}
	if t := renderRawTarget(e); t != "" {
		words = append(words, t)
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{e.Guessed, "guessed"}, {e.Recursive, "recursive"}, {e.Forced, "forced"}, {e.Privileged, "privileged"},
		{e.Egress, "egress"}, {e.Persistence, "persistence"}, {e.Contents, "contents"},
	} {
		if f.on {
			words = append(words, f.name)
		}
	}
	if e.Mode != "" {
		words = append(words, "mode="+e.Mode)
	}
	if e.Reversible != "" {
		words = append(words, string(e.Reversible))
	}
	if e.Host != "" {
		words = append(words, "@"+e.Host)
	}
	return strings.Join(words, " ")
}

func renderRawTarget(e abstract.RawEffect) string {
	v := e.Target
	isPath := e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileRead
	if isPath && v.Sure != abstract.Unknown && !place.Drive(v.Text) && !strings.HasPrefix(v.Text, "/") && v.Text != "" {
		dir := "?"
		if e.Dir.Sure != abstract.Unknown {
			dir = e.Dir.Text
		}
		if e.Dir.Sure == abstract.Prefix {
			dir += "…"
		}
		v.Text = strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(v.Text, "./")
	}
	switch v.Sure {
	case abstract.Unknown:
		return "?"
	case abstract.Prefix:
		return v.Text + "…"
	case abstract.Glob:
		return "glob:" + v.Text
	}
	return v.Text
}
