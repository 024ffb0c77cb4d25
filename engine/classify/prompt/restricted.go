package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// restrictionReader reads what a sentence of an instruction file restricts, although it has words that are not known: a command, a file
// or an act, next to words that forbid it, that want a question first, or that leave it to others. Such a restriction only asks.
type restrictionReader struct {
	statementReader // with the words of restrict.*
	vocabulary      *vocabulary

	t     []token
	part  []int    // of each token: its part of the sentence, between two marks
	ends  []byte   // of each part: the mark at its end
	named []target // what the sentence before named, for "them"

	led    bool // the first word is that of a heading or a symbol
	marked bool // what is looked at asks for a yes, or is left to others: a program needs no verb
}

// target is a command or a path that a sentence names.
type target struct {
	command, path string
}

func newRestrictionReader(set *rows.Set, v *vocabulary, exists func(string) bool) *restrictionReader {
	l := rows.Once(set, "lexicon of restrictions", func() *lexicon { return newLexicon(set, false, "restrict.") })
	return &restrictionReader{vocabulary: v, statementReader: statementReader{lexicon: l, exists: exists, only: true, theirs: true}}
}

// read returns what a sentence restricts. led: the word that forbids it is a heading's or a symbol's, and a path needs no verb.
func (r *restrictionReader) read(words []promptWord, led bool) []engine.Statement {
	r.led = led
	r.list, r.said, r.earlier, r.sofar = nil, 0, nil, nil
	r.split(words)
	if len(r.t) == 0 || words[len(words)-1].stop == '?' {
		return nil
	}
	for i, read := range []func() bool{r.verdict, r.wantsYes, r.othersOnly, r.denied, r.closed, r.onlySome} {
		if r.marked = i < 3; read() {
			break
		}
	}
	r.marked = false
	r.named = r.targets(0, len(r.t))
	return r.list
}

// split makes tokens of words, part by part.
func (r *restrictionReader) split(words []promptWord) {
	r.t, r.part, r.ends = nil, nil, nil
	from := 0
	for i, w := range words {
		if w.stop == 0 && i+1 < len(words) {
			continue
		}
		tokens := r.tokens(words[from : i+1])
		if from = i + 1; len(tokens) == 0 {
			continue
		}
		for k, t := range tokens {
			if k > 0 && t.in("turns") && !t.in("fillers") {
				r.ends = append(r.ends, ';') // but
			}
			r.part = append(r.part, len(r.ends))
		}
		r.t, r.ends = append(r.t, tokens...), append(r.ends, w.stop)
	}
	if len(r.t) > maxClause {
		r.t, r.part = r.t[:maxClause], r.part[:maxClause]
	}
}

// begin and end return where the part of a token begins and ends.
func (r *restrictionReader) begin(i int) int { return slices.Index(r.part, r.part[i]) }

func (r *restrictionReader) end(i int) int {
	for i++; i < len(r.t) && r.part[i] == r.part[i-1]; i++ {
	}
	return i
}

// verdict reads: `make deploy`: never; `vendor/` – ask first: a part is one that tables have as a cell.
func (r *restrictionReader) verdict() bool {
	for i := 1; i < len(r.t); i++ {
		if r.part[i] == r.part[i-1] || r.cell(i, r.end(i)) == "" {
			continue
		}
		if found := r.targets(0, i); len(found) > 0 {
			return r.addTargets(found, "change")
		}
		return r.acts(0, i)
	}
	return false
}

// cell returns what tokens say as a cell of a table: no, ask, or nothing.
func (r *restrictionReader) cell(from, to int) string {
	var words []string
	for _, w := range r.t[from:to] {
		words = append(words, strings.ToLower(w.text))
	}
	return r.vocabulary.cell(strings.Join(words, " "))
}

