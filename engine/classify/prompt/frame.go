package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// frame returns the acts and objects of a clause, if all of its other words are in lists that
// belong to what it says; nil: they are not.
func (r *statementReader) frame(t []token, allowed ...string) *frame {
	return r.frameOf(t, false, allowed...)
}

// frameOf does the same. A place needs no act: only src/.
func (r *statementReader) frameOf(t []token, place bool, allowed ...string) *frame {
	f := &frame{
		allowed: append(allowed, "fillers", "polite", "pronouns", "all", "towards"),
		used:    map[int]bool{}, first: map[string]int{}, whole: map[int]bool{}, shared: map[string]bool{},
	}
	r.findActs(t, f)
	f.refers = slices.ContainsFunc(t, func(t token) bool { return t.it || t.in("pronouns") })
	f.all = has(t, "all")
	for i := range t {
		before := len(f.objects)
		if !r.covered(t, i, f, place) {
			return nil
		}
		for range f.objects[before:] {
			f.parts = append(f.parts, partAt(t, i))
		}
		if t[i].in("all") {
			f.whole[partAt(t, i)] = true
		}
	}
	for act, i := range f.first {
		f.first[act] = partAt(t, i)
	}
	f.objects = f.objects[:min(len(f.objects), maxObjects)]
	return f
}

// findActs finds what a clause is about: first acts of which two words are there, such as a verb and
// "tests", then verbs, then nouns.
func (r *statementReader) findActs(t []token, f *frame) {
	around := t
	if slices.ContainsFunc(t, func(t token) bool { return t.in("pronouns") }) || len(r.earlier) > 0 && len(t) == 2 {
		around = append(slices.Clone(t), r.earlier...)
	}
	taken := map[int]bool{}
	for _, act := range r.acts {
		for i := range t {
			if !t[i].part(act, partWith, partMakes) {
				continue
			}
			thing := slices.IndexFunc(around, func(o token) bool { return o.part(act, partThings, partNouns) })
			if thing < 0 || thing == i {
				continue
			}
			f.acts = append(f.acts, act)
			f.first[act] = i
			f.used[i], taken[i] = true, true
			for k := range t {
				if t[k].part(act, partThings, partNouns, partWith, partMakes) {
					f.used[k], taken[k] = true, true
				}
			}
			f.shared[act] = has(t, negations...) && doesAnother(t[i+1:], act)
			taken[i] = !f.shared[act]
			break
		}
	}
	plain := func(w token) bool { return w.part("push", partOrders, partVerbs, partNouns) && !r.force(w) }
	f.forced = slices.ContainsFunc(t, r.force) && !slices.ContainsFunc(t, plain) // not so in: don't push or force push
	f.acts = r.narrower(f.acts)
	verbs := r.single(t, f, taken, partOrders, partVerbs)
	if !verbs && len(f.acts) == 0 || onlyDoes(t, f) {
		r.single(t, f, taken, partNouns, partBare)
	}
	if len(f.acts) == 1 && onlyDoes(t, f) && slices.ContainsFunc(t, func(t token) bool { return t.it || t.in("pronouns") }) {
		if said := slices.IndexFunc(r.earlier, func(o token) bool { return o.anyPart(partNouns) }); said >= 0 {
			f.acts = append(f.acts, r.actsOf(r.earlier[said])...) // prepare the deploy, but don't do it
		}
	}
	if len(f.acts) > 1 {
		f.acts = slices.DeleteFunc(f.acts, func(a string) bool { return a == "wait" })
	}
}

// doesAnother reports whether the words after a verb that means an act with a thing also name something else, before or after "or":
// delete branches or files.
func doesAnother(t []token, act string) bool {
	begin, parts, other := 0, 0, false
	for i := 0; i <= len(t); i++ {
		if i < len(t) && !t[i].in("conjunctions") {
			continue
		}
		if part := t[begin:i]; len(part) > 0 {
			own := func(w token) bool { return w.part(act, partThings, partNouns) || isAct(w) || w.in("make") }
			parts, other = parts+1, other || !slices.ContainsFunc(part, own)
		}
		begin = i + 1
	}
	return parts > 1 && other
}

