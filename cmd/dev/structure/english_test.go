package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"go.yaml.in/yaml/v3"
)

// phrase is an expression that texts should not use, with the usual words for it.
type phrase struct {
	Find, Unless, Better, Example string

	find, unless *regexp.Regexp
	literals     []string // lower case: a string without any of them does not use the phrase; empty: unknown
}

// proseIn is a file or a folder whose texts are checked.
type proseIn struct {
	Path   string
	Except []string // patterns of file names
	Skip   []struct{ From, To string }
}

func englishData(t *testing.T) (places []proseIn, phrases []phrase) {
	t.Helper()
	raw, err := os.ReadFile("testdata/english.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Places  []proseIn
		Phrases []phrase
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&data); err != nil {
		t.Fatal(err)
	}
	for i := range data.Phrases {
		p := &data.Phrases[i]
		p.find = regexp.MustCompile("(?i)" + p.Find)
		parsed, err := syntax.Parse(p.Find, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		p.literals = literals(parsed)
		if p.Unless != "" {
			p.unless = regexp.MustCompile("(?i)" + p.Unless)
		}
	}
	return data.Places, data.Phrases
}

// literals lists texts of which each match of an expression contains one, in lower case.
// It is empty if there are none: the expressions are slow on texts as long as the
// program's, and most texts can be excluded without them.
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if list := literals(sub); shortest(list) > shortest(best) {
				best = list
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			list := literals(sub)
			if len(list) == 0 {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// prose is a string as one line, with the places at which its lines begin: phrases are
// found across line breaks and the marks of comments.
type prose struct {
	text   string
	lower  string // in lower case
	starts []int
}

var commentMark = engine.Regexp(`^\s*(//|#|>|\*|-)?\s*`)

func newProse(raw string) prose {
	var b strings.Builder
	var p prose
	for line := range strings.SplitSeq(raw, "\n") {
		p.starts = append(p.starts, b.Len())
		b.WriteString(commentMark().ReplaceAllString(line, "") + " ")
	}
	p.text, p.lower = b.String(), strings.ToLower(b.String())
	return p
}

// line returns the number of the line that contains a place of the text.
func (p prose) line(at int) int {
	i, found := slices.BinarySearch(p.starts, at)
	if found {
		return i + 1
	}
	return i
}

// matches returns the places at which a string uses a phrase.
func (p phrase) matches(in prose) [][]int {
	text := in.text
	const around = 40
	if len(p.literals) > 0 && !slices.ContainsFunc(p.literals, func(l string) bool { return strings.Contains(in.lower, l) }) {
		return nil
	}
	return slices.DeleteFunc(p.find.FindAllStringIndex(text, -1), func(m []int) bool {
		return p.unless != nil && p.unless.MatchString(text[max(0, m[0]-around):min(len(text), m[1]+around)])
	})
}

// blank replaces the parts of a string that come from elsewhere by empty lines.
func (in proseIn) blank(text string) string {
	for _, part := range in.Skip {
		before, rest, begins := strings.Cut(text, part.From)
		inside, after, ends := strings.Cut(rest, part.To)
		if begins && ends {
			text = before + strings.Repeat("\n", strings.Count(inside, "\n")) + after
		}
	}
	return text
}

func (in proseIn) files(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join("../../..", in.Path), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, pattern := range in.Except {
			if match, err := filepath.Match(pattern, d.Name()); match || err != nil {
				return err
			}
		}
		files = append(files, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEnglish keeps phrases out of texts that read as translated.
func TestEnglish(t *testing.T) {
	places, phrases := englishData(t)
	for _, in := range places {
		files := in.files(t)
		if len(files) == 0 {
			t.Errorf("%s has no files", in.Path)
		}
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := newProse(in.blank(string(raw)))
			for _, p := range phrases {
				for _, m := range p.matches(text) {
					t.Errorf("%s:%d: %q; better: %s", strings.TrimPrefix(name, "../../../"), text.line(m[0]), text.text[m[0]:m[1]], p.Better)
				}
			}
		}
	}
}

// Each phrase finds its own example, also where it is broken over two lines of a comment.
func TestEnglishFinds(t *testing.T) {
	_, phrases := englishData(t)
	for _, p := range phrases {
		broken := newProse("// A comment\n// " + strings.ReplaceAll(p.Example, " ", "\n// "))
		if len(p.matches(newProse(p.Example))) == 0 || len(p.matches(broken)) == 0 {
			t.Errorf("%q does not find its example %q", p.Find, p.Example)
		}
		if p.Better == "" {
			t.Errorf("%q has no better words", p.Find)
		}
	}
	p := phrases[0]
	if found := p.matches(newProse("There is no rule. It is no longer used.")); len(found) != 0 {
		t.Errorf("%q is right and found", "there is no")
	}
	if got := newProse("one\ntwo\nthree").line(5); got != 2 {
		t.Errorf("line %d, want 2", got)
	}
}
