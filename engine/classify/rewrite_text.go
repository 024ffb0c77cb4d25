package classify

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"mvdan.cc/sh/v3/syntax"
)

// errMore means that an edit would change more than the words that it names.
var errMore = errors.New("the operations would change more of the command than intended")

// text applies the edits and returns the new code, after verifying that nothing else differs.
func (d *draft) text() (string, error) {
	spans, err := d.spans()
	if err != nil {
		return "", err
	}
	if len(spans) == 0 {
		return d.src, nil
	}
	src := splice(d.src, spans)
	if err := d.checkTree(src); err != nil {
		return "", err
	}
	return src, d.checkCommands(src)
}

// replacement is a new text for src[start:end].
type replacement struct {
	start, end int
	text       string
}

// spans returns the edits as replacements in the text, in order.
func (d *draft) spans() ([]replacement, error) {
	var list []replacement
	for call, edits := range d.edits {
		for i, e := range edits {
			start, end := int(call.Args[i].Pos().Offset()), int(call.Args[i].End().Offset())
			list = append(list, e.spans(d.src, start, end)...)
		}
	}
	slices.SortStableFunc(list, func(a, b replacement) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(list); i++ {
		if list[i].start < list[i-1].end {
			return nil, errors.New("two operations change overlapping words")
		}
	}
	return list, nil
}

func (e wordEdit) spans(src string, start, end int) []replacement {
	var list []replacement
	if len(e.before) > 0 {
		list = append(list, replacement{start, start, shellWords(e.before) + " "})
	}
	switch {
	case e.gone:
		list = append(list, replacement{blanksBefore(src, start, end), end, ""})
	case e.set:
		list = append(list, replacement{start, end, shellWord(e.text)})
	}
	if behind := slices.Concat(e.after, e.flags); len(behind) > 0 {
		list = append(list, replacement{end, end, " " + shellWords(behind)})
	}
	return list
}

// blanksBefore returns where the spaces before a word begin. Spaces before a redirection stay:
// a number in front of it would become part of it.
func blanksBefore(src string, start, end int) int {
	if end < len(src) && (src[end] == '<' || src[end] == '>') {
		return start
	}
	return len(strings.TrimRight(src[:start], " \t"))
}

func splice(src string, spans []replacement) string {
	var b strings.Builder
	at := 0
	for _, r := range spans {
		b.WriteString(src[at:r.start])
		b.WriteString(r.text)
		at = r.end
	}
	b.WriteString(src[at:])
	return b.String()
}

func shellWords(texts []string) string {
	words := make([]string, len(texts))
	for i, t := range texts {
		words[i] = shellWord(t)
	}
	return strings.Join(words, " ")
}

// shellWord writes a string so that every shell reads it as exactly one word. Only characters
// without a special meaning in any of them stay unquoted.
func shellWord(text string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,="
	if text != "" && text[0] != '=' && strings.Trim(text, bare) == "" {
		return text
	}
	return shell.Quote(text)
}

// checkTree compares the syntax tree of the new code with the old tree after the same edits.
func (d *draft) checkTree(src string) error {
	got, ok := shell.Parse(src)
	if !ok {
		return errMore
	}
	want, ok := shell.Parse(d.src)
	if !ok {
		return errMore
	}
	at := map[int]*syntax.CallExpr{}
	for _, st := range want {
		syntax.Walk(st, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				at[int(call.Pos().Offset())] = call
			}
			return true
		})
	}
	for call, edits := range d.edits {
		twin := at[int(call.Pos().Offset())]
		if twin == nil || len(twin.Args) != len(edits) {
			return errMore
		}
		twin.Args = edited(twin.Args, edits)
	}
	if !alike(reflect.ValueOf(want), reflect.ValueOf(got)) {
		return errMore
	}
	return nil
}

// edited returns a list of words after edits.
func edited(args []*syntax.Word, edits []wordEdit) []*syntax.Word {
	var out []*syntax.Word
	add := func(texts ...string) {
		for _, t := range texts {
			out = append(out, parseWord(shellWord(t)))
		}
	}
	for i, e := range edits {
		add(e.before...)
		switch {
		case e.gone:
		case e.set:
			add(e.text)
		default:
			out = append(out, args[i])
		}
		add(e.after...)
		add(e.flags...)
	}
	return out
}

// parseWord parses the output of shellWord; nil equals no word of a tree.
func parseWord(text string) *syntax.Word {
	list, ok := shell.Parse(": " + text)
	if !ok || len(list) != 1 {
		return nil
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	return call.Args[1]
}

// alike compares two trees except for positions.
func alike(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return alike(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Type != reflect.TypeFor[syntax.Pos]() && !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// checkCommands compares the commands that were not named with those of the
// new code.
func (d *draft) checkCommands(src string) error {
	after := shell.Interpret(src, d.in).Commands
	if len(after) != len(d.code.Commands) {
		return fmt.Errorf("%w: %s instead of %d", errMore, engine.Counted(len(after), "command", "commands"), len(d.code.Commands))
	}
	for i, c := range d.code.Commands {
		switch {
		case !d.touched[i] && !sameWords(c, after[i]):
			return fmt.Errorf("%w: command %d (%s) would become a different one", errMore, i, c.Name)
		case d.touched[i] && len(after[i].Via) > 0:
			return fmt.Errorf("%w: command %d would be run by %s", errMore, i, strings.Join(after[i].Via, ", "))
		}
	}
	return nil
}

func sameWords(a, b engine.Command) bool {
	return a.Name == b.Name && slices.Equal(a.Sub, b.Sub) && slices.Equal(a.Flags, b.Flags) && slices.Equal(a.Operands, b.Operands)
}
