package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of the parts of a prompt that are read and kept. Of a longer prompt, only
// the beginning and the end are read: people write their request there, and paste text in between.
const (
	maxPromptEnd = 64 << 10 // bytes, of either end
	MaxGoalNames = 24
	maxQuoted    = 400 // bytes between quotes
)

// GoalOf returns the goal of a person's prompt. Only what they wrote themselves
// counts: what is fenced, quoted, marked up or looks like a log was pasted, and may be
// someone else's text. exists reports whether a bare word names something in the workspace; nil: nothing is there.
func GoalOf(set *rows.Set, m *mask.Masker, prompt string, k *marks.Marker, workspace string, exists func(string) bool) *engine.Goal {
	words := newVocabulary(set)
	own := words.typedWords(ends(prompt, maxPromptEnd))
	masked := m.Text(own)
	g := &engine.Goal{Marks: k.OfPrompt(own), Words: WordHashes([]string{masked}, MaxGoalWords)}
	goals := goalReader{vocabulary: words, goal: g, intents: map[engine.Intent]bool{}}
	for _, s := range words.sentences(masked) {
		goals.sentence(s)
	}
	look := goals.done()
	words.statements(g, masked, exists, look)
	typed, _ := words.ownStatements(spaced(masked))
	g.Resumes = newWorkReader(set, exists).orders(words.sentences(typed))
	g.Mentions = words.mentions(masked, workspace, g.Intents)
	return g
}

// statements adds what a prompt forbids, orders, permits and lifts, what it agrees to, and what was not understood of it.
func (g *vocabulary) statements(goal *engine.Goal, masked string, exists func(string) bool, look bool) {
	r := statementReader{lexicon: lexiconOf(g.set, true), exists: exists}
	typed, handed := g.ownStatements(g.banned(r.lexicon, spaced(masked)))
	document := documentReader{vocabulary: g, statements: r}
	read := func(text string, onlyForbids bool) {
		list := g.sentences(text)
		r.only, r.theirs, r.alone = onlyForbids, onlyForbids, len(list) == 1
		for i, s := range list {
			r.more = i+1 < len(list) && r.addsTo(list[i+1])
			r.open = i+1 < len(list) && slices.Contains(r.wonders, list[i+1][0].low) && list[i+1][len(list[i+1])-1].stop == '?'
			before := len(r.list)
			for _, c := range document.commands(s) {
				if strings.Contains(c.Objects[0], " ") { // else it is a word of the table
					r.list = append(r.list, c)
				}
			}
			r.quote(before, rawText(s))
			if r.sentence(s, rawText(s)); !onlyForbids && len(r.list) == before && len(goal.Unread) < maxUnread && r.seems(s) {
				goal.Unread = append(goal.Unread, abstract.Clip(strings.Join(strings.Fields(rawText(s)), " "), maxSaid))
			}
			if slices.ContainsFunc(s, func(w promptWord) bool { return g.is(w, "planners") }) {
				for i := range r.list[before:] { // a plan of such a tool is made of changed files
					if said := &r.list[before+i]; said.Kind == engine.Forbids && said.Act == "wait" {
						said.Act = "deploy"
					}
				}
			}
		}
		if !onlyForbids {
			goal.Agrees = r.agreesTo(list, strings.TrimSpace(handed) != "")
		}
	}
	read(typed, false)
	if look && !slices.ContainsFunc(r.list, func(s engine.Statement) bool {
		return slices.Contains([]string{"change", "wait", "database"}, s.Act)
	}) {
		r.list = append(r.list, engine.Statement{Kind: engine.Forbids, Act: "change"})
	}
	if handed != "" {
		read(handed, true)
	}
	if g.set.Adds(rows.WordsFolder) {
		r.lexicon = lexiconOf(g.set, false)
		read(typed+handed, true)
	}
	for _, s := range g.requests(typed) {
		if s.Act == "draft" { // create the release v1, draft only
			r.list = slices.DeleteFunc(r.list, func(o engine.Statement) bool {
				return o.Kind == engine.Orders && o.Act == "release" && o.Text == s.Text
			})
		}
		if len(r.list) < maxStatements {
			r.list = append(r.list, s)
		}
	}
	goal.Statements = r.list
}

