package classify

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

var updateShell = flag.Bool("update-shell", false, "rewrite the expectations in testdata/shell")

// The world of the cases: an ordinary project of an ordinary person.
func shellCaseInput() shellInput {
	dirs := map[string][]string{
		"/srv/shop":     {"api", "build", "go.mod", "web"},
		"/srv/shop/api": {"main.go"},
		"/srv/shop/web": {"index.html"},
		"/bin":          {"cat", "ls", "rm", "sh"},
	}
	return shellInput{
		cwd:  value{literal, "/srv/shop"},
		home: "/home/ana", program: "/opt/reviewer", knows: programKnowledge(),
		listDir: func(dir string) ([]string, error) {
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
		got := renderScript(interpretShell(src, shellCaseInput()))
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
func renderScript(s script) []string {
	var out []string
	for _, c := range s.commands {
		out = append(out, "  run "+renderShellCommand(c))
	}
	for _, e := range s.effects {
		out = append(out, "  "+renderRaw(e))
	}
	var signals []string
	for id := range s.signals {
		signals = append(signals, "  signal "+string(id))
	}
	slices.Sort(signals)
	out = append(out, signals...)
	for _, o := range s.opaque {
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

func renderRaw(e rawEffect) string {
	words := []string{string(e.kind), e.verb}
	if t := renderRawTarget(e); t != "" {
		words = append(words, t)
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{e.guessed, "guessed"}, {e.recursive, "recursive"}, {e.forced, "forced"}, {e.privileged, "privileged"},
		{e.egress, "egress"}, {e.persistence, "persistence"}, {e.contents, "contents"},
	} {
		if f.on {
			words = append(words, f.name)
		}
	}
	if e.reversible != "" {
		words = append(words, string(e.reversible))
	}
	if e.host != "" {
		words = append(words, "@"+e.host)
	}
	return strings.Join(words, " ")
}

func renderRawTarget(e rawEffect) string {
	v := e.target
	isPath := e.kind == engine.EffectFileDelete || e.kind == engine.EffectFileWrite || e.kind == engine.EffectFileRead
	if isPath && v.sure != unknown && !drive(v.text) && !strings.HasPrefix(v.text, "/") && v.text != "" {
		dir := "?"
		if e.dir.sure != unknown {
			dir = e.dir.text
		}
		if e.dir.sure == prefix {
			dir += "…"
		}
		v.text = strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(v.text, "./")
	}
	switch v.sure {
	case unknown:
		return "?"
	case prefix:
		return v.text + "…"
	case glob:
		return "glob:" + v.text
	}
	return v.text
}
