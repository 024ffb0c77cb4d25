package cel

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// empty says that the match list lets everything through.
func (m *Match) empty() bool {
	return len(m.Phases)+len(m.Tools)+len(m.Types)+len(m.Signals)+len(m.Commands) == 0
}

// admits says whether an input has what the match list asks for.
func (m *Match) admits(in *engine.Input) bool {
	a := &in.Action
	return one(m.Phases, []engine.Phase{in.Phase}) &&
		(len(m.Tools) == 0 || slices.ContainsFunc(m.Tools, func(t string) bool { return isTool(t, in.Event.Tool) })) &&
		one(m.Types, a.Types) && one(m.Signals, a.Signals) &&
		(len(m.Commands) == 0 || slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
			return slices.Contains(m.Commands, c.Name)
		}))
}

// one says that a list is empty or shares a word with what there is.
func one[T ~string](list []string, there []T) bool {
	return len(list) == 0 || slices.ContainsFunc(there, func(w T) bool { return slices.Contains(list, string(w)) })
}

func isTool(pattern, tool string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(tool, prefix)
	}
	return pattern == tool
}

// index finds the conditions that an input could concern. Each condition is
// filed once, under the words of its most selective list, so that the time for
// one input does not grow with the conditions that are about something else.
type index struct {
	filed  map[key][]int
	always []int // no list to file under
}

type key struct {
	list byte // 's'ignal, 'c'ommand, 't'ool, t'y'pe, 'p'hase
	word string
}

func newIndex(conditions []condition) index {
	x := index{filed: map[key][]int{}}
	for i := range conditions {
		keys := conditions[i].Match.keys()
		if keys == nil {
			x.always = append(x.always, i)
		}
		for _, k := range keys {
			x.filed[k] = append(x.filed[k], i)
		}
	}
	return x
}

// keys returns the words to file a match list under; nil: none is selective.
func (m *Match) keys() []key {
	file := func(list byte, words []string) []key {
		keys := make([]key, len(words))
		for i, w := range words {
			keys[i] = key{list, w}
		}
		return keys
	}
	exact := !slices.ContainsFunc(m.Tools, func(t string) bool { return strings.HasSuffix(t, "*") })
	switch {
	case len(m.Signals) > 0:
		return file('s', m.Signals)
	case len(m.Commands) > 0:
		return file('c', m.Commands)
	case len(m.Tools) > 0 && exact:
		return file('t', m.Tools)
	case len(m.Types) > 0:
		return file('y', m.Types)
	case len(m.Phases) > 0:
		return file('p', m.Phases)
	}
	return nil
}

// candidates returns the conditions that the input could concern, in order and
// each once. It may return too many, never too few.
func (x *index) candidates(in *engine.Input) []int {
	found := slices.Clone(x.always)
	add := func(list byte, word string) { found = append(found, x.filed[key{list, word}]...) }
	for _, s := range in.Action.Signals {
		add('s', string(s))
	}
	for i := range in.Action.Commands {
		add('c', in.Action.Commands[i].Name)
	}
	for _, t := range in.Action.Types {
		add('y', string(t))
	}
	add('t', in.Event.Tool)
	add('p', string(in.Phase))
	slices.Sort(found)
	return slices.Compact(found)
}
