package prompt

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// clauses splits a sentence into clauses: at ; : and , unless a list continues, before words such as
// but and without, and before a second negation. What follows a word such as until says how long.
func (r *statementReader) clauses(words []promptWord) []clause {
	var list []clause
	start, colon, open := 0, false, false
	words, unsureAt := r.negatedLists(r.contracted(words))
	cut := func(end, next int) {
		if end > start {
			if t := r.tokens(words[start:min(end, start+maxClause)]); len(t) > 0 {
				from := len(list)
				list = append(list, r.parts(t, colon)...)
				for i := from; i < len(list); i++ {
					list[i].unsure = open
				}
			}
		}
		start, open = next, unsureAt[next-1]
	}
	for i, w := range words {
		if w.stop == ';' || w.stop == ':' || w.stop == ',' && !r.lists(words, i) {
			if cut(i+1, i+1); w.stop == ':' && len(list) > 0 {
				list[len(list)-1].label = true
			}
			colon = colon || w.stop == ':' && !r.manners(words[:i+1])
		}
	}
	cut(len(words), len(words))
	return r.topics(r.join(list))
}

// manners reports whether words add nothing to an order.
func (r *statementReader) manners(words []promptWord) bool {
	return !slices.ContainsFunc(r.tokens(words), func(t token) bool { return !t.in("fillers", "polite", "go") })
}

// lists reports whether another name follows after a comma.
func (r *statementReader) lists(words []promptWord, i int) bool {
	next := i + 1
	for next < len(words) && (token{entry: r.entries[words[next].low]}).in("joiners") {
		next++
	}
	return words[i].name && next < len(words) && words[next].name
}

// parts splits the tokens between two marks.
func (r *statementReader) parts(t []token, colon bool) []clause {
	var list []clause
	start, turned := 0, false
	emit := func(end, next int, reason bool) {
		list = append(list, clause{tokens: t[start:end], colon: colon, reason: reason, turned: turned})
		start, turned = next, next > 0 && t[next-1].in("turns")
	}
	for i := 0; i < len(t); i++ {
		switch {
		case t[i].in("without_after") && i+1 < len(t):
			emit(i+1, i+1, false)
		case i == start && t[i].in("turns") && i+1 < len(t):
			start, turned = start+1, true
		case i == 0:
		case t[i].in("outside") && !t[i].in("turns") && i+1 < len(t) && t[i+1].in("not", "never"): // do everything but don't push
			emit(i, i+1, false)
		case t[i].in("turns") && !t[i].in("outside") && !t[i].anyPart(partOrders, partVerbs),
			t[i].in("turns") && i+1 < len(t) && t[i+1].in("not", "never", "leave", "may", "limit", "will", "ask"):
			emit(i, i+1, false)
		case t[i].in("sequels") && i+1 < len(t) && t[i+1].anyPart(partOrders, partMakes, partVerbs) && r.orderedWork(t[start:i]):
			emit(i, i+1, false)
		case t[i].in("conjunctions") && !t[i].in("alternatives") && (r.alsoOrders(t[start:i], t[i+1:]) || r.goesOn(t[start:i], t[i+1:])):
			emit(i, i+1, false)
		case t[i].in("conjunctions", "turns") && i+1 < len(t) && t[i+1].in("ask") && has(t[i+1:], "before", "asking") && !r.asksOthers(t[i+1:]):
			emit(i, i+1, false) // fix it and ask me before you push
		case t[i].among(r.therefore) && r.followsFrom(t[start:i], t[i+1:]):
			emit(i, i+1, true)
		case t[i].in("without"), t[i].in("joiners", "conjunctions") && i+1 < len(t) && t[i+1].in("not", "never") && i > start:
			if emit(i, i, false); !t[i].in("without") {
				start = i + 1
			}
		}
	}
	emit(len(t), len(t), false)
	for i := range list {
		list[i].whole = list[i].tokens
		r.tail(&list[i])
	}
	return slices.DeleteFunc(list, func(c clause) bool { return len(c.tokens) == 0 })
}

// orderedWork reports whether tokens begin with a verb of work that is to be done: fix the typo, then push. Words such as and at
// their end belong to what follows.
func (r *statementReader) orderedWork(t []token) bool {
	for len(t) > 0 && t[0].in("starters", "polite", "conjunctions", "joiners") {
		t = t[1:]
	}
	return len(t) > 0 && (r.verbOfWork(t[0]) || t[0].in("make") || t[0].anyPart(partOrders, partMakes))
}

