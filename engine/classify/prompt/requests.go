package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// requestPrefix begins the names of the lists of requests: the verbs, the things and the whole phrases of each.
const requestPrefix = "request."

// Limits of what is kept of a request.
const (
	maxRequests     = 6
	maxRequestNames = 5
)

// request is one kind of work at a place that the person names, such as putting a program on a machine.
type request struct {
	act     string
	verbs   []string
	things  []string // of which the clause has one; empty: it needs none
	also    []string // of which it has one, too
	despite []string // acts that the sentence may forbid
	says    []string // phrases that ask for it by themselves
	unlike  []string // words with which the sentence is about something else
	needs   []string // what the prompt has to name: host, device, command; earlier: what was named before belongs to it; here: that does not; first: the verb begins the clause
	after   []string // words that may follow such a verb at once, besides a number and quoted text; empty: any
}

// requestsOf returns the requests of a policy's table.
func requestsOf(set *rows.Set) []request {
	return rows.Once(set, "prompt requests", func() []request {
		var list []request
		for _, name := range set.Lists() {
			act, verbs := strings.CutSuffix(strings.TrimPrefix(name, requestPrefix), ".verbs")
			if !verbs || !strings.HasPrefix(name, requestPrefix) {
				continue
			}
			of := func(part string) []string { return set.OwnWords(requestPrefix + act + "." + part) }
			list = append(list, request{
				act, of("verbs"), of("things"), of("also"), of("despite"), of("says"), of("unlike"), of("needs"), of("after"),
			})
		}
		return list
	})
}

// requestReader reads what a person asks for in sentences of which it does not know all words: an order whose verb stands where
// orders have it, and the machines, devices and names in it. Unlike a statement, it lifts nothing that was forbidden.
type requestReader struct {
	*mentionReader
	list    []engine.Statement
	hosts   []string // of the prompt
	devices []string
	before  []string // names of the request, or of the sentence, before: what "it" means
}

// device is the path of a disk, a card or a part of it.
var device = engine.Regexp(`^/dev/(sd[a-z]+|mmcblk[0-9]|nvme[0-9]n[0-9]|vd[a-z]|disk[0-9]+|rdisk[0-9]+)(p?[0-9]+|s[0-9]+)?$`)

// requests returns what a prompt asks for, as orders of acts that no prohibition has.
func (g *vocabulary) requests(typed string) []engine.Statement {
	kinds := requestsOf(g.set)
	if len(kinds) == 0 {
		return nil
	}
	r := requestReader{mentionReader: &mentionReader{vocabulary: g, lexicon: lexiconOf(g.set, true)}}
	forbids := statementReader{lexicon: r.lexicon, only: true, exists: func(string) bool { return true }}
	all := g.sentences(typed)
	forbidden := make([][]engine.Statement, len(all))
	var sentences [][]promptWord
	for i, s := range all {
		forbids.list = nil
		if forbids.sentence(s, rawText(s)); len(forbids.list) == 0 {
			sentences = append(sentences, s)
			r.namedHosts(s)
		}
		forbidden[i] = forbids.list
	}
	r.devices = r.meantDevices(sentences)
	for i, s := range all {
		n := len(r.list)
		for _, k := range kinds {
			if !slices.ContainsFunc(forbidden[i], func(f engine.Statement) bool { return !slices.Contains(k.despite, f.Act) }) {
				r.sentence(s, k)
			}
		}
		if n == len(r.list) && len(forbidden[i]) == 0 {
			r.before = r.names(s, nil)
		}
	}
	return r.list
}

// sentence reads one kind of request in a sentence.
func (r *requestReader) sentence(s []promptWord, k request) {
	if len(r.list) == maxRequests || containsAny(plainText(s), k.unlike) {
		return
	}
	asks := s[len(s)-1].stop == '?'
	for _, c := range r.clauses(s) {
		if c = r.withoutManners(c); len(c) == 0 {
			continue
		}
		if r.conditional(c) {
			return
		}
		if slices.Contains(k.needs, "first") {
			about := len(k.things) == 0 || containsAny(plainText(c), k.things)
			if n := r.begins(c, k); asks || n == 0 || !about || r.denies(c[n:]) || r.postponed(s) {
				continue
			}
		} else if asks && len(c) > 1 || r.denies(c) || !r.asksFor(c, s, k) {
			continue
		}
		r.add(k, c, s)
		return
	}
}

