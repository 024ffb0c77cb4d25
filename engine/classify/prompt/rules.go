package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// conditional reports whether a clause begins with a condition, for what
// follows too.
func (g *vocabulary) conditional(c []promptWord) bool { return g.has("conditions", lowAt(c, 0)) }

// forbids reads orders not to do something: don't touch X, without deleting,
// you must not change anything.
func (g *goalReader) forbids(c []promptWord) bool {
	at := g.negation(c)
	if at < 0 {
		return g.passive(c) || g.foreign(c)
	}
	verbs := at
	for verbs < len(c) && g.is(c[verbs], "negation_fillers") && verbs-at < 4 {
		verbs++
	}
	return verbs < len(c) && g.forbidden(c, verbs)
}

// negation returns the place after the words that make a clause an order not to
// do something; -1: it is not one.
func (g *vocabulary) negation(c []promptWord) int {
	for i := range c {
		next := i + 1
		switch low := c[i].low; {
		case g.has("negations", low):
		case low == "not" && i > 0 && g.is(c[i-1], "negatable"):
		case low == "not" && i > 0 && slices.Contains([]string{"allowed", "supposed"}, lowAt(c, i+1)):
			next++
		case low == "no" && strings.HasSuffix(lowAt(c, i+1), "ing"):
		default:
			continue
		}
		if low := c[i].low; !g.commanded(c, i) || low == "without" && i+1 < len(c) && c[i+1].is("the", "a", "any", "my", "your") {
			return -1
		}
		return next
	}
	return -1
}

func lowAt(c []promptWord, i int) string {
	if i < 0 || i >= len(c) {
		return ""
	}
	return c[i].low
}

// commanded reports whether a negation is an order to the reader: nobody else
// is the subject before it. "I don't want you to" is one too, and is read
// elsewhere.
func (g *vocabulary) commanded(c []promptWord, i int) bool {
	from := max(0, i-4)
	if c[i].low == "without" || c[i].low == "avoid" {
		from = i // the person who asks for the work
	}
	for j := from; j < i; j++ {
		low := c[j].low
		we := low == "we" && slices.Contains([]string{"must", "should", "shall", "can"}, lowAt(c, j+1))
		if low == "why" || g.has("subjects", low) && !we && !(low == "that" && lowAt(c, j+1) == "you") &&
			!(low == "i" && slices.ContainsFunc(c[i:], func(w promptWord) bool { return w.low == "you" })) {
			return false
		}
		if c[j].name && !strings.HasPrefix(lowAt(c, i-1), "do") {
			return false
		}
	}
	return lowAt(c, i-1) != "why" && lowAt(c, i+1) != "you"
}

// forbidden reads the verb at i and what it is about.
func (g *goalReader) forbidden(c []promptWord, i int) bool {
	if lowAt(c, i) == "want" { // I don't want you to change X
		if i = slices.IndexFunc(c, func(w promptWord) bool { return w.low == "to" }) + 1; i == 0 || i >= len(c) {
			return false
		}
	}
	kind, end := g.verbsAt(c, i)
	if kind == "" {
		return g.notYet(c, i)
	}
	if slices.ContainsFunc(c[end:], func(w promptWord) bool { return g.is(w, "limits") && !g.approval(c) }) {
		return false
	}
	if kind == engine.ConstraintLocal {
		return g.local(c[end:])
	}
	return g.object(kind, c[end:])
}

// approval reports whether a clause makes something wait for the person: until
// I say so, without asking me.
func (g *vocabulary) approval(c []promptWord) bool {
	return slices.ContainsFunc(c, func(w promptWord) bool { return g.is(w, "approvers") }) &&
		slices.ContainsFunc(c, func(w promptWord) bool { return w.is("until", "unless", "without", "before", "till") })
}

