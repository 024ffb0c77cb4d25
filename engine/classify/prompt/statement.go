package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Limits of the statements of a prompt.
const (
	maxStatements = 16
	maxObjects    = 8
	maxSaid       = 300  // bytes of a sentence
	maxSaidAll    = 2400 // bytes of all sentences
)

// statementReader reads what a person forbids, orders, permits and lifts. A clause is read only if
// all of its words are known: a word that is not known may change what the clause means.
type statementReader struct {
	*lexicon
	exists   func(string) bool // whether a bare word names something in the workspace
	only     bool              // only prohibitions count
	theirs   bool              // somebody else may have written it
	alone    bool              // the prompt is one sentence
	more     bool              // another sentence of the prompt follows
	open     bool              // a question that follows goes on with this one
	list     []engine.Statement
	wondered []string // acts that the sentence before only names, with a question mark
	since    int      // where the statements of the sentence before begin in it
	said     int      // bytes of sentences in the list

	// of the sentence
	whole   bool // it is one clause
	polite  bool
	follows bool // the prompt says more after the clause
	last    bool // it is the last clause
	directs bool // a clause before orders something, or begins with a word such as then
	forbade bool // a clause before forbids something
	earlier []token
	sofar   []token // of all clauses of the sentence before the clause, and of the sentence before it
	asked   bool    // the sentence is an order in the form of a question

	names  []string // of the sentences and clauses before, for "it" and "them"
	nouns  []string // the last thing before that exists here, where no name was written
	spoken bool     // a word before is not in the table
	here   bool     // names are of this sentence
}

// clause is a part of a sentence.
type clause struct {
	tokens []token
	until  string // engine.Until of what follows a word such as until
	colon  bool   // it follows a colon
	label  bool   // a colon follows it
	joined bool
	closed bool    // "nothing else" follows it
	turned bool    // it follows a word such as but
	reason bool    // what follows from it comes after it
	half   bool    // "and" and more follows it
	unsure bool    // what a list before it forbids may go on in it
	whole  []token // with what says how long it holds
}

// frame is what the words of a clause besides acts and objects may be.
type frame struct {
	allowed []string
	acts    []string
	objects []string
	used    map[int]bool    // tokens that the acts consist of
	refers  bool            // it has a word such as it
	all     bool            // it has a word such as anything
	first   map[string]int  // where each act is: its part of the clause
	parts   []int           // of the objects
	whole   map[int]bool    // parts with a word such as anything
	quotes  []string        // quotations
	forced  bool            // a push with force is meant
	shared  map[string]bool // acts whose verb also means another act, of what else is named: delete branches or files
}

