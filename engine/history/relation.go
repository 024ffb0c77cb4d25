package history

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// relation compares the objects of a statement with an action: whether one of them is changed, whether it concerns
// one of them in any way, and whether something else is changed. Without objects, everything is one.
func relation(s *engine.Statement, a *engine.Action) (changes, touched, beyond bool) {
	touched = len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, func(o string) bool { return mentions(a, o) })
	for i := range a.Effects {
		e := &a.Effects[i]
		if !leavesSomething(e) {
			continue
		}
		covered := len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, func(o string) bool { return covers(o, e) })
		file := e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete
		changes, touched, beyond = changes || covered, touched || covered, beyond || !covered && file
	}
	return changes, touched, beyond
}

// mentions reports whether a command has an object among its words.
func mentions(a *engine.Action, object string) bool {
	object = strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(object, "/")), "./")
	is := func(w string) bool {
		w = strings.ToLower(strings.TrimSuffix(w, "/"))
		parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("=:@,", r) })
		return w == object || path.Base(w) == object || slices.Contains(parts, object)
	}
	for i := range a.Commands {
		c := &a.Commands[i]
		if slices.ContainsFunc(slices.Concat(c.Sub, c.Flags, c.Operands), is) {
			return true
		}
	}
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return is(e.Target) || is(e.Host) || is(e.Object) })
}

// covers reports whether an object is the target of an effect: by its
// path, or by a word of its address or kind.
func covers(object string, e *engine.Effect) bool {
	if namesPath(object, truncateKey(e.Place())) {
		return true
	}
	word := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, text := range []string{e.Target, e.Object, e.Host} {
		if slices.Contains(strings.FieldsFunc(strings.ToLower(text), word), strings.ToLower(object)) {
			return true
		}
	}
	return false
}
