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
	for _, u := range units(spaced(words.ownWords(withoutComments(m.Text(text))))) {
		if len(d.list) < maxSentences {
			d.unit(u)
		}
	}
	return d.list
}

// withoutComments blanks the comments of a text in Markdown, and its front matter. The number of lines stays the same.
func withoutComments(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	var b strings.Builder
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if end := strings.Index(rest, "\n---\n"); end >= 0 {
			end += len("\n---\n")
			b.WriteString("\n" + blank(rest[:end]))
			text = rest[end:]
		}
	}
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if strings.HasSuffix(before, "`") { // it is written about
			b.WriteString("<!--")
			text = rest
			continue
		}
		comment, after, _ := strings.Cut(rest, "-->")
		b.WriteString(blank(comment))
		text = after
	}
}

// unit is a heading, an item of a list or a paragraph.
type unit struct {
	line    int
	text    string
	heading bool
	item    bool
	mark    string // what an item begins with instead of a word, such as a red cross
}

// units splits a text in Markdown. Lines of a paragraph, and those that continue an item, belong together.
func units(text string) []unit {
	var list []unit
	open := false // the last unit can continue
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		switch item, isItem := itemOf(bare); {
		case bare == "":
			open = false
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			list, open = append(list, unit{line: n, text: plainMarkdown(strings.Trim(bare, "# ")), heading: true}), false
		case isItem:
			list, open = append(list, unit{line: n, text: plainMarkdown(item), item: true}), true
		case open && startsInSymbol(bare) == "" && !ended(list[len(list)-1].text):
			if u := &list[len(list)-1]; len(u.text) < maxUnit {
				u.text += " " + plainMarkdown(bare)
			}
		default:
			list, open = append(list, unit{line: n, text: plainMarkdown(bare)}), true
		}
	}
	for i := range list {
		list[i].text = abstract.Clip(list[i].text, maxUnit)
		if mark := startsInSymbol(list[i].text); mark != "" {
			list[i].mark, list[i].text = mark, strings.TrimSpace(strings.TrimPrefix(list[i].text, mark))
		}
	}
	return list
}

// ended reports whether a line ends a sentence: the next one begins on the next line.
func ended(line string) bool {
	return line == "" || strings.ContainsAny(line[len(line)-1:], ".!?:;") || strings.HasSuffix(line, "。")
}

// itemOf returns the text of an item of a list.
func itemOf(line string) (string, bool) {
	for _, lead := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return rest, true
		}
	}
	number := strings.TrimLeft(line, "0123456789")
	if number != line && len(number) > 2 && (number[0] == '.' || number[0] == ')') && number[1] == ' ' {
		return number[2:], true
	}
	return "", false
}

// plainMarkdown leaves out the marks of bold and italic text. Code spans stay: they are names.
func plainMarkdown(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i > 0 {
			b.WriteByte('`')
		}
		if i%2 == 0 {
			part = strings.NewReplacer("**", "", "__", "").Replace(part)
		}
		b.WriteString(part)
	}
	return strings.TrimSpace(b.String())
}

// startsInSymbol returns the symbol that a line begins with, such as a red cross; empty: it begins with a word.
func startsInSymbol(s string) string {
	first, _, _ := strings.Cut(s, " ")
	letter := func(r rune) bool { return r != 0xfe0f && (r < 0x2190 || r > 0x1faff || r >= 0x3000 && r < 0x1f000) } // not how it looks
	if first == "" || len(first) == len(s) || strings.ContainsFunc(first, letter) {
		return ""
	}
	return first
}

// documentReader reads the units of a text in their order.
type documentReader struct {
	*vocabulary
	statements statementReader
	lead       string // what the items that follow are about: never, ask me before; empty: nothing
	heading    bool   // a heading said so, and not the line above
	list       []Sentence
}

// unit reads one unit. What only says never, or ask first, with a colon or as a heading, applies to the items below it.
func (d *documentReader) unit(u unit) {
	own := ""
	if slices.Contains(d.named("marks"), strings.TrimSuffix(u.mark, "\ufe0f")) {
		own = d.word("never")
	}
	switch {
	case u.heading || !u.item && u.mark == "" && strings.HasSuffix(u.text, ":"):
		d.lead, d.heading = d.leadOf(u.text), u.heading
		if d.lead != "" || u.heading {
			return
		}
	case !u.item && u.mark == "" && !d.heading:
		d.lead = ""
	case own == "":
		own = d.lead
	}
	d.statements.names, d.statements.here = nil, false
	for i, s := range d.sentences(u.text) {
		d.sentence(s, u.line, own, i == 0)
	}
}

func (d *documentReader) named(name string) []string { return d.set.Words("instructions." + name) }

func (d *documentReader) word(name string) string {
	if list := d.named(name); len(list) > 0 {
		return list[0]
	}
	return ""
}

// leadOf returns what a heading or a line with a colon says about the items below it.
func (d *documentReader) leadOf(text string) string {
	text = strings.ToLower(strings.Trim(text, ":.! "))
	for _, name := range []string{"never", "ask"} {
		if slices.Contains(d.named(name), text) {
			return d.word(name)
		}
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
	if list := d.commands(s); len(list) > 0 {
		r.list = list
		r.quote(0, raw)
	} else {
		r.sentence(s, raw)
		r.list = d.bounded(r.list, s)
	}
	tokens := r.tokens(s)
	if len(r.list) == 0 && !(has(tokens, "not", "never", "ask", "alone", "off") && hasAct(tokens)) {
		return
	}
	d.list = append(d.list, Sentence{Line: line, Text: abstract.Clip(raw, maxSaid), Statements: r.list})
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

// bounded limits what was read to what a file can say for all of a session. What applies to a part of the work only, such as
// "in tests", is left out. A sentence with more words than the prohibition
// itself, which can be a condition, and one that leaves open what it is about, wants a question. What forbids every change is
// about something else that the file describes.
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
		open := len(s.Objects) == 0 && slices.Contains(d.statements.referring, s.Act)
		switch {
		case len(s.Objects) == 0 && (slices.Contains(d.named("vague"), s.Act) || more && s.Until == "" && slices.Contains(d.named("open"), s.Act)):
			continue
		case s.Until == "" && (more || open):
			s.Until = engine.UntilAsked
		}
		kept = append(kept, s)
	}
	return kept
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

// commands reads: never run `git push --force`; use pnpm, not npm. What follows the commands can be a condition: then the
// person is asked.
func (d *documentReader) commands(s []promptWord) []engine.Statement {
	for i := range s {
		if t := (token{entry: d.statements.entries[s[i].low]}); t.entry == nil || !t.in("not", "never") || d.contracted(s, i) {
			continue
		}
		at, uses := i+1, false
		for at < len(s) && slices.Contains(d.named("uses"), s[at].low) {
			at, uses = at+1, true
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
	return used && w.low == "\x00" && len(w.text) <= MaxGoalName && first != "" &&
		!strings.ContainsFunc(first, func(r rune) bool { return !letterOrDigit(r) && r != '-' && r != '.' && r != '/' && r != '_' })
}