// sentence reads a sentence that a person wrote.
func (r *statementReader) sentence(words []promptWord, raw string) {
	words, negated := r.asksAgent(words)
	clauses := r.clauses(r.brought(words))
	if r.here = false; len(clauses) == 0 {
		return
	}
	asks := words[len(words)-1].stop == '?'
	if rest := r.beforeQuestion(clauses); asks && rest > 0 {
		asks, clauses = false, clauses[:rest]
	}
	before := len(r.list)
	wondered := r.wondered
	if r.wondered = nil; r.questions(clauses, asks) {
		if t := clauses[0].tokens; len(clauses) == 1 && actFirst(t) && len(t) < 5 && !has(t, "may") && !has(t, negations...) {
			if act := lastIndex(t, isAct); act >= 0 {
				r.wondered = r.actsOf(t[act])
			}
		}
		r.withoutActs(words, clauses)
		if clauses[0].label && len(clauses) > 1 {
			r.says(clauses[0]) // plan only: how does the cache work?
		}
		r.quote(before, raw)
		for _, c := range clauses {
			r.note(c.tokens)
		}
		return
	}
	if len(wondered) > 0 {
		r.answered(clauses, wondered)
	}
	r.polite, r.forbade, r.directs, r.earlier = false, false, false, nil
	only := r.only
	r.only = only || negated
	clauses = withNothingElse(clauses)
	r.whole = len(clauses) == 1
	for _, c := range clauses {
		r.polite = r.polite || has(c.tokens, "polite")
		r.only = r.only || has(c.tokens, "blocks") && !c.reason && !(len(c.tokens) == 1 && c.tokens[0].in("praise"))
	}
	later := slices.ContainsFunc(clauses, func(c clause) bool { _, later := r.withdraws(c.tokens, false); return later })
	passed, explained, conditional, usual := false, false, false, r.only
	for i, c := range clauses {
		r.last = i+1 == len(clauses)
		if r.follows = r.more || !r.last; !r.last && has(clauses[i+1].tokens[:1], "let_me") {
			r.follows = false // wait, let me look
		}
		before = r.revoke(c.tokens, before, i > 0 && r.last, later)
		explained = explained && actFirst(c.tokens)
		limited := c.label && !r.last && restrained(clauses[i+1].tokens) // delete files: only when I say so
		r.only = usual || explained || limited
		explained = explained || r.explained(c.tokens)
		if len(c.tokens) > 0 && c.tokens[0].in("conditions") {
			from, to := passedIn(c.tokens)
			if passed = from == 0 && to == len(c.tokens); passed {
				continue // if the tests pass, push
			}
			if from == 0 && to > 0 && !has(c.tokens, negations...) {
				c.tokens = c.tokens[to:] // once it is green push
			}
		}
		if len(c.tokens) > 0 && c.tokens[0].in("conditions") || passed && has(c.tokens, negations...) {
			conditional, usual = true, true // what follows depends on it
		} else if c.turned {
			conditional = false // but what it does not limit only forbids
		}
		if conditional {
			continue
		}
		count := len(r.list)
		if r.clause(c); len(r.list) == count {
			r.butNot(c.tokens, r.list[before:])
			usual = usual || r.othersWork(c.tokens) // the others review, merge and deploy it
		}
		ordered := slices.ContainsFunc(r.list[before:], func(s engine.Statement) bool { return s.Kind == engine.Orders })
		r.directs = r.directs || ordered || len(c.tokens) > 0 && (c.tokens[0].in("starters") || c.tokens[0].anyPart(partOrders))
	}
	r.only, r.since = only, before
	r.quote(before, raw)
}

// quote gives the statements of a sentence its text.
func (r *statementReader) quote(from int, raw string) {
	raw = abstract.Clip(strings.Join(strings.Fields(raw), " "), maxSaid)
	for i := from; i < len(r.list); i++ {
		if r.said += len(raw); r.said <= maxSaidAll {
			r.list[i].Text = raw
		}
	}
}

// questions reports whether a sentence asks something. "Don't push, ok?" does not.
func (r *statementReader) questions(clauses []clause, asks bool) bool {
	if first := clauses[0].tokens[0]; first.in("question_words") && !first.in("not") && !first.anyPart(partOrders) {
		return true
	}
	if !asks {
		return false
	}
	last := clauses[len(clauses)-1]
	return len(clauses) == 1 || slices.ContainsFunc(last.tokens, func(t token) bool { return !t.in("fillers", "go", "go_weak", "polite") })
}

// beforeQuestion returns how many clauses there are before a change of the subject and a question about that: "delete a.go, and
// make is slow, is spotlight indexing it?" Both have a word of their own, and no act. It returns 0 for any other sentence.
func (r *statementReader) beforeQuestion(clauses []clause) int {
	n := len(clauses)
	if n < 3 {
		return 0
	}
	subject, question := clauses[n-2].tokens, clauses[n-1].tokens
	unknown := func(t token) bool { return t.kind == bare && t.entry == nil }
	if len(question) < 2 || !question[0].in("inverted") || !unknown(question[1]) || !slices.ContainsFunc(subject, unknown) ||
		hasAct(subject) || hasAct(question) {
		return 0
	}
	return n - 2
}

