package prompt

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// lexicon is the table of acts and words with which statements are read: for each word or
// phrase, the lists that contain it.
type lexicon struct {
	entries map[string]*entry
	longest map[string]int  // words of the longest phrase that begins with a word
	inside  map[string]bool // words of phrases
	runes   int             // length of the longest word of a language without spaces
	acts    []string        // sorted
	lasting []string        // acts that a permission allows for the rest of the session
	unnamed []string        // acts that a question can name without what they are done to

	broad     []string // acts that an unclear prohibition without a name is not about
	everyday  []string // acts whose verbs are also used of other things
	pastEnds  []string // how verbs end that tell what was done
	doingEnds []string // how verbs end that stand after words such as stop
	limited   []string // acts that can be limited to what they are done to
	works     []string // verbs of an order of work
	plain     []string // how the form of a verb ends with which some languages order
	referring []string // acts that are done to what was named before, if nothing else is named
	byWord    []string // verbs of deleting what words of its path mean
	forced    []string // words for a push with force
	nobody    []string // words for nobody
	yourself  []string // words for the agent after what it is not to do
	asksYou   []string // what makes an order a question
	wonders   []string // words of such a question that asks something

	brings  []string          // what makes an order of a verb that tells what was done
	command map[string]string // the verb of an order of an act: the first of its list

	subjects            []string // words for somebody else, or for a thing
	attached            []string // pronouns that are written as one word with a verb
	existing, reserving []string // verbs that tell that there is something; words with which a person says that they do something first
	reminders           []string // words with which a person reminds the agent of what it is to do
	us                  []string // words for those who work on the project
	modal               []string // negations in what a program or a person must not do
	codeWords           []string // words for files and code
	english             []string // negations of a language in which a noun can say more about the next one
	tellEnds            []string // how verbs end that tell what is, where orders end in another way

	wishable []string // acts that a noun orders, with a polite word

	reasons, therefore, indefinite, moments, determiners, paired, explains, purposes, otherWork, outcomes, texts, with []string // of an order after words such as and
}

// entry is the lists that contain a word or a phrase.
type entry struct {
	lists []string // of prompt.*
	parts []part   // of act.*
}

// part is a list of an act, such as its verbs.
type part struct{ act, name string }

// The parts of an act in the table. A word of "with" means the act only next to one of its
// things or nouns.
const (
	partOrders  = "orders"
	partVerbs   = "verbs"
	partNouns   = "nouns"
	partBare    = "bare" // nouns that need no polite word to be an order
	partWith    = "with"
	partThings  = "things"
	partMakes   = "makes" // those of "with" that order it
	partObjects = "objects"
	partSays    = "says" // forbid by themselves
	partIn      = "in"   // say that a state holds
	partOver    = "over" // say that a state is over
)

// lexiconOf returns the lexicon of a policy; own leaves out the words of layers that may only
// add: those forbid, and permit nothing.
func lexiconOf(set *rows.Set, own bool) *lexicon {
	key := "prompt lexicon"
	if own {
		key = "own prompt lexicon"
	}
	return rows.Once(set, key, func() *lexicon { return newLexicon(set, own) })
}

// namesOnly are lists with which names are told from words; their words mean nothing in a sentence.
var namesOnly = []string{
	"prompt.plain_file_names", "prompt.dotted_words", "prompt.slashed_words", "prompt.generic", "prompt.shells",
	"prompt.code_kinds", "prompt.likens", "prompt.planners", "prompt.machine_places", "prompt.articles", "prompt.receivers",
	"prompt.own_project", "prompt.media", "prompt.kept", "prompt.before_request", "prompt.asks_you", "prompt.wonders",
	"prompt.brings", "prompt.reasons", "prompt.therefore", "prompt.subjects", "prompt.english", "prompt.code_words", "prompt.us", "prompt.reminders",
	"prompt.modal", "prompt.existing", "prompt.reserving", "prompt.attached", "prompt.telling", "prompt.indefinite",
	"prompt.moments", "prompt.wishable", "prompt.determiners", "prompt.paired", "prompt.explains", "prompt.purposes",
	"prompt.other_work", "prompt.outcomes", "prompt.texts", "prompt.with",
	"prompt.drivers", "prompt.forced", "prompt.nobody", "prompt.yourself", "prompt.by_word", "prompt.what_next",
}

