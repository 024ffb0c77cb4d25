package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// acts adds the acts that words name, and what is installed.
func (r *restrictionReader) acts(from, to int) bool {
	t := r.t[from:to]
	if r.installs(from, to, r.marked) {
		return true
	}
	f := &frame{used: map[int]bool{}, first: map[string]int{}, whole: map[int]bool{}, shared: map[string]bool{}}
	r.findActs(t, f)
	before := len(r.list)
	for _, act := range f.acts {
		at := f.first[act]
		if vague, named, kind := r.object(t[at+1:]); act == "delete" && kind == bare && !vague {
			r.add(engine.Forbids, &frame{acts: []string{act}, objects: []string{strings.ToLower(named)}}, engine.UntilAsked, false)
		} else if !r.ofOther(t, at, act) && !r.strangeBefore(t, at) {
			r.asksAbout(t, at, true)
		}
	}
	r.list = slices.DeleteFunc(r.list, func(s engine.Statement) bool { return len(s.Objects) == 0 && r.tooWide(s.Act, from, to) })
	for i := before; i < len(r.list); i++ {
		if s := &r.list[i]; len(s.Objects) == 0 && slices.Contains([]string{"push", "commit", "merge"}, s.Act) {
			s.Objects = r.branches(from, to)
		}
	}
	return len(r.list) > before
}

// tooWide reports whether an act without an object is too much to be held for the words of a part: what applies in some places only, or in
// one way only, and what nearly every call does.
func (r *restrictionReader) tooWide(act string, from, to int) bool {
	set, low := r.vocabulary.set, " "
	for _, w := range r.t[from:to] {
		low += strings.ToLower(w.text) + " "
	}
	if slices.ContainsFunc(set.Words("instructions.narrows"), func(w string) bool { return strings.Contains(low, " "+w) }) {
		return true
	}
	oneWay := to < len(r.t) && r.t[to].in("without", "conditions") && !has(r.t[to:], "restrict.approval", "restrict.asks", "asking")
	return slices.Contains(set.Words("instructions.vague"), act) || slices.Contains(r.broad, act) ||
		slices.Contains(set.Words("instructions.wide"), act) || oneWay && act == "database"
}

// installs adds that nothing is to be added to what is installed: a word for adding is near one for what is installed. alone: that word is
// enough. What does not depend on something describes a project.
func (r *restrictionReader) installs(from, to int, alone bool) bool {
	t := r.t[from:to]
	for i, w := range t {
		if !w.in("restrict.installs") || i+1 < len(t) && t[i+1].in("restrict.depends") {
			continue
		}
		if alone || has(t[max(0, i-3):min(len(t), i+4)], "restrict.adds") {
			r.add(engine.Forbids, &frame{acts: []string{"add_package"}}, engine.UntilAsked, false)
			return true
		}
	}
	return false
}

// depends reports whether words tell what depends on what.
func (r *restrictionReader) depends(words []promptWord) bool {
	t := r.tokens(words)
	at := index(t, "restrict.installs")
	return at >= 0 && at+1 < len(t) && t[at+1].in("restrict.depends")
}

// adds reports whether words are about adding a package to what is installed.
func (r *restrictionReader) adds(words []promptWord) bool {
	t := r.tokens(words)
	at := index(t, "restrict.installs")
	return at >= 0 && has(t[max(0, at-3):min(len(t), at+4)], "restrict.adds")
}

// strangeBefore reports whether a word that is not known comes before the noun of an act, which it says more about.
func (r *restrictionReader) strangeBefore(t []token, at int) bool {
	if at > 0 && unknownWord(t[at-1]) && t[at].anyPart(partNouns, partThings) && !r.adverb(t[at-1]) {
		return true // a floating tag
	}
	return !t[at].anyPart(partOrders, partVerbs, partWith) && slices.ContainsFunc(t[:at], func(w token) bool {
		return w.kind == bare || w.in("restrict.reads", "restrict.edits", "restrict.puts")
	})
}

// ofOther reports whether the word of an act that is also used otherwise, such as commit or delete, is followed by what else it is done
// to: never commit API keys.
func (r *restrictionReader) ofOther(t []token, at int, act string) bool {
	if at+1 < len(t) && t[at+1].in("restrict.compound") {
		return true // commit messages
	}
	if act == "speak" {
		noun := t[at].anyPart(partNouns) && slices.ContainsFunc(t[:at], unknownWord)
		comment := has(t[at:min(len(t), at+2)], "restrict.comments")
		seen := func(w token) bool { return w.part("pull_request", partNouns) || w.in("restrict.forums") }
		if noun || comment && !slices.ContainsFunc(t, seen) {
			return true
		}
	}
	if !slices.Contains(r.everyday, act) {
		return false
	}
	for i, w := range t[at+1:] {
		switch {
		case w.part(act, partObjects, partThings, partNouns, partVerbs, partOrders), w.in("targets"), w.kind == name:
			return false
		case i > 0 && w.in("towards"), w.in("conjunctions", "alternatives", "restrict.performs", "restrict.runs"):
			return false
		case unknownWord(w) && !r.adverb(w):
			return true
		case w.kind == known && !w.in("fillers", "polite", "all", "one", "passive", "make", "self", "pronouns", "towards"):
			return w.anyPart(partObjects, partThings) || w.in("parts", "kind_nouns")
		}
	}
	return false
}

// branches returns the branches among tokens, such as main.
func (r *restrictionReader) branches(from, to int) []string {
	var list []string
	for _, w := range r.t[from:to] {
		if target := (token{entry: r.entries[strings.ToLower(w.text)]}).in("targets"); target && len(list) < maxObjects {
			list = append(list, w.text)
		}
	}
	return list
}

// adverb reports whether a word says how something is done.
func (r *restrictionReader) adverb(w token) bool {
	return endsIn(w, r.vocabulary.set.Words("instructions.adverbs"))
}
