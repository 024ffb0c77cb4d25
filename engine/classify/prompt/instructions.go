package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of a text for agents.
const (
	maxSentences = 400  // that forbid something, or seem to
	maxUnit      = 1000 // bytes of a paragraph or of an item that are read
	maxRows      = 1000 // rows of tables
	maxCells     = 32   // cells of a row
)

// Sentence is a sentence of an instruction file that forbids something, or seems to.
type Sentence struct {
	Line       int                // number of the line on which it begins, from 1
	Text       string             // masked
	Statements []engine.Statement // prohibitions that were read from it; none: it was not understood
}

// InstructionsOf reads what a text for agents in Markdown forbids, such as CLAUDE.md. It permits nothing. What is fenced,
// quoted, in a table or a comment is left out. exists reports whether a bare word names something in the workspace; nil:
// nothing does.
func InstructionsOf(set *rows.Set, m *mask.Masker, text string, exists func(string) bool) []Sentence {
	words := newVocabulary(set)
	d := documentReader{vocabulary: words}
	d.statements = statementReader{lexicon: lexiconOf(set, true), exists: exists, only: true, theirs: true}
	d.restrictions = newRestrictionReader(set, words, exists)
	for _, u := range units(spaced(words.ownWords(words.tables(withoutComments(m.Text(text)))))) {
		if len(d.list) < maxSentences {
			d.unit(u)
		}
	}
	return d.list
}

// documentReader reads the units of a text in their order.
type documentReader struct {
	*vocabulary
	statements   statementReader
	restrictions *restrictionReader
	lead         string // what the items that follow are about: never, ask me before; empty: nothing
	heading      bool   // a heading said so, and not the line above
	indent       int    // an item said so: how far the items are indented at least
	outer        string // what the items around it are about
	list         []Sentence
}

// unit reads one unit. What only says never, or ask first, with a colon or as a heading, applies to the items below it.
func (d *documentReader) unit(u unit) {
	own := ""
	if d.indent > 0 && u.indent < d.indent { // the list below an item has ended
		d.lead, d.indent = d.outer, 0
	}
	mark := strings.TrimSuffix(u.mark, "\ufe0f")
	switch {
	case slices.Contains(d.named("marks"), mark):
		own = d.word("never")
	case slices.Contains(d.named("ask_marks"), mark):
		own = d.word("ask")
	}
	switch {
	case u.heading || u.mark == "" && strings.HasSuffix(u.text, ":"):
		lead := d.leadOf(u.text)
		switch {
		case u.item && lead != "":
			d.outer, d.lead, d.indent = d.lead, lead, u.indent+1
			return
		case u.heading || lead != "" || !d.heading && !u.item:
			d.lead, d.heading, d.indent = lead, u.heading, 0
		}
		if d.lead != "" || u.heading {
			return
		}
	case !u.item && u.mark == "" && !d.heading:
		d.lead = ""
	case own == "":
		own = d.lead
	}
	if slices.Contains(d.named("fine_marks"), mark) {
		own = ""
	}
	d.statements.names, d.statements.here, d.restrictions.named = nil, false, nil
	list := joined(d.sentences(u.text), func(w promptWord) bool {
		return token{entry: d.restrictions.entries[w.low]}.in("restrict.asks", "ask", "restrict.approval")
	})
	for i, s := range list {
		d.sentence(s, d.lineOf(u, i), own, i == 0)
	}
}

// joined puts a question and the sentence after it together, where that says who is to be asked: need a new package? Ask first.
func joined(list [][]promptWord, asks func(promptWord) bool) [][]promptWord {
	for i := 0; i+1 < len(list); i++ {
		if last := &list[i][len(list[i])-1]; last.stop == '?' && slices.ContainsFunc(list[i+1], asks) {
			last.stop = ','
			list[i] = append(list[i], list[i+1]...)
			list = slices.Delete(list, i+1, i+2)
		}
	}
	return list
}

// lineOf returns the line on which a sentence of a unit begins.
func (d *documentReader) lineOf(u unit, sentence int) int {
	line := u.line
	for i, at := range u.breaks {
		if len(d.sentences(u.text[:min(at, len(u.text))])) <= sentence {
			line = u.line + i + 1
		}
	}
	return line
}

func (d *documentReader) named(name string) []string { return d.set.Words("instructions." + name) }

func (d *documentReader) word(name string) string {
	if list := d.named(name); len(list) > 0 {
		return list[0]
	}
	return ""
}

