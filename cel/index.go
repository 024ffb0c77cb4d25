package cel

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cmdline"
)

// empty reports whether the match list lets everything through.
func (m *Match) empty() bool {
	return len(m.Phases)+len(m.Tools)+len(m.Types)+len(m.Signals)+len(m.Commands)+
		len(m.Actions)+len(m.Weekdays)+len(m.Hours)+len(m.Detected)+len(m.Facts)+len(m.Written) == 0 && m.Before == 0
}

// admits reports whether a match list accepts an input.
func (m *Match) admits(in *engine.Input) bool {
	a := &in.Action
	return one(m.Phases, []engine.Phase{in.Phase}) && like(m.Tools, in.Event.Tool) && like(m.Actions, a.Name) &&
		m.timely(&in.Time) && one(m.Types, a.Types) && one(m.Signals, a.Signals) && one(m.Facts, in.Facts) &&
		(len(m.Detected) == 0 || slices.ContainsFunc(m.Detected, func(id string) bool { return a.Detected[id] > 0 })) &&
		(len(m.Commands) == 0 || slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
			return slices.Contains(m.Commands, c.Name)
		})) && (len(m.Written) == 0 || m.written(in))
}

// ActionExec is the name of the action that runs commands, as they are written.
const ActionExec = "code.exec"

// written reports whether the commands of the call, as written, match. Of a text that
// was shortened, those that are not in it are compared by what is known about them, and
// it is never true of all.
func (m *Match) written(in *engine.Input) bool {
	if in.Action.Name != ActionExec {
		return false
	}
	code, ok := in.Event.Args["command"].(string)
	if !ok {
		code = in.Action.Resource
	}
	cut := strings.HasSuffix(code, "…")
	if m.Every {
		return !cut && cmdline.All(code, m.Written)
	}
	return cmdline.Any(code, m.Written, undescribed(in.Action.Commands)...) || cut && slices.ContainsFunc(m.Written, func(p string) bool {
		return slices.ContainsFunc(in.Action.Commands, func(c engine.Command) bool {
			return cmdline.Loose(p, append(slices.Clone(c.Wrappers), c.Name), slices.Concat(c.Sub, c.Flags, c.Operands))
		})
	})
}

// undescribed returns the names of programs that no row describes. They may start another command, as a wrapper does.
func undescribed(list []engine.Command) []string {
	var names []string
	for i := range list {
		if list[i].Unlisted {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// one reports whether a list is empty or has a word in common with the input's words.
func one[T ~string](list []string, there []T) bool {
	return len(list) == 0 || slices.ContainsFunc(there, func(w T) bool { return slices.Contains(list, string(w)) })
}

// like reports whether a list is empty or has a pattern that matches the word.
func like(patterns []string, word string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(word, prefix)
		}
		return p == word
	})
}

// timely reports whether a match list accepts a time.
func (m *Match) timely(t *engine.TimeFacts) bool {
	return (m.Before == 0 || t.MS < m.Before) && one(m.Weekdays, []string{t.Weekday}) && within(m.Hours, t.Hour)
}

// within reports whether an hour is in [start, end), which may span midnight.
func within(hours []int64, hour int64) bool {
	if len(hours) == 0 {
		return true
	}
	start, end := hours[0], hours[1]
	if start < end {
		return start <= hour && hour < end
	}
	return start <= hour || hour < end
}

// index finds the conditions that an input could concern. Each condition is indexed
// once, by the words of its most selective list, so that the time for one input does
// not grow with unrelated conditions.
type index struct {
	filed  map[key][]int
	always []int // not indexed by any list
}

type key struct {
	list byte // 'd'etector, 's'ignal, 'k'nown fact, 'c'ommand, 'a'ction, 'f'amily of actions, 't'ool, t'y'pe, 'p'hase
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

// keys returns the words by which a match list is indexed; nil if no list is
// selective.
func (m *Match) keys() []key {
	file := func(list byte, words []string) []key {
		keys := make([]key, len(words))
		for i, w := range words {
			keys[i] = key{list, w}
		}
		return keys
	}
	exact := !slices.ContainsFunc(m.Tools, func(t string) bool { return strings.HasSuffix(t, "*") })
	actions := actionKeys(m.Actions)
	switch {
	case len(m.Detected) > 0:
		return file('d', m.Detected)
	case len(m.Signals) > 0:
		return file('s', m.Signals)
	case len(m.Facts) > 0:
		return file('k', m.Facts)
	case len(m.Commands) > 0:
		return file('c', m.Commands)
	case actions != nil:
		return actions
	case len(m.Tools) > 0 && exact:
		return file('t', m.Tools)
	case len(m.Types) > 0:
		return file('y', m.Types)
	case len(m.Phases) > 0:
		return file('p', m.Phases)
	}
	return nil
}

// actionKeys returns names as they are, and for patterns their family, up to the first
// dot; nil if a pattern matches several families.
func actionKeys(patterns []string) []key {
	var keys []key
	for _, p := range patterns {
		prefix, pattern := strings.CutSuffix(p, "*")
		family, _, dotted := strings.Cut(prefix, ".")
		switch {
		case !pattern:
			keys = append(keys, key{'a', p})
		case !dotted:
			return nil
		default:
			keys = append(keys, key{'f', family})
		}
	}
	return keys
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
	for id := range in.Action.Detected {
		add('d', id)
	}
	for _, f := range in.Facts {
		add('k', f)
	}
	for _, t := range in.Action.Types {
		add('y', string(t))
	}
	add('a', in.Action.Name)
	family, _, _ := strings.Cut(in.Action.Name, ".")
	add('f', family)
	add('t', in.Event.Tool)
	add('p', string(in.Phase))
	slices.Sort(found)
	return slices.Compact(found)
}
