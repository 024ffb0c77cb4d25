package prompt

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// intentVerbs are the words for kinds of work, as an order uses them.
var intentVerbs = []struct {
	intent engine.Intent
	verbs  []string
}{
	{engine.IntentRead, []string{"look", "read", "review", "list", "show", "find", "check", "inspect", "investigate", "search",
		"audit", "analyse", "analyze", "compare", "summarise", "summarize", "locate", "trace", "figure", "suche", "zeige", "prüfe",
		"schau", "finde", "lies", "montre", "cherche", "trouve", "vérifie", "lis", "busca", "muestra", "revisa", "lee", "mostre",
		"procure", "verifique", "leia", "prüfen", "suchen"}},
	{engine.IntentExplain, []string{"explain", "describe", "clarify", "erkläre", "beschreibe", "explique", "expliquez",
		"explica", "explicar", "explique", "erklären"}},
	{engine.IntentFix, []string{"fix", "repair", "debug", "resolve", "solve", "correct", "patch", "troubleshoot", "unbreak",
		"behebe", "repariere", "korrigiere", "corrige", "corrigez", "répare", "arregla", "repara", "corrige", "conserte", "corrija",
		"beheben", "reparieren"}},
	{engine.IntentAdd, []string{"add", "create", "implement", "write", "build", "introduce", "generate", "make", "extend",
		"support", "scaffold", "develop", "erstelle", "füge", "schreibe", "baue", "implementiere", "ajoute", "ajoutez", "crée",
		"créez", "écris", "implémente", "añade", "agrega", "crea", "escribe", "implementa", "adicione", "crie", "escreva",
		"implemente", "hinzufügen", "erstellen"}},
	{engine.IntentRefactor, []string{"refactor", "restructure", "rename", "simplify", "extract", "reorganise", "reorganize",
		"rework", "rewrite", "split", "inline", "decouple", "deduplicate", "modernise", "modernize", "move", "refaktoriere",
		"vereinfache", "refactorise", "refactoriza", "refatore", "renombra", "renomeie", "umbenennen"}},
	{engine.IntentTest, []string{"test", "cover", "teste", "testen", "testez", "prueba", "pruebe", "verify", "validate"}},
	{engine.IntentDeploy, []string{"deploy", "release", "publish", "ship", "push", "rollout", "veröffentliche", "deploye",
		"déploie", "publie", "despliega", "publica", "implante", "publique", "veröffentlichen"}},
	{engine.IntentClean, []string{"clean", "remove", "delete", "tidy", "prune", "purge", "drop", "strip", "cleanup", "lösche",
		"entferne", "supprime", "supprimez", "borra", "elimina", "apague", "remova", "löschen", "entfernen", "aufräumen"}},
	{engine.IntentMigrate, []string{"migrate", "upgrade", "port", "convert", "migriere", "aktualisiere", "migre", "migrez",
		"migra", "migrar", "convierte", "converta", "migrieren", "bump"}},
}

// questionWords begin a question.
var questionWords = []string{"why", "how", "what", "which", "where", "who", "warum", "wie", "was", "pourquoi", "comment",
	"por", "cómo", "qué", "como"}

// intended notes the kinds of work that a clause asks for: verbs where an order
// has its verb, and the words by which people say that something is broken or
// that they want to know.
func (g *goalReader) intended(c []promptWord, question bool) {
	if len(c) == 0 || conditional(c) || german(c) {
		return
	}
	if c[0].is(questionWords...) && (question || c[0].low == "how") && lowAt(c, 1) != "don't" {
		g.intents[engine.IntentExplain] = true
	}
	for i, w := range c {
		if subordinate(w.low) || w.is("not", "don't", "dont", "never", "without", "no", "ne", "não") {
			break
		}
		if !w.name && imperative(c, i) {
			g.intend(c, i)
		}
	}
	g.broken(c)
}

// german says that a clause forbids with a word that stands behind its verb.
func german(c []promptWord) bool {
	return slices.ContainsFunc(c, func(w promptWord) bool { return w.is("nicht", "nichts", "kein", "keine") })
}

// subordinators begin a subordinate clause.
var subordinators = []string{"when", "if", "after", "before", "while", "because", "since", "which", "who", "until", "unless",
	"once", "whenever", "wenn", "quand", "cuando"}

// subordinate begins what is not asked for: the script that deploys, when you
// push, so that …
func subordinate(low string) bool { return slices.Contains(subordinators, low) }

func (g *goalReader) intend(c []promptWord, i int) {
	for _, row := range intentVerbs {
		if !c[i].is(row.verbs...) {
			continue
		}
		if c[i].low == "make" && slices.Contains([]string{"sure", "it", "them", "this", "that"}, lowAt(c, i+1)) ||
			c[i].low == "roll" && lowAt(c, i+1) != "out" {
			return
		}
		if slices.Contains([]string{"test", "tests", "unit", "e2e", "integration", "specs"}, lowAt(c, i+1)) || lowAt(c, i+2) == "tests" {
			g.intents[engine.IntentTest] = true
		}
		g.intents[row.intent] = true
		return
	}
	if c[i].low == "roll" && lowAt(c, i+1) == "out" {
		g.intents[engine.IntentDeploy] = true
	}
	if c[i].low == "run" && (lowAt(c, i+1) == "tests" || lowAt(c, i+2) == "tests" || lowAt(c, i+3) == "tests") {
		g.intents[engine.IntentTest] = true
	}
}

// broken notes that a clause says something does not work.
func (g *goalReader) broken(c []promptWord) {
	for i, w := range c {
		if w.is("broken", "crashes", "fails", "failing", "bug", "regression", "kaputt", "cassé", "roto", "quebrado") ||
			w.low == "work" && slices.Contains([]string{"doesn't", "not", "don't"}, lowAt(c, i-1)) {
			g.intents[engine.IntentFix] = true
			return
		}
	}
}