// leadOf returns what a heading or a line with a colon says about the items below it: that they are forbidden, or to be asked about. It has
// no other words than those, and some that add nothing.
func (d *documentReader) leadOf(text string) string {
	text = strings.ToLower(strings.Trim(text, ":.! "))
	for _, name := range []string{"never", "ask"} {
		if slices.Contains(d.named(name), text) {
			return d.word(name)
		}
	}
	var words []promptWord
	for _, w := range d.promptWords(spaced(text)) {
		if w.stop = 0; w.low != "" && startsInSymbol(w.text+" ") == "" && !slices.Contains(d.named("headings"), w.low) {
			words = append(words, w)
		}
	}
	t := d.restrictions.tokens(words)
	other := func(w token) bool {
		return !w.in("not", "never", "ask", "asking", "before", "only", "fillers", "polite", "pronouns", "make", "may", "me", "all",
			"question_words", "inverted", "restrict.closed", "restrict.approval", "restrict.needs", "restrict.asks", "restrict.first",
			"restrict.others", "restrict.owned", "restrict.performs", "restrict.runs", "restrict.edits", "restrict.is") &&
			!w.part("change", partOrders, partVerbs)
	}
	switch {
	case len(t) == 0 || slices.ContainsFunc(t, other):
		return ""
	case has(t, "restrict.asks", "ask") && has(t, "restrict.first", "before"), has(t, "restrict.approval", "asking") && !has(t, "not", "no"):
		return d.word("ask")
	case has(t, "not", "never", "restrict.closed"), has(t, "restrict.others") && has(t, "only", "restrict.owned"):
		return d.word("never")
	}
	return ""
}

// sentence reads one sentence, and remembers it if it forbids something or seems to.
func (d *documentReader) sentence(s []promptWord, line int, lead string, first bool) {
	raw := rawText(d.prohibition(s))
	s = d.personal(d.addressed(s))
	if lead != "" && first {
		s = append(d.promptWords(lead), s...)
	}
	r := &d.statements
	r.list, r.said = nil, 0
	if r.list = d.commands(s); len(r.list) == 0 {
		r.sentence(d.withoutContracted(s), raw)
		r.list = d.bounded(r.list, s)
	}
	r.list = merged(r.list, d.restrictions.read(d.withoutContracted(s), lead != "" && first))
	r.quote(0, raw)
	tokens := r.tokens(s)
	if len(r.list) == 0 && !(has(tokens, "not", "never", "ask", "alone", "off") && hasAct(tokens)) {
		return
	}
	d.list = append(d.list, Sentence{Line: line, Text: abstract.Clip(raw, maxSaid), Statements: r.list})
}

// merged adds to what strict reading found what the other one did: all of it if that found nothing or only a part of the commands, else
// commands and paths for which it found nothing.
func merged(strict, more []engine.Statement) []engine.Statement {
	command := func(s engine.Statement) bool { return s.Act == "command" }
	switch {
	case len(strict) == 0:
		return more
	case len(strict) == 1 && len(more) == 1 && command(strict[0]) && command(more[0]) &&
		(strict[0].Until == engine.UntilAsked || len(more[0].Objects) > len(strict[0].Objects)):
		more[0].Until = strict[0].Until
		return more
	}
	for _, m := range more {
		said := slices.ContainsFunc(strict, func(s engine.Statement) bool { return s.Act == m.Act || s.Act == "only_in" })
		if len(m.Objects) > 0 && !said && (!command(m) || strings.Contains(m.Objects[0], " ")) {
			strict = append(strict, m)
		}
	}
	return strict
}

// addressed leaves out who is addressed at the beginning: "agents must never", "Claude should not".
func (d *documentReader) addressed(s []promptWord) []promptWord {
	for n := min(3, len(s)-1); n > 0; n-- {
		var lows []string
		for _, w := range s[:n] {
			lows = append(lows, w.low)
		}
		if slices.Contains(d.named("addressed"), strings.Join(lows, " ")) {
			return s[n:]
		}
	}
	return s
}

// bounded limits what was read to what a file can say for all of a session. What applies to a part of the work only, such as "in tests",
// is left out. A sentence with more words than the prohibition itself, which can be a condition, and one that leaves open what it is about,
// wants a question. What forbids every change is about something else that the file describes.
func (d *documentReader) bounded(list []engine.Statement, sentence []promptWord) []engine.Statement {
	var objects []string
	for _, s := range list {
		objects = append(objects, s.Objects...)
	}
	low := " " + strings.ToLower(rawText(sentence)) + " "
	if len(objects) == 0 && slices.ContainsFunc(d.named("narrows"), func(w string) bool { return strings.Contains(low, " "+w) }) {
		return nil
	}
	more := slices.ContainsFunc(d.statements.tokens(d.prohibition(sentence)), func(t token) bool {
		return t.kind != name && !slices.Contains(objects, t.text) &&
			!t.anyPart(partOrders, partVerbs, partNouns, partBare, partWith, partThings, partMakes, partObjects) &&
			!t.in("not", "never", "pronouns", "all", "polite", "towards", "me", "self", "ask", "before", "asking", "only", "outside", "off",
				"alone", "leave", "limit", "will", "may") &&
			!slices.Contains(d.named("plain"), strings.ToLower(t.text))
	})
	var kept []engine.Statement
	for _, s := range list {
		named := len(s.Objects) > 0
		if s = d.meant(s, sentence); s.Act == "" || named && len(s.Objects) == 0 && (s.Act == "change" || s.Act == "delete") {
			continue
		}
		open := len(s.Objects) == 0 && slices.Contains(d.statements.referring, s.Act)
		switch {
		case len(s.Objects) == 0 && slices.Contains(d.named("vague"), s.Act),
			len(s.Objects) == 0 && more && s.Until == "" && slices.Contains(d.named("open"), s.Act):
			continue
		case s.Until == "" && (more || open):
			s.Until = engine.UntilAsked
		}
		kept = append(kept, s)
	}
	return kept
}

