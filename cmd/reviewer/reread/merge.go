package reread

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// mergedAction returns what a call means by the rows of now, with what the record knows about files. then and now are read
// without a disk, and then is what was recorded but for what it knows about files; nil: it means what was recorded. It is
// unknown if the call now has effects on files that it did not have.
func mergedAction(recorded, then, now *engine.Action) (a *engine.Action, why string) {
	switch {
	case alike(then, now):
		return nil, ""
	case !alike(fromTexts(then), fromTexts(now)):
		return nil, notTheSame
	}
	made := *now
	made.Fingerprint, made.Marks, made.Words, made.Detected = recorded.Fingerprint, recorded.Marks, recorded.Words, recorded.Detected
	var known [2]bool
	made.Effects, known[0] = mergedEffects(recorded.Effects, then.Effects, now.Effects)
	made.Possible, known[1] = mergedEffects(recorded.Possible, then.Possible, now.Possible)
	if !known[0] || !known[1] || slices.ContainsFunc(then.Types, written) != slices.ContainsFunc(now.Types, written) {
		return nil, namesFiles
	}
	if slices.ContainsFunc(now.Types, written) {
		made.Types = slices.DeleteFunc(slices.Clone(now.Types), written)
		for _, t := range recorded.Types {
			if written(t) {
				made.Types = append(made.Types, t)
			}
		}
		slices.Sort(made.Types)
	}
	if written(made.Intent) {
		made.Intent = engine.TypeFileCreation
		if slices.Contains(made.Types, engine.TypeFileModification) {
			made.Intent = engine.TypeFileModification
		}
	}
	return &made, ""
}

// written reports whether a type depends on whether a file existed that is written.
func written(t engine.Type) bool {
	return t == engine.TypeFileCreation || t == engine.TypeFileModification
}

// fromTexts is what is derived from the texts of a call with a key.
func fromTexts(a *engine.Action) []any { return []any{a.Fingerprint, a.Marks, a.Words} }

// withoutFiles returns an action without what the disk, detectors, the history and keys tell.
func withoutFiles(a *engine.Action) *engine.Action {
	other := *a
	other.Fingerprint, other.Marks, other.Words, other.Detected = "", nil, nil, nil
	other.Effects, other.Possible = stateless(a.Effects), stateless(a.Possible)
	other.Types = slices.DeleteFunc(slices.Clone(a.Types), written)
	if written(a.Intent) {
		other.Intent = engine.TypeFileCreation
	}
	return &other
}

// stateless returns effects without the state of the files.
func stateless(list []engine.Effect) []engine.Effect {
	var others []engine.Effect
	for _, e := range list {
		if ofFile(&e) {
			e.Exists, e.Entry, e.Git, e.Mounted, e.Repository = "", "", "", "", false
			e.HeldFiles, e.HeldBytes, e.Lost, e.Shrinks, e.Reversibility = 0, 0, 0, false, ""
		}
		others = append(others, e)
	}
	return others
}

func ofFile(e *engine.Effect) bool { return strings.HasPrefix(string(e.Kind), "file_") }

// mergedEffects returns the effects of now with the recorded state of files; false: that is not recorded.
func mergedEffects(recorded, then, now []engine.Effect) (merged []engine.Effect, known bool) {
	used, list := make([]bool, len(then)), now[:0:0]
	for _, e := range now {
		i := slices.IndexFunc(then, func(o engine.Effect) bool { return sameEffect(o, e) })
		for i >= 0 && used[i] {
			next := slices.IndexFunc(then[i+1:], func(o engine.Effect) bool { return sameEffect(o, e) })
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i >= 0 {
			used[i] = true
			o := recorded[i]
			o.Command, o.Class = e.Command, e.Class
			list = append(list, o)
			continue
		}
		if looksAround(&e) {
			return nil, false
		}
		list = append(list, e)
	}
	for i, was := range used {
		if !was && (ofFile(&then[i]) && then[i].Kind != engine.EffectFileRead || then[i].Verb == "mount") {
			return nil, false
		}
	}
	return list, true
}

// sameEffect reports whether an effect has the same state of files as before: it is the same, except for the place of
// the command, or a class that does not count for that state.
func sameEffect(then, now engine.Effect) bool {
	then.Command = now.Command
	if then.Class != now.Class && now.Class != "" && then.Class != engine.ClassGenerated && now.Class != engine.ClassGenerated &&
		now.Class != engine.ClassTest && now.Location != engine.LocationTemp {
		then.Class = now.Class
	}
	return alike(then, now)
}

// looksAround reports whether more than the text of a call decides what an effect is: a disk, or what runs on the machine.
func looksAround(e *engine.Effect) bool {
	_, err := strconv.Atoi(e.Target)
	return ofFile(e) || e.Loopback || e.Kind == engine.EffectProcess && err == nil || strings.HasPrefix(e.Target, "/") || e.Verb == "mount"
}

// alike compares values as they are recorded.
func alike(a, b any) bool {
	x, errA := engine.CanonicalOf(a)
	y, errB := engine.CanonicalOf(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
