package approvalscmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	textdiff "github.com/rogpeppe/go-internal/diff"
)

// comparable is the size up to which a file is compared with what a call would write, in bytes.
const comparable = 1 << 20

// Change is a string that a call would write, as people read it.
type Change struct {
	Name string `json:"name"`           // of the argument
	Note string `json:"note"`           // what the text is
	Diff bool   `json:"diff,omitempty"` // the text is a unified diff
	Text string `json:"text"`
}

// ChangesOf describes what a call would write: the difference to what an edit replaces or a
// file contains, if both are known completely; else the text alone.
func ChangesOf(log *audit.Store, r *approval.Request) []Change {
	var list []Change
	done := map[string]bool{}
	for _, c := range r.Contents {
		if done[c.Name] {
			continue
		}
		if pair := pairOf(r.Contents, c.Name); pair != nil {
			done[pair[0].Name], done[pair[1].Name] = true, true
			list = append(list, replaced(pair))
			continue
		}
		list = append(list, written(log, r, c))
	}
	return list
}

// pairOf returns what an edit replaces and what replaces it, by the names of both arguments:
// these differ only in the words old and new.
func pairOf(list []approval.Content, name string) []approval.Content {
	at := max(strings.LastIndexAny(name, ".]")+1, 0)
	for _, words := range [][2]string{{"old", "new"}, {"new", "old"}} {
		rest, is := strings.CutPrefix(name[at:], words[0])
		if !is {
			continue
		}
		this, other := find(list, name), find(list, name[:at]+words[1]+rest)
		if other != nil && words[0] == "old" {
			return []approval.Content{*this, *other}
		} else if other != nil {
			return []approval.Content{*other, *this}
		}
	}
	return nil
}

func find(list []approval.Content, name string) *approval.Content {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

func replaced(pair []approval.Content) Change {
	return Change{Name: pair[1].Name, Note: "in place of " + pair[0].Name, Diff: true,
		Text: unified([]byte(pair[0].Text), []byte(pair[1].Text))}
}

func written(log *audit.Store, r *approval.Request, c approval.Content) Change {
	change := Change{Name: c.Name, Text: c.Text, Note: engine.Counted(c.Bytes, "byte", "bytes")}
	path := fileOf(r)
	if path == "" || len(c.Text) < c.Bytes && strings.HasSuffix(c.Text, "…") {
		return change
	}
	old, err := readText(path)
	if err != nil {
		change.Note += ", not compared with the file: " + err.Error()
		return change
	}
	masked, err := cli.WithoutSecrets(log, string(old))
	if err != nil {
		return change // the text alone is also correct
	}
	change.Note = fmt.Sprintf("%s, compared with the current file", change.Note)
	change.Diff, change.Text = true, unified([]byte(masked), []byte(c.Text))
	return change
}

// fileOf returns the one existing file that a call writes; empty: there is none, or several.
func fileOf(r *approval.Request) string {
	path := ""
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind != engine.EffectFileWrite {
			continue
		}
		if path != "" || e.Host != "" || e.Certainty != engine.CertaintyExact || e.Exists != "yes" || !filepath.IsAbs(e.Target) {
			return ""
		}
		path = e.Target
	}
	return path
}

func readText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be read")
	case !info.Mode().IsRegular() || info.Size() > comparable:
		return nil, fmt.Errorf("it is not a regular file, or larger than %d bytes", comparable)
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
		return nil, fmt.Errorf("it cannot be read as text")
	}
	return raw, nil
}

// unified returns the hunks of a unified diff.
func unified(before, after []byte) string {
	text := textdiff.Diff("a", before, "b", after)
	if at := bytes.Index(text, []byte("\n@@")); at >= 0 {
		return string(text[at+1:])
	}
	return "(no difference)\n"
}

func (c *Change) print(p term.Page) {
	head(p, "What it would write to "+c.Name+" ("+c.Note+")")
	for line := range strings.Lines(c.Text) {
		colour := ""
		if c.Diff {
			colour = diffColour(line)
		}
		for _, row := range term.Wrap(term.Printable(strings.TrimRight(line, "\n")), term.Room(p.Width, 4)) {
			p.Line(term.Plain("    "), term.Cell{Text: row, Colour: colour})
		}
	}
}

func diffColour(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return term.Good
	case strings.HasPrefix(line, "-"):
		return term.Bad
	case strings.HasPrefix(line, "@@"):
		return term.Faint
	}
	return ""
}
