package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// unclear reads what a clause seems to forbid although it has words that are not known: don't install random
// packages like last time. Such a prohibition only asks. told: the clause has words such as yesterday.
func (r *statementReader) unclear(c clause, told bool) bool {
	if r.theirs || c.colon {
		return false // text of somebody else, or a list
	}
	t := c.tokens
	for len(t) > 1 && !t[0].in("not", "never") && !t[0].anyPart(partOrders, partNouns) &&
		(t[0].in("starters", "polite", "turns", "joiners", "conjunctions") || t[0].in("fillers") && !t[0].in("me") && t[1].in("not", "never")) {
		t = t[1:]
	}
	at, whole, limits := -1, false, false
	switch {
	case len(t) < 2:
	case t[0].in("absent"), t[0].in("without") && r.tells():
	case t[0].in("not", "never", "without"):
		at = r.after(t, told)
		whole = at > 0 && (t[0].in("no") || t[at].anyPart(partNouns) && !t[at].anyPart(partOrders)) // no commits
	case told:
	case onlyThis(t) && t[0].anyPart(partOrders) && slices.ContainsFunc(r.actsOf(t[0]), func(a string) bool { return slices.Contains(r.limited, a) }):
		at, whole, limits = 0, true, true // push only the sdk
	case has(t, "not_after"):
		at = r.before(t)
	case index(t, "owned") > 0:
		at = r.theirWork(t)
		whole = true
	default:
		at = r.mine(t)
		whole = true
	}
	if at < 0 {
		return false
	}
	if acts := r.actsOf(t[at]); limits && len(acts) == 1 {
		if vague, thing, kind := r.object(t[index(t, "only")+1:]); kind == bare && !vague && !has(t, "question_words") {
			r.add(engine.Forbids, &frame{acts: []string{onlyPrefix + acts[0]}, objects: []string{thing}}, engine.UntilAsked, false)
			return true
		}
	}
	return r.asksAbout(t, at, whole)
}

// asksAbout adds that the person is to be asked about the act that a word of a clause means; whole: the word itself is enough.
func (r *statementReader) asksAbout(t []token, at int, whole bool) bool {
	f := &frame{acts: r.actsOf(t[at]), forced: r.force(t[at])}
	f.refers = slices.ContainsFunc(t, func(w token) bool { return w.it || w.in("pronouns") })
	narrow := func(act string) bool { return !slices.Contains(r.broad, act) }
	if exact := r.actsWith(t, at); len(exact) > 0 && !slices.ContainsFunc(f.acts, narrow) {
		f.acts = exact // never run migrations on this machine
	}
	if len(f.acts) == 0 && t[at].part("tag", partThings) {
		f.acts = []string{"tag"}
	}
	vague, named, kind := r.object(t[at+1:])
	if target := index(t[at+1:], "targets"); target >= 0 && kind == bare {
		named, kind = t[at+1+target].text, name // never push straight to main
	}
	f.acts = slices.DeleteFunc(f.acts, func(act string) bool {
		switch refers, broad := slices.Contains(r.referring, act), slices.Contains(r.broad, act); {
		case kind == name:
			return false
		case kind == bare && refers:
			return act != "process" && (r.exists == nil || !r.exists(named))
		case broad:
			next := t[at+1 : min(len(t), at+4)]
			about := slices.ContainsFunc(t, func(w token) bool { return w.part(act, partThings) }) ||
				slices.ContainsFunc(t[max(0, at-1):min(len(t), at+2)], func(w token) bool { return w.in("all") && !w.in("no") }) ||
				slices.ContainsFunc(next, func(w token) bool { return w.among(r.codeWords) }) || at > 0 && t[at-1].among(r.codeWords)
			unknown := slices.ContainsFunc(t, func(w token) bool { return w.kind == bare })
			return !about && (!whole || unknown || t[at].part(act, partNouns))
		}
		return !vague && !whole && slices.Contains(r.everyday, act)
	})
	if named != "" && slices.ContainsFunc(f.acts, func(act string) bool { return slices.Contains(r.referring, act) }) {
		f.objects = []string{named}
	}
	r.add(engine.Forbids, f, engine.UntilAsked, false)
	return len(f.acts) > 0
}

