package prompt

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// intended notes the kinds of work that a clause asks for: verbs in the position of an
// order's verb, and words that mean that something is broken or that ask a question.
func (g *goalReader) intended(c []promptWord, question bool) {
	if len(c) == 0 || g.conditional(c) || g.german(c) {
		return
	}
	if g.is(c[0], "question_words") && (question || c[0].low == "how") && lowAt(c, 1) != "don't" {
		g.intents[engine.IntentExplain] = true
	}
	for i, w := range c {
		if g.subordinate(w.low) || w.is("not", "don't", "dont", "never", "without", "no", "ne", "não") {
			break
		}
		if !w.name && g.imperative(c, i) {
			g.intend(c, i)
		}
	}
	g.broken(c)
}

// german reports whether a clause forbids with a word that follows its verb.
func (g *vocabulary) german(c []promptWord) bool {
	return slices.ContainsFunc(c, func(w promptWord) bool { return w.is("nicht", "nichts", "kein", "keine") })
}

// subordinate are words that begin a clause that is not a request: the script that
// deploys, when you push, so that …
func (g *vocabulary) subordinate(low string) bool { return g.has("subordinators", low) }

func (g *goalReader) intend(c []promptWord, i int) {
	for _, intent := range engine.Intents() {
		if !slices.Contains(g.set.Words("intent."+intent), c[i].low) {
			continue
		}
		if c[i].low == "make" && slices.Contains([]string{"sure", "it", "them", "this", "that"}, lowAt(c, i+1)) ||
			c[i].low == "roll" && lowAt(c, i+1) != "out" {
			return
		}
		if slices.Contains([]string{"test", "tests", "unit", "e2e", "integration", "specs"}, lowAt(c, i+1)) || lowAt(c, i+2) == "tests" {
			g.intents[engine.IntentTest] = true
		}
		if engine.Intent(intent) == engine.IntentAdd && g.onlyPlanned(c, i) {
			intent = string(engine.IntentExplain)
		}
		g.intents[engine.Intent(intent)] = true
		return
	}
	if c[i].low == "roll" && lowAt(c, i+1) == "out" {
		g.intents[engine.IntentDeploy] = true
	}
	if c[i].low == "run" && (lowAt(c, i+1) == "tests" || lowAt(c, i+2) == "tests" || lowAt(c, i+3) == "tests") {
		g.intents[engine.IntentTest] = true
	}
}

// broken records that, according to a clause, something does not work.
func (g *goalReader) broken(c []promptWord) {
	for i, w := range c {
		if g.is(w, "broken") ||
			w.low == "work" && slices.Contains([]string{"doesn't", "not", "don't"}, lowAt(c, i-1)) {
			g.intents[engine.IntentFix] = true
			return
		}
	}
}

// onlyPlanned reports whether the verb at i is about a plan: create a plan. To implement one is more.
func (g *vocabulary) onlyPlanned(c []promptWord, i int) bool {
	return !slices.Contains(g.set.Words("work.implements"), c[i].low) && slices.ContainsFunc(c[i+1:], func(w promptWord) bool {
		return slices.Contains(g.set.Words("work.plans"), w.low)
	})
}
