package prompt

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// near reads what a clause seems to forbid although it has words that are not known, by what stands next to the word of an act: a
// negation, a word that puts it off, or one that reserves it to the person. Such a prohibition only asks. Where somebody else is the
// subject, or the word of the act belongs to another word, nothing is read.
func (r *statementReader) near(c clause) bool {
	t := c.tokens
	asks := len(t) > 0 && t[0].in("question_words") && !t[0].in("not")
	if r.theirs || c.colon || len(t) < 2 || asks || t[0].in("conditions") || t[0].in("not", "without") && r.tells() {
		return false
	}
	if r.withReason(c) {
		return true
	}
	for _, find := range []func([]token) int{r.askedBefore, r.onlyWhen} {
		if at := find(t); at >= 0 {
			r.add(engine.Forbids, &frame{acts: r.actsOf(t[at])}, engine.UntilAsked, false)
			return true
		}
	}
	for _, find := range []func([]token) int{r.putOff, r.reserved, r.dropped, r.banned, r.othersDo} {
		at := find(t)
		if at < 0 {
			continue
		}
		if t[at].part("wait", partVerbs) && len(r.actsOf(t[at])) == 0 && len(r.actsWith(t, at)) == 0 {
			r.add(engine.Forbids, &frame{acts: []string{"wait"}}, engine.UntilAsked, false)
			return true
		}
		return r.asksAbout(t, at, true)
	}
	if c.until != "" && (c.joined || has(t, "not", "never")) && !has(t, "may", "only") && (!r.somebody(t) || c.joined && isAct(t[0])) {
		if at := lastIndex(t, namesAct); at >= 0 && !t[at].in("stops") && !r.past(t[at]) && r.ownHead(t, at) {
			return r.asksAbout(t, at, !t[0].in("not", "never")) // rien ne part en prod avant que j'aie vu la page
		}
	}
	if no := index(t, "not", "never"); t[0].in("absent") || no < 0 && onlyThis(t) || no >= 0 && onlyThis(t[no:]) {
		return false
	}
	read := false
	for _, at := range r.negated(t) {
		noun := t[at].anyPart(partNouns) && (!t[at].anyPart(partOrders) || has(t[max(0, at-2):at], "make"))
		read = r.asksAbout(t, at, noun) || read
	}
	return read
}

// withReason reads what is forbidden before a reason: no hagas push que lo reviso yo.
func (r *statementReader) withReason(c clause) bool {
	at := r.reasonIn(c.tokens)
	if at == len(c.tokens) {
		return false
	}
	c.tokens = c.tokens[:at]
	tells := slices.ContainsFunc(c.tokens, func(w token) bool { return w.among(r.existing) })
	return !tells && hasAct(c.tokens) && has(c.tokens, negations...) && r.forbids(c)
}

// reasonIn returns where a reason begins in a clause, or its length.
func (r *statementReader) reasonIn(t []token) int {
	for i := 2; i < len(t); i++ {
		if t[i].in("reasoning") || t[i].among(r.reasons) {
			return i
		}
	}
	return len(t)
}

// askedBefore returns the act before which the person wants to be asked: vraag het me even voordat je iets deployt; -1: none.
func (r *statementReader) askedBefore(t []token) int {
	before := index(t, "before")
	denied := slices.ContainsFunc(t, func(w token) bool { return w.in("not", "never") && !w.in("all") })
	asks, wants := has(t, "ask"), t[0].in("wants")
	if before < 0 || denied || !asks && !wants && !t[0].in("interjections") || r.asksOthers(t) {
		return -1
	}
	if !has(t, "me") && slices.ContainsFunc(t[:before], unknownWord) && (asks || !wants) {
		return -1 // ask the user before deleting the row
	}
	at, near := -1, 5
	for i, w := range t {
		if distance := max(i-before, before-i); distance < near && !w.in("ask") && len(r.actsOf(w)) > 0 {
			at, near = i, distance
		}
	}
	if at >= 0 && slices.ContainsFunc(t[:at], r.otherSubject) {
		return -1 // it must ask before it pushes
	}
	return at
}

// onlyWhen returns the act that is only done when something has happened: only deploy once i say so; -1: none.
func (r *statementReader) onlyWhen(t []token) int {
	only := index(t, "only")
	if from, to := passedIn(t); only < 0 || to > from || has(t, "not", "never", "may") || slices.ContainsFunc(t[:only], r.otherSubject) {
		return -1
	}
	when := slices.IndexFunc(t[only:], func(w token) bool { return conditional(w) || w.in("after_checks", "asking") }) + only
	for i := only + 1; i < when && i < only+4; i++ {
		if isAct(t[i]) {
			return i
		}
	}
	return -1
}

