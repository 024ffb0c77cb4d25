package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// passedIn returns the part of a clause that says that checks have to have passed: merge it [when CI is green]. An order under such a
// condition is an order: the agent sees whether they have.
func passedIn(t []token) (from, to int) {
	if then := index(t, "passed_then"); then >= 0 && !slices.ContainsFunc(t[:then], func(w token) bool { return !ofChecks(w) }) {
		return 0, then + 1
	}
	from = index(t, "conditions", "after_checks")
	if from < 0 || t[from].in("until") { // unless
		return 0, 0
	}
	to = from + 1
	for passed := false; to < len(t); to++ {
		w := t[to]
		known := w.in("passed") || ofChecks(w)
		goesOn := passed && !w.in("passed") && (w.anyPart(partOrders, partMakes) || w.in("starters", "conjunctions"))
		if !known || goesOn {
			if passed {
				return from, to
			}
			return 0, 0
		}
		passed = passed || w.in("passed")
	}
	if !has(t[from:to], "passed") {
		return 0, 0
	}
	return from, to
}

// ofChecks reports whether a word can be between a condition and the word that says that checks have passed.
func ofChecks(t token) bool {
	return t.in("checks", "all", "pronouns") || t.in("fillers") && !t.in("future") || t.part("run", partThings)
}

// infinitives reports whether a clause consists of verbs in the form with which some languages order: committen und pushen.
func (l *lexicon) infinitives(t []token) bool {
	first := slices.IndexFunc(t, func(w token) bool { return w.anyPart(actParts...) })
	return first >= 0 && bareActs(t) && t[first].anyPart(partVerbs) && !t[first].anyPart(partOrders, partNouns) &&
		!slices.ContainsFunc(t, func(w token) bool {
			return w.anyPart(partVerbs) && !w.anyPart(partOrders, partNouns, partMakes) &&
				!slices.ContainsFunc(l.plain, func(end string) bool { return strings.HasSuffix(w.text, end) })
		})
}

// endsInInfinitive reports whether such a verb ends a clause, after what it is done to: auf staging deployen, v0.8.0 taggen.
func (l *lexicon) endsInInfinitive(t []token, act string) bool {
	end := len(t)
	for end > 0 && t[end-1].in("polite") {
		end--
	}
	otherVerb := func(w token) bool { return w.anyPart(partVerbs, partMakes) }
	if end < 2 || has(t[:1], "pronouns", "may") || slices.ContainsFunc(t[:end-1], otherVerb) {
		return false
	}
	last := t[end-1]
	return last.part(act, partVerbs) && !last.anyPart(partNouns) &&
		slices.ContainsFunc(l.plain, func(suffix string) bool { return strings.HasSuffix(last.text, suffix) })
}

// asksAgent takes what makes an order a question away: can you push it now? Words in which something is asked stay as they are: can
// you push without a key? Of a question with a negation, only what it forbids counts: can you not push yet?
func (r *statementReader) asksAgent(words []promptWord) (_ []promptWord, negated bool) {
	r.asked = false
	from, to := r.opening(words, r.asksYou)
	if n := len(words) - 1; to == 0 && words[n].stop != '?' {
		from, to = r.opening(words, r.reminders)
		of := to > 0 && (from == 0 || words[from-1].stop == 0)
		if !of || slices.ContainsFunc(words[to:n], func(w promptWord) bool { return w.stop != 0 }) {
			to = 0 // don't forget to push, says the banner
		}
	}
	if to == 0 || to == len(words) || r.open {
		return words, false
	}
	if words[len(words)-1].stop != '?' && has(r.tokens(words[from:to]), "may") {
		return words, false // puedes hacer push
	}
	rest := slices.Clone(words[to:])
	if end := len(rest) - 2; end > 0 && rest[end].is("for") && rest[end+1].is("me") {
		rest[end-1].stop, rest = rest[end+1].stop, rest[:end]
	}
	if act := r.inForm(r.tokens(rest[:1]), r.doingEnds); act != "" {
		rest[0].low, rest[0].text = r.command[act], r.command[act] // would you mind pushing it
	}
	wonders := func(w promptWord) bool { return slices.Contains(r.wonders, w.low) }
	t := r.tokens(rest)
	if from, to := passedIn(t); to > from {
		t = slices.Delete(t, from, to) // can you merge it when CI is green?
	}
	if slices.ContainsFunc(rest, wonders) || has(t, "question_words", "without", "may", "me", "self") ||
		has(t, "conditions") && !has(t, "until") {
		return words, false
	}
	if last := &rest[len(rest)-1]; last.stop == '?' {
		last.stop = '.'
	}
	r.asked = true
	return slices.Concat(words[:from], rest), has(t, "not", "never", "until")
}

