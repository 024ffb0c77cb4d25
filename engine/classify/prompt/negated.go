package prompt

import (
	"slices"
	"strings"
)

// extent is how far a clause reaches beyond the comma after it.
type extent int

const (
	apart    extent = iota // another clause begins
	together               // one list: don't commit, push or deploy
	unsure                 // it may be one: don't merge, push and open a PR
)

// negatedLists takes the commas out of lists of acts under one negation, with "or" in their place where the list has no word of its
// own, since a clause that begins with a verb orders it otherwise. It notes the commas after which a list may go on.
func (l *lexicon) negatedLists(words []promptWord) (out []promptWord, unsureAt map[int]bool) {
	start, unsureAt := 0, map[int]bool{}
	words = l.slashed(words)
	aside := false // it began after a negation: do not, under any circumstances, push
	for i, w := range words {
		out = append(out, w)
		last := len(out) - 1
		if (w.stop == ',' || w.stop == ':') && i+1 < len(words) {
			before := l.tokens(out[max(start, last-maxClause):])
			switch open := l.bans(before); {
			case aside, w.stop == ',' && open && before[len(before)-1].in("of_subject", "never"),
				w.stop == ':' && open && actFirst(l.tokens(words[i+1:min(len(words), i+1+maxClause)])): // don't: commit, push
				out[last].stop, aside = 0, w.stop == ',' && !aside
				continue
			}
		}
		if w.stop == ';' || w.stop == ':' {
			start = last + 1
		}
		if w.stop != ',' || i+1 == len(words) {
			continue
		}
		end := segmentEnd(words, i+1)
		switch l.reaches(out[max(start, last-maxClause):], words[i+1:end], words[end-1].stop == ':') {
		case apart:
			start = last + 1
		case unsure:
			start, unsureAt[last] = last+1, true
		case together:
			if out[last].stop = 0; !(token{entry: l.entries[words[i+1].low]}).in("joiners", "conjunctions", "alternatives") {
				out = append(out, promptWord{text: listWord, low: listWord})
			}
		}
	}
	return out, unsureAt
}

// bans reports whether tokens forbid, and do not say what.
func (l *lexicon) bans(t []token) bool {
	return has(t, "not", "never") && !hasAct(t) && !slices.ContainsFunc(t, func(w token) bool {
		return !w.in("not", "never", "fillers", "polite", "starters", "all", "make", "turns", "may")
	})
}