// asksFor reports whether a clause has a verb of a request where an order has it, or a phrase that asks by itself.
func (r *requestReader) asksFor(c, s []promptWord, k request) bool {
	text := plainText(c)
	if r.is(c[0], "question_words") {
		return false
	}
	if containsAny(text, k.says) {
		return true
	}
	things := text
	if len(k.also) > 0 {
		things = plainText(s)
	}
	if len(k.things) > 0 && !containsAny(things, k.things) || len(k.also) > 0 && !containsAny(text, k.also) {
		return false
	}
	for i, w := range c {
		if !r.imperative(c, i) && !r.is(c[max(i-1, 0)], "before_request") && !eastAsianText(w.low) {
			continue
		}
		rest := plainText(c[i:])
		if slices.ContainsFunc(k.verbs, func(v string) bool {
			return eastAsianText(v) && strings.Contains(w.low, v) || strings.HasPrefix(rest, " "+v+" ")
		}) {
			return true
		}
	}
	return false
}

// begins returns how many words of a clause are the verb that it begins with, and a word such as then before it; 0: none.
func (r *requestReader) begins(c []promptWord, k request) int {
	n := 0
	if len(c) > 1 && r.is(c[0], "before_request") {
		n = 1
	}
	text := plainText(c[n:])
	for _, v := range k.verbs {
		end := min(n+len(strings.Fields(v)), len(c))
		if strings.HasPrefix(text, " "+v+" ") && k.goesOn(c[end:]) {
			return end
		}
	}
	if len(c) > n+1 && c[n+1].low == quotedLow && slices.Contains(k.verbs, c[n].low) {
		return n + 1
	}
	return 0
}

// goesOn reports whether what follows a verb can belong to it: "close the issue about X" is an order, "close the issue dialog" another one.
func (k request) goesOn(rest []promptWord) bool {
	return len(k.after) == 0 || len(rest) == 0 || rest[0].low == quotedLow || strings.ContainsAny(rest[0].low, "0123456789") ||
		slices.Contains(k.after, rest[0].low)
}

// postponed reports whether a sentence has a condition, or a word such as tomorrow.
func (r *requestReader) postponed(s []promptWord) bool {
	return slices.ContainsFunc(s, func(w promptWord) bool { return r.is(w, "conditions") || r.is(w, "postponing") })
}

// denies reports whether a clause has a word that forbids or leaves something out.
func (r *requestReader) denies(c []promptWord) bool {
	return slices.ContainsFunc(r.lexicon.tokens(c), func(t token) bool {
		return t.in("not", "never", "without", "leave", "alone", "off", "self")
	})
}

// add adds a request with the names of its clause, or with those before if it has none, and with the machines and the device that
// the prompt names.
func (r *requestReader) add(k request, c, s []promptWord) {
	hosts := hostsIn(c)
	if len(hosts) == 0 {
		hosts = hostsIn(s)
	}
	if len(hosts) == 0 {
		hosts = r.hosts
	}
	if slices.Contains(k.needs, "host") && len(hosts) == 0 || slices.Contains(k.needs, "device") && len(r.devices) == 0 {
		return
	}
	names := r.names(c, k.verbs)
	names = names[:min(len(names), maxRequestNames)]
	if len(names) == 0 && !slices.Contains(k.needs, "here") || slices.Contains(k.needs, "earlier") {
		names = append(slices.Clone(r.before[:min(len(r.before), maxRequestNames)]), names...)
	}
	r.before = names
	if slices.Contains(k.needs, "command") {
		if names, hosts = commandsIn(c, k.verbs), nil; len(names) == 0 {
			if names = r.unquotedCommand(c, k.verbs); len(names) == 0 {
				return
			}
		}
	}
	objects := []string{}
	for _, o := range slices.Concat(names, hosts, r.devices) {
		if len(objects) < maxObjects && !slices.Contains(objects, o) {
			objects = append(objects, abstract.Clip(o, MaxGoalName))
		}
	}
	said := engine.Statement{Kind: engine.Orders, Act: k.act, Objects: objects,
		Text: abstract.Clip(strings.Join(strings.Fields(rawText(s)), " "), maxSaid)}
	if !slices.ContainsFunc(r.list, said.Same) {
		r.list = append(r.list, said)
	}
}