// banned writes lists below a line that forbids as sentences: do not: - commit - push; leave alone: - src/a.go - data/.
func (g *vocabulary) banned(l *lexicon, text string) string {
	lines := slices.Collect(strings.Lines(text))
	var out []string
	for i := 0; i < len(lines); i++ {
		first := i + 1
		if first+1 < len(lines) && strings.TrimSpace(lines[first]) == "" {
			first++
		}
		var items []string
		for first+len(items) < len(lines) {
			item, listed := listItem(lines[first+len(items)])
			if !listed {
				break
			}
			items = append(items, item)
		}
		_, itself := listItem(lines[i])
		if len(items) == 0 || itself {
			out = append(out, lines[i])
			continue
		}
		head, colon := strings.CutSuffix(strings.Trim(strings.TrimSpace(lines[i]), "*_# "), ":")
		said := l.tokens(g.promptWords(head))
		switch {
		case l.bans(said):
			for _, item := range items {
				out = append(out, head+" "+item+"\n")
			}
		case colon && has(said, "not", "never", "leave", "limit", "only", "off") && !slices.ContainsFunc(items, func(s string) bool { return !g.onlyName(s) }):
			out = append(out, head+" "+strings.Join(items, ", ")+"\n")
		default:
			out = append(out, lines[i:first+len(items)]...)
		}
		i = first + len(items) - 1
	}
	return strings.Join(out, "")
}

// onlyName reports whether an item of a list is a path or the name of a file, and nothing else.
func (g *vocabulary) onlyName(item string) bool {
	words := g.promptWords(item)
	return len(words) == 1 && words[0].name
}

// listItem returns what follows the mark of a list's item: - push, 2. push.
func listItem(line string) (string, bool) {
	bare := strings.TrimSpace(line)
	digits := strings.TrimLeft(bare, "0123456789")
	for _, mark := range []string{"- ", "* ", "• ", "+ "} {
		if item, ok := strings.CutPrefix(bare, mark); ok {
			return strings.TrimSpace(item), true
		}
	}
	if item, ok := strings.CutPrefix(digits, ". "); ok && digits != bare {
		return strings.TrimSpace(item), true
	}
	return "", false
}