// newLexicon returns the lexicon of the lists of prompts and acts, and of those whose names begin with more.
func newLexicon(set *rows.Set, own bool, more ...string) *lexicon {
	l := &lexicon{entries: map[string]*entry{}, longest: map[string]int{}, inside: map[string]bool{}}
	var added [][2]string // list and phrase
	for _, name := range set.Lists() {
		if !slices.ContainsFunc(append(more, "act.", "prompt."), func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
			slices.Contains(namesOnly, name) {
			continue
		}
		base := set.OwnWords(name)
		for _, w := range base {
			l.add(name, w)
		}
		if own || !set.Adds(rows.WordsFolder) {
			continue
		}
		for _, w := range set.Words(name) {
			if !slices.Contains(base, w) {
				added = append(added, [2]string{name, w})
			}
		}
	}
	for _, a := range added {
		if !l.hides(a[1]) {
			l.add(a[0], a[1])
		}
	}
	l.addUnaccented()
	slices.Sort(l.acts)
	l.lasting, l.referring, l.byWord = set.OwnWords("prompt.lasting"), set.OwnWords("prompt.referring"), set.OwnWords("prompt.by_word")
	l.forced = set.OwnWords("prompt.forced")
	l.nobody, l.yourself = set.OwnWords("prompt.nobody"), set.OwnWords("prompt.yourself")
	l.broad, l.everyday, l.pastEnds = set.OwnWords("prompt.broad"), set.OwnWords("prompt.everyday"), set.OwnWords("prompt.past")
	l.doingEnds = set.OwnWords("prompt.doing")
	l.works, l.plain = set.OwnWords("work.verbs"), set.OwnWords("prompt.infinitives")
	l.asksYou, l.wonders = set.OwnWords("prompt.asks_you"), set.OwnWords("prompt.wonders")
	l.determiners, l.paired = set.OwnWords("prompt.determiners"), set.OwnWords("prompt.paired")
	l.explains, l.purposes = set.OwnWords("prompt.explains"), set.OwnWords("prompt.purposes")
	l.outcomes, l.texts, l.with = set.OwnWords("prompt.outcomes"), set.OwnWords("prompt.texts"), set.OwnWords("prompt.with")
	l.modal = set.OwnWords("prompt.modal")
	l.us, l.reminders = set.OwnWords("prompt.us"), set.OwnWords("prompt.reminders")
	l.codeWords = set.OwnWords("prompt.code_words")
	l.english, l.existing, l.reserving = set.OwnWords("prompt.english"), set.OwnWords("prompt.existing"), set.OwnWords("prompt.reserving")
	l.subjects, l.tellEnds, l.attached = set.OwnWords("prompt.subjects"), set.OwnWords("prompt.telling"), set.OwnWords("prompt.attached")
	l.wishable = set.OwnWords("prompt.wishable")
	l.moments = set.OwnWords("prompt.moments")
	l.reasons, l.therefore, l.indefinite = set.OwnWords("prompt.reasons"), set.OwnWords("prompt.therefore"), set.OwnWords("prompt.indefinite")
	l.brings, l.command = set.OwnWords("prompt.brings"), map[string]string{}
	for _, act := range l.acts {
		if orders := set.OwnWords("act." + act + ".orders"); len(orders) > 0 {
			l.command[act] = orders[0]
		}
	}
	l.otherWork = set.OwnWords("prompt.other_work")
	l.unnamed, l.limited = set.OwnWords("prompt.unnamed"), set.OwnWords("prompt.limited")
	return l
}

// hides reports whether a phrase contains a word that is known: as a part of the phrase, it would no
// longer be read.
func (l *lexicon) hides(phrase string) bool {
	if fields := strings.Fields(phrase); len(fields) > 1 {
		return slices.ContainsFunc(fields, func(w string) bool { return l.entries[strings.ToLower(w)] != nil })
	}
	if !unspaced(phrase) {
		return false
	}
	for known := range l.entries {
		if known != phrase && strings.Contains(phrase, known) {
			return true
		}
	}
	return false
}

func (l *lexicon) add(list, text string) {
	text = Plain(strings.ToLower(strings.TrimSpace(text)))
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return
	}
	e := l.entries[text]
	if e == nil {
		e = &entry{}
		l.entries[text] = e
	}
	if rest, ok := strings.CutPrefix(list, "act."); ok {
		act, name, _ := strings.Cut(rest, ".")
		e.parts = append(e.parts, part{act, name})
		if !slices.Contains(l.acts, act) {
			l.acts = append(l.acts, act)
		}
	} else {
		e.lists = append(e.lists, strings.TrimPrefix(list, "prompt."))
	}
	if unspaced(text) {
		l.runes = max(l.runes, utf8.RuneCountInString(text))
	}
	for _, w := range fields[1:] {
		l.inside[w] = true
	}
	l.longest[fields[0]] = max(l.longest[fields[0]], len(fields))
}

