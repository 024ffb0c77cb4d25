package classify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// draft is shell code that is being changed. Edits are gathered by word, and
// made in the text at the end: what is between the words stays as it is.
type draft struct {
	src      string
	in       shellInput
	code     script
	commands []engine.Command         // as policy sees them
	stands   map[*syntax.CallExpr]int // calls in src itself -> number of commands that they stand for
	edits    map[*syntax.CallExpr][]wordEdit
	touched  map[int]bool // commands
}

// wordEdit is what becomes of one word of a call.
type wordEdit struct {
	before []string // words to put in front of it
	gone   bool
	text   string // in its place, where set
	set    bool
	cut    string   // letters to take out of it
	after  []string // words to put behind it
	flags  []string // and behind those
}

// newDraft reads code. What is not understood as a whole is not changed.
func newDraft(src string, in shellInput, facts *engine.Facts) (*draft, error) {
	d := &draft{src: src, in: in, code: interpretShell(src, in), commands: facts.Action.Commands,
		stands: map[*syntax.CallExpr]int{}, edits: map[*syntax.CallExpr][]wordEdit{}, touched: map[int]bool{}}
	for _, o := range d.code.opaque {
		if o.Reason == "syntax" || o.Reason == "budget" || o.Reason == "encoding" {
			return nil, fmt.Errorf("the command is not understood as a whole (%s), so that it cannot be changed safely", o.Reason)
		}
	}
	if len(d.commands) != len(d.code.commands) {
		return nil, fmt.Errorf("only %d of %d commands are listed, so that their numbers do not say which is meant", len(d.commands), len(d.code.commands))
	}
	for _, st := range d.code.tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				d.stands[call] = 0
			}
			return true
		})
	}
	for _, o := range d.code.origins {
		if _, here := d.stands[o.node]; here {
			d.stands[o.node]++
		}
	}
	return d, nil
}

// site is one command that can be changed where it stands.
type site struct {
	origin
	name  string     // as policy sees it
	host  string     // the wrapper right in front of it
	words []arg      // as Operation.Arg counts them
	edits []wordEdit // of node.Args
}

// command finds the command with an index.
func (d *draft) command(i int) (*site, error) {
	if i < 0 || i >= len(d.commands) {
		return nil, fmt.Errorf("there is no command %d: the call has %d, counted from 0", i, len(d.commands))
	}
	o, c := d.code.origins[i], d.commands[i]
	n, here := d.stands[o.node]
	switch {
	case len(c.Via) > 0:
		return nil, fmt.Errorf("command %d (%s) cannot be rewritten: it comes from %s", i, c.Name, strings.Join(c.Via, ", "))
	case !here:
		return nil, fmt.Errorf("command %d (%s) cannot be rewritten: it is made from other text", i, c.Name)
	case n > 1:
		return nil, fmt.Errorf("command %d (%s) cannot be rewritten: what stands there is %d commands, in a loop, a function or one within another", i, c.Name, n)
	case !o.complete:
		return nil, fmt.Errorf("command %d (%s) cannot be rewritten: its words are not told apart", i, c.Name)
	}
	s := &site{origin: o, name: c.Name, edits: d.edits[o.node]}
	if n := len(c.Wrappers); n > 0 {
		s.host = c.Wrappers[n-1]
	}
	if s.edits == nil {
		s.edits = make([]wordEdit, len(o.node.Args))
		d.edits[o.node] = s.edits
	}
	subs, rest := cutSubs(o.subs, o.operands)
	s.words = slices.Concat([]arg{o.name}, subs, rest)
	if len(subs) != len(o.subs) || !s.literal(o.name) {
		return nil, fmt.Errorf("command %d cannot be rewritten: its name is not written out", i)
	}
	d.touched[i] = true
	return s, nil
}

// literal tells whether an argument stands in the code as one word without
// expansions.
func (s *site) literal(a arg) bool {
	if a.word == nil || a.glob || a.splits || !constant(a.word) || s.at(a) < 0 {
		return false
	}
	text, err := wordText(a.word)
	return err == nil && text == a.text
}

// wordText is what a constant word stands for.
func wordText(w *syntax.Word) (string, error) {
	s := newShell(shellInput{})
	text := s.single(w).text
	if s.full || strings.ContainsAny(text, holes) {
		return "", errors.New("not a constant")
	}
	return text, nil
}

// at is the place of an argument's word in the call; -1: it stands elsewhere.
func (s *site) at(a arg) int { return slices.Index(s.node.Args, a.word) }

// sure tells whether what stands before and at a word is one argument for each
// word: otherwise a number does not say which is meant.
func (s *site) sure(last arg) error {
	for _, a := range slices.Concat([]arg{s.origin.name}, s.args) {
		if a.word == nil || a.splits || a.glob || s.at(a) < 0 {
			return fmt.Errorf("%q of %s may be any number of words", a.show(), s.name)
		}
		if a.word == last.word {
			break
		}
	}
	if !s.literal(last) {
		return fmt.Errorf("the word %q of %s is not written out", last.show(), s.name)
	}
	return nil
}

func (s *site) insertArg(i int, text string) error {
	if i < 0 || i > len(s.words) {
		return s.noWord(i)
	}
	if i == 0 {
		at := s.at(s.words[0])
		s.edits[at].before = append(s.edits[at].before, text)
		return nil
	}
	return s.behind(s.words[i-1], func(e *wordEdit) { e.after = append(e.after, text) })
}

// behind changes what follows a word.
func (s *site) behind(word arg, change func(*wordEdit)) error {
	if err := s.sure(word); err != nil {
		return err
	}
	change(&s.edits[s.at(word)])
	return nil
}