// rawText is the text of a sentence.
func rawText(s []promptWord) string {
	var b strings.Builder
	for i, w := range s {
		if i > 0 && w.text != "" {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		if w.stop != 0 {
			b.WriteByte(w.stop)
		}
	}
	return b.String()
}

// ownWords leaves out of a text what was pasted.
func (g *vocabulary) ownWords(text string) string { return strings.Join(g.ownLines(text, false), "") }

// typedWords does the same for what a person wrote. Between two texts in the same tag, or before an end of the tag that ends nothing, what
// looks like their words may be a part of what they pasted, with a false end of it: such a text is announced.
func (g *vocabulary) typedWords(prompt string) string {
	return strings.Join(g.ownLines(prompt, true), "")
}

// announced is a heading: what follows it was handed over.
const announced = "# \u2026\n"

// ownLines returns the lines of a text, with empty ones for what was pasted.
func (g *vocabulary) ownLines(text string, announce bool) []string {
	var own []string
	fence, tag := "", ""
	closed := map[string]int{} // where the text after a tag begins in own
	closes := func(name, bare string) bool {
		if !strings.Contains(bare, "</"+name) {
			return false
		}
		closed[name] = len(own) + 1
		return true
	}
	pasted := func(name string) {
		if from, again := closed[name]; announce && again && strings.TrimSpace(strings.Join(own[from:], "")) != "" {
			own[from] = announced + own[from]
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case tag != "":
			if closes(tag, bare) {
				tag = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			if fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]; len(bare) > 2*len(fence) && strings.HasSuffix(bare, fence) {
				fence = "" // opened and closed on one line
			}
		case openingTag(bare) != "":
			tag = openingTag(bare)
			if pasted(tag); closes(tag, bare) {
				tag = ""
			}
		case strings.HasPrefix(bare, "</") && strings.IndexByte(bare, '>') == len(bare)-1:
			pasted(bare[2 : len(bare)-1])
		case !g.pasted(line, bare):
			own = append(own, line)
			continue
		}
		own = append(own, "\n") // the text before and after an omission does not belong together
	}
	return own
}

// openingTag returns the name of the tag with which a line begins.
func openingTag(line string) string {
	if !strings.HasPrefix(line, "<") {
		return ""
	}
	end := mask.Run(line, 1, min(len(line), maxTag), mask.TokenChar)
	if end == 1 || end >= len(line) || line[end] != '>' && line[end] != ' ' || !strings.Contains(line, ">") {
		return ""
	}
	return line[1:end]
}

// pasted reports whether a line looks like a quotation, a log, a diff or code.
func (g *vocabulary) pasted(line, bare string) bool {
	if bare == "" {
		return false
	}
	for _, lead := range []string{">", "|", "$ ", "% ", "+++ ", "--- ", "@@ ", "diff --git", "Traceback", "File \"", "at ", "From:", "To:",
		"Subject:", "Date:", "E   ", "#!", "//", "/*", "{", "}"} {
		if strings.HasPrefix(bare, lead) && (lead != "at " || strings.Contains(bare, "(") || strings.Contains(bare, ".java:")) &&
			(lead != "--- " || len(bare) > 4) {
			return true
		}
	}
	if strings.HasPrefix(line, "    ") && strings.ContainsAny(bare, "{}();=<>") ||
		strings.HasPrefix(line, "\t") && strings.ContainsAny(bare, "{}();=<>") {
		return true
	}
	return g.logLine(bare)
}

// logLine reports whether a line begins with a time or a level, as logs do.
func (g *vocabulary) logLine(s string) bool {
	s = strings.TrimLeft(s, "[(")
	word, _, _ := strings.Cut(s, " ")
	level := strings.Trim(word, "[]():")
	if g.has("log_levels", level) && len(s) > len(word) &&
		(word != level || strings.HasPrefix(s, level+" ") && level != "NOTICE" && level != "WARNING") {
		return true
	}
	return mask.Digits(word) >= 4 && strings.Trim(word, "0123456789-:./TZ,]+") == "" && strings.ContainsAny(word, "-:/") && len(word) >= 8
}

// sentences splits a string at ends of lines and at marks after which there is
// space, and each into words.
func (g *vocabulary) sentences(text string) [][]promptWord {
	var all [][]promptWord
	for line := range strings.Lines(text) {
		var s []promptWord
		for _, w := range g.promptWords(strings.TrimRight(line, "\n")) {
			s = append(s, w)
			if strings.IndexByte(".!?", w.stop) >= 0 {
				all, s = append(all, s), nil
			}
		}
		if len(s) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// promptWords reads the words of a line. What is in quotes is one word: an identifier
// if it contains no space, else a quotation, which is ignored.
func (g *vocabulary) promptWords(line string) []promptWord {
	var list []promptWord
	for i := 0; i < len(line); {
		if line[i] <= ' ' {
			i++
			continue
		}
		if open, closing := quoteAt(line, i); closing != "" {
			if j := strings.Index(line[i+open:min(len(line), i+open+maxQuoted)], closing); j > 0 {
				list = append(list, quotedWord(line[i+open:i+open+j]))
				list[len(list)-1].code = closing == "`"
				i += open + j + len(closing)
				i = takeStop(line, i, &list[len(list)-1])
				continue
			}
		}
		end := i
		for end < len(line) && line[end] > ' ' {
			end++
		}
		if comma := listComma(line[i:end]); comma > 0 {
			end = i + comma + 1 // commit,push
		}
		word := line[i:end]
		if (word == "+" || word == "&") && len(list) > 0 { // commit + push; at the beginning of a line, + marks a change
			word = "and"
		}
		if w := g.plainWord(word); w.low != "" || w.stop != 0 {
			list = append(list, w)
		}
		i = end
	}
	return list
}

// listComma returns where a comma stands between two words without a space, as in commit,push; 0: nowhere.
func listComma(s string) int {
	at := strings.IndexByte(s, ',')
	other := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(",-'’.!?;:", r) }
	if at <= 0 || at+1 == len(s) || strings.ContainsFunc(s, other) {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at+1:])
	if !unicode.IsLetter(before) || !unicode.IsLetter(after) || strings.ContainsAny(s[:at], ".:") {
		return 0
	}
	return at
}

// quoteAt returns the length of an opening quote and what closes it.
func quoteAt(line string, i int) (int, string) {
	for _, q := range [][2]string{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"„", "“"}, {"「", "」"}, {"『", "』"}, {"«", "»"}, {"‘", "’"}, {"'", "'"}} {
		if strings.HasPrefix(line[i:], q[0]) && (q[0] != "'" || i == 0 || line[i-1] <= ' ' || line[i-1] == '(') {
			return len(q[0]), q[1]
		}
	}
	return 0, ""
}

