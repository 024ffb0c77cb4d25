package prompt

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// interjected reads a word such as wait that only begins what follows: "Wait. Why sqlite?" It forbids nothing. A polite
// one, one that says how long, and the last word of a prompt do.
func (r *statementReader) interjected(c clause) bool {
	return r.follows && c.until == "" && !c.colon && has(c.tokens, "interjections") &&
		!slices.ContainsFunc(c.tokens, func(t token) bool { return !t.in("interjections", "starters", "fillers") || t.in("polite") })
}

// addsTo reports whether a sentence says more than thanks, or that the agent is to wait for what the person does first.
func (r *statementReader) addsTo(words []promptWord) bool {
	t := r.tokens(words[:min(len(words), maxClause)])
	more := func(w token) bool { return !w.in("polite", "starters") }
	return len(t) > 0 && !t[0].in("let_me") && slices.ContainsFunc(t, more)
}

// ownObject reports whether what a person does themselves has a pronoun as its object: ich bearbeite es selbst, je le
// modifie moi-même.
func ownObject(t []token, f *frame) bool {
	for i := range t {
		if f.used[i] && t[i].anyPart(partOrders, partVerbs) && !t[i].anyPart(partNouns) &&
			(i > 0 && t[i-1].in("it_before") || i+1 < len(t) && t[i+1].in("it_after")) {
			return true
		}
	}
	return false
}

// stopped reads: stop committing everything. It is a negation, and not an order to end something.
func (r *statementReader) stopped(t []token) []token {
	if len(t) < 2 || !t[0].in("stops") || !t[1].anyPart(partVerbs) || t[1].anyPart(partOrders, partNouns) {
		return t
	}
	return append([]token{{text: t[0].text, entry: r.entries["don't"]}}, t[1:]...)
}

// keeps reads: keep fuzz/corpus. It is not to be deleted.
func (r *statementReader) keeps(c clause) bool {
	if len(c.tokens) < 2 || c.half || !c.tokens[0].in("keeps") {
		return false
	}
	f := r.frame(c.tokens[1:], "polite")
	if f == nil || len(f.acts) > 0 || len(namesIn(c.tokens)) == 0 {
		return false
	}
	f.acts = []string{"delete"}
	r.add(engine.Forbids, f, c.until, false)
	return true
}

// avoids reads: don't work on main. The agent is not to change to that branch.
func (r *statementReader) avoids(c clause) bool {
	t := c.tokens
	if !has(t, "works_on") || !has(t, "not", "never") || has(t, "without", "outside", "only", "me", "self") {
		return false
	}
	f := r.frame(t, "not", "never", "works_on", "make", "may", "work")
	other := func(t token) bool { return !t.in("targets") && (t.kind == name || t.kind == ident) }
	if f == nil || slices.ContainsFunc(t, other) || !has(t, "targets") ||
		slices.ContainsFunc(f.acts, func(act string) bool { return act != "change" && act != "wait" }) {
		return false
	}
	f.acts = []string{"switch_branch"}
	r.add(engine.Forbids, f, c.until, has(t, "never"))
	return true
}
