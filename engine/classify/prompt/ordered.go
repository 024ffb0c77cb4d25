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
	from, to := 0, 0
	for i := range words {
		if i == 0 || words[i-1].stop == ',' || i < 5 && r.manners(words[:i]) {
			if n := r.asking(words[i:]); n > 0 {
				from, to = i, i+n
				break
			}
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
	return slices.Concat(words[:from], rest), has(t, "not", "never", "until")
}

// asking returns how many words at the beginning ask an agent to do something, such as can you.
func (l *lexicon) asking(words []promptWord) int {
	said, n := "", 0
	for i, w := range words[:min(len(words), 5)] {
		if said += w.low; slices.Contains(l.asksYou, said) {
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

// askFor makes a question of each act that is ordered or permitted, from the given statement on.
func (r *statementReader) askFor(from int) {
	for i := from; i < len(r.list); i++ {
		if s := &r.list[i]; s.Kind == engine.Orders || s.Kind == engine.Permits {
			s.Kind, s.Until = engine.Forbids, engine.UntilAsked
		}
	}
}