// unaccented writes letters without accents, as many people do. Dots over letters stay: andere is not ändere.
var unaccented = strings.NewReplacer(
	"á", "a", "à", "a", "â", "a", "ã", "a", "é", "e", "è", "e", "ê", "e", "í", "i", "ì", "i", "î", "i",
	"ó", "o", "ò", "o", "ô", "o", "õ", "o", "ú", "u", "ù", "u", "û", "u", "ç", "c", "ñ", "n",
	"ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// addUnaccented lets words without their accents mean the same, where they mean nothing else.
func (l *lexicon) addUnaccented() {
	for _, text := range slices.Sorted(maps.Keys(l.entries)) {
		plain := unaccented.Replace(text)
		fields := strings.Fields(plain)
		if plain == text || l.entries[plain] != nil || len(fields[0]) == 1 && fields[0] != strings.Fields(text)[0] {
			continue // à part is not a part
		}
		l.entries[plain] = l.entries[text]
		for _, w := range fields[1:] {
			l.inside[w] = true
		}
		l.longest[fields[0]] = max(l.longest[fields[0]], len(fields))
	}
}

// unspaced reports whether a text begins in a script without spaces between words.
func unspaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return eastAsian(r)
}

func eastAsian(r rune) bool {
	return r >= 0x3040 && unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) || r == 'ー'
}

// lookalikes are letters of other scripts that look like Latin ones.
var lookalikes = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "ѕ", "s", "ј", "j",
	"һ", "h", "ԁ", "d", "ո", "n", "ν", "v", "ο", "o", "α", "a", "ρ", "p", "ɡ", "g", "ﬁ", "fi", "ﬂ", "fl")

// Plain writes a text without marks that cannot be seen, and with Latin letters for those that look like them.
func Plain(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return lookalikes.Replace(strings.Map(plainRune, s))
		}
	}
	return s
}

func plainRune(r rune) rune {
	switch {
	case r >= 0x200b && r <= 0x200f, r == 0x2060, r == 0xfeff, r == 0xad:
		return -1
	case r >= 0xff01 && r <= 0xff5e: // full width
		return unicode.ToLower(r - 0xfee0)
	}
	return r
}

// token is a word or a phrase of a clause.
type token struct {
	*entry
	text string // as written
	kind tokenKind
	it   bool // it ends in a word such as it
	code bool // it is a code span
}

type tokenKind int

