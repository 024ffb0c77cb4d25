package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// MaxGoalMentions limits the names that are kept of a prompt.
const MaxGoalMentions = 32

// maxHosts limits the hosts among them.
const maxHosts = 8

// mentions returns digests of the words that can be the name of a program, a project or a site in what the person certainly
// wrote, and of hosts. Words of prose are left out, and so are sentences that forbid something: what is to be left alone is not
// named for work, nor is anything but a host in a prompt that only asks to look.
func (g *vocabulary) mentions(masked, workspace string, intents []engine.Intent) []string {
	typed, _ := g.ownStatements(spaced(masked))
	m := mentionReader{vocabulary: g, lexicon: lexiconOf(g.set, true), project: g.projectOf(workspace)}
	forbids := statementReader{lexicon: m.lexicon, only: true, exists: func(string) bool { return true }}
	var named [][]promptWord
	work := len(intents) == 0 || slices.ContainsFunc(intents, func(i engine.Intent) bool {
		return i != engine.IntentRead && i != engine.IntentExplain
	})
	for _, s := range g.sentences(typed) {
		work = work || m.ordersWork(s)
		before := len(forbids.list)
		if forbids.sentence(s, rawText(s)); len(forbids.list) == before {
			m.sentence(s)
			m.hostsOf(s)
			named = append(named, s)
		}
	}
	for _, s := range named {
		m.machinesOf(s)
	}
	for _, s := range named {
		m.kinds(s)
	}
	if !work {
		return m.hosts
	}
	return append(m.hosts, m.list...)
}

// hostsOf adds the hosts that a sentence names, by their full names or addresses.
func (m *mentionReader) hostsOf(s []promptWord) {
	for _, w := range s {
		host := hostOf(w)
		if host == "" || len(m.hosts) == maxHosts {
			continue
		}
		if d := engine.HostMentionOf(host); !slices.Contains(m.hosts, d) {
			m.hosts = append(m.hosts, d)
		}
	}
}

// machinesOf adds the hosts that a sentence names by a word, as ssh's configuration does: the one after a word for a place, on the nas.
// After an article almost every word is a name there, without one no word of prose is.
func (m *mentionReader) machinesOf(s []promptWord) {
	for i, w := range s {
		at := i - 1
		article := at > 0 && s[at].stop == 0 && m.is(s[at], "articles")
		if article {
			at--
		}
		if at < 0 || s[at].stop != 0 || !m.is(s[at], "machine_places") || len(m.hosts) == maxHosts {
			continue
		}
		if !machineName().MatchString(w.low) || m.has("generic", w.low) || !article && m.nameOf(w) == "" {
			continue
		}
		if e := m.lexicon.entries[Plain(w.low)]; e != nil && (token{entry: e}).anyPart(partVerbs, partOrders, partNouns) {
			continue
		}
		if d := engine.HostMentionOf(w.low); !slices.Contains(m.hosts, d) {
			m.hosts = append(m.hosts, d)
		}
	}
}

// hostOf returns the host that a word names by its full name or address; empty: it names none.
func hostOf(w promptWord) string {
	if host := engine.HostIn(w.text); marks.HostName(host) {
		return host
	}
	return ""
}

// ordersWork reports whether a sentence orders an act, besides looking: look in the logs and stop it.
func (m *mentionReader) ordersWork(s []promptWord) bool {
	if s[len(s)-1].stop == '?' || slices.ContainsFunc(s, func(w promptWord) bool { return m.is(w, "question_words") }) {
		return false
	}
	for _, c := range m.clauses(s) {
		for i, w := range c {
			e := m.lexicon.entries[Plain(w.low)]
			if e != nil && (token{entry: e}).anyPart(partVerbs, partOrders) && m.imperative(c, i) && lowAt(c, i-1) != "to" {
				return true
			}
		}
	}
	return false
}

var machineName = engine.Regexp(`^[\pL][\pL0-9_-]+$`)

// mentionReader collects names.
type mentionReader struct {
	*vocabulary
	lexicon *lexicon
	list    []string
	hosts   []string
	timed   bool // the sentence wants something to run at certain times
	project string
}