// sparesData reads an order not to delete what nothing here has the name of, but a path may have a word of: don't delete the customer data,
// the order files in data. Such a prohibition only asks.
func (r *statementReader) sparesData(t []token) {
	at := slices.IndexFunc(t, func(w token) bool { return w.among(r.byWord) })
	if at < 1 || !t[0].in("not", "never") || slices.ContainsFunc(t[:at], unknownWord) || len(r.earlier) > 0 && !hasAct(r.earlier) {
		return
	}
	f := &frame{acts: []string{"delete"}}
	last := -1
	for i, w := range t[at+1:] {
		switch {
		case w.in("conjunctions"), unspaced(w.text):
			return
		case w.in("polite"), w.in("fillers", "aged", "all") && !w.anyPart(partThings, partNouns):
			continue
		case last >= 0 && last < i-1 && r.exists != nil && r.exists(w.text):
			continue
		case last >= 0 && last < i-1:
			return
		case w.kind == bare && len(w.text) > 3, w.entry != nil && w.anyPart(partThings, partNouns, partObjects) && !w.anyPart(partVerbs, partWith):
		default:
			return
		}
		last = i
		f.object(strings.ToLower(w.text))
	}
	if f.objects = f.objects[:min(len(f.objects), maxObjects)]; len(f.objects) > 0 {
		r.add(engine.Forbids, f, engine.UntilAsked, false)
	}
}

// permitsNow reads: you can stop the one on the pi now and start it on the nas. With words that are not known, such a permission is
// for what they name, and only ends that the act had to wait.
func (r *statementReader) permitsNow(c clause) bool {
	t := c.tokens
	may := index(t, "may")
	if may < 0 || r.theirs || c.colon || c.until != "" ||
		has(t, "not", "never", "only", "outside", "me", "conditions", "question_words", "blocks", "future") ||
		slices.ContainsFunc(t[:may], func(t token) bool { return !t.in("starters", "polite", "fillers", "now") }) {
		return false
	}
	rest := t[may+1:]
	if end := slices.IndexFunc(rest, func(t token) bool { return t.in("conjunctions") && !t.in("it_before") }); end > 0 {
		rest = rest[:end]
	}
	if !has(t[:may+1], "now") && !has(rest, "now") {
		return false
	}
	verb := r.verbOf(rest)
	if verb < 0 {
		return false
	}
	f := &frame{acts: r.actsOf(rest[verb])}
	for i, w := range rest {
		switch {
		case i == verb, w.in("fillers", "polite", "starters", "pronouns", "pointed", "vague", "now"),
			w.in("make", "within", "kind_nouns", "aged", "towards"):
		case w.kind == bare && (strings.Contains(w.text, "'") || r.stopsDoing(rest, i)):
			return false // another verb: t'excuser, stop worrying
		case w.kind != known, w.in("targets", "places"):
			f.object(w.text)
		case len(f.acts) == 1 && w.part(f.acts[0], partThings, partNouns, partObjects):
		default:
			return false
		}
	}
	if len(f.acts) != 1 {
		return false
	}
	r.add(engine.Permits, f, engine.UntilAsked, false)
	return true
}

// verbOf returns which of the words after one that permits says what may be done: the first, a noun after a verb such as make, or in
// other languages the last; -1: none.
func (r *statementReader) verbOf(t []token) int {
	first := slices.IndexFunc(t, func(t token) bool { return !t.in("starters", "polite", "now") })
	if first < 0 {
		return -1
	}
	if t[first].in("make") {
		at := first + 1
		if at < len(t) && t[at].in("fillers") {
			at++
		}
		if at < len(t) && t[at].anyPart(partNouns) {
			return at
		}
	}
	last := len(t) - 1
	for last > first && t[last].in("now", "polite") {
		last--
	}
	for _, at := range []int{first, last} {
		if t[at].anyPart(partOrders, partVerbs) {
			return at
		}
	}
	return -1
}