func (l *lexicon) verbOfWork(t token) bool {
	return t.among(l.works) || t.among(l.otherWork)
}

// alsoOrders reports whether an act is ordered after a word such as and: fix the test and push it. Without what it is done to, a verb can
// belong to what is worked on: fix the list and delete endpoints. So can one after words such as how to, and one after its like: fix the
// order of commit and push.
func (r *statementReader) alsoOrders(work, next []token) bool {
	if !r.orderedWork(work) || r.conditional(work) || r.conditional(next) {
		return false
	}
	last := work[len(work)-1]
	if last.among(r.paired) || last.anyPart(partOrders, partVerbs, partNouns) && !last.part("run", partOrders, partVerbs, partNouns) {
		return false
	}
	for i, t := range work {
		if t.among(r.explains) || i+1 < len(work) && t.among(r.purposes) && !r.determines(work[i+1]) {
			return false // add a button to save
		}
	}
	next = afterStarters(next)
	if len(next) == 0 || !next[0].anyPart(partOrders) && (!next[0].anyPart(partMakes) && !next[0].in("make") || !hasAct(next[1:])) {
		return false
	}
	return len(next) == 1 || next[0].in("make") || r.determines(next[1]) || next[1].in("polite", "towards", "conjunctions", "future")
}

// followsFrom reports whether an order, a permission or a prohibition follows from what was told before a word such as so: CI is green so
// push it. After other work it tells what that is for: fix the tests so you can merge.
func (r *statementReader) followsFrom(reason, next []token) bool {
	explains := func(t token) bool { return t.among(r.explains) }
	if has(reason, "conditions", "question_words", "only") || r.orderedWork(reason) || slices.ContainsFunc(reason, explains) {
		return false
	}
	if next = afterStarters(next); len(next) > 1 && next[0].in("not", "never") {
		return !next[0].among(r.modal) && next[1].anyPart(actParts...)
	}
	may := len(next) > 1 && next[0].in("may")
	if may {
		next = next[1:]
	}
	if len(next) == 0 || !next[0].anyPart(partOrders) || r.conditional(next) {
		return false
	}
	end := func(t token) bool { return t.in("polite", "now", "pronouns", "starters") }
	if may {
		return len(next) == 1 || !slices.ContainsFunc(next[1:], func(t token) bool { return !end(t) })
	}
	return len(next) == 1 || end(next[1]) || r.determines(next[1]) || next[1].in("towards", "conjunctions")
}

// goesOn reports whether other work follows an order: merge it and fix what breaks.
func (r *statementReader) goesOn(order, next []token) bool {
	order, next = afterStarters(order), afterStarters(next)
	return len(order) > 1 && len(next) > 1 && order[0].anyPart(partOrders, partMakes) &&
		!next[0].anyPart(actParts...) && r.verbOfWork(next[0]) && !r.conditional(order) && !restrained(next)
}

func afterStarters(t []token) []token {
	for len(t) > 1 && t[0].in("starters", "polite", "sequels") && !t[0].anyPart(partOrders) {
		t = t[1:]
	}
	return t
}

// conditional reports whether something limits what a part of a sentence orders, other than checks that have to have passed.
func (l *lexicon) conditional(t []token) bool {
	if from, to := passedIn(t); to > from {
		t = slices.Delete(slices.Clone(t), from, to)
	}
	return restrained(t) || has(t, "conditions", "me", "question_words")
}

// restrained reports whether tokens have a word that limits the words before them, too.
func restrained(t []token) bool {
	return has(t, "not", "never", "without", "may", "ask", "before", "outside", "only", "self", "until")
}

// determines reports whether a word begins what something is done to, or is it: the, it, a.go.
func (l *lexicon) determines(t token) bool {
	return t.kind != bare && t.kind != known || t.among(l.determiners)
}