// cell returns what a cell of a table says: no, ask, or nothing.
func (g *vocabulary) cell(text string) string {
	text = strings.ToLower(strings.Trim(text, " .!*_\ufe0f"))
	if symbol := startsInSymbol(text); symbol != "" {
		text = strings.TrimSpace(strings.TrimPrefix(text, symbol))
	}
	no, ask := g.set.Words("instructions.no"), g.set.Words("instructions.ask_cell")
	first, rest, _ := strings.Cut(text, " ")
	switch {
	case slices.Contains(no, text):
		return "no"
	case slices.Contains(ask, text), slices.Contains(ask, first) && len(strings.Fields(rest)) < 3: // ask the ops team
		return "ask"
	}
	return ""
}

// wantsYes reads: ask before you merge; releases need my approval.
func (r *restrictionReader) wantsYes() bool {
	at := -1
	for i, w := range r.t {
		before, around := r.t[max(0, i-3):i], r.t[max(0, i-6):min(len(r.t), i+7)]
		negated := has(before, "not", "never") && !has(before, "conditions", "without", "until")
		first := has(r.t, "restrict.first", "before")
		switch {
		case w.in("asking"):
			at = i
		case negated:
		case w.in("restrict.asks", "ask") && !w.anyPart(partOrders) && first && !r.asksOthers(r.t[i:]),
			w.in("restrict.waits") && has(r.t[i:], "before", "restrict.first"),
			w.in("restrict.approval") && has(around, "restrict.needs", "restrict.first", "before", "without", "until", "conditions", "not_before"):
			at = i
		}
	}
	// you may, without asking
	free := has(r.t, "restrict.fine", "may") && !has(r.t, "not", "never", "only", "restrict.first", "before", "turns")
	return at >= 0 && !free && r.around(at)
}

// around restricts what the part of a token names, else what the sentence does. A part that begins with an order is work, and not
// what is left to others.
func (r *restrictionReader) around(at int) bool {
	if !r.led && r.restrict(r.listBegin(at), r.end(at), true) {
		return true
	}
	begin, end := r.begin(at), r.end(at)
	if !r.led && has(r.t[at:end], "before") && has(r.t[:begin], "restrict.sometimes") {
		return false // when X changes, wait for my word before something that is not known
	}
	for begin > 0 && r.ends[r.part[begin-1]] != ';' {
		begin = r.begin(begin - 1)
	}
	for end < len(r.t) && r.ends[r.part[end-1]] != ';' {
		end = r.end(end)
	}
	return r.restrict(begin, end, true) || r.restrict(0, len(r.t), true)
}

// othersOnly reads: only maintainers merge; releases are done by CI; I do that.
func (r *restrictionReader) othersOnly() bool {
	for i, w := range r.t {
		if w.in("restrict.reserved") {
			return r.left(i)
		}
		if has(r.t[:i], "not", "never") || !w.in("restrict.others", "self") {
			continue
		}
		owned := has(r.t[max(0, i-5):min(len(r.t), i+4)], "restrict.owned", "owned")
		only := has(r.t[max(0, i-3):min(len(r.t), i+2)], "only") && !w.in("me")
		if (owned || only || w.in("self")) && r.left(i) {
			return true
		}
	}
	return false
}

// left restricts what is left to somebody whom a token names: in its part, or before it.
func (r *restrictionReader) left(at int) bool {
	begin := r.listBegin(at)
	if r.restrict(begin, r.end(at), true) {
		return true
	}
	before := r.begin(max(0, begin-1))
	orders := r.t[before].anyPart(partOrders, partMakes, partWith) || r.t[before].among(r.works) ||
		r.t[before].in("work", "works_on", "make", "restrict.edits", "restrict.reads", "restrict.runs", "restrict.performs")
	ordered := orders && !r.led && !r.t[before].in("fillers") && !has(r.t[before:begin], "restrict.is", "passive")
	return begin > 0 && !ordered && r.restrict(0, begin, true)
}