func (r *statementReader) add(kind engine.StatementKind, f *frame, until string, never bool) {
	r.forbade = r.forbade || kind == engine.Forbids
	if r.only && kind != engine.Forbids {
		return
	}
	acts := f.acts
	if at := slices.Index(acts, "push"); at >= 0 && f.forced {
		if acts = slices.Concat(acts, []string{"force_push"}); kind == engine.Forbids {
			acts = slices.Delete(acts, at, at+1) // never force push: a plain one is fine
		}
	}
	for _, act := range acts {
		if kind == engine.Forbids && r.unknown(f, act) {
			continue
		}
		if act == "speak" && kind == engine.Orders {
			f.objects = append(f.quotes, f.objects...) // what is to be written, and to whom
		}
		s := engine.Statement{Kind: kind, Act: act, Objects: r.meantObjects(kind, act, f), Until: until, Never: never}
		s.Refers = act == "delete" && f.refers && len(s.Objects) == 0 && kind == engine.Orders
		if (kind == engine.Orders || kind == engine.Permits) && until == "" && slices.Contains(r.lasting, act) {
			s.Until = engine.UntilSession
		}
		if len(r.list) < maxStatements && !slices.ContainsFunc(r.list, s.Same) {
			r.list = append(r.list, s)
		}
	}
}

// meantObjects returns the objects of a statement: where it names none, what "it" means, and what was named
// before in the sentence: a.go is mine, don't overwrite.
func (r *statementReader) meantObjects(kind engine.StatementKind, act string, f *frame) []string {
	if f.shared[act] && kind == engine.Forbids {
		return nil
	}
	if len(f.objects) > 0 || !slices.Contains(r.referring, act) || !f.refers && (!r.here || f.all || kind != engine.Forbids) {
		return r.objectsOf(f, act)
	}
	if act == "change" {
		return r.meantBefore()
	}
	return r.names[:min(len(r.names), maxObjects)]
}

// meantBefore returns what words such as "it" mean: the names before, else the last thing that exists here.
func (r *statementReader) meantBefore() []string {
	if len(r.names) == 0 {
		return r.nouns
	}
	return r.names[:min(len(r.names), maxObjects)]
}

// unknown reports whether an act is done to something that was spoken of and that no name tells: make a draft, I'll edit it
// myself. That forbids no other change.
func (r *statementReader) unknown(f *frame, act string) bool {
	return act == "change" && f.refers && r.spoken && !f.all && len(f.objects)+len(r.names)+len(r.nouns) == 0
}

// clause reads one clause, in the order of what its words can mean.
func (r *statementReader) clause(c clause) {
	t := c.tokens
	for len(t) > 0 && (t[0].in("polite") || len(t) > 1 && (t[0].among(r.therefore) || t[0].in("just")) && t[1].in("not", "never")) {
		t = t[1:]
	}
	t = r.stopped(r.withoutYourself(r.byNobody(t)))
	blocked := slices.ContainsFunc(t, func(t token) bool { return t.in("blocks") })
	if c.tokens = t; len(t) > 0 && (blocked || !r.meant(c) && !r.divided(c) && !r.half(c)) {
		tells := func(t token) bool { return t.in("blocks") && !t.in("future") }
		told := slices.ContainsFunc(t, tells)
		if !r.unclear(c, told) && !slices.ContainsFunc(t[:r.reasonIn(t)], tells) && !r.near(c) && !told && !r.theirs {
			r.sparesData(t)
		}
	}
	r.earlier = c.tokens
	r.sofar = append(r.sofar[max(0, len(r.sofar)-maxClause):], c.tokens...)
	r.note(t)
}

// note remembers what tokens name.
func (r *statementReader) note(t []token) {
	if names := namesIn(t); len(names) > 0 {
		r.names, r.here = names, true
	}
	for _, w := range t {
		r.spoken = r.spoken || w.kind == bare
		if r.exists != nil && (w.kind == bare || w.in("places")) && r.exists(w.text) {
			r.nouns = []string{w.text}
		}
	}
}

// meant reads a clause as one of these.
func (r *statementReader) meant(c clause) bool {
	return r.interjected(c) || r.doubts(c) || r.contrasts(c) || r.asks(c) || r.limitsAct(c.tokens, c.until) || r.limits(c) ||
		r.spares(c) || r.leaves(c) || r.keeps(c) || r.avoids(c) ||
		r.ends(c) || r.says(c) || r.forbids(c) || r.permits(c) || r.permitsNow(c) || r.orders(c) || r.agrees(c)
}