// quotedLow is the lower case of what is quoted: no word of a sentence.
const quotedLow = "\x00"

func quotedWord(s string) promptWord {
	trimmed := strings.TrimSpace(s)
	w := promptWord{text: trimmed, low: quotedLow}
	w.name = trimmed != "" && len(trimmed) <= MaxGoalName && (!strings.ContainsAny(trimmed, " \t") || spacedPath(trimmed)) &&
		!strings.Contains(trimmed, "://") && !marks.HostName(mask.Lower(trimmed)) && !strings.Contains(trimmed, mask.Redacted) &&
		strings.ContainsFunc(trimmed, letterOrDigit)
	return w
}

// spacedPath distinguishes a path with spaces from a sentence that contains a path.
func spacedPath(s string) bool {
	slash := strings.IndexByte(s, '/')
	return slash >= 0 && !strings.Contains(s[:slash], " ") && marks.FileName(s)
}

func letterOrDigit(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
}

// takeStop reads the punctuation after a quoted word.
func takeStop(line string, i int, w *promptWord) int {
	for i < len(line) && strings.IndexByte(",;:.!?)'s", line[i]) >= 0 {
		if line[i] != ')' && line[i] != '\'' && line[i] != 's' {
			w.stop = line[i]
		}
		i++
	}
	return i
}

func (g *vocabulary) plainWord(s string) promptWord {
	s = strings.ReplaceAll(s, "’", "'")
	if strings.HasPrefix(s, "(") && strings.Trim(s, "()!?.") == "" {
		return promptWord{} // don't (!) push
	}
	if word := strings.Trim(s, "_"); len(word) < len(s) && (g.has("not", mask.Lower(word)) || g.has("never", mask.Lower(word))) {
		s = word // _never_
	}
	core := strings.TrimRight(s, ",;:.!?)]}*\"'`…—–")
	w := promptWord{}
	for _, c := range []byte(s[len(core):]) {
		if strings.IndexByte(",;:.!?", c) >= 0 {
			w.stop = c
		}
	}
	if strings.HasPrefix(s, "—") || strings.HasPrefix(s, "–") || slices.Contains([]string{"-", "--", "→", "->", "=>"}, s) {
		return promptWord{stop: ','}
	}
	core = strings.TrimLeft(core, "([{*\"'`¿¡")
	w.text, w.low = core, strings.ToLower(core)
	w.name = g.pathName(core)
	return w
}