// brought makes an order of what is to be brought into a state: i want this deployed to staging. Not so in: i want the merged list.
func (r *statementReader) brought(words []promptWord) []promptWord {
	from, to := r.opening(words, r.brings)
	if to == 0 || to == len(words) || !r.determines(r.tokens(words[to : to+1])[0]) {
		return words
	}
	if end := to + slices.IndexFunc(words[to:], func(w promptWord) bool { return w.stop != 0 }); end >= to && !r.manners(words[end+1:]) {
		return words // i want it merged, Tom does that
	}
	for at := to + 1; at < len(words) && words[at-1].stop == 0; at++ {
		verb := r.tokens(words[at : at+1])
		act := r.doneTo(verb)
		if act == "" {
			continue
		}
		if words[at].stop == 0 && at+1 < len(words) {
			next := r.tokens(words[at+1 : at+2])
			if len(next) == 0 || !next[0].in("towards", "polite", "conjunctions", "conditions", "after_checks") {
				return words
			}
		}
		order := slices.Concat(words[:from], []promptWord{{low: r.command[act], text: r.command[act]}}, words[to:at], words[at+1:])
		if words[at].stop != 0 {
			order[from+at-to].stop = words[at].stop
		}
		return order
	}
	return words
}

// doneTo returns the act that a verb tells to be done, such as merged.
func (l *lexicon) doneTo(t []token) string { return l.inForm(t, l.pastEnds) }

// inForm returns the act of a verb with one of several endings.
func (l *lexicon) inForm(t []token, ends []string) string {
	ending := func(end string) bool { return strings.HasSuffix(t[0].text, end) }
	if len(t) != 1 || t[0].anyPart(partOrders) || !slices.ContainsFunc(ends, ending) {
		return ""
	}
	i := slices.IndexFunc(l.acts, func(act string) bool { return l.command[act] != "" && t[0].part(act, partVerbs) })
	if i < 0 {
		return ""
	}
	return l.acts[i]
}

// opening returns where one of several phrases opens a sentence, or what follows a comma.
func (r *statementReader) opening(words []promptWord, phrases []string) (from, to int) {
	for i := range words {
		joined := i > 0 && token{entry: r.entries[words[i-1].low]}.in("conjunctions")
		if i == 0 || joined || words[i-1].stop == ',' || i < 5 && r.manners(words[:i]) && !has(r.tokens(words[:i]), negations...) {
			if n := begins(words[i:], phrases); n > 0 {
				return i, i + n
			}
		}
	}
	return 0, 0
}

// begins returns how many words at the beginning are one of several phrases.
func begins(words []promptWord, phrases []string) int {
	said, n := "", 0
	for i, w := range words[:min(len(words), 5)] {
		if said += w.low; slices.Contains(phrases, said) {
			n = i + 1
		}
		if said += " "; w.stop != 0 {
			break
		}
	}
	return n
}

// explained reports whether a clause ends in an act that is told and not ordered, and that acts after a comma go on with: explain how to
// commit, push and merge.
func (l *lexicon) explained(t []token) bool {
	how := slices.IndexFunc(t, func(w token) bool { return !w.in("conditions") && w.among(l.explains) })
	return how >= 0 && hasAct(t[how:])
}

// asksFirst reports whether a clause only says that the person is to be asked: but ask me first.
func asksFirst(t []token) bool {
	return has(t, "ask") && !slices.ContainsFunc(t, func(w token) bool {
		return w.kind != known || w.in("not", "never", "conditions", "question_words") || w.anyPart(actParts...)
	})
}