// meant makes of what was read what it means in a file that describes a project; without an act: nothing.
func (d *documentReader) meant(s engine.Statement, sentence []promptWord) engine.Statement {
	every := func(is func(string) bool) bool {
		return !slices.ContainsFunc(s.Objects, func(o string) bool { return !is(o) })
	}
	program := func(o string) bool { // in a code span: a script is also the name of one
		_, known, _ := d.set.Program(o)
		return known && slices.ContainsFunc(sentence, func(w promptWord) bool { return w.code && w.text == o })
	}
	host := func(o string) bool { return strings.Contains(o, ".") }
	option := func(o string) bool { return strings.HasPrefix(o, "-") }
	switch {
	case s.Act == "change" && len(s.Objects) > 0 && every(option): // --no-verify is off limits
		s.Act = "command"
	case s.Act == "change", s.Act == "delete":
		s.Objects = d.paths(s.Objects)
	case s.Act == "install" && d.restrictions.depends(sentence),
		s.Act == "only_in" && !every(d.restrictions.pathOf) && !has(d.statements.tokens(sentence), "kind_nouns"), // outside a function
		s.Act == "network" && len(s.Objects) > 0 && !every(host),                                                 // never fetch in useEffect
		s.Act == "only_delete", s.Act == "wait" && len(s.Objects) > 0: // 1 nothing to do
		s.Act = ""
	case s.Act == "install":
		if s = d.installs(s); s.Act == "install" && len(s.Objects) == 0 && d.restrictions.adds(sentence) {
			s.Act = "add_package"
		}
	case s.Act == "run" && len(s.Objects) > 0 && every(program):
		s.Act = "command"
	}
	return s
}

// paths leaves out of what is not to be changed the names of branches and stages, and verbs. A suffix stands for all files with it.
func (d *documentReader) paths(objects []string) []string {
	var list []string
	for _, o := range objects {
		exists := d.statements.exists != nil && d.statements.exists(o)
		t := token{entry: d.statements.entries[strings.ToLower(o)], text: o}
		if !exists && (t.in("targets") || endsIn(t, d.statements.doingEnds)) {
			continue
		}
		if strings.HasPrefix(o, ".") && !strings.ContainsAny(o, "/*") && !exists && !strings.HasPrefix(o, ".env") {
			o = "*" + o
		}
		list = append(list, o)
	}
	return list
}

// installs makes of "installing with pip" the command, and leaves out the file in which a package is named.
func (d *documentReader) installs(s engine.Statement) engine.Statement {
	programs := d.named("programs")
	if len(s.Objects) > 0 && !slices.ContainsFunc(s.Objects, func(o string) bool { return !slices.Contains(programs, o) }) {
		s.Act = "command"
		return s
	}
	s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), d.restrictions.pathOf)
	if len(s.Objects) == 0 {
		s.Objects = nil
	}
	return s
}

// prohibition returns a sentence up to the end of the clause that forbids something.
func (d *documentReader) prohibition(s []promptWord) []promptWord {
	said := false
	for i, w := range s {
		t := token{entry: d.statements.entries[w.low]}
		if said = said || t.entry != nil && t.in("not", "never", "ask"); said && w.stop != 0 && !d.statements.lists(s, i) {
			return s[:i+1]
		}
	}
	return s
}

// personal replaces words for the person, such as "the user", with "me": they wrote the file.
func (d *documentReader) personal(s []promptWord) []promptWord {
	var list []promptWord
	for i := 0; i < len(s); i++ {
		w := s[i]
		if i+1 < len(s) && w.stop == 0 && slices.Contains(d.named("person_words"), w.low+" "+s[i+1].low) {
			i++
			w = promptWord{text: "me", low: "me", stop: s[i].stop}
		} else if slices.Contains(d.named("person_words"), w.low) {
			w.text, w.low = "me", "me"
		}
		list = append(list, w)
	}
	return list
}