// onlyDoes reports whether all that a clause says of an act is that it is done: don't do the migration.
func onlyDoes(t []token, f *frame) bool {
	if !slices.Equal(f.acts, []string{"wait"}) {
		return false
	}
	for i := range t {
		if f.used[i] && !t[i].in("make", "go") {
			return false
		}
	}
	return true
}

// partAt returns in which part of a clause a token is: and, or, nor and another negation separate the parts.
func partAt(t []token, i int) int {
	n, denied := 0, false
	for _, w := range t[:i] {
		if w.in("conjunctions", "joiners") || w.in("not") && !w.in("all") && denied {
			n++
		}
		denied = denied || w.in("not", "never")
	}
	return n
}

// objectsOf returns the objects of one of several acts: those in its part of the clause, and in the parts after it that have no act of
// their own. An act that needs an object and has none there shares those of the next act: edit and delete a.go.
func (r *statementReader) objectsOf(f *frame, act string) []string {
	if len(f.acts) < 2 || len(f.parts) < len(f.objects) {
		return f.objects
	}
	own, next := f.within(f.first[act]), len(f.parts)+maxClause
	if len(own) > 0 || slices.Contains(r.unnamed, act) {
		return own
	}
	if f.whole[f.first[act]] {
		return nil // don't install anything or touch go.mod
	}
	for _, part := range f.first {
		if part > f.first[act] {
			next = min(next, part)
		}
	}
	if list := f.within(next); len(list) > 0 {
		return list
	}
	return f.objects // it was named before
}

// within returns the objects that belong to the acts of a part of a clause.
func (f *frame) within(part int) []string {
	var list []string
	for i, o := range f.objects {
		of := 0
		for _, at := range f.first {
			if at <= f.parts[i] {
				of = max(of, at)
			}
		}
		if of == part {
			list = append(list, o)
		}
	}
	return list
}

// narrower leaves out the acts that others of the same words make more exact.
func (r *statementReader) narrower(acts []string) []string {
	if len(acts) < 2 {
		return acts
	}
	return slices.DeleteFunc(acts, func(a string) bool { return a == "run" || a == "network" })
}

// single finds acts that one word means.
func (r *statementReader) single(t []token, f *frame, taken map[int]bool, parts ...string) bool {
	found := false
	for i := range t {
		if taken[i] || t[i].entry == nil || t[i].in("not", "without") && !t[i].anyPart(partOrders) {
			continue
		}
		for _, act := range r.acts {
			if !t[i].part(act, parts...) || act == "freeze" {
				continue
			}
			if !slices.Contains(f.acts, act) {
				f.acts = append(f.acts, act)
				f.first[act] = i
			}
			f.used[i], found = true, true
		}
	}
	return found
}

// covered reports whether a word belongs to what a clause says.
func (r *statementReader) covered(t []token, i int, f *frame, place bool) bool {
	w := t[i]
	switch {
	case slices.Contains(f.acts, "run") && w.part("run", partThings) && !w.part("run", partObjects):
		f.object(w.text)
		return true
	case f.used[i]:
		return true
	case w.in("targets"):
		f.object(w.text)
		return true
	case w.kind == name, w.kind == ident:
		f.object(w.text)
		return true
	case w.kind == quoted:
		if len(w.text) <= MaxGoalName {
			f.quotes = append(f.quotes, w.text)
		}
		return slices.Contains(f.acts, "speak") || slices.Contains(f.acts, "commit")
	case w.in(f.allowed...):
		return true
	case w.entry != nil && slices.ContainsFunc(f.acts, func(a string) bool {
		return w.part(a, partObjects, partThings, partNouns, partOrders, partVerbs, partSays)
	}):
		return true
	case w.anyPart(partSays, partOver, partIn), w.part("freeze", partNouns, partThings):
		return len(f.acts) == 0
	case w.in("kind_nouns", "aged") && (f.named(t) || len(f.objects) > 0 || i > 0 && !plain(t[i-1], f, i-1) ||
		i+1 < len(t) && !plain(t[i+1], f, i+1)):
		return true
	case w.among(r.outcomes) && i > 1 && f.used[i-2] && r.determines(t[i-1]) &&
		slices.ContainsFunc(f.acts, func(act string) bool { return act == "push" || act == "commit" || act == "deploy" }):
		return true // push the fix
	case w.in("places") && (place || slices.Contains(f.acts, "change") || slices.Contains(f.acts, "delete")):
		f.object(w.text)
		return true
	}
	return r.bareObject(t, i, f, place)
}