// withdraws reports whether a clause only says that something is not done after all, or stops it if it ends the prompt, and whether that
// is only for now: no; scratch that; but not yet; hold on.
func (l *lexicon) withdraws(t []token, ends bool) (withdrawn, later bool) {
	negated := has(t, "not", "never")
	for i, w := range t {
		waits := ends && w.in("interjections", "stops") && !has(t[:i], "sequels") // but: deploy, then stop
		deferred := w.among(l.moments) || w.in("deferrals") || w.in("not_yet") && i+1 == len(t)
		known := w.in("not", "never", "turns", "fillers", "starters", "until", "polite", "only", "corrections", "interjections") ||
			i > 0 && w.in("alone") && t[i-1].in("withdrawals")
		if w.anyPart(actParts...) && !waits || !known && !waits && !deferred && (has(t[i:], "not", "never") || !w.in("withdrawals")) {
			return false, false
		}
		withdrawn = withdrawn || negated || waits || w.in("not_yet", "withdrawals", "deferrals")
		later = later || waits || deferred
	}
	return withdrawn, withdrawn && later
}

// revoke ends what was ordered and permitted before, if a clause says so: it becomes a prohibition, until the person is asked or not, or
// is left out. Said in a sentence of its own, it is about the sentence before: push it. Ask me first. It returns how many statements are
// those of earlier sentences.
func (r *statementReader) revoke(t []token, before int, last, notYet bool) int {
	asked := asksFirst(t)
	withdrawn, later := r.withdraws(t, !r.follows)
	if later = later || withdrawn && notYet; !asked && !withdrawn && !(last && depends(t)) && !(len(r.list) == before && takesOver(t)) {
		return before
	}
	from := before
	if len(r.list) == before {
		from = r.since
	}
	kept := r.list[:from]
	for _, s := range r.list[from:] {
		if s.Kind == engine.Orders || s.Kind == engine.Permits {
			if !asked && !later {
				continue
			}
			if s.Kind = engine.Forbids; asked {
				s.Until = engine.UntilAsked
			}
		}
		kept = append(kept, s)
	}
	r.list = kept
	return min(before, len(kept))
}

// takesOver reports whether a sentence only says that the person does what the sentence before orders, or when it may be done: I'll do it
// myself; but only after I've reviewed.
func takesOver(t []token) bool {
	does := func(w token) bool {
		return w.in("self", "fillers", "pronouns", "starters", "corrections", "turns", "make", "me", "will", "polite", "it_before", "not", "go")
	}
	if has(t, "self") && !slices.ContainsFunc(t, func(w token) bool { return !does(w) || isAct(w) }) {
		return true
	}
	return has(t[:min(1, len(t))], "only", "until", "not_before") && has(t, "me") && !hasAct(t)
}

// othersWork reports whether a clause tells what others do, with a word for them before the verb: developers merge. What follows in the
// sentence, they do too.
func (r *statementReader) othersWork(t []token) bool {
	does := func(w token) bool { return w.anyPart(partOrders, partMakes, partVerbs) || r.verbOfWork(w) }
	verb := slices.IndexFunc(t, does)
	if verb <= 0 || r.past(t[verb]) {
		return false
	}
	several := unknownWord(t[verb-1]) && strings.HasSuffix(t[verb-1].text, "s")
	return several || r.otherSubject(t[verb-1])
}

// depends reports whether a clause at the end of a sentence makes what its sentence orders depend on something other than checks: if Tom
// agrees.
func depends(t []token) bool {
	from, to := passedIn(t)
	return has(t[:min(1, len(t))], "conditions", "until", "after_checks", "not_before") && to-from < len(t)
}

// butNot forbids what a clause takes out of what its sentence orders or permits: push it, but not to main.
func (r *statementReader) butNot(t []token, said []engine.Statement) {
	var places []string
	for i, w := range t {
		switch {
		case w.in("targets"), w.kind == name, w.kind == ident, w.kind == bare && i > 0 && r.preposition(t[i-1]):
			places = append(places, w.text)
		case !w.in("not", "never", "turns", "towards", "fillers", "polite", "starters"):
			return
		}
	}
	if len(places) == 0 || !has(t, "not", "never") {
		return
	}
	for _, s := range said {
		if s.Kind == engine.Orders || s.Kind == engine.Permits {
			r.add(engine.Forbids, &frame{acts: []string{s.Act}, objects: places}, "", false)
		}
	}
}