// verbsAt reads one verb or several: touch or delete. The broader prohibition wins.
func (g *vocabulary) verbsAt(c []promptWord, i int) (engine.ConstraintKind, int) {
	var kind engine.ConstraintKind
	end := i
	for j := i; j < len(c); j++ {
		switch low := c[j].low; {
		case g.has("change_verbs", low):
			kind = engine.ConstraintLeave
		case g.has("delete_verbs", low):
			if kind != engine.ConstraintLeave {
				kind = engine.ConstraintDelete
			}
		case g.has("ship_verbs", low):
			if kind == "" {
				kind = engine.ConstraintLocal
			}
		case kind != "" && j+1 < len(c) &&
			slices.Contains([]string{"or", "and", "nor", "/", "with", "around", "commit", "committing"}, low):
			continue
		case kind == "" && j == i && slices.Contains([]string{"commit", "create", "add", "committing"}, low) &&
			slices.Contains([]string{"or", "and", "nor"}, lowAt(c, j+1)):
			j++
			continue
		default:
			return kind, end
		}
		end = j + 1
	}
	return kind, end
}

// object reads what must not be changed or deleted.
func (g *goalReader) object(kind engine.ConstraintKind, c []promptWord) bool {
	if names := g.objectNames(c); len(names) > 0 {
		for _, name := range names {
			g.constrain(kind, name)
		}
		return true
	}
	if noun := g.objectNoun(c); noun != "" {
		g.constrain(kind, noun)
		return true
	}
	if len(c) > 0 && g.is(c[0], "pronouns") && len(c) == 1 && len(g.before) > 0 {
		for _, name := range g.before {
			g.constrain(kind, name)
		}
		return true
	}
	if !g.allOfIt(c) {
		return false
	}
	if kind == engine.ConstraintLeave {
		kind = engine.ConstraintRead
	}
	g.constrain(kind, "")
	return true
}

// objectNames returns the names of an object: after filler words, up to the next part
// of the clause.
func (g *vocabulary) objectNames(c []promptWord) []string {
	var names []string
	for i, w := range c {
		switch {
		case w.name:
			names = append(names, w.text)
		case len(names) > 0 && g.is(w, "after_object"):
			return names
		case len(names) > 0 && g.is(w, "conjunctions"):
			if !slices.ContainsFunc(c[i+1:min(len(c), i+3)], func(w promptWord) bool { return w.name }) {
				return names
			}
		case len(names) > 0:
			if !g.is(w, "fillers") {
				return names
			}
		case !g.is(w, "fillers"):
			return nil // only an aspect of the file is forbidden, such as its style
		}
	}
	return names
}

// objectNoun is a thing without a file's name: the tests, the auth module.
func (g *vocabulary) objectNoun(c []promptWord) string {
	i := 0
	for i < len(c) && (g.is(c[i], "quantifiers") || i > 0 && c[i].is("in", "on", "from", "to") ||
		i == 0 && c[i].is("anything", "stuff", "data", "in", "on")) {
		i++
	}
	if i >= len(c) {
		return ""
	}
	head, next := c[i].low, lowAt(c, i+1)
	ends := i == len(c)-1 || c[i].stop != 0 || g.has("after_noun", next)
	switch {
	case g.has("kind_nouns", next) && head != "" && letterOrDigit(rune(head[0])) && !g.has("fillers", head) &&
		(i+2 >= len(c) || slices.Contains([]string{"in", "at", "for", "yet", "or", "and", "of", "from"}, lowAt(c, i+2))):
		return abstract.Clip(head, MaxGoalName)
	case g.has("work_nouns", head) && ends && len(c)-i <= 5:
		return head
	}
	return ""
}

// allOfIt reports whether an object is all there is: anything, any files, the
// code.
func (g *vocabulary) allOfIt(c []promptWord) bool {
	seen := false
	for i, w := range c {
		switch {
		case g.is(w, "all_nouns"):
			seen = true
		case g.is(w, "quantifiers"), seen && g.is(w, "after_all"), i == 0 && w.low == "at":
		default:
			return false
		}
	}
	return seen
}

// local reads what must not be pushed or published. Locks are released and
// values pushed, too: only what can go elsewhere counts.
func (g *goalReader) local(c []promptWord) bool {
	for i, w := range c {
		if i == 0 && g.is(w, "pronouns") || g.is(w, "local_fillers") || w.name {
			continue
		}
		return false
	}
	what := ""
	for _, w := range c {
		if w.is("production", "prod", "staging", "main", "master") {
			what = w.low
		}
	}
	g.constrain(engine.ConstraintLocal, what)
	return true
}