// pathName reports whether a word is a path or a file's name rather than an address, a
// fraction or a pair of words.
func (g *vocabulary) pathName(s string) bool {
	if len(s) < 2 || len(s) > MaxGoalName || strings.Contains(s, "://") || strings.ContainsAny(s, "@=<>|;,(){}\"'`$%&!?") ||
		strings.Contains(s, mask.Redacted) {
		return false
	}
	slash := strings.ContainsAny(s, `/\`)
	base := s[strings.LastIndexAny(s, `/\`)+1:]
	switch {
	case g.has("plain_file_names", mask.Lower(s)):
		return s != strings.ToLower(s) || strings.HasPrefix(s, ".") || slices.Contains([]string{"makefile", "dockerfile"}, s)
	case marks.FileName(base) && mask.Lower(s) != "node.js" && !g.has("dotted_words", mask.Lower(s)):
		stem := strings.TrimSuffix(base, base[strings.LastIndexByte(base, '.'):])
		return stem != "" || slash || strings.HasPrefix(base, ".env")
	case !slash:
		return false
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), len(s) > 3 && s[1] == ':' && s[2] == '\\':
		return strings.ContainsFunc(s, letterOrDigit) && strings.Count(s, "/")+strings.Count(s, `\`) < len(s)/2+1
	}
	return g.relativePath(s)
}

// relativePath distinguishes src/cart and lib/ from and/or, 24/7 and client/server.
func (g *vocabulary) relativePath(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	first := strings.Split(s, "/")[0]
	if marks.HostName(mask.Lower(first)) || len(parts) == 0 {
		return false
	}
	letters := false
	for _, p := range parts {
		letters = letters || strings.Trim(p, "0123456789.-") != ""
	}
	if !letters || g.has("slashed_words", mask.Lower(s)) {
		return false
	}
	return len(s) > 3 && (len(parts) > 1 || strings.HasSuffix(s, "/")) && !strings.HasPrefix(s, "-") &&
		min(len(parts[0]), len(parts[len(parts)-1])) > 1
}

// goalReader collects what the sentences of a prompt say.
type goalReader struct {
	*vocabulary
	goal    *engine.Goal
	intents map[engine.Intent]bool
	look    bool // the prompt asks only to look
	maybe   bool // the sentence is conditional
}

func (g *goalReader) sentence(s []promptWord) {
	for _, w := range s {
		if w.name {
			g.addName(w.text)
		}
	}
	g.maybe = false
	question := s[len(s)-1].stop == '?'
	for _, clause := range g.clauses(s) {
		g.clause(clause[:min(len(clause), maxClause)], question)
	}
}

func (g *goalReader) addName(name string) {
	if len(g.goal.Names) < MaxGoalNames && !slices.Contains(g.goal.Names, name) {
		g.goal.Names = append(g.goal.Names, name)
	}
}

// done closes a prompt. It reports whether the prompt only asks to look.
func (g *goalReader) done() bool {
	work := false
	for i := range g.intents {
		g.goal.Intents = append(g.goal.Intents, i)
		work = work || i != engine.IntentRead && i != engine.IntentExplain
	}
	slices.Sort(g.goal.Intents)
	return g.look && !work
}

// clauses splits a sentence at ; and :, at but, and at a comma unless a list of names
// continues after it.
func (g *vocabulary) clauses(s []promptWord) [][]promptWord {
	var all [][]promptWord
	start := 0
	cut := func(end, next int) {
		if end > start {
			all = append(all, s[start:end])
		}
		start = next
	}
	for i, w := range s {
		switch {
		case i > start && g.is(w, "turns"):
			cut(i, i+1)
		case w.stop == ';' || w.stop == ':' || w.stop == ',' && !g.listGoesOn(s, i):
			cut(i+1, i+1)
		}
	}
	cut(len(s), len(s))
	return all
}

// listGoesOn reports whether another name follows after a comma: a.go, b.go or
// c.go.
func (g *vocabulary) listGoesOn(s []promptWord, i int) bool {
	next := i + 1
	for next < len(s) && g.is(s[next], "joiners") {
		next++
	}
	return s[i].name && next < len(s) && s[next].name
}

// clause reads what one clause asks for.
func (g *goalReader) clause(c []promptWord, question bool) {
	if c = g.withoutManners(c); len(c) == 0 {
		return
	}
	g.maybe = g.maybe || g.conditional(c)
	g.look = g.look || !g.maybe && g.looksOnly(c)
	g.intended(c, question)
}

// looksOnly reads: just explain, only look.
func (g *vocabulary) looksOnly(c []promptWord) bool {
	i := 0
	for i < len(c) && g.is(c[i], "openers") {
		i++
	}
	return g.has("only", lowAt(c, i)) && g.has("look_verbs", lowAt(c, i+1))
}

// conditional reports whether a clause begins with a condition, for what
// follows too.
func (g *vocabulary) conditional(c []promptWord) bool { return g.has("conditions", lowAt(c, 0)) }

// imperative reports whether the verb at i is an order: it begins the clause,
// or follows a word that asks.
func (g *vocabulary) imperative(c []promptWord, i int) bool {
	return i <= 0 || g.is(c[i-1], "before_order") || c[i-1].stop != 0 || c[i-1].low == ""
}

func lowAt(c []promptWord, i int) string {
	if i < 0 || i >= len(c) {
		return ""
	}
	return c[i].low
}

// withoutManners removes polite phrases around an order.
func (g *vocabulary) withoutManners(c []promptWord) []promptWord {
	for len(c) > 0 && g.is(c[0], "manners") {
		c = c[1:]
	}
	for n := len(c); n > 0; n = len(c) {
		switch {
		case n > 2 && c[n-2].low == "for" && c[n-1].is("now", "me"):
			c = c[:n-2]
		case g.is(c[n-1], "manners"):
			c = c[:n-1]
		default:
			return c
		}
	}
	return c
}