// withoutText cuts off an order with which text something is made: commit it with a sensible message, or as "Fix typo",
// open a PR with what we have.
func (l *lexicon) withoutText(t []token) []token {
	for i := 1; i+1 < len(t); i++ {
		rest := t[i+1:]
		ofText := func(w token) bool { return w.kind == quoted || w.among(l.texts) }
		if !t[i].among(l.with) || has(rest, "conjunctions") {
			continue
		}
		made := func(w token) bool { return w.part("pull_request", partNouns) || w.part("release", partNouns) }
		commits := func(w token) bool { return w.part("commit", actParts...) }
		if slices.ContainsFunc(t[:i], made) && !restrained(rest) || slices.ContainsFunc(t[:i], commits) && slices.ContainsFunc(rest, ofText) {
			return t[:i]
		}
	}
	return t
}

// withoutReason cuts off an order why it is given: push it, so that CI runs. What limits it stays.
func (l *lexicon) withoutReason(t []token) []token {
	at := slices.IndexFunc(t, func(w token) bool { return w.among(l.reasons) })
	if at <= 0 || !hasAct(t[:at]) || has(t[at:], "not", "never", "without", "until", "before", "only", "ask", "conditions", "question_words") {
		return t
	}
	return t[:at]
}

// wished reads a clause that consists of what is to be made, and a polite word: a PR against main please. Nil: it is another one.
func (r *statementReader) wished(t, whole []token) *frame {
	for len(t) > 0 && (t[0].among(r.indefinite) || t[0].in("polite")) {
		t = t[1:]
	}
	if len(t) == 0 || t[0].entry == nil || !has(whole, "polite") {
		return nil
	}
	i := slices.IndexFunc(t[0].parts, func(p part) bool { return p.name == partNouns && slices.Contains(r.wishable, p.act) })
	if i < 0 {
		return nil
	}
	f := &frame{acts: []string{t[0].parts[i].act}}
	for _, w := range t[1:] {
		switch {
		case w.in("targets"), w.kind == name:
			f.object(w.text)
		case !w.in("polite", "towards", "pronouns"):
			return nil
		}
	}
	return f
}

// schedules reports whether a word is for what runs something at certain times.
func schedules(t token) bool { return t.part("schedule", partThings) }

// told cuts off an order what a message is to say, or what is to be scheduled, and returns that of the latter.
func told(t []token) (order, rest []token) {
	said := index(t, "saying")
	switch {
	case said <= 0:
		return t, nil
	case t[0].part("speak", partOrders, partMakes):
		return t[:said], nil
	case t[0].part("schedule", partMakes) && slices.ContainsFunc(t[:said], schedules):
		return t[:said], t[said:]
	}
	return t, nil
}

// ordered reports whether the verb of an act is an order: it stands first, or after another order.
func (r *statementReader) ordered(t []token, f *frame, act string) bool {
	if act == "wait" {
		return false
	}
	if r.asked && len(f.acts) > 1 && slices.Contains(f.acts, "process") {
		return false // can you stop pushing
	}
	if r.asked && slices.ContainsFunc(t, func(w token) bool { return w.part(act, partOrders, partVerbs, partWith, partMakes) }) {
		return true
	}
	for i := range t {
		verb := t[i].part(act, partOrders, partWith, partMakes) || t[i].part(act, partVerbs) && unspaced(t[i].text)
		if i > 1 && i+1 < len(t) && t[i+1].kind == bare && t[i-1].in("conjunctions") && t[i-2].among(r.paired) {
			continue // the start and stop functions
		}
		if i > 0 && t[0].in("make") && r.doneTo(t[i:i+1]) != "" {
			continue // get deployed services
		}
		begins := i == 0 || t[0].in("make") || unspaced(t[i].text) || unspaced(t[i-1].text) || t[i-1].in("conjunctions", "starters")
		if f.used[i] && (verb || i > 0 && t[0].in("make")) && begins {
			return i > 0 || t[0].anyPart(partOrders, partMakes) || unspaced(t[0].text)
		}
	}
	return t[0].part(act, partVerbs) && len(t) == 1 || r.infinitives(t) || r.endsInInfinitive(t, act)
}
