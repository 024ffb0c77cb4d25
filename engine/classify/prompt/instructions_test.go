package prompt

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// instructionFile is a file of testdata/instructions.txt.
type instructionFile struct {
	text string
	want []string // by line: what is read; empty: nothing
}

func instructionFiles(t *testing.T, name string) []instructionFile {
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var list []instructionFile
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "@ ") {
			list = append(list, instructionFile{})
			continue
		}
		if len(list) == 0 {
			continue
		}
		text, want, found := strings.Cut(line, " | ")
		if !found || strings.HasPrefix(line, "|") {
			text, want = line, ""
		}
		f := &list[len(list)-1]
		f.text, f.want = f.text+text+"\n", append(f.want, strings.TrimSpace(want))
	}
	return list
}

func said(list []engine.Statement) string {
	var all []string
	for _, s := range list {
		text := strings.Join(append([]string{s.Act}, s.Objects...), " ")
		if s.Until != "" {
			text += ", until " + s.Until
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// What instruction files forbid is read line by line. Nothing else is, and nothing is a permission.
func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		file         string
		held, silent int // percent that must be read rightly
	}{{"instructions.txt", 92, 99}, {"instructions_aside.txt", 85, 99}} {
		t.Run(c.file, func(t *testing.T) { readInstructions(t, c.file, c.held, c.silent) })
	}
}

func readInstructions(t *testing.T, file string, most, quiet int) {
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	var held, silent share
	for n, f := range instructionFiles(t, file) {
		got := make([]string, len(f.want))
		for _, s := range InstructionsOf(classifytest.Rows(), m, f.text, func(s string) bool { return slices.Contains(here, s) }) {
			for _, st := range s.Statements {
				if st.Kind != engine.Forbids {
					t.Errorf("%q: %s, and not a prohibition", s.Text, st.Kind)
				}
			}
			if text := said(s.Statements); text != "" {
				got[s.Line-1] = strings.TrimPrefix(got[s.Line-1]+"; "+text, "; ")
			}
		}
		lines := strings.Split(f.text, "\n")
		for i, want := range f.want {
			right := got[i] == want
			if want == "" {
				silent.count(right)
			} else {
				held.count(right)
			}
			if !right {
				t.Logf("file %d: %q: read %q, want %q", n+1, lines[i], got[i], want)
			}
		}
	}
	if held.right*100 < most*held.all || silent.right*100 < quiet*silent.all {
		t.Error("too few are read rightly")
	}
	t.Logf("read rightly: %d of %d prohibitions; %d of %d other lines", held.right, held.all, silent.right, silent.all)
}

// What is between two examples keeps its lines, and is read.
func TestInstructionsBetweenTags(t *testing.T) {
	text := "<example>\na\n</example>\n\n- Never push.\n\n<example>\nb\n</example>\n- No tags.\n"
	var got []string
	for _, s := range InstructionsOf(classifytest.Rows(), askedMasker(), text, nil) {
		for _, said := range s.Statements {
			got = append(got, fmt.Sprint(s.Line, " ", said.Act))
		}
	}
	if want := []string{"5 push", "10 tag"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// Whatever a file says, it is read, forbids only, and each sentence is on a line of the file.
func FuzzInstructions(f *testing.F) {
	for _, name := range []string{"instructions.txt", "instructions_aside.txt"} {
		raw, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
		for line := range strings.Lines(string(raw)) {
			f.Add(line)
		}
	}
	for _, text := range []string{"- deploy no", "- no", "no `", "| `a` | no |\n|---|---|\n| `b` |", "- **never**:\n  - `a b`\n- c", "1.2 never", "## Never\n- ", "x? ask", "- `-` is off limits",
		"- wait no Docker", "- run `a` with `-b`, or `c` only in `d`", "- only"} {
		f.Add(text)
	}
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, s := range InstructionsOf(classifytest.Rows(), m, text, func(s string) bool { return slices.Contains(here, s) }) {
			if s.Line < 1 || s.Line > lines+1 {
				t.Errorf("line %d of %d", s.Line, lines)
			}
			for _, said := range s.Statements {
				if said.Kind != engine.Forbids || said.Act == "" {
					t.Errorf("%q: %s %q", s.Text, said.Kind, said.Act)
				}
			}
		}
	})
}