const (
	known  tokenKind = iota // it is in a list
	name                    // a path, a file's name or an identifier
	ident                   // a word that people use as a name only: 4711, #general, left-pad
	bare                    // another word
	quoted                  // a quotation
)

// among reports whether a token is one of the words of a list that means nothing in a sentence.
func (t token) among(words []string) bool { return slices.Contains(words, strings.ToLower(t.text)) }

func (t token) in(lists ...string) bool {
	return t.entry != nil && slices.ContainsFunc(t.lists, func(l string) bool { return slices.Contains(lists, l) })
}

// part reports whether a token is in one of the parts of an act.
func (t token) part(act string, names ...string) bool {
	return t.entry != nil && slices.ContainsFunc(t.parts, func(p part) bool { return p.act == act && slices.Contains(names, p.name) })
}

// force reports whether a token stands for a push with force, which others lose commits by.
func (l *lexicon) force(t token) bool { return t.among(l.forced) }

// anyPart reports whether a token is in one of these parts of any act.
func (t token) anyPart(names ...string) bool {
	return t.entry != nil && slices.ContainsFunc(t.parts, func(p part) bool { return slices.Contains(names, p.name) })
}

// tokens reads the words of a clause: the longest phrases of the table first.
func (l *lexicon) tokens(words []promptWord) []token {
	var list []token
	words = l.elided(words)
	for i := 0; i < len(words); {
		w := words[i]
		if w.low == "" {
			i++
			continue
		}
		if w.low == "\x00" || w.name && l.entries[w.low] == nil {
			list = append(list, namedToken(w))
			i++
			continue
		}
		if unspaced(w.low) {
			list = append(list, l.munch(w.text)...)
			i++
			continue
		}
		e, n := l.phrase(words[i:])
		if e == nil {
			if e = l.withoutPronoun(w); e == nil {
				list = append(list, strange(w))
			} else {
				list = append(list, token{entry: e, text: w.text, it: true})
			}
			i++
			continue
		}
		t := token{entry: e, text: w.text}
		for _, more := range words[i+1 : i+n] {
			t.text += " " + more.text
		}
		if last := words[i+n-1]; n > 1 && last.low != "" {
			t.it = token{entry: l.entries[Plain(last.low)]}.in("pronouns")
		}
		list = append(list, t)
		i += n
	}
	return times(list)
}

// times puts together what names a time of day, such as "at 22:00", "um 22 Uhr" and "at 10 pm", as a word for a time that is to
// come: who orders something for then does not order it now. A time by itself is the name of something: remove 10:30.
func times(t []token) []token {
	list := make([]token, 0, len(t))
	for i := 0; i < len(t); i++ {
		w := t[i]
		n := len(list)
		written, number := timeOfDay(w.text)
		after := n > 0 && list[n-1].in("clock")
		hours := number && i+1 < len(t) && t[i+1].in("hours")
		if w.kind != ident || !hours && (!written || !after) {
			list = append(list, w)
			continue
		}
		if after {
			n--
		}
		w = token{entry: &entry{lists: []string{"future"}}, text: w.text}
		if hours {
			i++
			w.text += " " + t[i].text
		}
		list = append(list[:n], w)
	}
	return list
}

func namedToken(w promptWord) token {
	if w.name {
		return token{text: w.text, kind: name, code: w.code}
	}
	return token{text: w.text, kind: quoted, code: w.code}
}

// phrase returns the longest phrase with which words begin.
func (l *lexicon) phrase(words []promptWord) (*entry, int) {
	text := Plain(words[0].low)
	best, n := l.entries[text], 1
	for k := 1; k < len(words) && k < l.longest[Plain(words[0].low)]; k++ {
		if words[k-1].stop != 0 || words[k].low == "" || words[k].low == "\x00" {
			break
		}
		text += " " + Plain(words[k].low)
		if e := l.entries[text]; e != nil {
			best, n = e, k+1
		}
	}
	return best, n
}