// insideOf reports whether an order to delete is about something in a file or in the docs, or that the person points at:
// get rid of the old tests in utils.py, remove this from src/.
func insideOf(t []token) bool {
	for i := 2; i < len(t); i++ {
		if !t[i].in("within") || i+1 == len(t) {
			continue
		}
		next := t[i+1]
		if next.in("fillers") && i+2 < len(t) {
			next = t[i+2]
		}
		before := i - 1
		if t[before].part("delete", partThings) {
			before--
		}
		if next.kind != known && suffixed(next.text) || next.in("places") || t[before].in("pointed") {
			return true
		}
	}
	return false
}

// object tells what the words after a verb are about: a name, a word that is not known, or nothing that is told
// from others, such as anything or the stuff from yesterday.
func (r *statementReader) object(t []token) (vague bool, named string, kind tokenKind) {
	for i, w := range t {
		switch {
		case w.kind == name, w.in("targets"):
			return false, w.text, name
		case w.in("pronouns", "all", "vague", "self", "until", "conditions", "not", "never", "not_after"):
			return true, "", known
		case w.kind == bare && len(w.text) > 2:
			return has(t[i:min(len(t), i+3)], "vague"), w.text, bare
		case !w.in("fillers", "polite", "make", "aged"):
			return has(t[i:min(len(t), i+3)], "vague"), "", known
		}
	}
	return true, "", known
}

// after returns the act that a negation at the beginning of a clause is about; -1: none.
func (r *statementReader) after(t []token, told bool) int {
	strange := 0
	for i := 1; i < len(t) && i < 6; i++ {
		noun, verb := t[i].anyPart(partNouns), t[i].anyPart(partVerbs)
		switch {
		case t[0].in("no") && (noun || verb && !t[i].anyPart(partOrders)):
			if i+1 < len(t) && t[0].in("compound") && (!t[i+1].in("fillers", "until", "vague") || t[i+1].in("make", "passive")) {
				return -1 // no deploy button, no migrations were found
			}
			return i
		case !t[0].in("no") && t[i].anyPart(partOrders, partVerbs):
			if t[i-1].in("before_past") && r.past(t[i]) {
				return -1
			}
			return i
		case t[0].in("all", "without") && noun && !t[0].in("compound"):
			if t[0].in("without") && !verb && !endsAt(t, i) {
				return -1 // zonder internet crasht de app
			}
			return i
		case told && t[i].in("blocks", "make"):
			return -1 // we should not have deleted it
		case t[i].in("fillers", "make", "polite", "pronouns", "not", "never", "restricts"):
		case t[0].in("no") && t[i].kind == bare && strange == 0:
			strange++
		default:
			return -1
		}
	}
	return -1
}

// before returns the act at the beginning of a clause that a negation after it is about; -1: none.
func (r *statementReader) before(t []token) int {
	at := slices.IndexFunc(t, func(t token) bool { return t.anyPart(partOrders, partVerbs, partNouns) })
	if at < 0 || at > 1 || at == 1 && !t[0].in("fillers") {
		return -1
	}
	for i := at + 1; i < len(t); i++ {
		switch {
		case t[i].in("not_after") && t[at].anyPart(partOrders, partVerbs):
			return at
		case t[i].in("not_after") && i+1 < len(t) && t[i+1].in("fillers"):
			return at // the migration not on the real database
		case !t[i].in("fillers", "polite") || t[i].in("make"):
			return -1
		}
	}
	return -1
}

// theirWork returns the act that others do, which a clause begins with; -1: none.
func (r *statementReader) theirWork(t []token) int {
	owned := index(t, "owned")
	at := slices.IndexFunc(t[:owned], func(t token) bool { return t.anyPart(partNouns) })
	if at < 0 || slices.ContainsFunc(t[:at], func(t token) bool { return !t.in("fillers") }) || owned == len(t)-1 {
		return -1
	}
	return at
}