// notYet reads: don't do it yet, do not implement anything yet.
func (g *goalReader) notYet(c []promptWord, i int) bool {
	if !g.has("start_verbs", lowAt(c, i)) {
		return false
	}
	rest := c[i+1:]
	yet := slices.ContainsFunc(rest, func(w promptWord) bool { return w.low == "yet" })
	plain := !slices.ContainsFunc(rest, func(w promptWord) bool { return !g.is(w, "not_yet_objects") })
	if plain && (yet || slices.Contains([]string{"implement", "execute", "apply"}, lowAt(c, i)) && g.allOfIt(rest)) {
		g.constrain(engine.ConstraintPlan, "")
		return true
	}
	if c[i].low == "make" && slices.ContainsFunc(rest, func(w promptWord) bool { return w.low == "changes" }) { // don't make any changes to X
		return g.changes(rest)
	}
	return false
}

// changes reads what follows "changes", as in "no changes to X".
func (g *goalReader) changes(c []promptWord) bool {
	i := slices.IndexFunc(c, func(w promptWord) bool { return w.low == "changes" || w.low == "edits" || w.low == "modifications" })
	if i < 0 || i > 2 || slices.ContainsFunc(c, func(w promptWord) bool { return g.is(w, "limits") }) {
		return false
	}
	rest := c[i+1:]
	if len(rest) == 0 || g.allOfIt(rest) || rest[0].is("yet", "please", "now", "for") {
		g.constrain(engine.ConstraintRead, "")
		return true
	}
	return (rest[0].low == "to" || rest[0].low == "in") && g.object(engine.ConstraintLeave, rest[1:])
}

// passive reads: X must not be changed, X is off limits, no changes to X.
func (g *goalReader) passive(c []promptWord) bool {
	if lowAt(c, 0) == "no" || lowAt(c, 0) == "make" && lowAt(c, 1) == "no" {
		return g.changes(c[1:])
	}
	i := slices.IndexFunc(c, func(w promptWord) bool { return w.low == "not" || w.low == "never" })
	if i < 1 || !c[i-1].is("must", "should", "may", "shall", "can") || lowAt(c, i+1) != "be" || i+2 >= len(c) {
		return g.offLimits(c)
	}
	kind, _ := g.verbsAt(c, i+2)
	return kind != "" && kind != engine.ConstraintLocal && len(c) <= i+5 && g.subject(kind, c[:i-1])
}

// subject adds a constraint on the subject of a clause.
func (g *goalReader) subject(kind engine.ConstraintKind, c []promptWord) bool {
	if slices.ContainsFunc(c, func(w promptWord) bool {
		return !w.name && !g.is(w, "fillers") && !g.is(w, "work_nouns")
	}) {
		return false
	}
	found := false
	for _, w := range c {
		if w.name || g.is(w, "work_nouns") {
			g.constrain(kind, w.text)
			found = true
		}
	}
	return found
}

// offLimits reads: X is off limits, X stays as it is.
func (g *goalReader) offLimits(c []promptWord) bool {
	text := plainText(c)
	for _, say := range g.list("off_limits") {
		if strings.HasSuffix(text, " "+say) {
			n := len(strings.Fields(say))
			return g.subject(engine.ConstraintLeave, c[:len(c)-n])
		}
	}
	return false
}

// plainText is the words of a clause, with single spaces.
func plainText(c []promptWord) string {
	var b strings.Builder
	for i, w := range c {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.low)
	}
	return b.String()
}

// foreign reads orders in German, French, Spanish and Portuguese: a negation, a
// verb of the same language, and names.
func (g *goalReader) foreign(c []promptWord) bool {
	no := slices.IndexFunc(c, func(w promptWord) bool {
		return g.is(w, "foreign_negations")
	})
	if no < 0 || slices.ContainsFunc(c, func(w promptWord) bool {
		return g.is(w, "limits") || w.low != "no" && g.is(w, "subjects")
	}) {
		return false
	}
	low := c[no].low
	german := strings.HasPrefix(low, "nicht") || strings.HasPrefix(low, "kein")
	for i, w := range c {
		kind, english := engine.ConstraintKind(""), g.is(w, "english_verbs")
		switch {
		case english || !german && i != no+1:
		case g.is(w, "change_verbs"):
			kind = engine.ConstraintLeave
		case g.is(w, "delete_verbs"):
			kind = engine.ConstraintDelete
		}
		if kind != "" && (german || i == no+1) {
			return g.foreignObject(kind, c, low)
		}
	}
	return false
}

