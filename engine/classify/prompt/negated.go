package prompt

import "slices"

// extent is how far what stands before a comma reaches beyond it.
type extent int

const (
	apart    extent = iota // another clause begins
	together               // one list: don't commit, push or deploy
	unsure                 // it may be one: don't merge, push and open a PR
)

// negatedLists takes the commas out of lists of acts under one negation, with "or" in their place where the list has no word of its
// own, since a clause that begins with a verb orders it otherwise. It notes the commas after which a list may go on.
func (r *statementReader) negatedLists(words []promptWord) (out []promptWord, unsureAt map[int]bool) {
	start, unsureAt := 0, map[int]bool{}
	for i, w := range words {
		out = append(out, w)
		last := len(out) - 1
		if w.stop == ';' || w.stop == ':' {
			start = last + 1
		}
		if w.stop != ',' || i+1 == len(words) {
			continue
		}
		end := segmentEnd(words, i+1)
		switch r.reaches(out[max(start, last-maxClause):], words[i+1:end], words[end-1].stop == ':') {
		case apart:
			start = last + 1
		case unsure:
			start, unsureAt[last] = last+1, true
		case together:
			if out[last].stop = 0; !(token{entry: r.entries[words[i+1].low]}).in("joiners", "conjunctions", "alternatives") {
				out = append(out, promptWord{text: listWord, low: listWord})
			}
		}
	}
	return out, unsureAt
}

// listWord stands for a comma of a list; it is one of the conjunctions.
const listWord = "or"

// segmentEnd returns where the part of a sentence ends that begins at i: after the next mark other than a comma, and after as many
// words as a clause may have.
func segmentEnd(words []promptWord, i int) int {
	most := min(len(words), i+maxClause)
	for ; i < most; i++ {
		if words[i].stop == ';' || words[i].stop == ':' {
			return i + 1
		}
	}
	return most
}

// reaches tells how far a clause reaches beyond the comma after it. What forbids an act reaches over a list of acts that ends with a
// word such as or, and over one of bare verbs. A list of acts alone is one if its last words, or what follows a colon, say something
// of all: commits, pushes and PRs are mine.
func (r *statementReader) reaches(before, after []promptWord, colon bool) extent {
	b := r.tokens(before)
	if len(b) == 0 || !r.hasAct(b) {
		return apart
	}
	var items [][]token
	for from, i := 0, 0; i < len(after); i++ {
		if after[i].stop == ',' || i+1 == len(after) {
			if t := r.tokens(after[from : i+1]); len(t) > 0 {
				items = append(items, t)
			}
			from = i + 1
		}
	}
	if len(items) == 0 {
		return apart
	}
	n := 0
	for n < len(items) && r.continues(items[n]) {
		n++
	}
	if bareActs(b) && !has(b, negations...) {
		last := items[len(items)-1]
		list := !slices.ContainsFunc(items[:len(items)-1], func(t []token) bool { return !bareActs(t) })
		if list && actFirst(last) && (has(last, "not", "never", "self") || colon && bareActs(last)) {
			return together
		}
		return apart
	}
	if !has(b, append([]string{"ask"}, negations...)...) || n == 0 {
		return apart
	}
	items = items[:n]
	alternative, bare := false, true
	for _, t := range items {
		alternative, bare = alternative || choice(t), bare && bareActs(t)
	}
	and := slices.ContainsFunc(items, func(t []token) bool { return has(t, "conjunctions", "joiners") })
	switch {
	case alternative, bare && (n > 1 || has(b, "no", "conjunctions")):
		return together
	case bare, and && b[len(b)-1].anyPart(actParts...):
		return unsure
	}
	return apart
}

var (
	negations = []string{"not", "never", "without", "without_after"}
	actParts  = []string{partOrders, partVerbs, partNouns, partWith, partMakes, partThings}
)

// continues reports whether an item goes on with a list of acts: it begins with one, and has no negation or word of its own that
// says what is to happen to it.
func (r *statementReader) continues(t []token) bool {
	if until := index(t, "until"); until > 0 {
		t = t[:until]
	}
	return actFirst(t) && !slices.ContainsFunc(t, func(w token) bool {
		return w.in("not", "never", "without", "may", "self", "ask", "turns", "limit", "only", "conditions", "go", "passive") && !w.in("alternatives", "all")
	})
}

// actFirst reports whether tokens begin with an act, after words that add nothing.
func actFirst(t []token) bool {
	for i, w := range t {
		if i > 0 || !w.in("starters") || w.in("joiners", "conjunctions") {
			if w.anyPart(actParts...) {
				return true
			}
			if w.in("joiners", "conjunctions", "alternatives", "make") || w.in("fillers") && !w.in("starters", "future", "pronouns") {
				continue
			}
		}
		return false
	}
	return false
}

// bareActs reports whether tokens name acts and nothing else.
func bareActs(t []token) bool {
	return actFirst(t) && !slices.ContainsFunc(t, func(w token) bool {
		return !w.anyPart(actParts...) && !w.in("joiners", "conjunctions", "alternatives", "fillers", "all", "polite", "make") && !w.in(negations...)
	})
}

// choice reports whether a word such as or stands before an act.
func choice(t []token) bool {
	for i := range t[:len(t)-1] {
		if t[i].in("alternatives") && actFirst(t[i+1:]) {
			return true
		}
	}
	return false
}

// divided reads each item of a list of which an item is not understood: don't commit, install random packages or push; commits,
// tags and whatever else are mine.
func (r *statementReader) divided(c clause) bool {
	t := c.tokens
	isAct := func(t token) bool { return t.anyPart(actParts...) && !t.in(negations...) && !t.in("self") }
	first, last := slices.IndexFunc(t, isAct), lastIndex(t, isAct)
	denied, own := first > 0 && has(t[:max(first, 0)], negations...), first >= 0 && has(t[last+1:], "self")
	if !denied && !own || !choice(t) {
		return false
	}
	head, tail := t[:first], t[len(t):]
	if own && !denied {
		head, tail = nil, t[last+1:]
		t = t[:last+1]
	}
	before := len(r.list)
	for from, i := len(head), len(head); i <= len(t); i++ {
		if i < len(t) && !t[i].in("alternatives") && !(own && t[i].in("conjunctions")) {
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