// elided splits words such as n'installe, unless the table has them.
func (l *lexicon) elided(words []promptWord) []promptWord {
	var list []promptWord
	for _, w := range words {
		if i := strings.IndexByte(w.low, '\''); i > 0 && i < len(w.low)-1 && len(w.low) == len(w.text) &&
			l.entries[w.low] == nil && l.longest[w.low] == 0 && !l.inside[w.low] && l.entries[w.low[:i+1]] != nil {
			list = append(list, promptWord{text: w.text[:i+1], low: w.low[:i+1]})
			w.text, w.low = w.text[i+1:], w.low[i+1:]
		}
		list = append(list, w)
	}
	return list
}

// withoutPronoun returns the entry of the verb of an act to which a pronoun is attached, as in lanciarla, bórralo, pousse-le and fazê-lo.
func (l *lexicon) withoutPronoun(w promptWord) *entry {
	low := Plain(w.low)
	for _, pronoun := range l.attached {
		verb, ok := strings.CutSuffix(low, pronoun)
		if !ok || len(verb) < 4 {
			continue
		}
		for _, form := range []string{verb, unaccented.Replace(verb), verb + "e", unaccented.Replace(verb) + "r"} {
			t := token{entry: l.entries[form]}
			if t.anyPart(partOrders, partVerbs, partWith, partMakes) || t.in("make", "leave", "ask") {
				return t.entry
			}
		}
	}
	return nil
}

// strange reads a word that is not in the table.
func strange(w promptWord) token {
	t := token{text: w.text, kind: bare}
	if strings.ContainsAny(w.text, "-_.#@:/0123456789") && len(w.text) <= MaxGoalName {
		t.kind = ident
	}
	return t
}

// munch reads a run of a script without spaces.
func (l *lexicon) munch(s string) []token {
	var list []token
	runes := []rune(strings.ToLower(s))
	text := []rune(s)
	if len(text) != len(runes) {
		text = runes
	}
	for i := 0; i < len(runes); {
		n := min(l.runes, len(runes)-i)
		for n > 1 && l.entries[string(runes[i:i+n])] == nil {
			n--
		}
		e := l.entries[string(runes[i:i+n])]
		t := token{entry: e, text: string(text[i : i+n])}
		if e == nil {
			t.kind = bare
			if last := len(list) - 1; last >= 0 && list[last].kind == bare {
				list[last].text += t.text
				i += n
				continue
			}
		}
		list = append(list, t)
		i += n
	}
	return list
}

// marksOfEast are the marks of East Asian texts, as they are written in others.
var marksOfEast = strings.NewReplacer("。", ". ", "、", ", ", "，", ", ", "！", "! ", "？", "? ", "；", "; ", "：", ": ", "（", " (", "）", ") ")

// spaced puts spaces between scripts that use them and scripts that do not.
func spaced(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x3000 }) {
		return text
	}
	var b strings.Builder
	last := ' '
	for _, r := range marksOfEast.Replace(text) {
		if last == ',' && r > ' ' && (r < '0' || r > '9') {
			b.WriteByte(' ')
			last = ' '
		}
		if last > ' ' && r > ' ' && eastAsian(r) != eastAsian(last) && r != '」' && last != '「' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

const (
	MaxGoalName = 160 // bytes: paths in full are long
	maxClause   = 80  // words of a clause that are examined
)

// promptWord is a word of a prompt.
type promptWord struct {
	text string
	low  string // in lower case, without the punctuation around
	name bool   // a path, a file's name or a quoted identifier
	code bool   // a code span
	stop byte   // the punctuation after: , ; : . ! ? or 0
}

// is reports whether a word is one of these.
func (w promptWord) is(words ...string) bool { return slices.Contains(words, w.low) }

func has(tokens []token, lists ...string) bool { return index(tokens, lists...) >= 0 }

func index(tokens []token, lists ...string) int {
	return slices.IndexFunc(tokens, func(t token) bool { return t.in(lists...) })
}