// denied reads: never run X; X must not be changed. What applies in some cases only is left out.
func (r *restrictionReader) denied() bool {
	read := false
	for no := 0; no < len(r.t); no++ {
		w, after := r.t[no], r.t[no+1:min(len(r.t), no+4)]
		switch {
		case !w.in("not", "never", "restrict.not") && !(w.in("without") && no == 0), w.anyPart(partOrders), r.sometimes(no),
			has(r.t[max(0, no-2):min(len(r.t), no+3)], "restrict.forget"), has(after, "restrict.asks", "ask"):
			continue // among others: don't forget to, no need to ask
		}
		begin, to := r.listBegin(no), r.reach(no)
		before := r.t[begin:no]
		topic := len(r.targets(begin, no)) > 0 || slices.ContainsFunc(before, isAct)
		verbFirst := no == begin+1 && !w.among(r.english) && r.t[begin].anyPart(partOrders) && !r.t[begin].in("make") // installeer niets
		plain := !slices.ContainsFunc(before, r.saysMore)
		found := false
		switch {
		case verbFirst && r.restrict(begin, to, false):
			found = true
		case plain && (len(r.targets(no+1, to)) > 0 || !r.ofProduct(before, no)) && r.restrict(no+1, to, r.led && no == 0):
			found = true
		case plain && r.refersBack(no+1, to):
			found = r.about(no+1, to, r.meantTargets(no, to))
		case topic:
			found = r.passive(begin, no, to)
		}
		if found {
			read, no = true, to-1
		}
	}
	return read
}

// saysMore reports whether a word before a negation says that somebody or something else is meant than the agent.
func (r *restrictionReader) saysMore(w token) bool {
	adds := w.in("fillers", "polite", "starters", "turns", "joiners", "conjunctions", "pronouns", "make", "only", "all", "now", "may",
		"restrict.is", "restrict.always") || w.among(r.therefore)
	return !adds || r.otherSubject(w)
}

// ofProduct reports whether words before a negation have a pronoun for what a text describes: it must not send anything. So has what
// people usually do not do: we don't deploy on fridays.
func (r *restrictionReader) ofProduct(before []token, no int) bool {
	set := r.vocabulary.set
	we := slices.Contains(r.us, strings.ToLower(strings.Fields(r.t[no].text)[0])) || // we don't, as one phrase
		r.t[no].in("of_subject") && slices.ContainsFunc(before, func(w token) bool { return w.among(r.us) })
	third := slices.ContainsFunc(before, func(w token) bool { return w.among(set.Words("instructions.third")) })
	return third || we && !has(r.t[no:], "targets")
}

// sometimes reports whether what a token belongs to applies in some cases only: if it fails, never retry.
func (r *restrictionReader) sometimes(i int) bool {
	for from := i; from >= 0 && (from == i || r.part[from] == r.part[from+1] || r.ends[r.part[from]] != ';'); from-- {
		if r.t[from].in("restrict.sometimes") && !r.t[from].in("fillers") {
			return true
		}
	}
	return false
}

// refersBack reports whether words after a negation have no object of their own, or one such as it, or anything in there.
func (r *restrictionReader) refersBack(from, to int) bool {
	t := r.t[from:to]
	refers := func(w token) bool { return w.it || w.in("pronouns", "restrict.there") }
	other := slices.ContainsFunc(t, func(w token) bool { return unknownWord(w) && !refers(w) })
	return len(r.targets(from, to)) == 0 && !other && (len(t) < 3 || slices.ContainsFunc(t, refers))
}

// listBegin returns where the part of a token begins, with those before it of a list of code spans.
func (r *restrictionReader) listBegin(i int) int {
	begin := r.begin(i)
	goesOn := func(w token) bool { return w.code || w.in("joiners", "conjunctions") }
	for begin > 0 && goesOn(r.t[begin]) && r.t[begin-1].code && r.ends[r.part[begin-1]] == ',' {
		begin = r.begin(begin - 1)
	}
	return begin
}

// reach returns where what a negation is about ends: at a condition or a reason, and at a mark unless a list goes on after it.
func (r *restrictionReader) reach(no int) int {
	for i := no + 1; i < len(r.t); i++ {
		w, first := r.t[i], i == no+1
		switch {
		case w.in("reasoning"), !first && r.part[i] != r.part[i-1] && !r.listed(i), !first && w.in("outside"),
			!first && w.in("until", "conditions", "without", "not_before", "turns") && !w.in("fillers"):
			return i
		}
	}
	return len(r.t)
}