// half reads what a clause forbids, or permits for something that it names, before "and": don't touch a.go and fix b.go.
func (r *statementReader) half(c clause) bool {
	at := index(c.tokens, "conjunctions")
	if at <= 0 || c.tokens[0].in("without") && !c.tokens[1].anyPart(partVerbs) {
		return false
	}
	first := clause{tokens: c.tokens[:at], until: c.until, colon: c.colon, half: true}
	only, before := r.only, len(r.list)
	r.only = true
	r.meant(first)
	if r.only = only; len(r.list) == before && len(namesIn(first.tokens)) > 0 {
		r.permits(first)
	}
	return len(r.list) > before
}

// asks reads: ask me before you commit.
func (r *statementReader) asks(c clause) bool {
	denied := slices.ContainsFunc(c.tokens, func(t token) bool { return t.in("not", "never") && !t.in("all") })
	if !has(c.tokens, "ask") || denied || r.asksOthers(c.tokens) {
		return false
	}
	before := has(c.tokens, "before") || has(c.tokens, "asking")
	f := r.frame(c.tokens, "ask", "before", "me", "not", "asking", "may")
	if f == nil || !before && len(f.acts) == 0 {
		return false
	}
	if len(f.acts) == 0 || slices.Equal(f.acts, []string{"wait"}) {
		f.acts = []string{"ask_first"}
	}
	r.add(engine.Forbids, f, engine.UntilAsked, false)
	return true
}

// asksOthers reports whether it is somebody else who is to be asked: ask them before friday.
func (r *statementReader) asksOthers(t []token) bool {
	at := index(t, "ask") + 1
	return at > 0 && at < len(t) && !t[at].in("me") && (t[at].in("pronouns") || t[at].kind == known && r.determines(t[at]))
}

// onlyThis reports whether a clause has a word such as only that limits something. Directly before an order, just limits
// nothing: just change the schema.
func onlyThis(t []token) bool {
	for i := range t {
		if t[i].in("only") && !t[i].in("restricts") && !(t[i].in("just") && i+1 < len(t) && t[i+1].anyPart(partOrders, partMakes)) {
			return true
		}
	}
	return false
}

// leaves reads: leave X alone, leave the push to me, X stays as it is.
func (r *statementReader) leaves(c clause) bool {
	t := c.tokens
	if !has(t, "alone", "off") && !(has(t, "leave") && has(t, "self", "postponed")) || has(t, "not", "never") && !has(t, "alone") {
		return false
	}
	f := r.frameOf(t, true, "leave", "alone", "off", "self", "postponed", "make", "not")
	if f == nil {
		return false
	}
	f.acts = slices.DeleteFunc(f.acts, func(a string) bool { return a == "wait" })
	if len(f.acts)+len(f.objects) == 0 && has(t, "leave") && f.refers {
		f.objects = r.meantBefore()
	}
	if len(f.acts) == 0 && len(f.objects) > 0 {
		f.acts = []string{"change"}
	}
	r.add(engine.Forbids, f, c.until, false)
	return len(f.acts) > 0
}

// ends reads: the freeze is over, forget what I said about pushing.
func (r *statementReader) ends(c clause) bool {
	for _, act := range r.acts {
		about := slices.ContainsFunc(c.tokens, func(t token) bool { return t.part(act, partNouns, partThings) })
		over := slices.ContainsFunc(c.tokens, func(t token) bool { return t.part(act, partOver) })
		if !about || !over {
			continue
		}
		if f := r.frame(c.tokens); f != nil {
			f.acts = []string{act}
			r.add(engine.Lifts, f, "", false)
			return true
		}
	}
	if !has(c.tokens, "revokes") {
		return false
	}
	if f := r.frame(c.tokens, "revokes"); f != nil && len(f.acts) > 0 {
		r.add(engine.Lifts, f, "", false)
		return true
	}
	return false
}

