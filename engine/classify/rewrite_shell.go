package classify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"mvdan.cc/sh/v3/syntax"
)

// draft is shell code that is being changed. Edits are collected by word, and applied to the
// text at the end: the text between the words stays the same.
type draft struct {
	src      string
	in       shell.Input
	code     abstract.Script
	commands []engine.Command         // as policy sees them
	stands   map[*syntax.CallExpr]int // calls in src itself -> number of commands that they stand for
	edits    map[*syntax.CallExpr][]wordEdit
	touched  map[int]bool // commands that were changed
}

// wordEdit is the edit of one word of a call.
type wordEdit struct {
	before []string // words to insert before it
	gone   bool
	text   string // its replacement, if set
	set    bool
	cut    string   // option letters to remove from it
	after  []string // words to insert after it
	flags  []string // and after those
}

// newDraft parses code. Code that is not understood completely is not changed.
func newDraft(src string, in shell.Input, facts *engine.Facts) (*draft, error) {
	d := &draft{src: src, in: in, code: shell.Interpret(src, in), commands: facts.Action.Commands,
		stands: map[*syntax.CallExpr]int{}, edits: map[*syntax.CallExpr][]wordEdit{}, touched: map[int]bool{}}
	for _, o := range d.code.Opaque {
		if o.Reason == "syntax" || o.Reason == "budget" || o.Reason == "encoding" {
			return nil, fmt.Errorf("the command is not fully understood (%s), so it cannot be modified safely", o.Reason)
		}
	}
	if len(d.commands) != len(d.code.Commands) {
		return nil, fmt.Errorf("only %d of %s are listed, so their numbers are ambiguous",
			len(d.commands), engine.Counted(len(d.code.Commands), "command", "commands"))
	}
	for _, st := range d.code.Tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				d.stands[call] = 0
			}
			return true
		})
	}
	for _, o := range d.code.Origins {
		if _, here := d.stands[o.Node]; here {
			d.stands[o.Node]++
		}
	}
	return d, nil
}

// site is a command that can be changed in the text.
type site struct {
	abstract.Origin
	name  string         // as policy sees it
	host  string         // the innermost wrapper
	words []abstract.Arg // as Operation.Arg counts them
	edits []wordEdit     // of node.Args
}

// command finds the command with an index.
func (d *draft) command(i int) (*site, error) {
	if i < 0 || i >= len(d.commands) {
		return nil, fmt.Errorf("there is no command %d: the call has %d, counted from 0", i, len(d.commands))
	}
	o, c := d.code.Origins[i], d.commands[i]
	n, here := d.stands[o.Node]
	switch {
	case len(c.Via) > 0:
		return nil, fmt.Errorf("command %d (%s) cannot be modified: it comes from %s", i, c.Name, strings.Join(c.Via, ", "))
	case !here:
		return nil, fmt.Errorf("command %d (%s) cannot be modified: it is built from other text", i, c.Name)
	case n > 1:
		return nil, fmt.Errorf("command %d (%s) cannot be modified: this text stands for %s, in a loop, a function or one within "+
			"another", i, c.Name, engine.Counted(n, "command", "commands"))
	case !o.Complete:
		return nil, fmt.Errorf("command %d (%s) cannot be modified: its words are ambiguous", i, c.Name)
	}
	s := &site{Origin: o, name: c.Name, edits: d.edits[o.Node]}
	if n := len(c.Wrappers); n > 0 {
		s.host = c.Wrappers[n-1]
	}
	if s.edits == nil {
		s.edits = make([]wordEdit, len(o.Node.Args))
		d.edits[o.Node] = s.edits
	}
	subs, rest := shell.CutSubs(o.Subs, o.Operands)
	s.words = slices.Concat([]abstract.Arg{o.Name}, subs, rest)
	if len(subs) != len(o.Subs) || !s.literal(o.Name) {
		return nil, fmt.Errorf("command %d cannot be modified: its name is not a literal", i)
	}
	d.touched[i] = true
	return s, nil
}

// literal reports whether an argument is one word of the code without expansions.
func (s *site) literal(a abstract.Arg) bool {
	if a.Word == nil || a.Glob || a.Splits || !shell.Constant(a.Word) || s.at(a) < 0 {
		return false
	}
	text, err := wordText(a.Word)
	return err == nil && text == a.Text
}

// wordText returns the value of a constant word.
func wordText(w *syntax.Word) (string, error) {
	s := shell.New(shell.Input{})
	text := s.Single(w).Text
	if s.Full || strings.ContainsAny(text, abstract.Holes) {
		return "", errors.New("not a constant")
	}
	return text, nil
}

// at returns the index of an argument's word in the call; -1: it is not in the call.
func (s *site) at(a abstract.Arg) int { return slices.Index(s.Node.Args, a.Word) }

