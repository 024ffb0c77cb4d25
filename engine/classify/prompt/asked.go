package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of a question whose answer can permit something: what is longer, people do not read to its end.
const (
	maxAskedText = 400 // bytes of a question
	maxLabel     = 80  // bytes of an option
	maxAskedActs = 3   // that a question, an option or a line of a plan names
	maxOffers    = 12
)

// answerReader reads the questions that an agent puts to the person, and their answers.
type answerReader struct {
	*vocabulary
	masker *mask.Masker
	exists func(string) bool
}

// OffersOf returns what answers to a question order: agreement what the sentence that asks names, and an option what
// its label does. Nothing else in them counts. Of several questions, no later prompt tells which one it answers.
func OffersOf(set *rows.Set, m *mask.Masker, q *engine.Question, exists func(string) bool) []engine.Offer {
	r := answerReader{newVocabulary(set), m, exists}
	var list []engine.Offer
	add := func(choice string, said []engine.Statement) {
		for _, s := range said {
			if len(list) < maxOffers {
				list = append(list, engine.Offer{Choice: choice, Statement: s})
			}
		}
	}
	if q.Plan != "" {
		add(engine.ChoiceYes, r.plan(q.Plan))
		return list
	}
	if len(q.Parts) != 1 {
		return nil
	}
	p := q.Parts[0]
	add(engine.ChoiceYes, r.question(p.Text))
	for i := range p.Options {
		add(strconv.Itoa(i+1), r.option(p, i))
	}
	return list
}

// AnswersOf returns what the answers to a question say. What a person wrote instead of choosing an option is read like a prompt.
func AnswersOf(set *rows.Set, m *mask.Masker, q *engine.Question, exists func(string) bool) []engine.Statement {
	r := answerReader{newVocabulary(set), m, exists}
	if q.Plan != "" {
		return r.plan(q.Plan)
	}
	var list []engine.Statement
	for _, p := range q.Parts {
		switch i := slices.Index(p.Options, p.Answer); {
		case p.Answer == "", i >= 0 && slices.Contains(p.Options[i+1:], p.Answer):
		case i >= 0:
			list = append(list, r.option(p, i)...)
		default:
			list = append(list, r.written(p)...)
		}
	}
	return list[:min(len(list), maxStatements)]
}

func (r *answerReader) reader() *statementReader {
	return &statementReader{lexicon: lexiconOf(r.set, true), exists: r.exists}
}

// question returns what agreeing to a question orders: the only sentence of it that asks, and the last one, offers to do it.
func (r *answerReader) question(text string) []engine.Statement {
	if len(text) > maxAskedText || strings.ContainsAny(text, "\n\r") {
		return nil
	}
	list := r.sentences(spaced(r.masker.Text(r.ownWords(text))))
	if len(list) == 0 {
		return nil
	}
	for i, s := range list {
		if (s[len(s)-1].stop == '?') != (i == len(list)-1) {
			return nil
		}
	}
	last := list[len(list)-1]
	return r.reader().offered(last, rawText(last))
}

// offered reads: shall I push, do you want me to commit it.
func (r *statementReader) offered(words []promptWord, raw string) []engine.Statement {
	clauses := r.clauses(words)
	depends := func(c clause) bool { return c.until != "" || has(c.tokens, "conditions", "blocks") }
	if len(clauses) == 0 || slices.ContainsFunc(clauses, depends) {
		return nil
	}
	t := clauses[len(clauses)-1].tokens
	for len(t) > 0 && t[0].in("starters", "polite") && !t[0].in("offers") {
		t = t[1:]
	}
	at := index(t, "offers")
	if at < 0 || at > 0 && !unspaced(t[at].text) || has(t, "not", "never", "without", "only", "outside", "ask", "before") {
		return nil
	}
	t = slices.DeleteFunc(slices.Clone(t), func(t token) bool { return t.in("offers") })
	f := r.frame(t, "make", "go", "me")
	if f == nil || len(f.acts) > maxAskedActs {
		return nil
	}
	if len(f.acts) == 0 || slices.Equal(f.acts, []string{"wait"}) {
		if len(f.objects) == 0 && has(t, "go") {
			r.add(engine.Lifts, &frame{acts: []string{"wait"}}, "", false)
		}
	} else if !r.vague(f) {
		r.add(engine.Orders, f, "", false)
	}
	r.quote(0, raw)
	return r.list
}

// vague reports whether words that an agent wrote leave open what an act would be done to.
func (r *statementReader) vague(f *frame) bool {
	return len(f.objects) == 0 && slices.ContainsFunc(f.acts, func(a string) bool { return !slices.Contains(r.unnamed, a) })
}

// option returns what choosing an option orders: what its label names, or, if it only agrees, what the question does.
func (r *answerReader) option(p engine.QuestionPart, i int) []engine.Statement {
	label := p.Options[i]
	if len(label) > maxLabel || strings.ContainsAny(label, "\n\r") {
		return nil
	}
	list := r.sentences(spaced(r.masker.Text(r.ownWords(label))))
	if len(list) != 1 {
		return nil
	}
	s := r.reader()
	agrees, always, said := s.chosen(list[0])
	if agrees && len(said) == 0 {
		said = r.question(p.Text)
	}
	if !agrees && !r.asksWhatToDo(p.Text) {
		said = slices.DeleteFunc(said, func(s engine.Statement) bool { return s.Kind != engine.Forbids })
	}
	acts := 0
	for k := range said {
		if said[k].Kind != engine.Forbids {
			acts++
		}
		said[k].Text = abstract.Clip(strings.TrimSpace(said[k].Text+" "+rawText(list[0])), maxSaid)
		if always && said[k].Kind == engine.Orders {
			said[k].Until = engine.UntilSession
		}
	}
	if acts > maxAskedActs {
		return nil
	}
	return said
}