// says reads words that forbid an act by themselves: work offline, code freeze.
func (r *statementReader) says(c clause) bool {
	for i, t := range c.tokens {
		for _, act := range r.acts {
			if !t.part(act, partSays) && !r.holds(c.tokens, i, act) || has(c.tokens[:i], "not", "never") {
				continue
			}
			if f := r.frame(c.tokens, "work", "only", "make", "me", "asking"); f != nil {
				if r.theirs && act == "change" && len(f.objects) > 0 {
					return false // what somebody says of a file: types.go read only
				}
				f.acts = []string{act}
				r.add(engine.Forbids, f, c.until, false)
				return true
			}
		}
	}
	return false
}

// holds reports whether a token says that a state that forbids an act holds: a code freeze, the freeze is on.
func (r *statementReader) holds(t []token, i int, act string) bool {
	state := slices.ContainsFunc(t, func(t token) bool { return t.part(act, partIn) })
	return act == "freeze" && (t[i].part(act, partNouns) || t[i].part(act, partThings) && state)
}

// forbids reads: don't push, no commits, I will do the merge myself.
func (r *statementReader) forbids(c clause) bool {
	t := c.tokens
	no, self := has(t, "not", "never", "without", "without_after") || c.joined && c.until != "", has(t, "self")
	if !no && !self || has(t, "outside", "only", "alone") {
		return false
	}
	first := index(t, "not", "never", "without")
	if first > 0 && has(t[:first], "me") && !self || t[0].in("pronouns") && !t[0].in("not") {
		return false // somebody does not do it
	}
	if t[0].in("without") && (r.forbade && !has(r.earlier[:min(1, len(r.earlier))], "without") || r.tells()) {
		return false // not without: the clause before says how; it was closed without committing
	}
	if t[0].in("before_past") && !t[0].in("never") && r.tells() && len(t) > 1 && t[1].anyPart(partOrders, partVerbs) {
		return false // the fix is to use an ignore file, not change the comment
	}
	f := r.frame(t, "not", "never", "without", "without_after", "self", "asking", "make", "me", "may", "passive", "others", "future",
		"duration")
	if f != nil && len(t) == 2 && t[1].in("stops") {
		return false // don't stop until it works
	}
	if f == nil || len(f.acts) == 0 || r.reports(t, f) || r.agent(t, first, f) || r.told(t, f) {
		return false
	}
	if r.others(t, f) {
		return true
	}
	f.refers = f.refers || self && !no && ownObject(t, f)
	until := c.until
	if later := index(t, "future"); has(t, "asking") || first >= 0 && later > first && !t[later].in("fillers") {
		until = engine.UntilAsked // not then, which does not say what holds now
	}
	r.add(engine.Forbids, f, until, has(t, "never"))
	return true
}

// reports tells "no changes", which people also say about what they see, from an order: that has a
// polite word, an object, or a verb. So does "nothing changed".
func (r *statementReader) reports(t []token, f *frame) bool {
	if t[0].in("absent") && !has(t, "passive", "asking") {
		return true
	}
	if !has(t, "no") || !slices.Equal(f.acts, []string{"change"}) || len(f.objects) > 0 || r.polite ||
		has(t, "make", "never", "self", "without") {
		return false
	}
	for i := range t {
		if f.used[i] && (t[i].part("change", partBare) || t[i].part("change", partVerbs, partOrders) && !t[i].part("change", partNouns)) {
			return false
		}
	}
	return true
}

// agent tells "the deploy must not run migrations", which is about a program, from an order.
func (r *statementReader) agent(t []token, first int, f *frame) bool {
	if first <= 0 || len(f.acts) < 2 {
		return false
	}
	before, after := false, false
	for i := range t {
		before = before || i < first && f.used[i]
		after = after || i > first && f.used[i]
	}
	return before && after
}