func (s *site) replaceArg(i int, text string) error {
	if i < 0 || i >= len(s.words) {
		return s.noWord(i)
	}
	if i == 0 && multicall(s.host) {
		return fmt.Errorf("%s of %s cannot be replaced: %s runs nothing but its own programs", s.name, s.host, s.host)
	}
	if err := s.sure(s.words[i]); err != nil {
		return err
	}
	e := &s.edits[s.at(s.words[i])]
	if e.set && e.text != text {
		return fmt.Errorf("word %d of %s is replaced twice", i, s.name)
	}
	e.set, e.text = true, text
	return nil
}

// multicall tells whether a wrapper is many programs in one.
func multicall(name string) bool { return name == "busybox" || name == "toybox" }

func (s *site) noWord(i int) error {
	return fmt.Errorf("%s has no word %d: it has %d without its flags, counted from 0", s.name, i, len(s.words))
}

// setFlag gives the command a flag.
func (s *site) setFlag(flag string, value any) error {
	text, err := flagText(flag, value)
	if err != nil {
		return err
	}
	found := false
	for _, g := range s.flags {
		switch cluster, same := s.names(g, flag); {
		case cluster && value != nil:
			return fmt.Errorf("%s of %s stands among other letters: drop it first", flag, s.name)
		case cluster:
			found = true
		case same:
			if err := s.resetFlag(g, text, found); err != nil {
				return err
			}
			found = true
		}
	}
	if found {
		return nil
	}
	return s.behind(s.words[len(s.subs)], func(e *wordEdit) {
		if !slices.Contains(e.flags, text) {
			e.flags = append(e.flags, text)
		}
	})
}

// resetFlag puts a flag in the place of one that is there, or takes that away
// where it is there more than once.
func (s *site) resetFlag(g given, text string, again bool) error {
	if again {
		return s.take(g)
	}
	if !s.literal(g.word) {
		return s.notWritten(g)
	}
	if e := &s.edits[s.at(g.word)]; g.word.text != text || g.value != nil {
		e.set, e.text = true, text
	}
	return s.takeValue(g)
}

// flagText spells a flag: --name, --name=value, -x.
func flagText(flag string, value any) (string, error) {
	name := strings.TrimLeft(flag, "-")
	if !strings.HasPrefix(flag, "-") || name == "" || strings.ContainsAny(flag, "= \t\n\x00") || strings.Contains(flag, redacted) {
		return "", fmt.Errorf("%q is no flag: it has its dashes, and its value apart", flag)
	}
	if value == nil {
		return flag, nil
	}
	text, ok := value.(string)
	if !ok {
		return "", errors.New("its value is no text")
	}
	if len([]rune(flag)) == 2 {
		return "", fmt.Errorf("a value cannot be put behind %s; name the long form of the flag", flag)
	}
	return flag + "=" + text, nil
}

// names tells whether a word of options is or holds a flag: as a letter among
// others, or as the whole word.
func (s *site) names(g given, flag string) (cluster, same bool) {
	if g.text == flag || g.word.text == flag {
		return false, true
	}
	letter, short := strings.CutPrefix(flag, "-")
	if s.known && g.letters != "" {
		return short && len([]rune(letter)) == 1 && strings.Contains(g.letters, letter), false
	}
	name, _, _ := strings.Cut(g.word.text, "=")
	return false, name == flag
}

// dropFlag takes a flag away wherever it stands.
func (s *site) dropFlag(flag string) error {
	found := false
	for _, g := range s.flags {
		cluster, same := s.names(g, flag)
		var err error
		switch {
		case same:
			err = s.take(g)
		case cluster:
			err = s.takeLetter(g, flag[1:])
		}
		if err != nil {
			return err
		}
		found = found || same || cluster
	}
	if !found {
		return fmt.Errorf("%s has no flag %s%s", s.name, flag, hint(engine.Nearest(flag, textsOf(s.flags))))
	}
	return nil
}

func (s *site) notWritten(g given) error {
	return fmt.Errorf("the flag %s of %s is not written out as one word", g.text, s.name)
}

// take takes a word of options away, with the value that belongs to it.
func (s *site) take(g given) error {
	if !s.literal(g.word) {
		return s.notWritten(g)
	}
	s.edits[s.at(g.word)].gone = true
	return s.takeValue(g)
}

// takeValue takes the value away that stands apart from its option.
func (s *site) takeValue(g given) error {
	switch {
	case g.value == nil:
		return nil
	case g.value.word == nil || g.value.splits || g.value.glob || s.at(*g.value) < 0:
		return s.notWritten(g)
	}
	s.edits[s.at(*g.value)].gone = true
	return nil
}

// takeLetter takes a letter out of a cluster.
func (s *site) takeLetter(g given, letter string) error {
	if !s.literal(g.word) {
		return s.notWritten(g)
	}
	e := &s.edits[s.at(g.word)]
	e.cut += letter
	rest := g.without(e.cut)
	e.set, e.text, e.gone = rest != "", rest, e.gone || rest == ""
	if g.valued && strings.HasSuffix(g.letters, letter) {
		return s.takeValue(g)
	}
	return nil
}

// without is a cluster without some of its letters; empty where none is left.
// The value that is glued to the last letter goes with it.
func (g given) without(cut string) string {
	left := strings.Map(func(r rune) rune {
		if strings.ContainsRune(cut, r) {
			return -1
		}
		return r
	}, g.letters)
	glued := g.word.text[1+len(g.letters):]
	if left == "" || g.valued && left[len(left)-1] != g.letters[len(g.letters)-1] {
		glued = ""
	}
	if left == "" {
		return ""
	}
	return "-" + left + glued
}