// listed reports whether a part that begins at a token goes on with the list before it: with a command, a path or a word such as or, or
// with one of several acts of which the last stands after such a word.
func (r *restrictionReader) listed(i int) bool {
	if strings.IndexByte(";:.", r.ends[r.part[i-1]]) >= 0 {
		return false
	}
	end := r.end(i)
	switch {
	case r.t[i].in("alternatives", "not", "never"), r.t[i].kind == name, r.t[i].kind == quoted:
		return true
	case r.t[i].in("conjunctions") && i+1 < len(r.t):
		return len(r.targets(i+1, i+2)) > 0 || r.t[i+1].anyPart(partNouns)
	case i+1 < end && r.t[i+1].in("alternatives"), end-i < 3 && end < len(r.t) && has(r.t[end:r.end(end)], "alternatives"):
		return true // open, approve or merge
	case !r.t[i].anyPart(actParts...) && !r.t[i].in("restrict.edits", "restrict.reads", "restrict.runs"):
		return false
	case has(r.t[i:end], "alternatives"), !r.t[i].anyPart(partOrders) && r.t[i].anyPart(partNouns, partVerbs):
		return true
	}
	return end < len(r.t) && r.listed(end) && has(r.t[end:r.end(end)], "alternatives")
}

// passive reads what is said of something before it: X must never be edited, migrations are not run.
func (r *restrictionReader) passive(begin, no, to int) bool {
	after := r.t[no+1 : to]
	found := r.targets(begin, no)
	if has(after[:min(len(after), 3)], "restrict.welcome") {
		return r.restrict(begin, no, true)
	}
	if len(found) > 0 {
		named := slices.IndexFunc(r.t[begin:no], func(w token) bool { return w.kind == name || w.kind == quoted })
		before := r.t[begin : begin+named]
		ofIt := has(before[min(1, named):], "restrict.of") || slices.ContainsFunc(before, func(w token) bool {
			return w.among(r.with) || named > 4 && unknownWord(w) && !w.in("kind_nouns")
		})
		active := slices.ContainsFunc(after[:min(len(after), 3)], func(w token) bool {
			return !unspaced(w.text) && w.anyPart(partOrders) && !w.anyPart(partVerbs)
		})
		return !ofIt && !active && (r.about(no+1, to, found) || r.about(begin+named, no, found))
	}
	if has(after, "restrict.performs", "restrict.runs") || len(after) == 0 {
		return r.acts(begin, no)
	}
	return false
}

// closed reads: X is off limits; hands off X; leave X alone.
func (r *restrictionReader) closed() bool {
	for i, w := range r.t {
		left := w.in("leave") && !has(r.t, "self", "postponed") && len(r.targets(i, r.end(i))) > 0
		open := w.in("restrict.closed") && has(r.t[max(0, i-2):i], "not", "never") // not forbidden
		if !left && !w.in("restrict.closed", "restrict.out", "off") || open || r.sometimes(i) {
			continue
		}
		begin, end := r.listBegin(i), r.end(i)
		acts := []string{"change"}
		if at := index(r.t, "restrict.reads"); w.in("restrict.out") || at > 0 && has(r.t[max(0, at-3):at], "not", "never") {
			acts = append(acts, "read")
		}
		for _, found := range [][]target{r.targets(begin, i), r.targets(i+1, r.reach(i)), r.targets(0, begin)} {
			if len(found) > 0 {
				return r.addTargets(found, acts...)
			}
		}
		switch {
		case r.acts(begin, i), r.acts(i+1, r.reach(i)), begin > 0 && r.acts(0, begin),
			end < len(r.t) && r.ends[r.part[i]] == ':' && r.restrict(end, r.end(end), true):
			return true
		case has(r.t, "pronouns") && len(r.named) > 0:
			return r.addTargets(r.named, acts...)
		}
	}
	return false
}