// tail takes off a clause what says how long it holds.
func (r *statementReader) tail(c *clause) {
	if i := index(c.tokens, "not_before"); i > 0 && !has(c.tokens, "ask") {
		c.until, c.joined = cmp.Or(untilOf(c.tokens[i:]), engine.UntilOther), true
		if c.tokens = c.tokens[:i]; !hasAct(c.tokens) { // what it waits for stands first
			c.until, c.tokens = cmp.Or(untilOf(c.tokens), engine.UntilOther), c.whole[i+1:]
		}
		return
	}
	at := slices.IndexFunc(c.tokens, func(t token) bool { return t.in("until") })
	if at <= 0 || has(c.tokens, "ask") {
		return
	}
	c.until = untilOf(c.tokens[at:])
	c.tokens = c.tokens[:at]
}

func untilOf(t []token) string {
	switch {
	case has(t, "asking"):
		return engine.UntilAsked
	case has(t, "me"):
		return engine.UntilSaid
	case !slices.ContainsFunc(t[1:], func(t token) bool { return !t.in("fillers") }):
		return "" // a time
	}
	return engine.UntilOther
}

// join puts together what a comma or a colon separates: "before you delete anything, ask me",
// "commits: not before I say so".
func (r *statementReader) join(list []clause) []clause {
	var out []clause
	for _, c := range list {
		last := len(out) - 1
		if last < 0 {
			out = append(out, c)
			continue
		}
		p := &out[last]
		switch {
		case !slices.ContainsFunc(c.tokens, func(t token) bool { return !t.in("asking", "fillers") }) && has(c.tokens, "asking"):
			p.until = engine.UntilAsked
			continue
		case c.tokens[0].in("not_before") && hasAct(p.tokens):
			p.until, p.joined = cmp.Or(untilOf(c.tokens), engine.UntilOther), true
			continue
		case c.tokens[0].in("until", "conditions", "after_checks") && has(c.tokens, "me") && !has(p.tokens, "ask") && !has(c.tokens, "ask"):
			if last := len(p.tokens) - 1; last > 0 && p.tokens[last].in("only_then") {
				p.tokens, p.joined = p.tokens[:last], true
			}
			p.until = untilOf(c.tokens)
			continue
		case has(c.tokens, "ask") && p.tokens[0].in("before") && !has(p.tokens, "ask"),
			has(p.tokens, "ask") && c.tokens[0].in("before") && !has(c.tokens, "ask"),
			p.tokens[0].in("outside") && !has(p.tokens, "not") && has(c.tokens, "not"):
			p.tokens, p.until, p.joined = slices.Concat(p.tokens, c.tokens), c.until, true
			continue
		}
		out = append(out, c)
	}
	return out
}

// topics joins what only names an act with what the next clause says about it: "commits: not before I say so".
func (r *statementReader) topics(list []clause) []clause {
	for i := len(list) - 1; i > 0; i-- {
		c := list[i]
		says := c.until != "" || has(c.tokens, "not", "never", "self", "deferrals")
		if says && r.topic(list[i-1].tokens) && !hasAct(c.tokens) && !contrasted(c.tokens) {
			list[i-1] = clause{tokens: slices.Concat(list[i-1].tokens, c.tokens), until: c.until, joined: true}
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// contrasted reports whether a clause is a negation and one word that is not known, which names something else: merge it, don't rebase.
func contrasted(t []token) bool { return len(t) == 2 && t[0].in("not") && t[1].kind == bare }

// topic reports whether a clause only names an act, and when it is done.
func (r *statementReader) topic(t []token) bool {
	return hasAct(t) && !has(t[:1], "no") && !slices.ContainsFunc(t, func(t token) bool {
		return !t.anyPart(partNouns, partVerbs, partOrders) && !t.in("fillers", "future")
	})
}

// withNothingElse takes words such as "nothing else" off clauses, and remembers in the clause before them that it limits the work.
func withNothingElse(list []clause) []clause {
	var out []clause
	for _, c := range list {
		at := index(c.tokens, "nothing_else")
		if at < 0 || slices.ContainsFunc(c.tokens[at+1:], func(t token) bool { return !t.in("fillers", "polite") }) {
			out = append(out, c)
			continue
		}
		for at > 0 && c.tokens[at-1].in("conjunctions", "joiners") {
			at--
		}
		if c.tokens, c.closed = c.tokens[:at], true; at > 0 {
			out = append(out, c)
		} else if len(out) > 0 {
			out[len(out)-1].closed = true
		}
	}
	return out
}