// dropped returns the act that is left for another time, or for good: laisse tomber le commit, deja el deploy para el lunes; -1: none.
func (r *statementReader) dropped(t []token) int {
	if !t[0].in("withdrawals", "leave") || has(t, "not", "never", "alone") {
		return -1
	}
	for i := 1; i < len(t) && i < 4; i++ {
		switch {
		case namesAct(t[i]) && t[i].anyPart(partNouns, partThings) && r.ownHead(t, i) && !t[i].part("speak", partNouns):
			if slices.ContainsFunc(t[i+1:], func(w token) bool { return isAct(w) || w.anyPart(partWith, partMakes) || endsIn(w, r.plain) }) {
				return -1 // lass die migration laufen
			}
			return i
		case !t[i].in("fillers", "joiners", "it_before") || t[i].among(r.indefinite):
			return -1
		}
	}
	return -1
}

// somebody reports whether a part of a clause has another subject than those who work on the project: we're not publishing yet is an order.
func (r *statementReader) somebody(t []token) bool {
	return slices.ContainsFunc(t, func(w token) bool { return w.in("me") && !w.among(r.us) })
}

// othersDo returns the act that a clause begins with and that somebody else than the agent does: las migraciones las corre el dba; -1:
// none.
func (r *statementReader) othersDo(t []token) int {
	topic := slices.IndexFunc(t, func(w token) bool { return w.anyPart(partNouns) && isAct(w) })
	if topic < 0 || topic+3 >= len(t) || has(t, "not", "never", "me", "may", "conditions", "question_words") ||
		slices.ContainsFunc(t[:topic], func(w token) bool { return !w.in("fillers", "starters", "joiners", "turns") || r.otherSubject(w) }) {
		return -1
	}
	verb := topic + 1
	named := t[verb].in("it_before", "pronouns") || t[verb].among(r.attached)
	if named {
		verb++
	}
	does := t[verb].anyPart(partWith, partMakes, partVerbs, partOrders) || t[verb].in("make")
	who := t[len(t)-1].kind == bare || t[len(t)-1].kind == name
	if !does || !who || r.past(t[verb]) || !named && !has(t[verb:], "only") {
		return -1
	}
	return topic
}

// banned returns the act directly next to a negation that only orders have, in a language without spaces, whatever comes before it:
// 这个仓库里不要部署; -1: none.
func (r *statementReader) banned(t []token) int {
	act := func(i int) bool {
		return i >= 0 && i < len(t) && (isAct(t[i]) || t[i].part("wait", partVerbs) || len(r.actsWith(t, i)) > 0)
	}
	for i, w := range t {
		switch last := eastAsianVerbLast(w.text); {
		case !w.in("bans") || !unspaced(w.text):
		case !last && act(i+1):
			return i + 1
		case last && act(i-1):
			return i - 1
		case last && i > 1 && t[i-1].in("fillers", "make") && act(i-2):
			return i - 2
		}
	}
	return -1
}

// eastAsianVerbLast reports whether a negation is of a language that has it at the end: it is written with Hiragana.
func eastAsianVerbLast(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
}

// putOff returns the act that a part of a clause begins with and that is to be done later: tag kommt später; -1: none.
func (r *statementReader) putOff(t []token) int {
	later := index(t, "deferrals")
	if later < 0 || has(t, "may", "me", "will") || slices.ContainsFunc(t, conditional) {
		return -1
	}
	end := len(t) - 1
	adds := func(w token) bool { return !isAct(w) && w.in("fillers", "make", "polite") }
	rest := slices.ContainsFunc(t[later+1:], func(w token) bool { return !adds(w) })
	if rest && !t[later+1].in("polite", "conditions", "after_checks", "turns") {
		day := later+1 == end && strings.Contains(t[later].text, " ") // fica pra segunda
		if !day || isAct(t[end]) {
			return -1 // delete later duplicates, haz commit y después push
		}
	}
	if namesAct(t[end]) && t[end].anyPart(partNouns, partThings) && end-later < 4 && strings.Contains(t[later].text, " ") {
		return end // on verra plus tard pour le commit
	}
	return r.topicBefore(t, later)
}