// sure reports whether all words up to a word are one argument each: otherwise an index is
// ambiguous.
func (s *site) sure(last abstract.Arg) error {
	for _, a := range slices.Concat([]abstract.Arg{s.Origin.Name}, s.Args) {
		if a.Word == nil || a.Splits || a.Glob || s.at(a) < 0 {
			return fmt.Errorf("%q of %s may expand to any number of words", a.Show(), s.name)
		}
		if a.Word == last.Word {
			break
		}
	}
	if !s.literal(last) {
		return fmt.Errorf("the word %q of %s is not a literal", last.Show(), s.name)
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

// behind changes the text after a word.
func (s *site) behind(word abstract.Arg, change func(*wordEdit)) error {
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
	if i == 0 && (s.host == "busybox" || s.host == "toybox") {
		return fmt.Errorf("%s of %s cannot be replaced: %s runs only its own programs", s.name, s.host, s.host)
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

func (s *site) noWord(i int) error {
	return fmt.Errorf("%s has no word %d: it has %s without flags, counted from 0", s.name, i, engine.Counted(len(s.words), "word", "words"))
}

// setFlag adds a flag to the command.
func (s *site) setFlag(flag string, value any) error {
	text, err := flagText(flag, value)
	if err != nil {
		return err
	}
	found := false
	for _, g := range s.Flags {
		switch cluster, same := s.names(g, flag); {
		case cluster && value != nil:
			return fmt.Errorf("%s of %s is combined with other flags: drop it first", flag, s.name)
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
	return s.behind(s.words[len(s.Subs)], func(e *wordEdit) {
		if !slices.Contains(e.flags, text) {
			e.flags = append(e.flags, text)
		}
	})
}

// resetFlag replaces an existing flag, or removes it if it occurs more than once.
func (s *site) resetFlag(g abstract.Given, text string, again bool) error {
	if again {
		return s.take(g)
	}
	if !s.literal(g.Word) {
		return s.notWritten(g)
	}
	if e := &s.edits[s.at(g.Word)]; g.Word.Text != text || g.Value != nil {
		e.set, e.text = true, text
	}
	return s.takeValue(g)
}

// flagText returns the text of a flag: --name, --name=value, -x.
func flagText(flag string, value any) (string, error) {
	name := strings.TrimLeft(flag, "-")
	if !strings.HasPrefix(flag, "-") || name == "" || strings.ContainsAny(flag, "= \t\n\x00") || strings.Contains(flag, mask.Redacted) {
		return "", fmt.Errorf("%q is not a flag: write it with dashes and without its value", flag)
	}
	if value == nil {
		return flag, nil
	}
	text, ok := value.(string)
	if !ok {
		return "", errors.New("its value is not a string")
	}
	if len([]rune(flag)) == 2 {
		return "", fmt.Errorf("%s cannot take a joined value; use the long form of the flag", flag)
	}
	return flag + "=" + text, nil
}

// names reports whether a word of options is a flag or contains it as a letter.
func (s *site) names(g abstract.Given, flag string) (cluster, same bool) {
	if g.Text == flag || g.Word.Text == flag {
		return false, true
	}
	letter, short := strings.CutPrefix(flag, "-")
	if s.Known && g.Letters != "" {
		return short && len([]rune(letter)) == 1 && strings.Contains(g.Letters, letter), false
	}
	name, _, _ := strings.Cut(g.Word.Text, "=")
	return false, name == flag
}

// dropFlag removes all occurrences of a flag.
func (s *site) dropFlag(flag string) error {
	found := false
	for _, g := range s.Flags {
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
		return fmt.Errorf("%s has no flag %s%s", s.name, flag, hint(engine.Nearest(flag, options.TextsOf(s.Flags))))
	}
	return nil
}

func (s *site) notWritten(g abstract.Given) error {
	return fmt.Errorf("the flag %s of %s is not a literal word", g.Text, s.name)
}

// take removes a word of options and the value that belongs to it.
func (s *site) take(g abstract.Given) error {
	if !s.literal(g.Word) {
		return s.notWritten(g)
	}
	s.edits[s.at(g.Word)].gone = true
	return s.takeValue(g)
}

// takeValue removes the value of an option that is a separate word.
func (s *site) takeValue(g abstract.Given) error {
	switch {
	case g.Value == nil:
		return nil
	case g.Value.Word == nil || g.Value.Splits || g.Value.Glob || s.at(*g.Value) < 0:
		return s.notWritten(g)
	}
	s.edits[s.at(*g.Value)].gone = true
	return nil
}

// takeLetter removes a letter from a cluster.
func (s *site) takeLetter(g abstract.Given, letter string) error {
	if !s.literal(g.Word) {
		return s.notWritten(g)
	}
	e := &s.edits[s.at(g.Word)]
	e.cut += letter
	rest := g.Without(e.cut)
	e.set, e.text, e.gone = rest != "", rest, e.gone || rest == ""
	if g.Valued && strings.HasSuffix(g.Letters, letter) {
		return s.takeValue(g)
	}
	return nil
}