// asksWhatToDo reports whether a question is about work: it has a word such as next, or names an act. A label that answers another one,
// such as what a button is to say, orders nothing.
func (r *answerReader) asksWhatToDo(text string) bool {
	s, phrases := r.reader(), r.set.OwnWords("prompt.what_next")
	for _, words := range r.sentences(spaced(r.ownWords(text))) {
		together := strings.ReplaceAll(rawText(words), " ", "")
		if slices.ContainsFunc(phrases, func(p string) bool { return unspaced(p) && strings.Contains(together, p) }) {
			return true
		}
		for i := range words {
			if begins(words[i:], phrases) > 0 {
				return true
			}
		}
		if slices.ContainsFunc(s.clauses(words), func(c clause) bool { return slices.ContainsFunc(c.tokens, isAct) }) {
			return true
		}
	}
	return false
}

// chosen reads a label: all of its clauses agree, order or forbid something, or it says nothing.
func (r *statementReader) chosen(words []promptWord) (agrees, always bool, said []engine.Statement) {
	if words[len(words)-1].stop == '?' {
		return false, false, nil
	}
	for _, c := range r.clauses(words) {
		c.tokens = slices.DeleteFunc(c.tokens, func(t token) bool { return t.in("advised") })
		switch only, yes, lasts := r.agreement(c); {
		case len(c.tokens) == 0:
		case only:
			agrees, always = agrees || yes, always || lasts
		case c.until != "" || c.tokens[0].in("conditions") || has(c.tokens, "blocks") || !r.forbids(c) && !r.named(c):
			return false, false, nil
		}
	}
	return agrees, always, r.list
}

// named reads an order that names what it is done to.
func (r *statementReader) named(c clause) bool {
	before := len(r.list)
	if !r.orders(c) {
		return false
	}
	return !slices.ContainsFunc(r.list[before:], func(s engine.Statement) bool {
		return s.Kind == engine.Orders && r.vague(&frame{acts: []string{s.Act}, objects: s.Objects})
	})
}

// agreement reports whether a clause has only words that agree, or that may stand around those; whether it agrees, and whether
// for the rest of the session.
func (r *statementReader) agreement(c clause) (only, agrees, always bool) {
	for _, t := range c.tokens {
		if !t.in("go", "go_weak", "polite", "starters", "always", "chosen_1", "chosen_2", "chosen_3", "chosen_4") || t.in("not", "never") {
			return false, false, false
		}
		agrees = agrees || t.in("go", "go_weak", "chosen_1", "chosen_2", "chosen_3", "chosen_4")
		always = always || t.in("always")
	}
	return c.until == "" && !c.colon, agrees, always
}

// written reads what a person wrote instead of choosing an option.
func (r *answerReader) written(p engine.QuestionPart) []engine.Statement {
	masked := r.masker.Text(r.typedWords(ends(p.Answer, maxPromptEnd)))
	goal := &engine.Goal{}
	r.statements(goal, masked, r.exists, false)
	said, agrees := goal.Statements, goal.Agrees
	choice, always := strings.CutSuffix(agrees, " always")
	if choice != "" { // the question says what begins
		said = slices.DeleteFunc(said, func(s engine.Statement) bool { return s.Kind == engine.Lifts && s.Act == "wait" })
	}
	for i := range p.Options {
		if choice == strconv.Itoa(i+1) {
			said = append(r.option(p, i), said...)
		}
	}
	if choice == engine.ChoiceYes {
		said = append(r.question(p.Text), said...)
	}
	for k := range said {
		if always && said[k].Kind == engine.Orders {
			said[k].Until = engine.UntilSession
		}
	}
	return said
}

// plan returns what approving a plan orders: what its lines name. The work that was to wait for it begins.
func (r *answerReader) plan(text string) []engine.Statement {
	s := r.reader()
	s.add(engine.Lifts, &frame{acts: []string{"wait"}}, "", false)
	for line := range strings.Lines(r.masker.Text(r.ownWords(ends(text, maxPromptEnd)))) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*•+0123456789.)[] ")
		list := r.sentences(spaced(line))
		if len(list) != 1 || len(line) > maxAskedText {
			continue
		}
		one := r.reader()
		if _, _, said := one.chosen(list[0]); len(said) > 0 && len(said) <= maxAskedActs {
			one.quote(0, rawText(list[0]))
			for _, o := range one.list {
				if o.Kind == engine.Orders && len(s.list) < maxStatements {
					s.list = append(s.list, o)
				}
			}
		}
	}
	return s.list
}

// agreesTo returns what a prompt agrees to: yes, or the number of an option, if it says nothing else but what it forbids.
func (r *statementReader) agreesTo(list [][]promptWord, handed bool) string {
	choice, all := "", false
	if handed || len(list) > 3 {
		return ""
	}
	for _, s := range list {
		if s[len(s)-1].stop == '?' {
			return ""
		}
		for _, c := range r.clauses(s) {
			one := &statementReader{lexicon: r.lexicon, exists: r.exists, whole: true}
			only, agrees, always := r.agreement(c)
			all = all || always
			switch {
			case !only && (choice == "" || !one.forbids(c) && !one.limits(c)):
				return ""
			case agrees:
				if n := r.number(c); n != "" || choice == "" {
					choice = cmp.Or(n, engine.ChoiceYes)
				}
			}
		}
	}
	if all && choice != "" {
		choice += " always"
	}
	return choice
}

// number returns the option that a clause chooses.
func (r *statementReader) number(c clause) string {
	for n := range 4 {
		if has(c.tokens, "chosen_"+strconv.Itoa(n+1)) {
			return strconv.Itoa(n + 1)
		}
	}
	return ""
}