// reserved returns the act that a clause begins with and that the person does, or that they say they do first: den tag setze ich, let me
// push; -1: none.
func (r *statementReader) reserved(t []token) int {
	if has(t, "may", "conditions", "ask") || t[0].in("question_words") && !t[len(t)-1].in("self") {
		return -1
	}
	if t[0].among(r.reserving) || len(t) > 1 && t[0].in("starters", "fillers") && t[1].among(r.reserving) {
		for i := 1; i < len(t) && i < 5; i++ {
			if isAct(t[i]) && !t[i].in("make") {
				plain := func(w token) bool {
					return isAct(w) || w.in("fillers", "pronouns", "polite", "starters", "conjunctions", "now", "deferrals", "future", "targets")
				}
				if slices.ContainsFunc(t[i+1:], func(w token) bool { return !plain(w) }) {
					return -1 // let me delete rows in the table
				}
				return i
			}
			if !t[i].in("fillers", "make", "starters", "let_me") && !t[i].among(r.reserving) && !t[i].anyPart(partWith, partMakes) {
				return -1
			}
		}
	}
	self := slices.IndexFunc(t, func(w token) bool { return w.in("self", "owned") && !w.anyPart(actParts...) })
	if next := self + 1; self > 0 && next < len(t) && isAct(t[next]) && !slices.ContainsFunc(t[:self], isAct) && !r.past(t[next]) {
		return next // par contre c'est moi qui merge
	}
	if self > 0 && !has(t[:self], "not", "never") {
		return r.topicBefore(t, self)
	}
	me := slices.IndexFunc(t, func(w token) bool { return w.in("me") && !w.in("possessives") })
	unknown := func(w token) bool {
		return w.kind == bare && !unspaced(w.text) || w.in("not", "never", "future") && !w.in("fillers") || r.past(w) && w.anyPart(actParts...)
	}
	verb := func(w token) bool { return w.anyPart(partWith, partMakes, partVerbs) || w.in("make") }
	if me <= 0 || me+1 == len(t) || slices.ContainsFunc(t, unknown) || !verb(t[me-1]) && !slices.ContainsFunc(t[me+1:], verb) {
		return -1
	}
	at := r.topicBefore(t, me)
	if at >= 0 && !t[at].anyPart(partNouns) && !t[at].part("tag", partThings) {
		return -1
	}
	return at
}

// topicBefore returns the act that begins the part of a clause before a word, after words that add nothing; -1: none. A word that is not
// known directly after it may be what it says more about: deploy scripts.
func (r *statementReader) topicBefore(t []token, end int) int {
	at := lastIndex(t[:end], namesAct)
	if at < 0 || end-at > 5 || r.past(t[at]) || has(t[at:end], "question_words") {
		return -1 // remove what is not needed
	}
	for i := at - 1; i >= 0 && !t[i].in("conjunctions", "turns"); i-- {
		if !t[i].in("fillers", "starters", "polite", "joiners", "make", "all", "me", "will", "question_words") &&
			!isAct(t[i]) || r.otherSubject(t[i]) {
			return -1
		}
	}
	next := at + 1
	if next+1 < end && t[at].anyPart(partNouns) && (unknownWord(t[next]) || t[next].anyPart(partThings) && !namesAct(t[next])) {
		return -1
	}
	return at
}

// negated returns the acts that the negations in a clause are about.
func (r *statementReader) negated(t []token) []int {
	if (has(t, "may") || speaks(t)) && !has(t, "self") {
		return nil
	}
	var found []int
	from := 0
	for no, w := range t {
		if no < from || !w.in("not", "never", "without") {
			continue
		}
		at := r.deniedBy(t, from, no)
		if at >= 0 && !slices.Contains(found, at) {
			found, from = append(found, at), max(at, no)+1
		}
		if at < 0 && slices.ContainsFunc(t[from:no], unknownWord) {
			break // l'utente non deve ricevere mail e non deve cancellare i dati
		}
	}
	return found
}

// deniedBy returns the act that one negation is about, of the words since another one; -1: none.
func (r *statementReader) deniedBy(t []token, from, no int) int {
	topic, unknown, ok := r.beforeNegation(t[from:no])
	switch {
	case !ok:
	case t[no].among(r.modal) && has(t, "me"): // we can't deploy
	case unknown && (topic >= 0 || t[no-1].in("passive") || t[no].among(r.modal)): // people should not push
	case topic >= 0:
		return r.deniedTopic(t, from+topic, no)
	default:
		return r.afterNegation(t, no, unknown)
	}
	return -1
}