func (g *goalReader) foreignObject(kind engine.ConstraintKind, c []promptWord, no string) bool {
	found := false
	for _, w := range c {
		if w.name || g.is(w, "work_nouns") {
			g.constrain(kind, w.text)
			found = true
		}
	}
	if !found && (no == "nichts" || slices.ContainsFunc(c, func(w promptWord) bool { return w.low == "rien" || w.low == "nada" })) {
		if kind == engine.ConstraintLeave {
			kind = engine.ConstraintRead
		}
		g.constrain(kind, "")
		found = true
	}
	return found
}

// leaves reads: leave X alone, keep X as it is, hands off X, stay away from X.
func (g *goalReader) leaves(c []promptWord) bool {
	for i, w := range c {
		rest := c[i+1:]
		text := " " + plainText(rest)
		switch {
		case (w.low == "leave" || w.low == "keep") && g.imperative(c, i):
			for _, end := range g.list("untouched") {
				end = " " + end
				if n := len(strings.Fields(end)); strings.HasSuffix(text, end) && len(rest) > n &&
					(w.low == "leave" || end != " alone" && end != " be") {
					return g.object(engine.ConstraintLeave, rest[:len(rest)-n])
				}
			}
		case w.low == "hands" && lowAt(rest, 0) == "off", w.low == "hands-off":
			return g.object(engine.ConstraintLeave, rest[min(len(rest), 1):])
		case w.low == "away" && lowAt(c, i-1) == "stay" && lowAt(rest, 0) == "from" && g.imperative(c, i-1):
			return g.object(engine.ConstraintLeave, rest[1:])
		}
	}
	return false
}

// imperative reports whether the verb at i is an order: it begins the clause,
// or follows a word that asks.
func (g *vocabulary) imperative(c []promptWord, i int) bool {
	return i <= 0 || g.is(c[i-1], "before_order") || c[i-1].stop != 0 || c[i-1].low == ""
}

// looksOnly reads: just explain, only look, read-only please.
func (g *goalReader) looksOnly(c []promptWord) {
	i := 0
	for i < len(c) && g.is(c[i], "openers") {
		i++
	}
	only := g.has("only", lowAt(c, i))
	looks := g.has("look_verbs", lowAt(c, i+1))
	text := plainText(c)
	stays := text == "read only" || text == "read-only" || text == "read-only please" || text == "read only please" ||
		strings.HasPrefix(text, "read-only mode") || strings.HasPrefix(text, "stay read-only") || strings.HasPrefix(text, "stay read only") ||
		strings.HasPrefix(text, "this is a read-only ") || strings.HasPrefix(text, "this is read-only") ||
		strings.HasPrefix(text, "keep it read-only") || strings.HasPrefix(text, "look but")
	if only && looks {
		g.look = true
	}
	if stays && text != "look but" {
		g.constrain(engine.ConstraintRead, "")
	}
}

// plans reads: plan only, just a dry run, only make a plan.
func (g *goalReader) plans(c []promptWord) bool {
	text := plainText(c)
	for _, say := range g.list("plan_only") {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "please "), "for now "), say); ok &&
			(rest == "" || strings.HasPrefix(rest, " please") || strings.HasPrefix(rest, " for now") || strings.HasPrefix(rest, " yet") ||
				strings.HasPrefix(rest, " first")) {
			g.constrain(engine.ConstraintPlan, "")
			return true
		}
	}
	return false
}

// freezes reads: we are in a code freeze, the freeze is still on.
func (g *goalReader) freezes(c []promptWord) bool {
	i := slices.IndexFunc(c, func(w promptWord) bool { return w.low == "freeze" })
	if i < 0 || g.conditional(c) || slices.ContainsFunc(c, func(w promptWord) bool {
		return g.is(w, "freeze_elsewhere")
	}) {
		return false
	}
	kind := g.has("freeze_kinds", lowAt(c, i-1))
	here := i == len(c)-1 && (i <= 2 || slices.ContainsFunc(c[:i], func(w promptWord) bool {
		return g.is(w, "freeze_here")
	}))
	rest := " " + plainText(c[i+1:]) + " "
	holds := slices.ContainsFunc(g.list("freeze_holds"), func(s string) bool { return strings.Contains(rest, " "+s+" ") })
	if kind && here || (kind || lowAt(c, i-1) == "the" || lowAt(c, i-1) == "a") && holds {
		g.constrain(engine.ConstraintFreeze, "")
		return true
	}
	return false
}

