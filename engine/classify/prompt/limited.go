package prompt

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// Acts that limit others. OnlyPrefix begins the name of an act that may be done to nothing else: only_push.
const (
	onlyPrefix = "only_"
	onlyAt     = "only_at" // work on another target, such as a host or a namespace
)

// limitsAct reads what an act, or all work, is limited to without a place of files: push only the sdk, only on staging. What is
// done elsewhere wants a question.
func (r *statementReader) limitsAct(t []token, until string) bool {
	if !onlyThis(t) || until != "" || has(t, "not", "never", "outside", "me", "self", "may", "ask", "conditions") {
		return false
	}
	f := r.frameOf(t, true, "only", "work", "make")
	if f == nil || len(f.objects) == 0 {
		return false
	}
	acts := slices.DeleteFunc(slices.Clone(f.acts), func(act string) bool { return !slices.Contains(r.limited, act) })
	switch {
	case len(acts) == 1 && len(f.acts) == 1:
		f.acts = []string{onlyPrefix + acts[0]}
	case len(acts) == 0 && (len(f.acts) == 0 || slices.Equal(f.acts, []string{"run"}) && has(t, "targets")) && (r.whole || r.endsWith(t)) && r.noFiles(t):
		f.acts = []string{onlyAt}
	default:
		return false
	}
	r.add(engine.Forbids, f, engine.UntilAsked, false)
	return true
}

// endsWith reports whether a clause at the end of a sentence only names a target: first a dry run, then for real, only ns2! What
// somebody tells ends so too: the build fails, only on web-2.
func (r *statementReader) endsWith(t []token) bool {
	if !r.last || !r.directs {
		return false
	}
	targets := 0
	for _, w := range t {
		switch {
		case w.in("targets"), w.kind == ident && strings.ContainsFunc(w.text, unicode.IsLetter):
			targets++
		case !w.in("only", "fillers", "work"):
			return false
		}
	}
	return targets == 1
}

// maxUnread is how many sentences are kept that were not understood.
const maxUnread = 8

// seems reports whether a sentence from which nothing was read looks like a prohibition: it has a negation, or a word of who does
// something themselves, and an act.
func (r *statementReader) seems(words []promptWord) bool {
	t := r.tokens(words[:min(len(words), maxClause)])
	return len(t) > 1 && words[len(words)-1].stop != '?' && !t[0].in("question_words") &&
		has(t, "not", "never", "ask", "self", "alone", "off") && hasAct(t)
}

// noFiles reports whether names in a clause are not those of files and folders.
func (r *statementReader) noFiles(t []token) bool {
	return !slices.ContainsFunc(t, func(t token) bool {
		return t.kind == name || t.kind == ident && suffixed(t.text) || t.in("places") || r.exists != nil && r.exists(t.text)
	})
}

// spares reads: don't change the timeout in config.yaml. Whether an edit of the file touches that part is not known, so it wants a
// question.
func (r *statementReader) spares(c clause) bool {
	t := c.tokens
	verb := slices.IndexFunc(t, func(t token) bool { return t.part("change", partOrders, partVerbs) })
	if verb < 0 || !has(t, "not", "never") || r.theirs {
		return false
	}
	var key, file string
	for i, w := range t {
		thing := w.kind == bare || w.kind == ident || w.kind == quoted || w.kind == name && !strings.ContainsAny(w.text, "./")
		switch {
		case i == verb, w.in("not", "never", "polite", "starters", "parts") && key+file != w.text:
		case w.kind == name && file == "" && key != "" && i > 0 && t[i-1].in("within"):
			file = w.text
		case thing && key == "" && i > verb && len(w.text) > 1 && len(w.text) <= MaxGoalName:
			key = w.text
		case w.in("fillers", "within"):
		default:
			return false
		}
	}
	if file == "" {
		return false
	}
	r.add(engine.Forbids, &frame{acts: []string{"change"}, objects: []string{file}}, engine.UntilAsked, has(t, "never"))
	return true
}

// others tells "don't touch other files" from "don't touch files". It limits changes to what was named before; where no name was
// written, nothing tells what is left.
func (r *statementReader) others(t []token, f *frame) bool {
	if !slices.Equal(f.acts, []string{"change"}) || len(f.objects) > 0 || !has(t, "others") {
		return false
	}
	if f.objects = r.meantBefore(); len(f.objects) > 0 {
		f.acts = []string{"only_in"}
		r.add(engine.Forbids, f, "", has(t, "never"))
	}
	return true
}

// contrasts reads what alone is to be done, after what is not: don't merge, only push.
func (r *statementReader) contrasts(c clause) bool {
	if !r.forbade || c.until != "" || c.colon || !has(c.tokens, "only") || !bareActs(slices.DeleteFunc(slices.Clone(c.tokens), isOnly)) ||
		has(c.tokens, "not", "never", "without") {
		return false
	}
	f := r.frame(c.tokens, "only", "make")
	if f == nil || len(f.acts) == 0 || len(f.objects) > 0 {
		return false
	}
	r.add(engine.Orders, f, "", false)
	return true
}

func isOnly(t token) bool { return t.in("only") }

// limits reads: only touch src/a.go, nothing outside src/, stay in src/.
func (r *statementReader) limits(c clause) bool {
	t := c.tokens
	not, outside := has(t, "not", "never"), has(t, "outside")
	switch {
	case has(t, "limit"), outside && (not || has(t, "alone", "off")), not && has(t, "restricts"), !not && onlyThis(t), c.closed:
	default:
		return false
	}
	f := r.frameOf(t, true, "limit", "only", "outside", "not", "restricts", "never", "work", "may", "make", "self", "alone", "off", "leave",
		"passive")
	if f == nil || len(f.objects) == 0 || slices.ContainsFunc(f.objects, func(o string) bool { return strings.Contains(o, "(") }) {
		return false // the code should only use errors.As()
	}
	if has(t, "me") || slices.ContainsFunc(f.acts, func(a string) bool { return a != "change" && a != "wait" }) {
		return false
	}
	alone := r.whole && !r.theirs && len(namesIn(t)) > 0 // only src/a.py
	if len(f.acts) == 0 && !has(t, "limit", "work", "alone", "off") && !not && !c.closed && !alone {
		return false
	}
	f.acts = []string{"only_in"}
	r.add(engine.Forbids, f, c.until, has(t, "never"))
	return true
}

// doubts reads what may be forbidden: don't commit, push and deploy. A person is asked about it.
func (r *statementReader) doubts(c clause) bool {
	if !c.unsure {
		return false
	}
	f := r.frame(c.tokens, "make")
	if f == nil || len(f.acts) == 0 {
		return false
	}
	r.add(engine.Forbids, f, engine.UntilAsked, false)
	return true
}