// beforeNegation returns the only act among the words before a negation, -1 for none, and whether up to two of them are not known. ok: they
// are not about somebody or something else, and have no meaning of their own here.
func (r *statementReader) beforeNegation(t []token) (topic int, unknown, ok bool) {
	topic = -1
	strange := 0
	for i, w := range t {
		switch {
		case r.otherSubject(w):
			return -1, false, false
		case namesAct(w) && !w.in("make", "fillers"):
			if topic >= 0 {
				return -1, false, false
			}
			topic = i
		case unknownWord(w) && (i == 0 || !r.determines(t[i-1]) && w.text == strings.ToLower(w.text)):
			strange++
		case !w.in("fillers", "starters", "polite", "turns", "joiners", "conjunctions", "only", "pronouns", "now", "corrections", "make",
			"not", "never", "me", "inverted"):
			return -1, false, false
		}
	}
	return topic, strange > 0, strange < 3
}

// afterNegation returns the act that follows a negation, with words between them that add nothing, and one that is not known; -1: none.
// unclear: a word before the negation is not known.
func (r *statementReader) afterNegation(t []token, no int, unclear bool) int {
	english, unknown := t[no].among(r.english), false
	for i := no + 1; i < len(t) && i <= no+6; i++ {
		w := t[i]
		switch {
		case !isAct(w) && len(r.actsWith(t, i)) > 0:
			return i
		case namesAct(w) && !w.in("make", "not"):
			if english && t[no].in("never") && !w.anyPart(partOrders, partVerbs) {
				return -1 // never deploys on the first try
			}
			passive := no > 0 && t[no-1].in("passive", "make") // es wird nichts gelöscht
			other := r.past(w) && !passive || english && !r.ownHead(t, i) || saysMore(t, i)
			named := t[no].in("compound") && i == no+1 && w.anyPart(partNouns, partOrders) && !endsAt(t, i) ||
				t[no].in("without") && !w.anyPart(partVerbs) && !endsAt(t, i) // zonder internet crasht de app
			if other || named || unclear && !w.anyPart(partNouns) && !endsIn(w, r.plain) {
				return -1
			}
			return i
		case w.among(r.existing), w.in("blocks", "question_words", "turns", "only", "just", "restricts"), conditional(w),
			unknown && w.in("towards"):
			return -1
		case unknownWord(w):
			if unknown || r.tellsForm(w) {
				return -1
			}
			unknown = true
		case w.anyPart(partWith, partMakes):
		case !w.in("fillers", "make", "polite", "pronouns", "not", "never", "all", "go", "passive", "towards", "starters"):
			return -1
		}
	}
	return -1
}

// endsAt reports whether nothing follows a word that says something of it.
func endsAt(t []token, at int) bool {
	return at+1 == len(t) || t[at+1].in("polite", "conjunctions", "now") || t[at+1].in("towards") && !t[at+1].in("passive")
}

// deniedTopic returns the act that a negation follows, if what follows says nothing else of it: il tag non metterlo ancora. Of "the
// deploy does not start" nobody knows.
func (l *lexicon) deniedTopic(t []token, topic, no int) int {
	if !l.ownHead(t, topic) || t[no].in("of_subject") {
		return -1
	}
	for i := topic + 1; i < len(t); i++ {
		w := t[i]
		act := w.anyPart(partOrders, partVerbs, partWith) && !l.past(w) || i < no && no+1 == len(t) && w.in("inverted")
		if !act && !endsIn(w, l.plain) &&
			!w.in("not", "never", "fillers", "polite", "make", "passive", "pronouns", "now", "self", "starters") {
			return -1
		}
	}
	return topic
}

// ownHead reports whether a word of an act is not a part of another thing's name: no deploy button.
func (l *lexicon) ownHead(t []token, at int) bool {
	if !t[at].anyPart(partNouns) {
		return true
	}
	return at+1 == len(t) || !unknownWord(t[at+1]) || endsIn(t[at+1], l.plain)
}

// saysMore reports whether a noun says more about a word that is not known: il messaggio di commit.
func saysMore(t []token, at int) bool {
	return t[at].anyPart(partNouns) && at > 1 && t[at-1].in("towards") && unknownWord(t[at-2])
}

