package prompt

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// workReader recognises orders to begin with the work. It has a table of its own: words such as fix are unknown in
// statements, where they would change what is read.
type workReader struct {
	statementReader
	notes []string // ends of the names of files with notes
}

func newWorkReader(set *rows.Set, exists func(string) bool) *workReader {
	l := rows.Once(set, "work lexicon", func() *lexicon { return newLexicon(set, true, "work.") })
	return &workReader{statementReader{lexicon: l, exists: exists}, set.OwnWords("work.notes")}
}

// orders reports whether one of some sentences orders work: more than a plan, an analysis or an answer.
func (r *workReader) orders(sentences [][]promptWord) bool {
	r.alone = len(sentences) == 1
	return slices.ContainsFunc(sentences, r.sentence)
}

func (r *workReader) sentence(words []promptWord) bool {
	clauses := r.clauses(words)
	if slices.ContainsFunc(clauses, r.asksForWork) {
		return true
	}
	if len(clauses) == 0 || words[len(words)-1].stop == '?' || r.questions(clauses, false) {
		return false
	}
	r.whole = len(clauses) == 1
	for _, c := range clauses {
		if len(c.tokens) == 1 && c.tokens[0].in("blocks") {
			continue // great, fix it
		}
		ordersNow := c.tokens[0].in("work.verbs", "work.implements") && !has(c.tokens, "future") // fix what was broken yesterday
		if c.tokens[0].in("conditions") || has(c.tokens, "blocks") && !ordersNow {
			return false // what follows depends on it, or tells something
		}
		if c.until == "" && !c.colon && !c.label && !has(c.tokens, "ask") && r.clause(c.tokens) {
			return true
		}
	}
	return false
}

// asksForWork reports whether a clause is an order that has the form of a question: can you fix them?
func (r *workReader) asksForWork(c clause) bool {
	t := c.tokens
	for len(t) > 0 && t[0].in("starters", "polite") && !t[0].in("work.asks") {
		t = t[1:]
	}
	if len(t) < 2 || !t[0].in("work.asks") || c.until != "" || c.colon || has(t, "conditions", "future", "blocks") {
		return false
	}
	// puedes cambiar eso, kannst du das ändern; another verb comes first in: puoi spiegare come cambiare
	another := func(w token) bool { return w.kind == bare && unicode.IsLower(rune(w.text[0])) }
	asked := t[1].in("work.asked") || t[len(t)-1].in("work.asked") && !slices.ContainsFunc(t[1:len(t)-1], another)
	return r.order(t[1:]) || asked && !has(t, "not", "never", "me", "self", "alone", "question_words", "work.studies", "work.plans")
}

// clause reads one clause: the orders in it are linked by words such as and.
func (r *workReader) clause(t []token) bool {
	if r.picks(t) {
		return true
	}
	start := 0
	for i := 0; i <= len(t); i++ {
		if i < len(t) && !t[i].in("work.links") {
			continue
		}
		if r.order(t[start:i]) {
			return true
		}
		start = i + 1
	}
	return false
}

// order reads one order.
func (r *workReader) order(t []token) bool {
	for len(t) > 0 && t[0].in("starters", "polite", "work.around", "may", "go_weak", "work.links") &&
		!t[0].in("work.verbs", "work.implements", "go", "goes", "work.goes_on") {
		t = t[1:]
	}
	if len(t) == 0 || has(t, "not", "never", "self", "alone") || has(t, "only", "outside", "me") && !t[0].in("work.verbs", "work.implements") {
		return false
	}
	if has(t, "work.goes_on") || t[0].in("go", "goes") && r.goesOn(t) {
		return !has(t, "work.studies")
	}
	verb := 0
	if !t[0].in("work.verbs", "work.implements") {
		verb = slices.IndexFunc(t, func(t token) bool { return unspaced(t.text) && t.in("work.verbs", "work.implements") })
	}
	switch {
	case verb < 0, len(t) == 1 && !r.whole && !t[0].in("work.implements") && !unspaced(t[0].text):
		return false // a word of a list: read, write, edit
	case verb+1 < len(t) && t[verb+1].in("work.said"):
		return false
	case has(t, "work.studies"):
		return false
	}
	return t[verb].in("work.implements") || !has(t, "work.plans") && !r.notesOnly(t)
}

// goesOn reads: go ahead with the implementation.
func (r *workReader) goesOn(t []token) bool {
	return has(t, "work.with") && !slices.ContainsFunc(t, func(t token) bool {
		return !t.in("go", "goes", "go_weak", "polite", "starters", "work.with", "work.around")
	})
}

// notesOnly reports whether an order names files with notes and nothing else: write it down in notes.md.
func (r *workReader) notesOnly(t []token) bool {
	names := namesIn(t)
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool {
		return !slices.ContainsFunc(r.notes, func(end string) bool { return strings.HasSuffix(strings.ToLower(n), end) })
	})
}

// picks reads: 1 is fine but also do 3; let's go with option b.
func (r *workReader) picks(t []token) bool {
	option, chosen := false, r.alone && r.whole
	for _, t := range t {
		switch {
		case t.in("not", "never", "conditions"):
			return false
		case optionName(t.text), t.in("chosen_1", "chosen_2", "chosen_3", "chosen_4"):
			option = true
		case t.in("work.picks", "work.approves", "polite", "go", "go_weak"):
			chosen = true
		case !t.in("work.options", "work.around", "work.links", "fillers", "starters", "joiners", "conjunctions", "turns", "make"):
			return false
		}
	}
	return option && chosen
}

// optionName reports whether a word can be the name of an option: 1, 12h, b.
func optionName(s string) bool {
	s = strings.Trim(s, "#().")
	digits := strings.TrimRightFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' })
	if s == "" || len(s)-len(digits) > 1 || len(digits) > 3 {
		return false
	}
	if digits == "" {
		return s != "a" && s <= "d"
	}
	return !strings.ContainsFunc(digits, func(r rune) bool { return !unicode.IsDigit(r) })
}

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
	if end := len(t) - 1; end > 0 && t[end].in("not_yet") && !has(t, negations...) {
		return append(slices.Clone(t[:end]), token{text: t[end].text, entry: r.entries["don't"]})
	}
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