// mine returns the act that a person says they will do themselves; -1: none.
func (r *statementReader) mine(t []token) int {
	if t[0].in("will") {
		for i := 1; i < len(t) && (i == 1 || t[i-1].in("fillers")); i++ {
			if t[i].anyPart(partOrders) {
				return i
			}
		}
	}
	if !has(t, "self") {
		return -1
	}
	if i := index(t, "self"); i == 0 && len(t) > 1 && t[1].anyPart(partOrders, partVerbs) {
		return 1
	}
	at := slices.IndexFunc(t, func(t token) bool { return t.anyPart(partOrders, partNouns) })
	if t[0].anyPart(partVerbs) && !r.past(t[0]) {
		at = 0
	}
	if at < 0 || at > 0 && !t[at-1].in("me", "fillers", "will", "make") {
		return -1
	}
	return at
}

// actsOf returns the acts that one word means.
func (r *statementReader) actsOf(t token) []string {
	var list []string
	for _, act := range r.acts {
		if act != "freeze" && act != "wait" && t.part(act, partOrders, partVerbs, partNouns) {
			list = append(list, act)
		}
	}
	return r.narrower(list)
}

// tells reports whether the part of the sentence before says what was or is: the page is shown without a change.
func (r *statementReader) tells() bool {
	t := r.earlier
	for len(t) > 1 && t[0].in("starters", "polite") {
		t = t[1:]
	}
	unknown := len(t) > 1 && unknownWord(t[0]) && r.determines(t[1])
	if unknown || len(t) > 0 && !r.determines(t[0]) && r.orderedWork(t) {
		return false // parse it with what we have, without installing anything
	}
	return has(t, "blocks") || len(t) > 0 && t[0].in("fillers", "pronouns") && !t[0].in("starters", "polite", "make")
}

// told tells "I installed redis myself" from "I install redis myself", "tests don't run" from "don't run tests", "not
// committed" from "not committing", and "without a change" from "without changing it".
func (r *statementReader) told(t []token, f *frame) bool {
	for i := 1; i < len(t); i++ {
		switch {
		case f.used[i] && t[i-1].in("me", "before_past") && r.past(t[i]):
			return true
		case i+1 < len(t) && t[i].in("of_subject") && t[i-1].anyPart(partThings, partNouns) && (t[i+1].anyPart(partOrders, partVerbs) || t[i+1].in("make")):
			return true
		}
	}
	return len(t) == 3 && t[0].in("without") && t[1].in("one") && t[2].anyPart(partNouns)
}

// past reports whether a word is a verb that only tells what was done.
func (l *lexicon) past(t token) bool {
	return !t.anyPart(partOrders, partNouns) && endsIn(t, l.pastEnds)
}

// stopsDoing reports whether a word is what somebody is to stop doing: stop worrying.
func (r *statementReader) stopsDoing(t []token, i int) bool {
	return i > 0 && t[i-1].in("stops") && endsIn(t[i], r.doingEnds)
}

func endsIn(t token, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(strings.ToLower(t.text), end) })
}

// divided reads each item of a list of which an item is not understood: don't commit, install random packages or push; commits,
// tags and whatever else are mine, or are not to be made.
func (r *statementReader) divided(c clause) bool {
	t := c.tokens
	isAct := func(t token) bool { return t.anyPart(actParts...) && !t.in(negations...) && !t.in("self") }
	first, last := slices.IndexFunc(t, isAct), lastIndex(t, isAct)
	denied, after := first > 0 && has(t[:max(first, 0)], negations...), first >= 0 && has(t[last+1:], "self", "not", "never")
	if !denied && !after || !choice(t) {
		return false
	}
	head, tail := t[:first], t[len(t):]
	if after && !denied {
		head, tail = nil, t[last+1:]
		t = t[:last+1]
	}
	before := len(r.list)
	for from, i := len(head), len(head); i <= len(t); i++ {
		if i < len(t) && !t[i].in("alternatives") && !(after && t[i].in("conjunctions")) {
			continue
		}
		if item := t[from:i]; len(item) > 0 && actFirst(item) {
			one := c
			one.tokens = slices.Concat(head, item, tail)
			if !r.meant(one) {
				r.unclear(one, false)
			}
		}
		from = i + 1
	}
	return len(r.list) > before
}

func lastIndex(t []token, is func(token) bool) int {
	for i := len(t) - 1; i >= 0; i-- {
		if is(t[i]) {
			return i
		}
	}
	return -1
}