// unquotedCommand returns the command that a clause is after its verb, if it begins with a known program: run pulumi up -s prod.
func (r *requestReader) unquotedCommand(c []promptWord, verbs []string) []string {
	if len(c) < 3 || !slices.Contains(verbs, c[0].low) || slices.ContainsFunc(c[:len(c)-1], func(w promptWord) bool { return w.stop != 0 }) {
		return nil
	}
	if _, known, _ := r.set.Program(c[1].text); !known {
		return nil
	}
	var words []string
	for _, w := range c[1:] {
		words = append(words, w.text)
	}
	return []string{strings.Join(words, " ")}
}

// names returns the names among some words, besides verbs, machines and devices.
func (r *requestReader) names(c []promptWord, verbs []string) []string {
	var list []string
	for _, w := range c {
		name := w.text
		if !w.name {
			name = r.nameOf(w)
		}
		if name != "" && hostOf(w) == "" && !device().MatchString(name) && !slices.Contains(verbs, w.low) && !eastAsianText(name) {
			list = append(list, name)
		}
	}
	return list
}

func (r *requestReader) namedHosts(s []promptWord) {
	for _, h := range hostsIn(s) {
		if len(r.hosts) < maxHosts && !slices.Contains(r.hosts, h) {
			r.hosts = append(r.hosts, h)
		}
	}
}

// meantDevices returns the device that a prompt names for work: the only one in
// sentences that have a word for a card or a USB stick. A part of a sentence that says what is to be kept names none.
func (r *requestReader) meantDevices(sentences [][]promptWord) []string {
	var media []string
	for _, s := range sentences {
		medium := slices.ContainsFunc(s, func(w promptWord) bool { return r.is(w, "media") })
		for _, c := range r.clauses(s) {
			found := slices.IndexFunc(c, func(w promptWord) bool { return device().MatchString(w.text) })
			if found < 0 {
				continue
			}
			kept := r.denies(c) || slices.ContainsFunc(c, func(w promptWord) bool { return r.is(w, "kept") })
			if medium && !kept {
				media = append(media, c[found].text)
			}
		}
	}
	if len(media) == 1 {
		return media
	}
	return nil
}

// commandsIn returns the quoted texts of more than one word that follow one of some verbs at once.
func commandsIn(c []promptWord, verbs []string) []string {
	var list []string
	for i, w := range c {
		if i > 0 && w.low == quotedLow && strings.Contains(w.text, " ") && len(w.text) <= MaxGoalName && slices.Contains(verbs, c[i-1].low) {
			list = append(list, w.text)
		}
	}
	return list
}

func hostsIn(s []promptWord) []string {
	var list []string
	for _, w := range s {
		// The address of a page is not a machine.
		if h := hostOf(w); h != "" && !strings.Contains(w.text, "://") && !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

// plainText is the words of a clause in lower case, with a space before and after each; l'invite is two words.
func plainText(c []promptWord) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range c {
		b.WriteString(strings.ReplaceAll(Plain(w.low), "'", " "))
		b.WriteByte(' ')
	}
	return b.String()
}

// containsAny reports whether a text has one of some words or phrases.
func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return eastAsianText(w) && strings.Contains(text, w) || strings.Contains(text, " "+w+" ")
	})
}

func eastAsianText(s string) bool { return strings.ContainsFunc(s, eastAsian) }