// lifts reads what revokes an earlier constraint: the freeze is over, you may edit X
// again, go ahead. What is lifted is a name, or the kind of constraint.
func (g *goalReader) lifts(c []promptWord) bool {
	own := *g
	own.vocabulary = g.lifting()
	return own.lifted(c)
}

func (g *goalReader) lifted(c []promptWord) bool {
	text := " " + plainText(c) + " "
	if i := strings.Index(text, " freeze "); i >= 0 && !strings.Contains(text, " not ") && !strings.Contains(text, " when ") &&
		!strings.Contains(text, " if ") {
		for _, say := range g.list("freeze_over") {
			if rest := text[i+8:]; strings.HasPrefix(rest, say+" ") {
				g.lift(engine.ConstraintFreeze)
				return true
			}
		}
	}
	if strings.HasPrefix(text, " go ahead ") || text == " proceed " || strings.HasPrefix(text, " you may proceed ") ||
		strings.HasPrefix(text, " you can proceed ") || strings.HasPrefix(text, " please proceed ") ||
		text == " do it " || text == " do it now " {
		return g.goAhead(c)
	}
	return g.allows(c)
}

func (g *goalReader) lift(kinds ...engine.ConstraintKind) {
	for _, k := range kinds {
		g.constrain(engine.ConstraintLift, string(k))
	}
}

// goAhead lifts the constraints that made the work wait; a push only if it is named.
func (g *goalReader) goAhead(c []promptWord) bool {
	if slices.ContainsFunc(c, func(w promptWord) bool {
		return w.low == "if" || w.low == "once" || w.low == "when" || w.low == "unless"
	}) {
		return false
	}
	g.lift(engine.ConstraintPlan, engine.ConstraintRead)
	if slices.ContainsFunc(c, func(w promptWord) bool { return g.is(w, "ship_verbs") }) {
		g.lift(engine.ConstraintLocal)
	}
	return false // it also contains an order
}

// allows reads: you may now push, you can change X again.
func (g *goalReader) allows(c []promptWord) bool {
	i := slices.IndexFunc(c, func(w promptWord) bool { return w.low == "may" || w.low == "can" || w.low == "allowed" })
	if i < 1 || i > 3 || !slices.ContainsFunc(c[:i], func(w promptWord) bool { return w.low == "you" || w.low == "you're" }) ||
		c[len(c)-1].stop == '?' {
		return false
	}
	rest := c[i+1:]
	again := slices.ContainsFunc(c, func(w promptWord) bool { return w.low == "now" || w.low == "again" })
	if !again || slices.ContainsFunc(rest, func(w promptWord) bool { return g.is(w, "limits") || w.low == "not" || w.low == "see" }) {
		return false
	}
	for len(rest) > 0 && rest[0].is("now", "again", "to", "also") {
		rest = rest[1:]
	}
	kind, end := g.verbsAt(rest, 0)
	if kind == "" {
		return false
	}
	if kind == engine.ConstraintLocal {
		g.lift(engine.ConstraintLocal)
		return false
	}
	return g.permit(kind, rest[end:])
}

func (g *goalReader) permit(kind engine.ConstraintKind, c []promptWord) bool {
	if names := g.objectNames(c); len(names) > 0 {
		for _, name := range names {
			g.constrain(engine.ConstraintLift, name)
		}
		return false
	}
	c = slices.DeleteFunc(slices.Clone(c), func(w promptWord) bool { return w.low == "again" || w.low == "now" })
	if noun := g.objectNoun(c); noun != "" {
		g.constrain(engine.ConstraintLift, noun)
	} else if g.allOfIt(c) || len(c) == 0 {
		if kind == engine.ConstraintLeave {
			kind = engine.ConstraintRead
		}
		g.lift(kind)
	}
	return false
}