// plain reports whether a token names nothing.
func plain(t token, f *frame, i int) bool { return f.used[i] || t.in(f.allowed...) }

func (f *frame) object(name string) {
	if name = abstract.Clip(name, MaxGoalName); !slices.Contains(f.objects, name) {
		f.objects = append(f.objects, name)
	}
}

func (f *frame) named(t []token) bool {
	return slices.ContainsFunc(t, func(t token) bool { return t.kind == name || t.kind == ident })
}

// bareObject reports whether a word that is not in the table is the object of an act: something that
// exists here, something next to a word for its kind, or the name of a package or a program.
func (r *statementReader) bareObject(t []token, i int, f *frame, place bool) bool {
	w := t[i]
	if slices.Equal(f.acts, []string{"deploy"}) && r.deploys(t) {
		if w.kind == bare {
			f.object(w.text)
		}
		return true
	}
	if others := slices.ContainsFunc(t, func(o token) bool { return o.kind == bare && o.text != w.text }); others {
		return false
	}
	if unspaced(w.text) && (r.exists == nil || !r.exists(w.text)) {
		return false // several words
	}
	kind := i+1 < len(t) && t[i+1].in("kind_nouns") || i > 0 && t[i-1].in("kind_nouns")
	direct := i > 0 && f.used[i-1] && w.kind == bare && !r.stopsDoing(t, i)
	ok := false
	for _, act := range f.acts {
		switch act {
		case "install", "process":
			ok = ok || direct
		case "deploy":
			sent := direct && i+1 < len(t) && r.preposition(t[i+1]) && !t[i+1].in("within") // deploy failed in prod is none
			ok = ok || sent || w.kind == bare && i > 1 && f.used[i-2] && r.determines(t[i-1])
		case "push", "merge", "pull_request":
			ok = ok || w.kind == bare && i > 0 && (r.preposition(t[i-1]) || i > 1 && r.determines(t[i-1]) && r.preposition(t[i-2]))
		}
	}
	thing := place || slices.ContainsFunc(f.acts, func(a string) bool { return a == "change" || a == "delete" || a == "run" })
	if !ok && (!thing || !kind && (r.exists == nil || !r.exists(w.text))) {
		return false
	}
	f.object(w.text)
	return true
}

// deploys reports whether a clause orders that something is deployed, in words of its own for it and its place: deploy the docs site to the
// box.
func (r *statementReader) deploys(t []token) bool {
	if len(t) < 2 || !t[0].part("deploy", partOrders) || !r.determines(t[1]) && !r.preposition(t[1]) {
		return false
	}
	for i := 2; i < len(t); i++ {
		if r.determines(t[i]) && t[i].kind == known && !r.preposition(t[i-1]) {
			return false // deploy the app the day after
		}
	}
	return !slices.ContainsFunc(t[1:], func(w token) bool {
		placed := w.kind != known || r.determines(w) || w.in("polite", "targets", "pronouns") || r.preposition(w) && !w.in("within")
		other := w.in("fillers", "conditions", "question_words", "conjunctions") || w.in(negations...)
		return !placed && (other || w.anyPart(partOrders, partVerbs, partMakes))
	})
}

func (r *statementReader) preposition(t token) bool { return t.in("towards") }

func namesIn(t []token) []string {
	var list []string
	for _, t := range t {
		if t.kind == name || t.in("targets") || t.kind == ident && suffixed(t.text) {
			list = append(list, t.text)
		}
	}
	return list
}

// suffixed reports whether a word ends in a suffix, as sample.zip and web-1.example do and 9.4 does not.
func suffixed(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	return dot > 0 && len(s) > dot+2 && !strings.ContainsFunc(s[dot+1:], func(r rune) bool { return r < 'a' || r > 'z' })
}