// unknownWord reports whether a word is not known, in a language with spaces between words.
func unknownWord(t token) bool { return t.kind == bare && !unspaced(t.text) }

// conditional reports whether a word begins a condition, and is not one of those that also add nothing.
func conditional(t token) bool { return t.in("conditions") && !t.in("fillers") }

// speaks reports whether a word of a clause stands for the person, and is not the article of what is run or made: i test.
func speaks(t []token) bool {
	for i, w := range t {
		article := w.in("fillers") && i+1 < len(t) && t[i+1].anyPart(partThings, partNouns) && !t[i+1].anyPart(partOrders, partVerbs)
		if w.in("me") && !article {
			return true
		}
	}
	return false
}

// otherSubject reports whether a word stands for somebody else, or for a thing.
func (r *statementReader) otherSubject(t token) bool { return t.among(r.subjects) }

// tellsForm reports whether a verb that is not known is in a form that tells what is, such as vedo.
func (r *statementReader) tellsForm(t token) bool { return endsIn(t, r.tellEnds) }

// withoutActs reads, in a question that asks the agent for work, what that is to be done without: can you parse it without installing
// anything?
func (r *statementReader) withoutActs(words []promptWord, clauses []clause) {
	if _, to := r.opening(words, r.asksYou); to == 0 {
		return
	}
	for i, c := range clauses {
		if !c.tokens[0].in("without") || i > 0 && hasAct(clauses[i-1].tokens) {
			continue
		}
		verb := func(w token) bool { return w.anyPart(partVerbs, partOrders) && !r.past(w) }
		if at := slices.IndexFunc(c.tokens, verb); at > 0 && at < 5 {
			r.asksAbout(c.tokens, at, true)
		}
	}
}

// answered reads what is said of an act that the person asked about just before: pushing? Not today.
func (r *statementReader) answered(clauses []clause, acts []string) {
	if withdrawn, later := r.withdraws(clauses[0].tokens, false); withdrawn && (later || len(clauses) == 1) {
		r.add(engine.Forbids, &frame{acts: acts}, engine.UntilAsked, false)
	}
}

// byNobody makes a negation of nobody, as the subject of what is not to be done: nobody pushes. Not so of what nobody has done, or in
// what the sentence tells: it fails, because nobody may push.
func (r *statementReader) byNobody(t []token) []token {
	tells := func(t token) bool { return !t.in("polite", "fillers") }
	if len(t) < 2 || !t[0].among(r.nobody) || !hasAct(r.earlier) && slices.ContainsFunc(r.earlier, tells) {
		return t
	}
	act := slices.IndexFunc(t, isAct)
	if act != 1 && (act != 2 || !t[1].in("fillers")) || r.past(t[act]) {
		return t
	}
	return append([]token{{entry: r.entries["don't"], text: "don't"}}, t[1:]...)
}

// withoutYourself leaves out who is not to do something to a thing that the clause names: never merge pull requests yourself.
func (r *statementReader) withoutYourself(t []token) []token {
	last, act := len(t)-1, slices.IndexFunc(t, isAct)
	if last < 3 || !t[last].among(r.yourself) || act < 0 || last-act < 2 || !has(t[:act], "not", "never") ||
		slices.ContainsFunc(r.actsOf(t[act]), func(act string) bool { return slices.Contains(r.broad, act) }) {
		return t
	}
	return t[:last]
}

// isAct reports whether a word means an act by itself, other than to begin.
func isAct(t token) bool {
	return t.entry != nil && !t.in(negations...) && slices.ContainsFunc(t.parts, func(p part) bool {
		return p.act != "wait" && (p.name == partOrders || p.name == partVerbs || p.name == partNouns)
	})
}

// namesAct reports whether a word names an act, the name of a version included.
func namesAct(t token) bool { return isAct(t) || t.part("tag", partThings) }

// actsWith returns the acts that a verb means only with a thing that the clause names, or that a pronoun of the verb stands for: il
// servizio gira già, non avviarlo.
func (r *statementReader) actsWith(t []token, at int) []string {
	var list []string
	for _, act := range r.acts {
		thing := func(o token) bool { return o.part(act, partThings, partNouns) }
		if t[at].part(act, partWith) && (slices.ContainsFunc(t, thing) || t[at].it && slices.ContainsFunc(r.sofar, thing)) {
			list = append(list, act)
		}
	}
	return r.narrower(list)
}