// permits reads: you may commit now.
func (r *statementReader) permits(c clause) bool {
	t := c.tokens
	if !has(t, "may") || has(t, "not", "never", "only", "outside", "me") || c.until != "" || c.colon {
		return false
	}
	until := ""
	if has(t, "always", "whatever") {
		until = engine.UntilSession
	}
	f := r.frame(untilWhatever(t), "may", "always", "make")
	if f == nil || len(f.acts) == 0 {
		return false
	}
	r.add(engine.Permits, f, until, false)
	return true
}

// orders reads: commit it, push to origin.
func (r *statementReader) orders(c clause) bool {
	t := c.tokens
	for len(t) > 0 && t[0].in("starters", "polite") && !t[0].in("not") && !t[0].anyPart(partOrders) {
		t = t[1:]
	}
	if slices.ContainsFunc(t, schedules) { // when it runs, not when the person wants it made
		t = slices.DeleteFunc(slices.Clone(t), func(t token) bool { return t.in("future") && strings.ContainsAny(t.text, "0123456789") })
	}
	if t = r.withoutReason(t); has(t, "announces") {
		return false // これから削除するので
	}
	speaks := func(t token) bool { return t.in("me") && !t.in("possessives") } // I, and not my
	if len(t) == 0 || c.until != "" || c.colon || c.unsure || eitherAct(t) || slices.ContainsFunc(t, speaks) ||
		has(t, "not", "never", "without", "self", "only", "outside", "ask", "may", "alone", "before", "future") {
		return false
	}
	if from, to := passedIn(t); to > from {
		if t = slices.Delete(slices.Clone(t), from, to); len(t) == 0 {
			return false
		}
	}
	t, told := told(r.withoutText(t))
	if i := index(t, "saying"); i > 0 && i+1 < len(t) && !t[i+1].in("polite", "conjunctions", "towards") {
		return false // it says what something does; not so in: commit that and push
	}
	until := ""
	if has(t, "whatever") {
		until, t = engine.UntilSession, untilWhatever(t)
	}
	if f := r.wished(t, c.tokens); f != nil {
		r.add(engine.Orders, f, until, false)
		return true
	}
	f := r.frame(t, "make")
	if f != nil && slices.Equal(f.acts, []string{"schedule"}) {
		f.objects = append(f.objects, namesIn(told)...)
	}
	if stops(f, t) {
		if r.whole && r.alone {
			r.add(engine.Forbids, &frame{acts: []string{"wait"}}, "", false)
		}
		return r.whole && r.alone
	}
	if f == nil || len(f.acts) == 0 || len(t) == 1 && (c.label || slices.Contains([]string{"speak", "change", "tag"}, f.acts[0])) {
		return false // "message:" is the name of a text, "answer" asks for an answer, "edit" alone is one of a list, and "Tag" greets
	}
	if slices.ContainsFunc(f.acts, func(act string) bool { return !r.ordered(t, f, act) || act == "delete" && insideOf(t) }) {
		return false // it only has the name of an act, or is about what is in a file: remove this from utils.py
	}
	if r.add(engine.Orders, f, until, false); has(c.tokens[:1], "go", "goes") {
		r.add(engine.Lifts, &frame{acts: []string{"wait"}}, "", false)
	}
	return len(f.acts) > 0
}

// stops tells "stop", which is about the work, from "stop the server".
func stops(f *frame, t []token) bool {
	return f != nil && slices.Equal(f.acts, []string{"process"}) && len(f.objects) == 0 && len(t) == 1 && t[0].in("stops")
}

// untilWhatever cuts off what follows words such as "whatever you need".
func untilWhatever(t []token) []token {
	if i := index(t, "whatever"); i > 0 {
		return t[:i]
	}
	return t
}

// agrees reads: go ahead, continue; and yes, the second option, if the prompt says nothing else.
func (r *statementReader) agrees(c clause) bool {
	t := c.tokens
	if c.colon || c.until != "" || !has(t, "go") && !(r.alone && r.whole && has(t, "go_weak")) {
		return false
	}
	if slices.ContainsFunc(t, func(t token) bool {
		return !t.in("go", "go_weak", "polite", "starters")
	}) {
		return false
	}
	r.add(engine.Lifts, &frame{acts: []string{"wait"}}, "", false)
	return true
}