// withoutContracted leaves out negations that mean "in the": before the name of a program or of something else, as in "deploy no Fly.io".
func (d *documentReader) withoutContracted(s []promptWord) []promptWord {
	var list []promptWord
	for i, w := range s {
		if i+1 < len(s) && w.stop == 0 && d.contracted(s, i) {
			next := s[i+1]
			named := next.text != "" && strings.ToLower(next.text[:1]) != next.text[:1] && d.statements.entries[next.low] == nil
			if next.name || named || slices.Contains(d.named("programs"), next.low) {
				continue
			}
		}
		list = append(list, w)
	}
	return list
}

// commands reads: never run `git push --force`; use pnpm, not npm. What follows the commands can be a condition: then the
// person is asked.
func (d *documentReader) commands(s []promptWord) []engine.Statement {
	for i := range s {
		if t := (token{entry: d.statements.entries[s[i].low]}); t.entry == nil || !t.in("not", "never") || d.contracted(s, i) {
			continue
		}
		at, uses := i+1, i == 0 && s[i].low == d.word("never")
		for at < len(s) && (slices.Contains(d.named("uses"), s[at].low) || slices.Contains(d.named("of"), s[at].low)) {
			uses = uses || slices.Contains(d.named("uses"), s[at].low) || s[i].low != "no"
			at++
		}
		var objects []string
		for ; at < len(s) && len(objects) < maxObjects; at++ {
			if len(objects) > 0 && slices.Contains(d.named("or"), s[at].low) {
				continue
			}
			if command, n := d.spokenCommand(s[at:]); n > 0 && d.beginsClause(s, i) {
				objects, at = append(objects, command), at+n-1
				continue
			}
			if !d.command(s[at], uses) {
				break
			}
			name := strings.Join(strings.Fields(s[at].text), " ")
			if last := len(objects) - 1; last >= 0 && s[at-1].stop == 0 && d.wraps(s[at-1]) {
				objects[last] += " " + name // sudo docker
				continue
			}
			objects = append(objects, name)
		}
		if len(objects) == 0 {
			continue
		}
		said := engine.Statement{Kind: engine.Forbids, Act: "command", Objects: objects, Never: s[i].low == "never"}
		if at < len(s) && s[at-1].stop == 0 {
			said.Until = engine.UntilAsked
		}
		return []engine.Statement{said}
	}
	return nil
}

// wraps reports whether a word is a program that runs another one with more rights.
func (d *documentReader) wraps(w promptWord) bool {
	return (token{entry: d.statements.entries[w.low]}).part("privilege", partNouns)
}

// beginsClause reports whether a word is the first of its clause, after words such as please: "it does not rebase cleanly" tells something.
func (d *documentReader) beginsClause(s []promptWord, i int) bool {
	for ; i > 0 && s[i-1].stop == 0; i-- {
		if t := (token{entry: d.statements.entries[s[i-1].low]}); !t.in("starters", "polite", "turns", "conjunctions", "joiners", "make") {
			return false
		}
	}
	return true
}

// spokenCommand returns the command that the first words name without a code span, and how many words that are: git stash, or only
// stash; 0: none.
func (d *documentReader) spokenCommand(s []promptWord) (command string, n int) {
	for _, said := range d.named("commands") {
		words, means, other := strings.Cut(said, "=")
		fields := strings.Fields(words)
		if len(fields) <= n || len(fields) > len(s) {
			continue
		}
		if !slices.EqualFunc(fields, s[:len(fields)], func(w string, p promptWord) bool { return w == p.low }) ||
			slices.ContainsFunc(s[:len(fields)-1], func(p promptWord) bool { return p.stop != 0 }) {
			continue
		}
		if command, n = words, len(fields); other {
			command = means
		}
	}
	return command, n
}

// contracted tells "MySQL no docker", which is Portuguese for "MySQL in docker", from "use podman, no docker".
func (d *documentReader) contracted(s []promptWord, i int) bool {
	return i > 0 && s[i-1].stop == 0 && slices.Contains(d.named("contracted"), s[i].low) &&
		!slices.Contains(d.named("before_negation"), s[i-1].low)
}

// command reports whether a word is a command: several words in a code span, after a verb such as run, or the name of a
// program that does not occur as a word in a text.
func (d *documentReader) command(w promptWord, used bool) bool {
	first, rest, _ := strings.Cut(w.text, " ")
	program := slices.Contains(d.named("programs"), strings.ToLower(first))
	if rest == "" {
		return program
	}
	return used && w.low == "\x00" && !slices.Contains(d.named("keywords"), first) && len(w.text) <= MaxGoalName && first != "" &&
		!strings.ContainsFunc(first, func(r rune) bool { return !letterOrDigit(r) && r != '-' && r != '.' && r != '/' && r != '_' })
}