// slashed takes words such as commit/push apart, if each part is an act.
func (l *lexicon) slashed(words []promptWord) []promptWord {
	var out []promptWord
	for _, w := range words {
		parts := strings.Split(w.low, "/")
		if len(parts) < 2 || slices.ContainsFunc(parts, func(s string) bool {
			return !(token{entry: l.entries[s]}).anyPart(partOrders, partVerbs, partNouns)
		}) {
			out = append(out, w)
			continue
		}
		for i, s := range parts {
			if i > 0 {
				out = append(out, promptWord{text: listWord, low: listWord})
			}
			out = append(out, promptWord{text: s, low: s})
		}
		out[len(out)-1].stop = w.stop
	}
	return out
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
func (l *lexicon) reaches(before, after []promptWord, colon bool) extent {
	b := l.tokens(before)
	if len(b) == 0 || !hasAct(b) {
		return apart
	}
	var items [][]token
	for from, i := 0, 0; i < len(after); i++ {
		if after[i].stop == ',' || i+1 == len(after) {
			if t := l.tokens(after[from : i+1]); len(t) > 0 {
				items = append(items, t)
			}
			from = i + 1
		}
	}
	if len(items) == 0 {
		return apart
	}
	n := 0
	for n < len(items) && continues(items[n]) {
		n++
	}
	if bareActs(b) && !has(b, negations...) {
		for k, t := range items {
			switch {
			case !actFirst(t):
				return apart
			case deniedAfter(t), colon && k == len(items)-1 && bareActs(t):
				return together
			}
		}
		return apart
	}
	topic, no := slices.IndexFunc(b, isAct), index(b, "not", "never")
	if topic >= 0 && no > topic && l.deniedTopic(b, topic, no) < 0 {
		return apart // the migration never ran
	}
	tells := func(w token) bool { return w.among(l.existing) || w.kind == bare && endsIn(w, l.tellEnds) }
	if no >= 0 && slices.ContainsFunc(b, tells) {
		return apart // no hay rama para el ticket
	}
	own := l.subject(b)
	if !own && !has(b, append([]string{"ask"}, negations...)...) || n == 0 {
		return apart
	}
	items = items[:n]
	alternative, bare := false, true
	for _, t := range items {
		alternative, bare = alternative || choice(t), bare && bareActs(t)
	}
	and := slices.ContainsFunc(items, func(t []token) bool { return has(t, "conjunctions", "joiners") })
	switch {
	case own && bare && (and || n > 1):
		return together // I do the push, merge and deploy
	case own:
		return apart
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

// subject reports whether tokens say that the person does an act that they end with, and not that it was done.
func (l *lexicon) subject(t []token) bool {
	last := t[len(t)-1]
	person := func(w token) bool { return w.in("me", "let_me", "self") && !w.in("possessives") }
	return slices.ContainsFunc(t, person) && !has(t, negations...) && !has(t, "ask", "may") && last.anyPart(partOrders, partNouns)
}

// continues reports whether an item goes on with a list of acts: it begins with one, and has no negation or word of its own that
// says what is to happen to it.
func continues(t []token) bool {
	if until := index(t, "until"); until > 0 {
		t = t[:until]
	}
	return actFirst(t) && !slices.ContainsFunc(t, func(w token) bool {
		return w.in("not", "never", "without", "may", "self", "ask", "turns", "limit", "only", "conditions", "go", "passive") &&
			!w.in("alternatives") && (!w.in("all") || w.in("no"))
	})
}

// actFirst reports whether tokens begin with an act, after words that add nothing.
func actFirst(t []token) bool {
	for len(t) > 1 && t[0].in("turns") && !t[0].anyPart(actParts...) {
		t = t[1:]
	}
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
		return !w.anyPart(actParts...) && !w.in(negations...) &&
			!w.in("joiners", "conjunctions", "alternatives", "fillers", "all", "polite", "make", "turns")
	})
}

// deniedAfter reports whether something after an act says that it is not to be done, or that the person does it.
func deniedAfter(t []token) bool {
	act := slices.IndexFunc(t, func(w token) bool { return w.anyPart(actParts...) })
	return act >= 0 && has(t[act+1:], "not", "never", "self")
}

// eitherAct reports whether a verb follows after a word such as or: nobody orders one of two acts like that.
func eitherAct(t []token) bool {
	for i := 1; i+1 < len(t); i++ {
		before, after := t[i-1], t[i+1]
		if t[i].in("alternatives") && after.anyPart(partOrders, partVerbs) &&
			before.anyPart(partOrders, partVerbs, partNouns) && !before.in("make") {
			return true
		}
	}
	return false
}

// choice reports whether an act follows a word such as or.
func choice(t []token) bool {
	for i := range t[:len(t)-1] {
		if t[i].in("alternatives") && actFirst(t[i+1:]) {
			return true
		}
	}
	return false
}

// hasAct reports whether tokens have a word of an act other than to begin.
func hasAct(t []token) bool {
	return slices.ContainsFunc(t, func(t token) bool {
		return t.entry != nil && slices.ContainsFunc(t.parts, func(p part) bool {
			return p.act != "wait" && (p.name == partNouns || p.name == partVerbs || p.name == partOrders)
		})
	})
}

// contracted takes "no" in a Portuguese sentence, where it means "in the", for a word that adds nothing: faz deploy no staging.
// Before an act it forbids that there, too: faz commit, no push.
func (l *lexicon) contracted(words []promptWord) []promptWord {
	listed := func(w promptWord, list string) bool { return token{entry: l.entries[w.low]}.in(list) }
	if !slices.ContainsFunc(words, func(w promptWord) bool { return listed(w, "portuguese") }) {
		return words
	}
	words = slices.Clone(words)
	for i, w := range words[:len(words)-1] {
		if i > 0 && listed(w, "contracted") && !actFirst(l.tokens(words[i+1:i+2])) {
			words[i].text, words[i].low = "", ""
		}
	}
	return words
}