// onlySome reads: X only in a scratch folder; the last word of what is before is a command.
func (r *restrictionReader) onlySome() bool {
	for i := 1; i+1 < len(r.t); i++ {
		begin := r.listBegin(i)
		found := r.targets(begin, i)
		limits := r.t[i].in("only") && !r.t[i].in("just") && r.t[i+1].in("within", "restrict.sometimes", "conditions", "restrict.needs",
			"before", "until", "not_before", "after_checks", "postponing")
		if limits && len(found) > 0 && found[len(found)-1].command != "" && !slices.ContainsFunc(r.t[begin:i], unknownWord) {
			return r.addTargets(found)
		}
	}
	return false
}

// restrict adds what a part of the sentence names: commands, paths with what is done to them, else acts. touched: a path by itself is
// what is not to be changed.
func (r *restrictionReader) restrict(from, to int, touched bool) bool {
	found := r.targets(from, to)
	if len(found) == 0 {
		return r.acts(from, to)
	}
	before := len(r.list)
	r.installs(from, to, false)
	if touched && !r.handled(from, to) {
		return r.addTargets(found, "change")
	}
	r.about(from, to, found)
	return len(r.list) > before
}

// handled reports whether words say what is done to something.
func (r *restrictionReader) handled(from, to int) bool {
	return slices.ContainsFunc(r.t[from:to], func(w token) bool {
		verb := w.anyPart(partOrders, partVerbs) && !w.in("restrict.asks", "restrict.closed", "restrict.approval")
		return verb || w.in("restrict.edits", "restrict.reads") || w.part("delete", partNouns) || w.part("change", partNouns, partBare)
	})
}

// about adds targets with what words say is done to them.
func (r *restrictionReader) about(from, to int, found []target) bool {
	t := r.t[from:to]
	var acts []string
	for _, act := range []string{"change", "delete", "commit", "push"} {
		parts := []string{partOrders, partVerbs}
		if act == "change" || act == "delete" {
			parts = append(parts, partNouns, partBare)
		}
		if slices.ContainsFunc(t, func(w token) bool { return w.part(act, parts...) }) {
			acts = append(acts, act)
		}
	}
	if has(t, "restrict.reads") {
		acts = append(acts, "read")
	}
	if len(acts) == 0 && has(t, "restrict.runs") {
		acts = append(acts, "run")
	}
	edits := has(t, "restrict.edits") && (r.led || !r.putsInto(t))
	if edits && !slices.Contains(acts, "change") && !slices.Contains(acts, "commit") {
		acts = append(acts, "change")
	}
	return r.addTargets(found, acts...)
}

// putsInto reports whether words say what is not to be put into a file: do not put secrets into values.yaml.
func (r *restrictionReader) putsInto(t []token) bool {
	at := index(t, "restrict.puts")
	for i := at + 1; at >= 0 && i < len(t); i++ {
		switch {
		case t[i].kind == name, t[i].kind == quoted, t[i].in("restrict.edits"):
			return false
		case t[i].in("towards", "within") && i > at+1:
			return true
		}
	}
	return false
}

// addTargets adds targets: commands, and paths to which acts are done.
func (r *restrictionReader) addTargets(found []target, acts ...string) bool {
	before := len(r.list)
	var commands, paths []string
	for _, f := range found {
		if f.command != "" && len(commands) < maxObjects {
			commands = append(commands, f.command)
		}
		if f.path != "" && len(paths) < maxObjects {
			paths = append(paths, f.path)
		}
	}
	if len(commands) > 0 {
		r.add(engine.Forbids, &frame{acts: []string{"command"}, objects: commands}, engine.UntilAsked, false)
	}
	if len(paths) > 0 {
		for _, act := range acts {
			r.add(engine.Forbids, &frame{acts: []string{act}, objects: paths}, engine.UntilAsked, false)
		}
	}
	return len(r.list) > before
}