// projectOf returns the name of the project in a workspace: that of the folder, or of the one above it, if the folder is called
// src or web. Empty: neither is a name.
func (g *vocabulary) projectOf(workspace string) string {
	parts := strings.Split(strings.ToLower(strings.Trim(strings.ReplaceAll(workspace, `\`, "/"), "/")), "/")
	for i := len(parts) - 1; i > 0 && i >= len(parts)-2; i-- {
		if slices.Contains([]string{"home", "users"}, parts[i-1]) {
			return "" // a person's
		}
		if !g.has("generic", parts[i]) && !slices.Contains(marks.StopWords, parts[i]) {
			return parts[i]
		}
	}
	return ""
}

func (m *mentionReader) sentence(s []promptWord) {
	m.timed = m.runsAtTimes(s)
	if m.project != "" && slices.ContainsFunc(s, func(w promptWord) bool { return m.is(w, "own_project") }) {
		m.add(m.project)
	}
	last := "" // the word before, if it is one of a name
	for i, w := range s {
		name := m.nameOf(w)
		if name == "" || m.likened(s, i) || m.has("shells", name) && m.nextToCode(s, i) {
			last = ""
			continue
		}
		m.add(name)
		if last != "" {
			m.add(last + name) // print farm
		}
		if last = name; w.stop != 0 {
			last = ""
		}
	}
}

func (m *mentionReader) add(name string) {
	digests := []string{engine.MentionOf(name)}
	if m.timed {
		digests = append(digests, engine.TimedOf(name))
	}
	for _, d := range digests {
		if d != "" && len(m.list) < MaxGoalMentions-maxHosts && !slices.Contains(m.list, d) {
			m.list = append(m.list, d)
		}
	}
}

// kinds adds the programs of a kind that a sentence names: what a person calls the bar is waybar, polybar or another one. A sentence
// about a page or an application with such a part names none.
func (m *mentionReader) kinds(s []promptWord) {
	text := plainText(s)
	for _, k := range programKinds(m.set) {
		if containsAny(text, k.names) && !containsAny(text, k.unlike) {
			for _, program := range k.programs {
				m.add(program)
			}
		}
	}
}

// programKind is a kind of program, as people name it.
type programKind struct{ names, programs, unlike []string }

// programKinds returns the kinds of programs in a policy's table: their names, their programs, and words that mean something else.
func programKinds(set *rows.Set) []programKind {
	return rows.Once(set, "program kinds", func() []programKind {
		var list []programKind
		for _, name := range set.Lists() {
			if kind, ok := strings.CutSuffix(name, ".programs"); ok && strings.HasPrefix(kind, "kind.") {
				of := func(part string) []string { return set.OwnWords(kind + "." + part) }
				list = append(list, programKind{of("names"), of("programs"), append(of("unlike"), set.OwnWords("kind.unlike")...)})
			}
		}
		return list
	})
}

// runsAtTimes reads: run it every night; I want it as a daily timer. A question or a condition wants nothing.
func (m *mentionReader) runsAtTimes(s []promptWord) bool {
	tokens := m.lexicon.tokens(s)
	if s[len(s)-1].stop == '?' || slices.ContainsFunc(tokens, func(t token) bool { return t.in("conditions") }) {
		return false
	}
	when := slices.ContainsFunc(tokens, func(t token) bool { return t.part("schedule", partObjects) })
	runs := slices.ContainsFunc(tokens, func(t token) bool {
		return t.part("schedule", partThings, partVerbs, partOrders) || t.part("run", partVerbs, partOrders)
	})
	return when && runs
}

// nameOf returns the name that a word can be, in lower case; empty: it is a path, an address or a word of prose.
func (m *mentionReader) nameOf(w promptWord) string {
	quoted := w.low == quotedLow
	name := strings.ToLower(w.text)
	if quoted && !w.name || strings.ContainsAny(name, `/\:@`) {
		return ""
	}
	if i := strings.LastIndexByte(name, '\''); i >= 0 {
		if name = name[i+1:]; len(name) < 3 { // the shop's, l'agenda
			name = strings.ToLower(w.text[:i])
		}
	}
	name = strings.TrimPrefix(name, "www.")
	if marks.HostName(name) && strings.Count(name, ".") == 1 {
		name, _, _ = strings.Cut(name, ".")
	} else if w.name && !quoted {
		return ""
	}
	short := utf8.RuneCountInString(name) < 3 && !strings.ContainsAny(name, "0123456789")
	if short || slices.Contains(marks.StopWords, name) || m.has("generic", name) {
		return ""
	}
	if m.lexicon.entries[Plain(name)] != nil {
		return "" // a word that sentences are made of
	}
	return name
}

// likened reports whether something is only compared with a word: make it look like the shop.
func (m *mentionReader) likened(s []promptWord, i int) bool {
	for i--; i >= 0 && s[i].stop == 0; i-- {
		if m.is(s[i], "likens") {
			return true
		}
		if utf8.RuneCountInString(s[i].low) > 4 {
			return false // not an article or a preposition
		}
	}
	return false
}

// nextToCode reports whether a word says in which language code is to be: a bash script, un script de bash.
func (m *mentionReader) nextToCode(s []promptWord, i int) bool {
	near := s[max(0, i-2):min(len(s), i+2)]
	return slices.ContainsFunc(near, func(w promptWord) bool { return m.is(w, "code_kinds") })
}
